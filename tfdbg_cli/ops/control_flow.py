"""The nesting depth of ops in loops and conditionals of version 1.

Those are not functions: the ops of a loop are in the same graph as all others, between Enter and Exit, those of a
branch between Switch and Merge.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping

from tfdbg_cli.ops.kinds import ENTER, EXIT, MERGE, NEXT_ITERATION, SWITCH

OUTSIDE = (0, 0)  # the nesting of an op that is in no loop and no branch


def nesting(
    order: Iterable[str],
    op_type: Callable[[str], str],
    reads: Callable[[str], Iterable[str]],
    dead_exits: Container[str] = (),
) -> dict[str, tuple[int, int]]:
    """For each op, by name, in how many loops and in how many conditionals of version 1 it is.

    Counted along the edges, since an imported graph has no control flow contexts.

    Args:
        order: the names of the ops in topological order; only a NextIteration may follow the Merge that reads it.
        op_type: gives the type of an op, also of those outside of `order`.
        reads: the ops that an op reads or waits for.
        dead_exits: the Exit ops that hand nothing out; what reads them does not run, as in a branch not taken.

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
            # The Switch that decides whether a loop goes on was counted as a branch: Exit ends that, too.
            loops = max(loops - 1, 0)
            if name not in dead_exits:
                branches = max(branches - 1, 0)
        elif kind in SWITCH:
            branches += 1
        elif kind in MERGE and not any(op_type(source) in NEXT_ITERATION for source in sources):
            branches = max(branches - 1, 0)
        found[name] = (loops, branches)
    return found


def inside(depths: Mapping[str, tuple[int, int]]) -> frozenset[str]:
    """Those ops that are in a loop or a branch, by how deep they are (`nesting`)."""
    return frozenset(name for name, depth in depths.items() if depth != OUTSIDE)
