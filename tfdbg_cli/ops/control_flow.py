"""How deep an op is in loops and branches of version 1.

There the ops of a loop stand between Enter and Exit, those of a branch between Switch and Merge, in the graph that
all others stand in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from tfdbg_cli.ops.kinds import ENTER, EXIT, MERGE, NEXT_ITERATION, SWITCH

OUTSIDE = (0, 0)  # the nesting of an op that is in no loop and no branch


def nesting(
    order: Iterable[str], op_type: Callable[[str], str], reads: Callable[[str], Iterable[str]]
) -> dict[str, tuple[int, int]]:
    """For each op, by its name, in how many loops and in how many undecided branches of version 1 it is.

    It is counted along the edges, since a graph that was imported does not remember its control flow contexts.

    Args:
        order: the names of the ops, inputs first; only a NextIteration may come after the Merge that reads it.
        op_type: the type of an op, of those outside of `order` too.
        reads: the ops that an op reads or waits for.

    """
    found: dict[str, tuple[int, int]] = {}
    for name in order:
        kind = op_type(name)
        sources = list(reads(name))
        before = [found[source] for source in sources if source in found]
        loops = max((known[0] for known in before), default=0)
        branches = max((known[1] for known in before), default=0)
        if kind in ENTER:
            loops += 1
        elif kind in EXIT:
            # The Switch of a loop decides whether there is one more turn: it counts as a branch until the loop ends.
            loops, branches = max(loops - 1, 0), max(branches - 1, 0)
        elif kind in SWITCH:
            branches += 1
        elif kind in MERGE and not any(op_type(source) in NEXT_ITERATION for source in sources):
            branches = max(branches - 1, 0)
        found[name] = (loops, branches)
    return found


def inside(depths: Mapping[str, tuple[int, int]]) -> frozenset[str]:
    """Those ops that are in a loop or a branch, by how deep they are (`nesting`)."""
    return frozenset(name for name, depth in depths.items() if depth != OUTSIDE)
