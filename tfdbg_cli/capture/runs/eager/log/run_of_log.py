"""Turns the log of eager ops into the parts of a run (graph, tensors, stacks, feeds), when somebody looks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import tensorflow as tf

from tfdbg_cli.capture.runs.eager.log.composites import Composite
from tfdbg_cli.capture.runs.eager.log.held_values import array_from, kept, variable_value
from tfdbg_cli.capture.runs.eager.log.insides import Insides, called_by, is_call, within
from tfdbg_cli.capture.runs.eager.log.noted_ops import LATER, RESOURCE, Noted, OutsideInput, Read, RecentOp, Released
from tfdbg_cli.capture.runs.eager.log.outside_inputs import (
    INPUT,
    LITERAL,
    VARIABLE,
    attributes_of,
    given_to,
    kind_of,
    kind_of_handle,
)
from tfdbg_cli.capture.runs.eager.log.recent import RecentOps
from tfdbg_cli.capture.runs.eager.log.versions import Versions
from tfdbg_cli.capture.runs.eager.program.places import scope_of_tape
from tfdbg_cli.capture.runs.eager.program.stacks import EagerTracebacks, Stack
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.opaque import HANDLE
from tfdbg_cli.capture.tf.types import EagerTensor
from tfdbg_cli.model.dtypes import HANDLE_NUMBERS, name_of
from tfdbg_cli.model.exactness import same_bits
from tfdbg_cli.model.graph import Graph, GraphKind, Node
from tfdbg_cli.model.names import TensorName, free_name
from tfdbg_cli.model.sources import Traceback
from tfdbg_cli.model.tensors import MemoryTensorStore, Tensor, describe, gone
from tfdbg_cli.model.updates import UPDATED_VARIABLE, after_update
from tfdbg_cli.model.values import Array, NoValue, Value, known_array
from tfdbg_cli.model.walks import reached
from tfdbg_cli.ops.kinds import BATCHES

_CALLED = {INPUT: "input", LITERAL: "number"}
_HANDLE = {"dtype": "resource"}  # of an iterator, a table or the like
_NO_COMPOSITES: Mapping[int, Composite] = MappingProxyType({})
_UPDATED = gone("The variable was updated since; what it held before is not kept.")


@dataclass(frozen=True)
class RunParts:
    """What a run is made of, out of a log."""

    graph: Graph
    store: MemoryTensorStore
    tracebacks: EagerTracebacks
    feeds: Mapping[str, Array]
    handles: Mapping[str, Callable[[], EagerTensor | None]]  # weak references to handles, by names of variables
    came: Mapping[str, int]  # by name, ids of tensors that may be of a batch: feeds, and what iterators gave
    results: Mapping[tuple[int, int], TensorName]  # of called functions, by number of the call in the log and slot
    given: Mapping[int, Mapping[str, TensorName]]  # by number of a call: what the arguments of the function were
    runs_within: Mapping[str, int]  # by the name of a call the number of the run that it was

    def name_of(self, op: Noted, slot: int) -> TensorName:
        """The name of output `slot` of `op` in the run; for a called function that of the tensor inside it."""
        return self.results.get((op.number, slot)) or TensorName(op.name, slot)


def parts_of_run(
    log: RecentOps,
    named: Callable[[OutsideInput], str],
    *,
    last: bool = False,
    failed: Noted | None = None,
    composites: Mapping[int, Composite] = _NO_COMPOSITES,
) -> RunParts:
    """The parts of a run of all ops in `log`; with `last` of its last op and the ops that led to it.

    `named` returns the program's name for a value from outside; empty for none. An op that `failed`, which gave
    nothing, is part of the graph. `composites` are ragged and sparse tensors by the ids of their parts, all of which
    come into the run with one that is read.
    """
    ops = log.ops(failed)
    leading = _leading_to(ops[-1:], ops)
    return _Builder(log, ops, named, leading, composites).parts_of(leading if last else ops)


def parts_leading_to(
    log: RecentOps, ends: Sequence[int], named: Callable[[OutsideInput], str], *, insides: bool
) -> RunParts:
    """The parts of a run that consists of the ops numbered `ends` in `log`, and those that led to them.

    With `insides` the values inside of called functions are computed again where they can be.
    """
    ops = log.ops()
    leading = _leading_to([op for op in ops if op.number in ends], ops)
    return _Builder(log, ops, named, leading if insides else ()).parts_of(leading)


def _leading_to(ends: Sequence[RecentOp], ops: Sequence[RecentOp]) -> list[RecentOp]:
    """The ops `ends` and those of `ops` that led to them, in order."""
    found = set(reached(ends, lambda op: [read[0] for read in op.inputs if not isinstance(read, OutsideInput)]))
    return [op for op in ops if op in found]


class _Builder:
    """Makes nodes, tensors and stacks of one op after the other."""

    def __init__(
        self,
        log: RecentOps,
        ops: Sequence[RecentOp],
        named: Callable[[OutsideInput], str],
        leading: Sequence[RecentOp],
        composites: Mapping[int, Composite] = _NO_COMPOSITES,
    ) -> None:
        """`ops` are all of `log`; called functions among `leading`, those that led to the end, show inner values."""
        self._log = log
        self._versions = Versions(ops, log.updates, kept)
        self._leading = {op.number for op in leading}
        self._named = named
        self._composites = composites
        self._literals: dict[tuple[str, bytes], str] = {}  # numbers that the program wrote down, by their bits
        self._part_names: dict[int, str] = {}  # of parts of these, by their ids
        self._nodes: dict[str, Node] = {}
        self._names: dict[int, str] = {}  # of sources, by their id
        self._alive: list[OutsideInput] = []
        self._feeds: dict[str, Array] = {}
        self._handles: dict[str, Callable[[], EagerTensor | None]] = {}
        self._came: dict[str, int] = {}
        self._tensors: list[Tensor] = []
        self._values: list[Value] = []
        self._executions: Counter[TensorName] = Counter()  # a variable that is updated twice has two executions
        self._stacks: dict[str, Stack] = {}
        self._places: dict[str, tuple[Mapping[str, Traceback], str]] = {}  # of nodes in functions
        self._results: dict[tuple[int, int], TensorName] = {}  # of functions, by the id of the op and the slot
        self._given_back: dict[tuple[int, int], TensorName] = {}  # the same by its number
        self._given: dict[int, Mapping[str, TensorName]] = {}
        self._taken: set[str] = set()  # nodes with a tensor
        self._numbers: Counter[str] = Counter()  # by a name that nodes have the last number put behind it
        self._runs_within: dict[str, int] = {}
        self._updated = {source.key for op in ops for source, _ in op.written}
        self._made: dict[int, str] = {}  # by ids of handles the names of variables that ops made and others updated

    def parts_of(self, ops: Iterable[RecentOp]) -> RunParts:
        for op in ops:
            self._add(op)
        graph = Graph(self._nodes.values(), GraphKind.PYTHON)
        return RunParts(
            graph,
            MemoryTensorStore(self._tensors, self._values),
            EagerTracebacks(self._stacks, self._places),
            self._feeds,
            self._handles,
            self._came,
            self._given_back,
            self._given,
            self._runs_within,
        )

    def _add_call(self, op: RecentOp, insides: Insides) -> None:
        """Add the nodes and results of a called function; with all values inside if it led to the end of the run."""
        given = dict(zip(insides.arguments, (self._read(op, read) for read in op.inputs), strict=False))
        self._given[op.number] = given
        if insides.run is not None:
            self._runs_within[op.name] = insides.run
        for own, node in insides.nodes(op.name, given):
            self._nodes[node.name] = node
            self._places[node.name] = (insides.traced.tracebacks, own)
            self._stacks[node.name] = op.stack
        results = [within(op.name, name, given) for name in insides.traced.returned]
        self._results.update({(id(op), slot): name for slot, name in enumerate(results)})
        self._given_back.update({(op.number, slot): name for slot, name in enumerate(results)})
        outputs = [self._value(op, dtype, value) for _, dtype, value in op.outputs]
        held = list(map(known_array, outputs))
        wanted = op.number in self._leading or insides.held is not None
        store = insides.values([self._held(read) for read in op.inputs], held) if wanted else None
        for row in range(0 if store is None else len(store)):
            assert store is not None
            tensor = store[row]
            if tensor.node not in given and tensor.node in insides.graph:
                name = within(op.name, tensor.name, given)
                self._take(name, op, None, store.value(row), tensor.dtype, tensor.device)
        if store is None:
            for name, (_, dtype, _), value in zip(results, op.outputs, outputs, strict=False):
                if name.node in self._nodes and name.node not in self._taken:
                    self._take(name, op, dtype, value)

    def _held(self, read: Read) -> Array | None:
        """The value that a function was given, or None where the log does not hold it."""
        if isinstance(read, OutsideInput):
            return None if read.dtype in HANDLE_NUMBERS else array_from(read.given)
        op, slot = read
        if slot >= len(op.outputs):
            return None
        _, dtype, taken = op.outputs[slot]
        return known_array(self._value(op, dtype, taken))

    def _add(self, op: RecentOp) -> None:
        insides = called_by(op)
        if insides is not None:
            self._add_call(op, insides)
            return
        shown = self._made_variable(op) or op.name
        inputs = tuple(self._read(op, read) for read in op.inputs)
        pairs = () if is_call(op) else zip(op.attributes[::2], op.attributes[1::2], strict=False)
        attributes = {str(name): _attribute_text(value) for name, value in pairs}
        self._nodes[shown] = Node(shown, op.op_type, op.device, inputs, attributes=attributes)
        self._stacks[shown] = op.stack
        for slot, (key, dtype, value) in enumerate(op.outputs):
            if op.op_type in BATCHES:
                self._came[str(TensorName(shown, slot))] = key
            self._take(TensorName(shown, slot), op, dtype, self._value(op, dtype, value))
        for source, value in op.written:
            variable = self._source(op, source).node
            name = after_update(variable)
            read = [one for one in inputs if one.node != variable]
            before = self._nodes.get(
                name
            )  # what it says of earlier updates, the n-th of which gave its n-th execution
            read = list(dict.fromkeys([TensorName(variable, 0), *(before.inputs if before else ()), *read]))
            updates = (*(before.control_inputs if before else ()), op.name)
            self._nodes[name] = Node(name, UPDATED_VARIABLE, op.device, tuple(read), updates)
            self._stacks[name] = op.stack
            self._take(TensorName(name, 0), op, None, self._written(op, source) if value is LATER else value)

    def _made_variable(self, op: RecentOp) -> str:
        """The name of the variable that `op` makes and a later op updates, under which its updates stand; else empty.

        Of two that the program calls alike one by the other, as it made them, the second has TensorFlow's name.
        """
        key = op.outputs[0][0] if op.op_type == VARIABLE and op.outputs else 0
        if key not in self._updated:
            return ""
        names = [self._named(OutsideInput(None, RESOURCE, key)), op.scope.rstrip("/"), "variable"]
        known = [name for name in names if name]
        name = next((name for name in known if name not in self._nodes), self._free(known[0]))
        self._made[key] = name
        self._results[id(op), 0] = self._given_back[op.number, 0] = TensorName(name, 0)
        return name

    def _take(
        self, name: TensorName, op: RecentOp, dtype: int | None, value: Value, text: str = "", device: str = ""
    ) -> None:
        told = "" if isinstance(value, NoValue) else name_of(value.dtype)
        text = text or (tf.as_dtype(dtype).name if dtype is not None else told)
        self._taken.add(name.node)
        execution = self._executions[name]
        self._executions[name] += 1
        op_type = self._nodes[name.node].op_type
        self._tensors.append(
            describe(name, value, device=device or op.device, op_type=op_type, dtype=text, execution=execution)
        )
        self._values.append(value)

    def _value(self, op: RecentOp, dtype: int, taken: Any) -> Value:
        if dtype in HANDLE_NUMBERS:
            return HANDLE
        if taken is not None and not isinstance(taken, Released):
            return array_from(taken)
        source = self._log.updates.variable_read_by(op)
        handle = None if source is None else source.given()
        if handle is None:
            known = self._versions.read_by(op)
            value: Value = _UPDATED if known is None else known
        else:
            value = variable_value(handle, compat.type_in_variable(handle) or 0)
        return value.reshape(taken.shape) if taken is not None and not isinstance(value, NoValue) else value

    def _written(self, op: RecentOp, source: OutsideInput) -> Value:
        """The value that the variable held after the update `op`, though nobody read it then (`LATER`)."""
        value = self._now(op, source)
        known = self._versions.written_by(op, source) if isinstance(value, NoValue) else None
        return value if known is None else known

    def _now(self, op: RecentOp, source: OutsideInput) -> Value:
        """What the variable that `op` updated holds, if it was not updated since."""
        handle = None if self._log.updates.is_updated_after(source, op.number) else source.given()
        if handle is None:
            return _UPDATED
        return variable_value(handle, compat.type_in_variable(handle) or 0)

    def _read(self, reader: RecentOp, read: Read) -> TensorName:
        if isinstance(read, OutsideInput):
            return self._source(reader, read)
        op, slot = read
        if (id(op), slot) in self._results:
            return self._results[id(op), slot]
        if op.name not in self._nodes:  # one that was dropped
            self._nodes[op.name] = Node(op.name, op.op_type, op.device)
            self._stacks[op.name] = op.stack
        return TensorName(op.name, slot)

    def _source(self, op: RecentOp, source: OutsideInput) -> TensorName:
        if source.key in self._made:
            self._handles[self._made[source.key]] = source.given
            return TensorName(self._made[source.key], 0)
        name = self._names.get(id(source)) or self._part_name(source)
        if name is None:
            handle = source.dtype in HANDLE_NUMBERS
            given = None if handle else given_to(op, source)
            kind, own = kind_of_handle(source.given()) if given is None else (kind_of(op, source, given), "")
            named = self._named(source)
            if named and given is not None and self._is_fed(named, given):
                self._names[id(source)] = named  # an array of the program's, of which each op makes a tensor anew
                self._alive.append(source)
                return TensorName(named, 0)
            written = None if named or given is None or given.ndim else self._literals.get(_bits(given))
            if written is not None and kind == INPUT and scope_of_tape(op.stack):
                self._names[id(source)] = written  # a tape hands on what TensorFlow made of the program's number
                self._alive.append(source)
                return TensorName(written, 0)
            wanted = named or own or ("handle" if handle else _CALLED[kind])
            name = self._free(wanted)
            self._names[id(source)] = name
            self._alive.append(source)
            self._nodes[name] = Node(name, kind, "", attributes=_HANDLE if handle and kind == INPUT else {})
            if given is not None and kind == LITERAL:
                self._stacks[name] = op.stack
                self._literals[_bits(given)] = name  # a scalar
                self._take(TensorName(name, 0), op, None, given)
            elif given is not None:
                self._feeds[name] = given
                self._nodes[name] = Node(name, kind, "", attributes=attributes_of(given))
                self._came[name] = source.key
            elif kind == VARIABLE:
                self._handles[name] = source.given
        return TensorName(name, 0)

    def _free(self, wanted: str) -> str:
        """`wanted`, with a number where a node has that name."""
        name = free_name(wanted, self._nodes.__contains__, beyond=self._numbers[wanted])
        if name != wanted:
            self._numbers[wanted] = int(name.removeprefix(f"{wanted}_"))
        return name

    def _part_name(self, source: OutsideInput) -> str | None:
        """The name of a part of a ragged or sparse tensor, of which all parts come in; None of what is no such."""
        composite = self._composites.get(source.key)
        if composite is None or not source.dtype:  # a Python value has the key 0, as has the first tensor of all
            return None
        if source.key not in self._part_names:
            for name, part in composite.names_beside(self._nodes).items():
                given = array_from(compat.host_array(part))
                self._feeds[name] = given
                self._nodes[name] = Node(name, INPUT, "", attributes=attributes_of(given))
                self._came[name] = compat.tensor_id(part)
                self._part_names[compat.tensor_id(part)] = name
        return self._part_names[source.key]

    def _is_fed(self, name: str, given: Array) -> bool:
        """Whether what is shown as `name` is `given` from outside, to the last bit."""
        fed = self._feeds.get(name)
        return fed is not None and same_bits(fed, given)


def _attribute_text(value: object) -> str:
    """An attribute as the texts of graphs have it."""
    if isinstance(value, tf.DType):
        return str(value.name)
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)


def _bits(number: Array) -> tuple[str, bytes]:
    """What tells one number from another, dtype included."""
    return str(number.dtype), number.tobytes()
