"""Addresses such as `gs://bucket/run`, which stand where a path could: what is one, and what cannot be done there."""

from __future__ import annotations

import re

from tfdbg_cli.errors import TfdbgError

# As fsspec has them: a protocol, or several with `::` between them, of which the last is where the files are.
_ADDRESS = re.compile(r"(?:[a-z][a-z0-9+.-]*::)*[a-z][a-z0-9+.-]*://", re.IGNORECASE)
# What pathlib leaves of one: `Path("gs://bucket")` is `gs:/bucket`, a folder called `gs:`.
_FOLDED = re.compile(r"(?:[a-z][a-z0-9+.-]*::)*[a-z][a-z0-9+.-]+:/", re.IGNORECASE)


def is_address(text: str) -> bool:
    """Whether `text` names a place in another file system than that of this machine."""
    return _ADDRESS.match(text) is not None


def refuse_address(text: str, why: str, hint: str) -> None:
    """Refuse `text` if it is an address: `why` says what cannot be done with one.

    Raises:
        TfdbgError: it is one.

    """
    if is_address(text):
        raise TfdbgError(f"{text} is an address, and {why}.", hint=hint)


def refuse_to_write(text: str) -> None:
    """Refuse to write to `text` if it is an address, or was one before a Path was made of it, or is no path at all.

    Raises:
        TfdbgError: it is so.

    """
    if not text or "\0" in text:
        said = "The path is empty." if not text else f"No path can be called {text!r}."
        raise TfdbgError(said, hint="Name a folder that is empty or does not exist.")
    hint = "Choose a folder here, and copy it there when it is complete: `tfdbg open` reads it from there."
    if _FOLDED.match(text):
        raise TfdbgError(f"{text} is an address, and tfdbg writes to the disks of this machine alone.", hint=hint)
