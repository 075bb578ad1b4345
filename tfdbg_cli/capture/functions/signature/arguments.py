"""The inputs of a graph function by name: its arguments, and what it captured from around it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from tfdbg_cli.capture.functions.calling.kept_tensors import array_of
from tfdbg_cli.capture.functions.signature.keras_variables import KERAS_VARIABLES
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.opaque import HANDLE
from tfdbg_cli.capture.tf.static_values import dimensions
from tfdbg_cli.capture.tf.types import EagerTensor, TfGraph
from tfdbg_cli.model.calls import CallArgument
from tfdbg_cli.model.dtypes import HANDLES
from tfdbg_cli.model.lazy_values import LazyValues
from tfdbg_cli.model.names import free_name, node_of_variable
from tfdbg_cli.model.values import Value


@dataclass(frozen=True, slots=True)
class Slot:
    """One input of a graph function. `variable` is the tf.Variable whose handle is given; None for other inputs.

    `constant` is the eager tensor that was captured with its value; None for other inputs.
    """

    argument: CallArgument
    variable: Any = None
    constant: EagerTensor | None = None


def slots_of(graph: TfGraph, handed: Mapping[str, str] = MappingProxyType({})) -> tuple[Slot, ...]:
    """The inputs of `graph` (a FuncGraph) in order; those whose placeholders are in `handed` by the names there.

    An argument is named as its placeholder, which TensorFlow names after the parameter. A captured variable has the
    path that Keras gave it, else its own name, with a number where another has it already. A captured tensor that
    TensorFlow has no name for (it counts them) is named after the op that reads it, as it names others:
    `strided_slice/input`.
    """
    variables = {id(variable.handle): variable for variable in graph.variables if hasattr(variable, "handle")}
    captured = {id(inner): variables.get(id(outer)) for outer, inner in graph.captures}
    captured |= dict.fromkeys(map(id, graph.deferred_internal_captures))
    names = _Names({tensor.op.name for tensor in graph.inputs if captured.get(id(tensor)) is None})
    if any(id(tensor) in captured and tensor.op.name.isdigit() for tensor in graph.inputs):
        names.of_ops = {op.name for op in graph.get_operations()}
    paths = KERAS_VARIABLES.paths([variable for variable in captured.values() if variable is not None])
    slots = (
        _slot(tensor, id(tensor) in captured, captured.get(id(tensor)), names, handed.get(tensor.op.name, ""), paths)
        for tensor in graph.inputs
    )
    held = {id(inner): outer for outer, inner in graph.captures if type(outer) is compat.EagerTensor}
    constants = {inner: outer for inner, outer in held.items() if outer.dtype.name not in HANDLES}
    return tuple(
        replace(slot, constant=constants[id(tensor)]) if id(tensor) in constants else slot
        for slot, tensor in zip(slots, graph.inputs, strict=True)
    )


def _slot(
    tensor: EagerTensor, is_captured: bool, variable: Any, names: _Names, handed: str, paths: Mapping[int, str]
) -> Slot:
    described, name = tensor, handed or tensor.op.name
    if handed:
        names.taken.add(handed)
    elif variable is not None:
        described = variable
        name = names.free(node_of_variable(paths.get(id(variable)) or variable.name))
    elif is_captured and name.isdigit():
        name = names.free(_name_by_reader(tensor), beside_ops=True)
    shape = None if tensor.dtype.name in HANDLES and variable is None else dimensions(described.shape)
    return Slot(CallArgument(name, described.dtype.name, shape, is_captured), variable)


@dataclass
class _Names:
    """The names of inputs that are `taken`, and `of_ops`, beside which some of them stand."""

    taken: set[str]
    of_ops: Collection[str] = ()
    _given: dict[tuple[str, bool], int] = field(default_factory=dict)  # how often each was asked for

    def free(self, wanted: str, *, beside_ops: bool = False) -> str:
        """`wanted`, with a number if it is taken already; the result counts as taken."""
        # What was given once is taken: of the hundreds of variables called `Variable` each begins behind the last.
        given = self._given.get((wanted, beside_ops), 0)
        name = free_name(
            wanted, lambda name: name in self.taken or (beside_ops and name in self.of_ops), beyond=given
        )
        self._given[wanted, beside_ops] = given + 1
        self.taken.add(name)
        return name


def _name_by_reader(tensor: EagerTensor) -> str:
    for op in tensor.consumers():
        names = [arg.name for arg in op.op_def.input_arg]
        position = next(at for at, read in enumerate(op.inputs) if read is tensor)
        return f"{op.name}/{names[position] if position < len(names) else 'input'}"
    return "captured"


def given(slots: Sequence[Slot], inputs: Sequence[EagerTensor]) -> tuple[CallArgument, ...]:
    """The descriptions of `inputs`, eager tensors, with the shapes that they have in this call."""
    return tuple(
        slot.argument
        if slot.argument.shape is None or slot.variable is not None
        else CallArgument(slot.argument.name, slot.argument.dtype, dimensions(tensor.shape), slot.argument.captured)
        for slot, tensor in zip(slots, inputs, strict=False)
    )


def given_values(slots: Sequence[Slot], inputs: Sequence[EagerTensor]) -> Mapping[str, Value]:
    """The values of `inputs` by name, as NumPy arrays made when somebody looks. A variable is read at that moment."""
    held = {
        slot.argument.name: tensor if slot.variable is None else slot.variable
        for slot, tensor in zip(slots, inputs, strict=False)
    }
    return LazyValues(held, value_of)


def value_of(tensor: EagerTensor) -> Value:
    """The array in an eager tensor or a variable, or why there is none."""
    return HANDLE if tensor.dtype.name in HANDLES else array_of(tensor)
