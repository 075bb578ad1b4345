"""Names that are spelled alike, loaded where a name was not found: most are."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches


def spelled_alike(name: str, names: Sequence[str], most: int) -> list[str]:
    """Those of `names` that are spelled most like `name`, best first."""
    return get_close_matches(name, names, n=most, cutoff=0.5)
