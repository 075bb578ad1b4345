"""Sums of sums of which the graph optimizer made a single one, under another name: the same but for rounding."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeAlias

from tfdbg_cli.capture.functions.definition.body import NodeOutput

Terms: TypeAlias = tuple[NodeOutput, ...]  # sorted


def merged_sums(
    gone: Collection[str],
    whole: Collection[str],
    read: Callable[[str], Sequence[NodeOutput]],
    made: Mapping[Terms, str],
) -> Mapping[str, str]:
    """By the names of sums that were there before the optimizer, those of the sums that it made of them.

    `gone` are the sums that are not there any more, `whole` those of them that anything else has read: only these
    were replaced as a whole. `read` gives the terms of one, which may be sums that are gone, too; `made` the new sums
    by their terms.
    """
    most = max(map(len, made), default=0)

    def terms(name: str) -> Terms:
        """All that the sum adds up; empty where it is more than any new one does."""
        found: list[NodeOutput] = []
        waiting = [name]
        while waiting and len(found) + len(waiting) <= most:
            for place in read(waiting.pop()):
                if place[0] in gone:
                    waiting.append(place[0])
                else:
                    found.append(place)
        return () if waiting else tuple(sorted(found))

    added = {name: terms(name) for name in whole}
    return {name: made[each] for name, each in added.items() if each in made}
