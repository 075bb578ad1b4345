"""Loops that stand in a branch. TensorFlow's debugger breaks them where that branch is not taken.

Of a loop that is not entered nothing comes out, which its readers hear once. With a copy of what enters it and one of
what comes out they hear of it too early, and the run fails: "Retval[0] does not have value". So does TensorFlow's own
tfdbg.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from tfdbg_cli.capture.sessions.function_definitions import function_definitions
from tfdbg_cli.capture.sessions.hidden_ops import program_version
from tfdbg_cli.capture.sessions.reach import KINDS, edges_of
from tfdbg_cli.capture.tf.memo import Memos
from tfdbg_cli.capture.tf.op_definitions import calls_functions
from tfdbg_cli.capture.tf.types import AttrValue, FunctionDef, NodeDef, Op, TfGraph
from tfdbg_cli.model.walks import reached
from tfdbg_cli.ops.control_flow import nests
from tfdbg_cli.ops.kinds import BRANCHES, ENTER, LOOPS, SWITCH

_FOUND: Memos[str] = Memos(keep=KINDS)


def loop_in_branch(graph: TfGraph, order: Sequence[Op]) -> str:
    """The name of an op of `order`, inputs first, that is or holds a loop in a branch; empty if none does.

    Kept with the graph for the next run of these ops.
    """
    key = (program_version(graph), tuple(op.name for op in order))
    return _FOUND.of(graph, key, lambda: _loop_in_branch(graph, order))


def _loop_in_branch(graph: TfGraph, order: Sequence[Op]) -> str:
    branches = _branches(order)
    functions = _Functions(graph)
    for op in order:
        if op.type in ENTER and branches.get(op.name, 0) > 0:
            return str(op.name)
        if calls_functions(op) and functions.has_loop_in_branch(op.node_def, branched=branches.get(op.name, 0) > 0):
            return str(op.name)
    return ""


def _branches(order: Sequence[Op]) -> Mapping[str, int]:
    """In how many undecided branches of version 1, beside those of its loops, each op is; nothing if in none."""
    if SWITCH.isdisjoint(op.type for op in order):
        return {}
    found = nests((op.name for op in order), edges_of(order, ()))
    return {name: sum(within.branches for within in nest) for name, nest in found.items()}


class _Functions:
    """The functions of a graph, asked for loops."""

    def __init__(self, graph: TfGraph) -> None:
        self._graph = graph

    @cached_property
    def _definitions(self) -> Mapping[str, FunctionDef]:
        return function_definitions(self._graph)

    def has_loop_in_branch(self, node: NodeDef, *, branched: bool) -> bool:
        """Whether `node`, which is in a branch if `branched`, is a loop there, or calls what holds such a loop."""
        nodes = [node, *self._inside(_named(node))]
        if branched:
            return _has_loop(nodes)
        return any(_has_loop(self._inside(_named(one))) for one in nodes if one.op in BRANCHES)

    def _inside(self, names: Collection[str]) -> list[NodeDef]:
        """The nodes of the functions `names`, and of all that these call."""
        return [node for name in reached(names, self._called) for node in self._nodes(name)]

    def _called(self, name: str) -> list[str]:
        return [called for node in self._nodes(name) for called in _named(node)]

    def _nodes(self, name: str) -> Iterable[NodeDef]:
        return self._definitions[name].node_def if name in self._definitions else ()


def _has_loop(nodes: Iterable[NodeDef]) -> bool:
    return any(node.op in LOOPS for node in nodes)


def _named(node: NodeDef) -> list[str]:
    """The functions that the attributes of `node` name."""

    def told() -> Iterator[str]:
        values: Iterable[AttrValue] = node.attr.values()
        for value in values:
            if value.HasField("func"):
                yield value.func.name
            yield from (function.name for function in value.list.func)

    return list(told())
