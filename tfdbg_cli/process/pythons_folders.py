"""Where Python's own modules lie, and what stands before them where modules are looked for."""

from __future__ import annotations

import os
from collections.abc import Sequence

_LIBRARY = os.path.dirname(os.__file__)  # noqa: PTH120
_FOLDERS = frozenset({_LIBRARY, os.path.join(_LIBRARY, "lib-dynload")})  # noqa: PTH118


def before_pythons(path: Sequence[str]) -> list[str]:
    """The entries of `path` that stand before Python's own: what lies there hides modules of Python's."""
    first = next((i for i, entry in enumerate(path) if entry in _FOLDERS), len(path))
    return list(path[:first])


def pythons_first(path: Sequence[str]) -> list[str]:
    """The entries of `path`, those of Python's own modules before the others."""
    return sorted(path, key=lambda entry: entry not in _FOLDERS)
