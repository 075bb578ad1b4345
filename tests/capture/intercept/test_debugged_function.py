"""A wrapped callable is in all but its debugging the callable it wraps."""

from __future__ import annotations

import copy
import gc
import inspect
from typing import Any

import pytest
import tensorflow as tf
from support.scripted import ScriptedFrontend

from tfdbg_cli.capture.intercept.debugged_function import DebuggedFunction
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.decision import DebugRun

pytestmark = pytest.mark.tf
RUN = DebugRun()


def wrapped(function: Any, *script: Any) -> tuple[Any, ScriptedFrontend]:
    front = ScriptedFrontend(*script)
    return DebuggedFunction(function, Debugger(lambda: front)), front


def test_a_wrapped_function_stops_and_no_other_does() -> None:
    @tf.function
    def mine(x):
        return x + 1

    @tf.function
    def other(x):
        return x + 2

    debugged, front = wrapped(mine, RUN, RUN)
    other(tf.constant(1))
    assert debugged(tf.constant(1)).numpy() == 2
    mine(tf.constant(1))
    assert front.path == ["start 1", "end 1"]


def test_it_passes_for_the_function_and_has_its_attributes() -> None:
    @tf.function
    def mine(x):
        """Add one."""
        return x + 1

    debugged, _ = wrapped(mine)
    assert isinstance(debugged, type(mine))
    assert isinstance(debugged, tf.types.experimental.PolymorphicFunction)
    assert debugged.experimental_get_tracing_count() == 0
    assert debugged.get_concrete_function(tf.constant(1))(tf.constant(1)).numpy() == 2
    debugged.note = "kept"
    assert mine.note == "kept"
    assert "debugged" in repr(debugged)


def test_a_plain_callable_keeps_its_name_words_and_signature_and_gains_nothing() -> None:
    def mine(x: Any, scale: float = 2.0) -> Any:
        """Scale."""
        return x * scale

    before = dict(vars(mine))
    debugged, _ = wrapped(mine)
    assert (debugged.__name__, debugged.__doc__, debugged.__module__) == ("mine", "Scale.", __name__)
    assert inspect.signature(debugged) == inspect.signature(mine)
    assert vars(mine) == before


def test_a_wrapped_method_is_bound() -> None:
    front = ScriptedFrontend(RUN, RUN)
    debugger = Debugger(lambda: front)

    class Model:
        weight = 3

        def graph(self, x):
            return x * self.weight

        def eager(self, x):
            return x + self.weight

        graph = DebuggedFunction(tf.function(graph), debugger)
        eager = DebuggedFunction(eager, debugger)

    assert Model().graph(tf.constant(2)).numpy() == 6
    assert Model().eager(tf.constant(2)).numpy() == 5
    assert [end.run.call.function for end in front.ends] == ["graph", "eager"]


def test_within_a_function_that_is_traced_it_is_as_ever() -> None:
    debugged, front = wrapped(lambda x: x * 2, RUN)
    graph, graph_front = wrapped(tf.function(lambda x: x * 3), RUN)
    assert tf.function(lambda x: graph(debugged(x)))(tf.constant(1)).numpy() == 6
    assert front.path == [] and graph_front.path == []


def test_what_cannot_be_called_is_refused() -> None:
    with pytest.raises(TypeError, match="A function is wanted, not int"):
        wrapped(3)


def test_the_classes_are_restored_when_the_last_wrapper_is_gone() -> None:
    gc.collect()
    before = vars(compat.atomic_class())["call_flat"]
    debugged, _ = wrapped(tf.function(lambda x: x))
    assert vars(compat.atomic_class())["call_flat"] is not before
    del debugged
    gc.collect()
    assert vars(compat.atomic_class())["call_flat"] is before


def test_what_holds_one_is_copied_as_with_the_plain_function() -> None:
    """A blind test: the controller, which holds locks, was copied with it."""

    @tf.function
    def mine(x):
        return x + 1

    debugged, front = wrapped(mine, RUN, RUN)
    held = copy.deepcopy({"step": debugged, "same": debugged})
    assert type(held["step"]) is DebuggedFunction and held["step"] is held["same"] is not debugged
    assert held["step"](tf.constant(1)).numpy() == 2
    assert front.path == ["start 1", "end 1"]
    assert debugged.experimental_get_tracing_count() == 0, "the copy has its own traces"
    assert type(copy.copy(debugged)) is DebuggedFunction


def test_a_copy_of_a_plain_callable_is_itself() -> None:
    def mine(x: Any) -> Any:
        return x

    debugged, _ = wrapped(mine)
    assert copy.deepcopy(debugged) is copy.copy(debugged) is debugged
    with pytest.raises(TypeError, match="pickle"):
        copy.deepcopy(wrapped(tf.function(mine).get_concrete_function(tf.constant(1)))[0])
