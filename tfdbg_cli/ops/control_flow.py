"""The loops and branches of version 1 that ops are in, told along the edges of their graph.

Those are not functions: the ops of a loop are in the same graph as all others, between Enter and Exit, those of a
branch between Switch and Merge. What is between Enter and Exit runs in the turns of the loop: TensorFlow calls that
a frame.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, replace

from tfdbg_cli.ops.kinds import ENTER, EXIT, LOOP_CONDITION, MERGE, NEXT_ITERATION, SWITCH

_MOST_LOOPS = 50  # in one another, in a damaged graph


@dataclass(frozen=True, slots=True)
class LoopFrame:
    """A loop that an op is in, by its frame's name, which is empty for the graph that all loops are in.

    `body` says whether the op comes behind the Switch that ends the loop, and so does not run in the last turn.
    `branches` are the conditionals inside of the loop that the op is in. What is in none runs in each turn.
    """

    frame: str
    body: bool = False
    branches: int = 0


Nest = tuple[LoopFrame, ...]  # the graph, and the loops around an op, the outermost first
OUTSIDE: Nest = (LoopFrame(""),)  # the nest of an op that is in no loop and no branch


@dataclass(frozen=True, slots=True)
class Edges:
    """What has to be known of the ops of a graph, each by its name.

    Attributes:
        op_type: the type of an op, which may be one that a walk does not come by.
        reads: the ops that an op reads or waits for.
        frame: what the frame is called that an Enter op begins.

    """

    op_type: Callable[[str], str]
    reads: Callable[[str], Iterable[str]]
    frame: Callable[[str], str]


def nests(order: Iterable[str], edges: Edges, dead_exits: Container[str] = ()) -> dict[str, Nest]:
    """The loops and branches that each op is in, by its name; an Enter is in its loop, an Exit is not.

    Told along the edges, since an imported graph has no control flow contexts.

    Args:
        order: the names of the ops in topological order; only a NextIteration may follow the Merge that reads it.
        edges: the graph.
        dead_exits: the Exit ops that hand nothing out; what reads them does not run, as in a branch not taken.

    """
    found: dict[str, Nest] = {}
    for name in order:
        kind, sources = edges.op_type(name), list(edges.reads(name))
        around = OUTSIDE
        for source in sources:
            before = found.get(source, OUTSIDE)
            if before is not around and _depth(before) > _depth(around):
                around = before
        if kind in ENTER:
            found[name] = (*around, LoopFrame(edges.frame(name)))[: 1 + _MOST_LOOPS]
        elif kind in EXIT:
            outer = around[:-1] or OUTSIDE
            found[name] = _branched(outer, 1) if name in dead_exits else outer
        elif kind in SWITCH:
            ends = any(edges.op_type(source) in LOOP_CONDITION for source in sources)
            found[name] = (*around[:-1], replace(around[-1], body=True)) if ends else _branched(around, 1)
        elif kind in MERGE and not any(edges.op_type(source) in NEXT_ITERATION for source in sources):
            found[name] = _branched(around, -1)
        else:
            found[name] = around
    return found


def _depth(nest: Nest) -> tuple[int, int]:
    return len(nest), sum(within.branches + within.body for within in nest)


def _branched(nest: Nest, more: int) -> Nest:
    innermost = nest[-1]
    return (*nest[:-1], replace(innermost, branches=max(innermost.branches + more, 0)))


def inside(found: Mapping[str, Nest]) -> frozenset[str]:
    """Those ops that are in a loop or a branch, by what each is in (`nests`)."""
    return frozenset(name for name, nest in found.items() if nest != OUTSIDE)
