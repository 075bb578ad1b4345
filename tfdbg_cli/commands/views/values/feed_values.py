"""What a run was fed, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.names import did_you_mean
from tfdbg_cli.model.values import Array, as_array


def feed_named(feeds: Mapping[str, Any], text: str) -> str:
    """The key of the feed that `text` means: as it is, or the node alone."""
    for name in (text, f"{text}:0"):
        if name in feeds:
            return name
    if not feeds:
        raise TfdbgError("This run was fed nothing.")
    hint = did_you_mean(text, feeds) or f"Feeds: {', '.join(feeds)}."
    raise TfdbgError(f"There is no feed {text!r} in this run.", hint=hint)


def feed_numbers(feed: Any) -> Array | None:
    """`feed` as an array of numbers or strings, or None where it is something else."""
    try:
        array = as_array(feed)
    except (ValueError, TypeError):
        return None  # a ragged list
    if array.dtype == np.dtype(object) and not all(isinstance(item, bytes | str) for item in array.flat):
        return None
    return array
