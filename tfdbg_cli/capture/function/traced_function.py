"""What tfdbg found out about a graph function, once for all its calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from tfdbg_cli.capture import compat
from tfdbg_cli.capture.estimate import estimate
from tfdbg_cli.capture.function.arguments import Slot, slots_of
from tfdbg_cli.capture.function.call_tree import Scope
from tfdbg_cli.capture.function.graph import function_graph, function_tracebacks
from tfdbg_cli.capture.function.instrumented import Instrumented, instrument
from tfdbg_cli.capture.function.scopes import scope_of
from tfdbg_cli.config import Settings
from tfdbg_cli.model.graph import Graph, GraphKind
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Estimate
from tfdbg_cli.model.sources import Traceback

_ATTRIBUTE = "_tfdbg_traced"
_BACKWARD = "__backward_"
_LOADED = "restored_function_body"  # what TensorFlow calls every function that was loaded from a SavedModel


class TracedFunction:
    """A graph function, seen as its callers and its insides need it. Everything is made when it is asked for."""

    def __init__(self, atomic: Any) -> None:
        self._atomic = atomic
        self.taken: int | None = None  # bytes that the values of the last captured call took

    @cached_property
    def _concrete(self) -> Any:
        return compat.concrete_of(self._atomic)

    @cached_property
    def _root(self) -> Scope:
        return scope_of(self._concrete)

    @cached_property
    def name(self) -> str:
        """The name of the Python function; that of a gradient tells of what it is one."""
        name = str(self._atomic.graph.name)
        if name.startswith(_BACKWARD):
            return f"gradient of {name.removeprefix(_BACKWARD).rpartition('_')[0]}"
        return name

    def name_in(self, function: Any) -> str:
        """The name, when `function` (a tf.function or None) was called."""
        if self.name == _LOADED and function is not None:
            return compat.function_name(compat.traces_of(function)[0].name)
        return self.name

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """The inputs, under the names of the nodes that stand for them in a run."""
        slots = zip(slots_of(self._atomic.graph), self._root.argument_names, strict=True)
        return tuple(replace(slot, argument=replace(slot.argument, name=name)) for slot, name in slots)

    @property
    def given(self) -> tuple[str, ...]:
        """The names of the nodes that stand for the inputs."""
        return tuple(self._root.argument_names)

    @cached_property
    def returned(self) -> tuple[TensorName, ...]:
        """The tensors that are given back, followed to where they are made."""
        return tuple(map(self._root.resolve, self._root.body.returns))

    @cached_property
    def graph(self) -> Graph:
        """The program's graph, nested functions included."""
        return function_graph(self._concrete)

    @cached_property
    def tracebacks(self) -> Mapping[str, Traceback]:
        """Where its nodes were made."""
        return function_tracebacks(self._concrete)

    @cached_property
    def instrumented(self) -> Instrumented:
        """The same function with every intermediate value given back."""
        return instrument(self._concrete)

    def estimate(self, admits: Callable[[Any], bool], inputs: Sequence[Any], settings: Settings) -> Estimate:
        """What the values of a call with `inputs` take: as in the last captured call, else by the static shapes.

        Turns of loops count once before the first captured call.
        """
        tensors = list(filter(admits, self._tensors()))
        shapes = {
            f"{slot.argument.name}:0": _of_shape(tensor) for slot, tensor in zip(self.slots, inputs, strict=False)
        }
        found = estimate(tensors, shapes, GraphKind.PYTHON, settings, None)
        if self.taken is None:
            return found
        return Estimate(found.tensors, self.taken, 0, found.budget, found.medium)

    def _tensors(self) -> Iterator[Any]:
        for graph in compat.graphs_below(self._atomic):
            for op in graph.get_operations():
                yield from op.outputs


def _of_shape(tensor: Any) -> Any:
    return None if tensor.shape.rank is None else np.broadcast_to(np.int8(0), tensor.shape.as_list())


def traced_function(atomic: Any) -> TracedFunction:
    """What was found out about `atomic`, kept with it and gone with it."""
    traced = getattr(atomic, _ATTRIBUTE, None)
    if not isinstance(traced, TracedFunction):
        traced = TracedFunction(atomic)
        setattr(atomic, _ATTRIBUTE, traced)
    return traced
