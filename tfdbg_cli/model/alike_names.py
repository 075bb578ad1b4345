"""Names that are spelled alike, loaded where a name was not found: most are."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

_AS_A_SLIP = 0.75  # of the end of a name alone: much less of it is compared than of a whole one
_AT_ONCE = 20_000  # more names take seconds to compare


def spelled_alike(name: str, names: Sequence[str], most: int) -> list[str]:
    """Those of `names` that are spelled most like `name`, best first, and those whose last parts are (`a/b/Sqrt`)."""
    whole = get_close_matches(name, names, n=most, cutoff=0.5) if len(names) <= _AT_ONCE else []
    return [*whole, *(n for n in _ending_alike(name, names, most) if n not in whole)][:most]


def _ending_alike(name: str, names: Sequence[str], most: int) -> list[str]:
    """Those that end in as many parts as `name` has, spelled like it but for a slip, letters' case aside."""
    parts = name.count("/") + 1
    ending_so: dict[str, str] = {}
    for known in names:
        if known.count("/") >= parts:
            ending_so.setdefault("/".join(known.rsplit("/", parts)[1:]).lower(), known)
    if len(ending_so) > _AT_ONCE:
        return []
    return [ending_so[one] for one in get_close_matches(name.lower(), ending_so, n=most, cutoff=_AS_A_SLIP)]
