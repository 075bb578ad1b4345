"""A function's run for the stepper: its nodes, plain calls inlined, each computed by a call of its own."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import cached_property

import numpy as np
import tensorflow as tf

from tfdbg_cli.capture.functions.calling.kept_tensors import array_of
from tfdbg_cli.capture.functions.definition.call_tree import ARGUMENT, Scope
from tfdbg_cli.capture.functions.definition.flat import FlatFunction, FlatNode, flat_function, is_marker
from tfdbg_cli.capture.tf import colocation, compat
from tfdbg_cli.capture.tf.observers import own_ops
from tfdbg_cli.capture.tf.op_errors import OpError
from tfdbg_cli.capture.tf.opaque import HANDLE
from tfdbg_cli.capture.tf.reentrancy import INSIDE
from tfdbg_cli.capture.tf.types import EagerTensor, FunctionDef
from tfdbg_cli.capture.what_if.effects import RerunEffect
from tfdbg_cli.capture.what_if.function_slice import effects_in, writes
from tfdbg_cli.capture.what_if.random_draws import drawing_notes, require_drawable
from tfdbg_cli.capture.what_if.stepping import OpStep, StepOutput
from tfdbg_cli.capture.what_if.words import op_failed
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.dtypes import RESOURCE, element_type
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.stepping import StepNode
from tfdbg_cli.model.values import Array, NoValue, Value
from tfdbg_cli.model.walks import depth_first, needs_first

_SERIAL = itertools.count(1)


class FunctionProgram:
    """The function of `root` called with `inputs` (`stepping.SteppedRun`).

    `fresh` gives the inputs anew, with handles of new copies of the variables. `forget` is called at the end. `drawn`
    has the op types of nodes whose outputs are arguments here, since they drew them in the run that is over.
    """

    def __init__(
        self,
        root: Scope,
        fresh: Callable[[], Sequence[EagerTensor]],
        forget: Callable[[], None] = lambda: None,
        drawn: Mapping[str, str] | None = None,
    ) -> None:
        """Copy the variables.

        Raises:
            TfdbgError: a loop or branch of version 1 is in the function.

        """
        self._flat = flat_function(root)
        self._fresh = fresh
        self._forget = weakref.finalize(self, forget)
        self._names = [root.stands_for.get(at, name) for at, name in enumerate(self._flat.arguments)]
        self._drawn = drawn or {}
        self._inputs: dict[TensorName, EagerTensor] = {}
        self.restore()
        hidden = next((node for node in self._needed.values() if node.is_hidden), None)
        if hidden is not None:
            raise TfdbgError(
                f"{hidden.name} is in a loop or a branch of version 1 inside a function: there are no steps in there."
            )

    def restore(self) -> None:
        """Put the variables back. See Program."""
        with own_ops(), tf.device(None):
            self._inputs = dict(zip(self._flat.arguments, self._fresh(), strict=True))

    def held(self, variable: str) -> Array | None:
        """See SteppedRun."""
        name = TensorName(variable, 0)
        dtype = self._type_held(name)
        with own_ops(), tf.device(None):
            if dtype is None or not tf.raw_ops.VarIsInitializedOp(resource=self._inputs[name]):
                return None
            value = array_of(tf.raw_ops.ReadVariableOp(resource=self._inputs[name], dtype=dtype))
        return None if isinstance(value, NoValue) else value

    def assign(self, variable: str, value: Array) -> None:
        """See SteppedRun."""
        name = TensorName(variable, 0)
        dtype = self._type_held(name)
        assert dtype is not None  # else it holds nothing
        given = self.value(value, tf.as_dtype(dtype).name)
        with own_ops(), tf.device(None):
            tf.raw_ops.AssignVariableOp(resource=self._inputs[name], value=given)

    def _type_held(self, name: TensorName) -> int | None:
        """The number of the element type of the variable behind the handle `name`, as the nodes that use it tell."""
        if name not in self._inputs or self._flat.type_of(name) != RESOURCE:
            return None
        attributes = (node.template.attr for node in self._needed.values() if name in node.inputs)
        told = (attr[key].type for attr in attributes for key in ("dtype", "T") if key in attr)
        return next(told, None)

    @property
    def given(self) -> Mapping[TensorName, EagerTensor]:
        """The arguments that hold numbers, by the names that they have in the run."""
        return {
            shown: self._inputs[name]
            for shown, name in zip(self._names, self._flat.arguments, strict=True)
            if self._flat.has_numbers(name)
        }

    @cached_property
    def steps(self) -> Sequence[OpStep]:
        """The arguments that hold numbers, and then the nodes. See Program."""
        given: dict[str, list[TensorName]] = {}
        for name in self.given:
            given.setdefault(name.node, []).append(name)
        arguments = [self._argument(node, names) for node, names in given.items()]
        return [*arguments, *(self._step(node) for node in self._sorted() if node.name not in given)]

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """See Program."""
        drawing = [node for node in self._needed.values() if RerunEffect.DRAW in effects_in(node)]
        return drawing_notes((node.name, node.op_type) for node in drawing)

    def compute(
        self, step: OpStep, known: Mapping[TensorName, EagerTensor], overridden: Collection[TensorName]
    ) -> Sequence[EagerTensor | None]:
        """See Program."""
        node = self._needed.get(step.name)
        if node is None or step.given:
            return [known.get(output.name) for output in step.outputs]
        require_drawable(node.name, node.op_type)
        definition, arguments = _alone(self._flat, node)
        inputs = [self._input(name, known) for name in arguments]
        with own_ops(), tf.device(None):
            compat.add_function(definition)
            try:
                return list(compat.run_function(definition.signature.name, inputs, len(step.outputs)))
            except OpError as error:
                raise op_failed(node.name, error) from error
            finally:
                compat.remove_function(definition.signature.name)

    def array(self, value: EagerTensor) -> Value:
        """See Program."""
        return HANDLE if value.dtype in (tf.resource, tf.variant) else array_of(value)

    def value(self, array: Array, dtype: str) -> EagerTensor:
        """See Program."""
        with INSIDE, tf.device(None):
            return tf.constant(np.array(array, copy=True), tf.as_dtype(dtype))

    def close(self) -> None:
        """See Program."""
        self._inputs = {}
        self._forget()

    def _input(self, name: TensorName, known: Mapping[TensorName, EagerTensor]) -> EagerTensor:
        shown = self._shown(name)
        return known[shown] if shown in known else self._inputs[name]

    def _shown(self, name: TensorName) -> TensorName:
        return self._places.get(name, name)

    @cached_property
    def _places(self) -> Mapping[TensorName, TensorName]:
        return dict(zip(self._flat.arguments, self._names, strict=True))

    @cached_property
    def _needed(self) -> Mapping[str, FlatNode]:
        """The nodes that the function's outputs and side effects need."""
        nodes = self._flat.nodes
        ends = (*(name.node for name in self._flat.returns), *self._flat.effects)
        found = depth_first(ends, lambda name: nodes[name].needs if name in nodes else ())
        return {name: nodes[name] for name in found if name in nodes and not is_marker(nodes[name])}

    def _sorted(self) -> Iterator[FlatNode]:
        """The needed nodes, each behind what it reads and waits for, otherwise as the function has them."""

        def needs(name: str) -> Iterator[str]:
            node = self._needed[name]
            before = (*(tensor.node for tensor in node.inputs), *self._waits(node))
            return (other for other in reversed(before) if other in self._needed)

        wanted = (name for name in self._flat.nodes if name in self._needed)
        return map(self._needed.__getitem__, needs_first(wanted, needs))

    def _waits(self, node: FlatNode) -> tuple[str, ...]:
        """The nodes that come before `node` by control edges, seen through the ends of inlined calls."""
        nodes = self._flat.nodes

        def behind_marker(name: str) -> tuple[str, ...]:
            return nodes[name].controls if name in nodes and is_marker(nodes[name]) else ()

        found = depth_first((*node.controls, *node.through), behind_marker)
        return tuple(name for name in found if name in nodes and not is_marker(nodes[name]))

    def _argument(self, node: str, names: Sequence[TensorName]) -> OpStep:
        """What was given as `names`: an argument, or what the op `node` drew in the run that is over."""
        outputs = tuple(
            StepOutput(name, element_type(self._type(name)).name, feedable=True) for name in sorted(names)
        )
        return OpStep(StepNode(node, self._drawn.get(node, ARGUMENT)), "", outputs, given=True)

    def _type(self, shown: TensorName) -> int:
        return next(self._flat.type_of(own) for own, name in self._places.items() if name == shown)

    def _step(self, node: FlatNode) -> OpStep:
        outputs = tuple(
            StepOutput(name, element_type(self._flat.type_of(name)).name, self._flat.has_numbers(name))
            for name in node.outputs
        )
        variables = tuple(str(name.node) for name in node.inputs if self._flat.type_of(name) == RESOURCE)
        written = variables if writes(node) else ()
        shown = StepNode(node.name, node.op_type, tuple(map(self._shown, node.inputs)))
        return OpStep(shown, node.device, outputs, self._waits(node), variables, written)


def _alone(flat: FlatFunction, node: FlatNode) -> tuple[FunctionDef, Sequence[TensorName]]:
    """A FunctionDef that does what `node` does, given what it reads; the tensors that are its arguments."""
    definition = tf.compat.v1.GraphDef().library.function.add()
    definition.signature.name = f"__tfdbg_step_{next(_SERIAL)}"
    definition.signature.is_stateful = True
    made = deepcopy(node.template)
    made.name = "node"
    made.device = node.device
    made.ClearField("input")
    colocation.forget(made)
    arguments = list(dict.fromkeys(node.inputs))
    for position, name in enumerate(arguments):
        definition.signature.input_arg.add(name=f"given_{position}", type=flat.type_of(name))
    made.input.extend(f"given_{arguments.index(name)}" for name in node.inputs)
    definition.node_def.append(made)
    for name in node.outputs:
        output = flat.output(name)
        definition.signature.output_arg.add(name=f"value_{name.slot}", type=output.dtype)
        definition.ret[f"value_{name.slot}"] = output.reference.replace(node.name, "node", 1)
    definition.control_ret["done"] = "node"
    definition.signature.control_output.append("done")
    return definition, arguments


def copies_of(inputs: Sequence[EagerTensor], values: Mapping[int, EagerTensor]) -> list[EagerTensor]:
    """`inputs` with new variables, which hold `values`, in the place of the handles there; equal ones stay equal."""
    made: dict[int, EagerTensor] = {}
    found = []
    for position, given in enumerate(inputs):
        if position in values:
            if id(given) not in made:
                made[id(given)] = compat.new_variable(values[position])
            found.append(made[id(given)])
        else:
            found.append(given)
    return found


def values_now(inputs: Iterable[EagerTensor]) -> dict[int, EagerTensor]:
    """The values of the variables whose handles are among `inputs`, by position, as they are now."""
    found = {}
    for position, given in enumerate(inputs):
        dtype = compat.type_in_variable(given) if given.dtype == tf.resource else None
        if dtype is not None and tf.raw_ops.VarIsInitializedOp(resource=given):
            found[position] = tf.raw_ops.ReadVariableOp(resource=given, dtype=tf.as_dtype(dtype))
    return found
