"""A callable that asks the debugger before every call, and is in all else the callable it wraps."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from tfdbg_cli.capture import compat
from tfdbg_cli.capture.controller import Controller
from tfdbg_cli.capture.eager.call import EagerCall
from tfdbg_cli.capture.function.interception import FUNCTIONS
from tfdbg_cli.capture.guard import INSIDE
from tfdbg_cli.capture.performing import performed

_OWN = "_tfdbg_"  # what the names of our own attributes begin with; all others are the wrapped callable's


class DebuggedFunction:
    """A stand-in for a tf.function, a concrete function, or a plain callable whose ops run eagerly.

    It passes `isinstance` for the class of what it wraps, works as a method, and has its attributes.
    """

    def __init__(self, function: Any, controller: Controller) -> None:
        """Wrap `function`.

        Raises:
            TypeError: it cannot be called.

        """
        if not callable(function):
            raise TypeError(f"A function is wanted, not {type(function).__name__}.")
        self._tfdbg_function = function
        self._tfdbg_controller = controller
        self._tfdbg_is_graph = isinstance(function, compat.function_class() | tf.types.experimental.ConcreteFunction)
        for name in ("__doc__", "__module__"):  # which our own class has, so that they are not looked for elsewhere
            object.__setattr__(self, name, getattr(function, name, None))
        object.__setattr__(self, "__wrapped__", function)
        FUNCTIONS.begin()
        weakref.finalize(self, FUNCTIONS.end).atexit = False

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """The wrapped callable's class, for libraries that look."""
        return type(self._tfdbg_function)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Call the wrapped callable, debugged."""
        function, controller = self._tfdbg_function, self._tfdbg_controller
        if self._tfdbg_is_graph:
            with FUNCTIONS.asking(controller):
                return function(*arguments, **keywords)
        if INSIDE.holds() or not tf.executing_eagerly():
            return function(*arguments, **keywords)
        call: Callable[[], Any] = functools.partial(function, *arguments, **keywords)
        return performed(controller, EagerCall.of(function, call, arguments, keywords))

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """The method of `instance`, debugged."""
        bind = getattr(type(self._tfdbg_function), "__get__", None)
        if bind is None or instance is None:
            return self
        return DebuggedFunction(bind(self._tfdbg_function, instance, owner), self._tfdbg_controller)

    def __getattr__(self, name: str) -> Any:
        if name.startswith(_OWN):  # asked for before __init__ came so far
            raise AttributeError(name)
        return getattr(self._tfdbg_function, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith(_OWN):
            object.__setattr__(self, name, value)
        else:
            setattr(self._tfdbg_function, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._tfdbg_function, name)

    def __repr__(self) -> str:
        return f"<debugged {self._tfdbg_function!r}>"
