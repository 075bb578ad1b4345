"""Records ops that run eagerly, one by one: what each was given and gave, and the Python stack that called it.

The ops of a graph function that is called in between are recorded, too.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import tensorflow as tf

from tfdbg_cli.capture.failures import report
from tfdbg_cli.capture.functions.definition.shown_values import Shown
from tfdbg_cli.capture.functions.instrumented import Outcome
from tfdbg_cli.capture.functions.kept_tensors import KeptTensors
from tfdbg_cli.capture.functions.recomputed import LazyTensor, Recomputed
from tfdbg_cli.capture.runs.eager.log.forward_ops import ForwardOps, given_to
from tfdbg_cli.capture.runs.eager.log.insides import Insides, within
from tfdbg_cli.capture.runs.eager.ops import OPS, leaves
from tfdbg_cli.capture.runs.eager.program.places import scope_of_op, scope_of_tape
from tfdbg_cli.capture.runs.eager.program.stacks import Stack, Tracebacks, stack_here
from tfdbg_cli.capture.runs.function.traced_function import TracedFunction, traced_function
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.compat import eager_context, tensor_id
from tfdbg_cli.capture.tf.types import AtomicFunction, AttributeList, EagerTensor, Method, OpInput, OpOutputs
from tfdbg_cli.model.graph import Graph, GraphKind, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.sources import Traceback

_INPUT = "Placeholder"  # the op type of what was there before: an argument, or a tensor from around the call
_FULL = (
    "The values of the last {} tensors were not taken: those before fill the memory that tfdbg may use "
    "(`config set memory_budget`)."
)


class EagerRecorder:
    """The ops of one call. An op is named after its type and a number: `MatMul_0`, `MatMul_1`.

    `known` names tensors that are there before the call, by their id. The tensors are kept as they are, on their
    devices; once they fill `budget` bytes the rest is left out.
    """

    def __init__(self, known: Mapping[str, EagerTensor], budget: int) -> None:
        self._budget = budget
        self._numbers: Counter[str] = Counter()
        self._nodes: dict[str, Node] = {}
        self._stacks: dict[str, Stack] = {}
        self._values: list[tuple[Shown, LazyTensor | None]] = []
        self._missing = 0
        self._quiet = False
        self._broken = False
        self._places: dict[str, tuple[Mapping[str, Traceback], str]] = {}  # of nodes in functions
        self._names: dict[int, TensorName] = {}
        self._alive: list[OpInput] = []  # a tensor that is freed would leave its id to another
        self._forward = ForwardOps()
        self.outside: dict[str, EagerTensor] = {}
        for name, tensor in known.items():
            self._name(tensor, self._input(name))

    @contextmanager
    def recording(self) -> Iterator[None]:
        """A context in which the ops of this thread are recorded."""
        end = OPS.listen(self)
        before, RECORDING.recorder = RECORDING.recorder, self
        try:
            yield
        finally:
            RECORDING.recorder = before
            end()

    def call(self, atomic: AtomicFunction, inputs: Sequence[EagerTensor], call_flat: Method) -> OpOutputs:
        """Call the graph function `atomic` and record what is in it, as ops of a scope of its name.

        `call_flat` calls it unrecorded. Raises what the call raises.
        """
        if compat.is_initializer(atomic):
            return call_flat(atomic, *inputs)
        traced = traced_function(atomic)
        try:
            instrumented = traced.instrumented
        except Exception as error:  # noqa: BLE001  # the call itself is then recorded as one op
            report("take the values of a function", error)
            return call_flat(atomic, *inputs)
        self._quiet = True
        try:
            outcome = instrumented.perform(inputs, max(self._budget, 0))
        finally:
            self._quiet = False
        self._safely(self._add_call, traced, inputs, outcome)
        if outcome.error is not None:
            raise outcome.error
        return list(outcome.outputs) or None

    def _safely(self, add: Callable[..., None], *what: object) -> None:
        """Call `add(*what)`. A fault of ours must not become one of the program, amid whose ops this happens."""
        if self._broken:
            return
        try:
            add(*what)
        except Exception as error:  # noqa: BLE001
            self._broken = True
            report("record an op", error)

    def _add_call(self, traced: TracedFunction, inputs: Sequence[EagerTensor], outcome: Outcome) -> None:
        scope = self._numbered(traced.name.replace(" ", "_"))
        given = {argument: self._source(tensor) for argument, tensor in zip(traced.given, inputs, strict=True)}
        self._add_graph(scope, traced, given)
        for shown, tensor in outcome.captured.pairs():
            if shown.name.node not in given:
                self._take(replace(shown, name=within(scope, shown.name, given)), tensor)
        if outcome.error is None:
            for name, output in zip(traced.returned, outcome.outputs, strict=True):
                self._name(output, within(scope, name, given))

    def _add_graph(self, scope: str, traced: TracedFunction, given: Mapping[str, TensorName]) -> None:
        """Add the nodes of `traced` under `scope`. What reads an argument reads what was `given` for it."""
        stack = stack_here()
        for own, node in Insides(traced).nodes(scope, given):
            self._nodes[node.name] = node
            self._places[node.name] = (traced.tracebacks, own)
            self._stacks[node.name] = stack

    def store(self) -> KeptTensors:
        """The tensors, in the order in which they were made."""
        return KeptTensors.of(self._values)

    def graph(self) -> Graph:
        """The ops, each reading what those before it gave."""
        return Graph(self._nodes.values(), GraphKind.PYTHON)

    def tracebacks(self) -> Mapping[str, Traceback]:
        """The Python stack of each op."""
        return Tracebacks(self._stacks, self._places)

    def notes(self) -> tuple[str, ...]:
        """A sentence when values are missing for want of room."""
        return (_FULL.format(self._missing),) if self._missing else ()

    def failed(self, op_type: str, stack: Stack) -> str:
        """Add the op that raised an error, of which only the type and the place are known; gives its name."""
        node = f"{scope_of_tape(stack)}{self._numbered(op_type)}"
        self._nodes[node] = Node(node, op_type, "")
        self._stacks[node] = stack
        return node

    def begins(self, op_type: str, inputs: Sequence[OpInput]) -> Stack | None:
        """An op is about to run; see `ops.Listener`."""
        return stack_here(4) if RECORDING.recorder is self and not self._quiet else None

    def ran(
        self, op_type: str, inputs: Sequence[OpInput], attributes: AttributeList, outputs: OpOutputs, begun: Stack
    ) -> OpOutputs:
        """The op gave `outputs`; see `ops.Listener`."""
        self._safely(self._add_op, op_type, tuple(leaves(inputs)), tuple(leaves(outputs)), begun)
        return outputs

    @property
    def forward_ops(self) -> ForwardOps | None:
        """The ops that were recorded; see `ops.Listener`."""
        return self._forward if RECORDING.recorder is self and not self._quiet else None

    def _add_op(self, text: str, inputs: Sequence[OpInput], outputs: Sequence[EagerTensor], stack: Stack) -> None:
        scope = self._forward.scope or eager_context().scope_name or ""
        self._forward.add(text, scope, given_to(inputs), [tensor_id(output) for output in outputs])
        node = f"{scope_of_op(scope, stack)}{self._numbered(text)}"
        device = outputs[0].device if outputs else ""
        self._nodes[node] = Node(node, text, device, tuple(map(self._source, inputs)))
        self._stacks[node] = stack
        for slot, output in enumerate(outputs):
            name = TensorName(node, slot)
            self._name(output, name)
            self._take(Shown(name, text, output.device, output.dtype.as_datatype_enum), output)

    def _take(self, shown: Shown, tensor: Any) -> None:
        to_compute = isinstance(tensor, Recomputed)  # takes no memory but that of what it is made of
        if tensor is not None and not to_compute and tensor.dtype in (tf.resource, tf.variant):
            tensor = None
        if tensor is not None and not to_compute and tensor.dtype != tf.string:
            self._budget -= tensor.dtype.size * int(tensor.shape.num_elements() or 0)
        if self._budget < 0:
            self._missing += 1
        else:
            self._values.append((shown, tensor))

    def _numbered(self, text: str) -> str:
        number = self._numbers[text]
        self._numbers[text] += 1
        return f"{text}_{number}"

    def _name(self, tensor: OpInput, name: TensorName) -> None:
        self._names[id(tensor)] = name
        self._alive.append(tensor)

    def _input(self, name: str) -> TensorName:
        self._nodes[name] = Node(name, _INPUT, "")
        return TensorName(name, 0)

    def _source(self, given: OpInput) -> TensorName:
        name = self._names.get(id(given))
        if name is None:
            tensor = self._as_tensor(given)
            text = f"input_{len(self.outside)}"
            self.outside[text] = tensor
            name = self._input(text)
            self._name(given, name)
        return name

    def _as_tensor(self, given: OpInput) -> EagerTensor:
        """The tensor that TensorFlow makes of what an op is given: a tensor, a variable, or a Python value."""
        if isinstance(given, tf.Tensor):
            return given
        before, self._quiet = self._quiet, True
        try:
            if isinstance(given, tf.Variable):
                return given.read_value()
            return compat.eager_tensor(given)
        finally:
            self._quiet = before


class _Recording(threading.local):
    """The recorder of the call that this thread is in, if that call runs eagerly and is recorded."""

    def __init__(self) -> None:
        self.recorder: EagerRecorder | None = None


RECORDING = _Recording()
