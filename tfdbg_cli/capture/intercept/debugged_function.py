"""A callable that asks the debugger before every call, and is in all else the callable it wraps."""

from __future__ import annotations

import copy
import functools
import weakref
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from tfdbg_cli.capture.controller import Controller
from tfdbg_cli.capture.intercept.all_functions import FUNCTIONS
from tfdbg_cli.capture.pipeline import performed
from tfdbg_cli.capture.runs.eager.call import EagerCall
from tfdbg_cli.capture.tf import base_classes
from tfdbg_cli.capture.tf.proxy import Proxy
from tfdbg_cli.capture.tf.reentrancy import INSIDE, NAMED
from tfdbg_cli.capture.tf.types import RunResult
from tfdbg_cli.process.own_frames import WITHOUT_OUR_FRAMES


class DebuggedFunction(Proxy):
    """A proxy of a tf.function, a concrete function, or a plain callable whose ops run eagerly.

    In a class it becomes a method where the original would.
    """

    _tfdbg_original: Any  # the function

    def __init__(self, function: Callable[..., RunResult], controller: Controller) -> None:
        """Wrap `function`.

        Raises:
            TypeError: it cannot be called.

        """
        if not callable(function):
            raise TypeError(f"A function is wanted, not {type(function).__name__}.")
        super().__init__(function)
        self._tfdbg_controller = controller
        self._tfdbg_is_graph = isinstance(
            function, base_classes.function_class() | tf.types.experimental.ConcreteFunction
        )
        for name in ("__doc__", "__module__"):  # which our own class has, so that they are not looked for elsewhere
            object.__setattr__(self, name, getattr(function, name, None))
        object.__setattr__(self, "__wrapped__", function)
        FUNCTIONS.begin()
        weakref.finalize(self, FUNCTIONS.end).atexit = False

    def __call__(self, *arguments: Any, **keywords: Any) -> RunResult:
        """Call the wrapped callable, debugged."""
        function, controller = self._tfdbg_original, self._tfdbg_controller
        with WITHOUT_OUR_FRAMES:
            if self._tfdbg_is_graph:
                with FUNCTIONS.asking(controller):
                    return function(*arguments, **keywords)
            if INSIDE.holds() or NAMED.holds() or not tf.executing_eagerly():
                return function(*arguments, **keywords)
            call: Callable[[], RunResult] = functools.partial(function, *arguments, **keywords)
            with FUNCTIONS.noting():
                return performed(controller, EagerCall.of(function, call, arguments, keywords))

    def __copy__(self) -> DebuggedFunction:
        """A copy of the callable, debugged."""
        return self._around(copy.copy(self._tfdbg_original))

    def __deepcopy__(self, known: dict[int, Any]) -> DebuggedFunction:
        """A deep copy of the callable, debugged; `known` is what was copied, by id. Raises what that raises."""
        return self._around(copy.deepcopy(self._tfdbg_original, known))

    def _around(self, function: Callable[..., RunResult]) -> DebuggedFunction:
        """`function` debugged as this one is; this one where that is its own, as Python's functions copy."""
        same = function is self._tfdbg_original
        return self if same else DebuggedFunction(function, self._tfdbg_controller)

    def __get__(self, instance: object, owner: type | None = None) -> DebuggedFunction:
        """The method of `instance`, debugged."""
        bind = getattr(type(self._tfdbg_original), "__get__", None)
        if bind is None or instance is None:
            return self
        return DebuggedFunction(bind(self._tfdbg_original, instance, owner), self._tfdbg_controller)
