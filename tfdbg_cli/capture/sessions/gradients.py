"""Gradients inside a graph, found by the tensor with respect to which they are."""

from __future__ import annotations

import re
import threading
import uuid
from types import TracebackType
from typing import Any

import tensorflow as tf

from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.types import Op, SymbolicTensor, TfGraph
from tfdbg_cli.formats.messages.graph_nodes import tensor_name

_TAG = "gradient_debug_"
_NAME = re.compile(rf"(?P<node>.+)_(?P<slot>\d+)/{_TAG}(?P<key>[0-9a-f]+)(_\d+)?")
_GRADIENT = "TfdbgGradientOfIdentity"
_OPS = ("DebugGradientIdentity", "DebugGradientRefIdentity")

_debuggers: dict[str, GradientsDebugger] = {}
_registering = threading.Lock()
_registered: list[str] = []


class GradientsDebugger:
    """Knows the gradient tensors that `tf.gradients` and optimizers make, by the tensors that were named to it.

    Name a tensor with `identify_gradient` while the graph is built, or with a `watch_gradients_by_…` method when it
    is; then make the gradients inside `with debugger:`. The context may be left out while there is but one debugger.
    """

    def __init__(self, y_tensor: SymbolicTensor = None) -> None:
        """Begin without gradients; `y_tensor` is what is going to be differentiated, and names the graph."""
        self._key = uuid.uuid4().hex
        _debuggers[self._key] = self
        self._y_tensor = y_tensor
        self._graph: TfGraph = None if y_tensor is None else y_tensor.graph
        self._gradients: dict[str, SymbolicTensor] = {}
        self._active = False

    @property
    def y_tensor(self) -> SymbolicTensor:
        """What is differentiated, if it was given."""
        return self._y_tensor

    @property
    def graph(self) -> TfGraph:
        """The graph of the gradients; None as long as it is not known."""
        return self._graph

    def __enter__(self) -> GradientsDebugger:
        self._active = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._active = False

    def identify_gradient(self, input_tensor: SymbolicTensor) -> SymbolicTensor:
        """A tensor like `input_tensor`, to be used in its place: gradients that flow back through it are found.

        Raises:
            ValueError: this debugger has one for this tensor already.

        """
        _register_gradient()
        read = tensor_name(input_tensor.name)
        name = f"{read.node}_{read.slot}/{_TAG}{self._key}"
        graph = input_tensor.graph
        make = getattr(tf.raw_ops, _OPS[input_tensor.dtype.name.endswith("_ref")])
        # The gradient is our own even where TensorFlow's debugger has registered one for these ops. The name must be
        # found again, so no scope of the program's goes before it.
        with graph.gradient_override_map(dict.fromkeys(_OPS, _GRADIENT)), graph.name_scope(None):
            result = make(input=input_tensor, name=name)
        if result.op.name != name:
            raise ValueError(f"The graph already contains an op named {name}")
        return result

    def watch_gradients_by_tensors(self, graph: TfGraph, tensors: Any) -> GradientsDebugger:
        """Find gradients with respect to `tensors`: a tensor or variable of `graph`, or a list of these.

        What reads them in the graph as it is now reads them through an identity from now on. The result is this
        debugger, for a `with` statement.
        """
        listed = tensors if isinstance(tensors, list | tuple) else [tensors]
        names = "|".join(re.escape(tensor.name) for tensor in listed)
        return self.watch_gradients_by_tensor_names(graph, f"(?:{names})$")

    def watch_gradients_by_tensor_names(self, graph: TfGraph, tensor_name_regex: str) -> GradientsDebugger:
        """As `watch_gradients_by_tensors`, for all tensors whose names (`node:slot`) match from the start."""
        pattern = re.compile(tensor_name_regex)
        found = [output for op in graph.get_operations() for output in op.outputs if pattern.match(output.name)]
        with graph.as_default():
            for output in found:
                readers = list(output.consumers())
                identity = self.identify_gradient(output)
                for reader in readers:
                    for slot, read in enumerate(reader.inputs):
                        if read is output:
                            compat.replace_input(reader, slot, identity)
        return self

    def register_gradient_tensor(self, x_tensor_name: str, gradient_tensor: SymbolicTensor) -> None:
        """Keep `gradient_tensor` as the gradient with respect to `x_tensor_name`, if this debugger is the one in use.

        Raises:
            ValueError: it is of another graph than those before.

        """
        if not self._active and len(_debuggers) != 1:
            return
        if self._graph is None:
            self._graph = gradient_tensor.graph
        elif self._graph is not gradient_tensor.graph:
            raise ValueError(
                f"The graph of the value ({gradient_tensor.graph}) is not the same as the graph {self._graph}"
            )
        self._gradients[x_tensor_name] = gradient_tensor

    def gradient_tensor(self, x_tensor: SymbolicTensor | str) -> SymbolicTensor:
        """The gradient with respect to `x_tensor`: a tensor, a variable, or the name of a tensor.

        Raises:
            LookupError: no such gradient was made.
            TypeError: `x_tensor` is something else.

        """
        if not isinstance(x_tensor, str | tf.Tensor | tf.Variable):
            raise TypeError(
                f"x_tensor must be a str or tf.Tensor or tf.Variable, but instead has type {type(x_tensor)}"
            )
        name = x_tensor if isinstance(x_tensor, str) else x_tensor.name
        if name not in self._gradients:
            raise LookupError(f"This GradientsDebugger has not received any gradient tensor for x-tensor {name}")
        return self._gradients[name]

    def gradient_tensors(self) -> dict[str, SymbolicTensor]:
        """Every gradient tensor that is known, by the name of the tensor with respect to which it is."""
        return self._gradients


def clear_gradient_debuggers() -> None:
    """Forget all debuggers: gradients made from now on are found by none of them."""
    _debuggers.clear()


def _register_gradient() -> None:
    with _registering:
        if not _registered:
            tf.RegisterGradient(_GRADIENT)(_gradient_of_identity)
            _registered.append(_GRADIENT)


def _gradient_of_identity(op: Op, gradient: SymbolicTensor) -> SymbolicTensor:
    # An op that was copied into another scope has a longer name: then the debugger is not told.
    match = _NAME.fullmatch(op.name)
    debugger = _debuggers.get(match["key"]) if match else None
    if match is not None and debugger is not None:
        debugger.register_gradient_tensor(f"{match['node']}:{match['slot']}", gradient)
    return gradient
