"""Which tensors of the program's graph a call computes, and which of them can be fetched beside its own.

Fetching a tensor that need not be produced would make the call fail. So nothing is fetched inside a while loop of
version 1 nor in a branch that may not be taken.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from tfdbg_cli.capture.sessions.graph_ops import GraphOp, has_tensor
from tfdbg_cli.capture.sessions.hidden_ops import program_version
from tfdbg_cli.capture.tf.memo import Memos
from tfdbg_cli.capture.tf.op_definitions import definition_of, is_stateful, only_computes
from tfdbg_cli.capture.tf.opaque import leads_elsewhere
from tfdbg_cli.capture.tf.types import GraphElement, Op, SymbolicTensor, TfGraph
from tfdbg_cli.model.walks import needs_first
from tfdbg_cli.ops.control_flow import OUTSIDE, Edges, Nest, inside, nests
from tfdbg_cli.ops.effects import may_run_again
from tfdbg_cli.ops.kinds import ENTER, EXIT, LOOP_CONDITION, MERGE, NEXT_ITERATION, SWITCH
from tfdbg_cli.ops.op_view import TensorKind

# Fetching their outputs would create handles to tensors that stay on the device until somebody deletes them.
_HANDLES = frozenset({"GetSessionHandle", "GetSessionHandleV2"})
# A part of a path may have 255 bytes, a path 4096. TensorFlow adds slot, debug op and time to a name, and the
# optimizer what it makes of the node ("…-0-TransposeNHWCToNCHW-LayoutOptimizer").
_LONGEST_PART = 150
_LONGEST_NAME = 3000


@dataclass(frozen=True, slots=True)
class Reach:
    """The tensors of one kind of call, in topological order, fed ones first; `fetchable` are those with numbers.

    `opaque` names those that are handles, or references to variables: they are listed but not fetched. `hidden`
    counts the tensors that are not listed, most of them in loops and branches. `loops` says whether a while loop of
    version 1 is among the ops, `calls` whether functions are called, whose insides are not listed. `inside` names the
    ops in loops and branches. `stateful` is an op that may give something else, or change something, when it runs
    again; None if there is none. `unwritable` is the name of an op that cannot be that of a file; empty if there is
    none. `ops` are the ops, inputs first.
    """

    tensors: tuple[SymbolicTensor, ...]
    fetchable: Mapping[str, SymbolicTensor]
    opaque: frozenset[str]
    hidden: int
    loops: bool
    stateful: Op = None
    unwritable: str = ""
    calls: bool = False
    inside: frozenset[str] = frozenset()
    ops: tuple[GraphOp, ...] = ()

    @property
    def order(self) -> list[Op]:
        """The ops as TensorFlow has them, inputs first."""
        return [op.op for op in self.ops]


KINDS = 64  # of calls of one graph, of which is kept what was found out: programs make several in turn
_REACHES: Memos[Reach] = Memos(keep=KINDS)


def reach(graph: TfGraph, ends: Iterable[Op], fed_names: Collection[str]) -> Reach:
    """What a call computes that runs the operations `ends` while the tensors `fed_names` are fed.

    Kept with the graph for the next call of that kind.
    """
    operations = list(ends)
    key = (program_version(graph), tuple(op.name for op in operations), tuple(sorted(fed_names)))
    return _REACHES.of(graph, key, lambda: _reach(graph, operations, frozenset(fed_names)))


def ends_among(elements: Iterable[GraphElement], fed_names: Collection[str]) -> list[Op]:
    """The ops of the graph elements `elements`, without those that are fed: a run is made for the sake of these.

    A tensor that is both fetched and fed is handed back: TensorFlow does not run its op, nor what leads there.
    """
    return [getattr(element, "op", element) for element in elements if element.name not in fed_names]


def ancestors(ends: Iterable[Op], fed_names: Collection[str]) -> list[Op]:
    """The operations that `ends` need, with them, inputs first; past a fed tensor nothing is needed.

    Only the way back of a loop (NextIteration) comes after its reader.
    """
    ways_back: list[Op] = []

    def needs(op: Op) -> Iterable[Op]:
        found = needs_of(op, fed_names)
        # Only a Merge or an op with control inputs can need a way back; asking all ops takes half as long again.
        return forward(found) if op.type in MERGE or op.control_inputs else found

    def forward(found: Iterable[Op]) -> Iterator[Op]:
        for need in found:
            if need.type in NEXT_ITERATION:
                ways_back.append(need)
            else:
                yield need

    def starts() -> Iterator[Op]:
        for end in ends:
            yield end
            while ways_back:
                yield ways_back.pop()

    return list(needs_first(starts(), needs))


def needs_of(op: Op, fed_names: Collection[str]) -> list[Op]:
    """The operations that `op` reads or waits for; past a fed tensor nothing is needed."""
    needs = [tensor.op for tensor in op.inputs if not fed_names or tensor.name not in fed_names]
    needs.extend(op.control_inputs)
    return needs


def _reach(graph: TfGraph, ends: Sequence[Op], fed_names: frozenset[str]) -> Reach:
    order, kinds = ancestors(ends, fed_names), dict[str, TensorKind]()
    ops = tuple(GraphOp(op, kinds) for op in order)
    types = {op.op_type for op in ops}
    within = frozenset() if (ENTER | SWITCH).isdisjoint(types) else inside(nests_of(order, fed_names))
    listed = {name: graph.as_graph_element(name) for name in sorted(fed_names) if has_tensor(graph, name)}
    opaque: set[str] = set()
    hidden = 0
    for op in ops:
        shown = op.name not in within and op.op_type not in _HANDLES and graph.is_fetchable(op.op)
        for name, tensor, dtype in zip(op.outputs, op.given, op.dtypes, strict=True):
            if fed_names and name in fed_names:
                continue
            if not shown:
                hidden += 1
                continue
            listed[name] = tensor
            if leads_elsewhere(dtype):
                opaque.add(name)
    more = [op for op in ops if not only_computes(op.op_type)]
    stateful = next((op.op for op in more if _is_stateful(op.op)), None)
    unwritable = next((op.name for op in ops if not _can_be_file(op.name)), "")
    calls = any(op.calls_functions for op in more)
    fetchable = {name: tensor for name, tensor in listed.items() if name not in opaque} if opaque else listed
    return Reach(
        tuple(listed.values()), fetchable, frozenset(opaque), hidden, not ENTER.isdisjoint(types), stateful,
        unwritable, calls, within, ops,
    )  # fmt: skip


def _can_be_file(name: str) -> bool:
    """Whether the dumps of a node can be called after it, as TensorFlow does: scopes become folders."""
    if len(name) <= _LONGEST_PART and "." not in name:
        return True
    return len(name) <= _LONGEST_NAME and all(map(_can_be_part, name.split("/")))


def _can_be_part(part: str) -> bool:
    return len(part) <= _LONGEST_PART and part not in {".", ".."}


def _is_stateful(op: Op) -> bool:
    return not may_run_again(op.type) and definition_of(op) is not None and is_stateful(op)


def nests_of(order: Sequence[Op], fed_names: frozenset[str]) -> dict[str, Nest]:
    """For each op of `order`, inputs first, by its name, the loops and undecided branches of version 1 it is in."""
    types = {op.name: op.type for op in order}
    if (ENTER | SWITCH).isdisjoint(types.values()):
        return dict.fromkeys(types, OUTSIDE)
    return nests(types, edges_of(order, fed_names), dead_exits(order, fed_names))


def edges_of(order: Sequence[Op], fed_names: Collection[str]) -> Edges:
    """The graph of the ops in `order`, read for the loops and branches in it."""
    needs = {op.name: needs_of(op, fed_names) for op in order}
    ops = {op.name: op for op in chain(*needs.values(), order)}
    return Edges(
        lambda name: str(ops[name].type),
        lambda name: (need.name for need in needs[name]),
        lambda name: str(ops[name].get_attr("frame_name").decode()),
    )


def dead_exits(order: Sequence[Op], fed_names: Collection[str]) -> frozenset[str]:
    """The Exit ops of `order`, inputs first, that hand nothing out: they wait for what does not run in the last turn.

    That is an op of the loop's body. TensorFlow makes such gradients of a loop where an update that has an output is
    to come before them (`tf.control_dependencies`), and runs them without an error as long as nobody fetches one.
    """
    loops = loops_of(order, fed_names)
    left_out: dict[str, frozenset[Op]] = {}  # by op, the loops in the last turn of which it does not run

    def of_tensor(tensor: SymbolicTensor) -> frozenset[Op]:
        op = tensor.op
        known = left_out[op.name]
        decides = op.type in SWITCH and op.inputs[1].op.type in LOOP_CONDITION
        return known.union(loops[op.name][-1:]) if decides and tensor.value_index == 1 else known

    dead: set[str] = set()
    for op in order:
        # The way back of a loop comes after the Merge that reads it.
        read = [of_tensor(given) for given in op.inputs if given.op.name in left_out and given.name not in fed_names]
        found = frozenset().union(*(left_out[before.name] for before in op.control_inputs if before.name in left_out))
        if op.type not in MERGE:
            found = found.union(*read)
        elif read:  # it hands on whichever of its inputs is there
            found |= read[0].intersection(*read[1:])
        if op.type in NEXT_ITERATION | EXIT:
            own = loops.get(op.inputs[0].op.name, ())[-1:]
            if op.type in EXIT and not found.isdisjoint(own):
                dead.add(op.name)
            found = found.difference(own)
        left_out[op.name] = found
    return frozenset(dead)


def loops_of(order: Sequence[Op], fed_names: Collection[str]) -> dict[str, tuple[Op, ...]]:
    """The loops that each op is in, by its name: one of the Enter ops of each loop, the outermost first."""
    first: dict[tuple[str, ...], Op] = {}
    found: dict[str, tuple[Op, ...]] = {}
    for op, nest in zip(order, nests((op.name for op in order), edges_of(order, fed_names)).values(), strict=True):
        frames = [within.frame for within in nest[1:]]
        if op.type in ENTER:
            first.setdefault(tuple(frames), op)
        found[op.name] = tuple(first[tuple(frames[:depth])] for depth in range(1, len(frames) + 1))
    return found
