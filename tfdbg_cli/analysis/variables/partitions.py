"""Partitioned variables: a program has one for each part, and a checkpoint holds all of them under one name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tfdbg_cli.analysis.variables.listing import Variable

_PART = re.compile(r"(?P<whole>.+)/part_\d+(?P<behind>/.+)?$")  # a slot of a part has more behind


def parts_by_whole(variables: Sequence[Variable], places: Sequence[int]) -> Mapping[str, Sequence[int]]:
    """By the name under which a checkpoint would hold them all the places of those that are parts."""
    found: dict[str, list[int]] = {}
    for at in places:
        match = _PART.match(variables[at].name)
        if match is not None:
            found.setdefault(match["whole"] + (match["behind"] or ""), []).append(at)
    return found
