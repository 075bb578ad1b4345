"""Methods that TensorFlow deprecates: its warning names the line that calls them, which is to stay the program's."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import CellType, FunctionType

from tfdbg_cli.capture.tf.types import Method

_WARNED_OF = "func"  # what the function that warns calls then


def beneath_warning(method: Method, wrap: Callable[[Method], Method]) -> Method:
    """`method` with `wrap` around what it does once it has warned; around all of it where it does not warn.

    TensorFlow takes the caller of the function that warns for the program.
    """
    if not isinstance(method, FunctionType) or _WARNED_OF not in method.__code__.co_freevars:
        return wrap(method)
    cells = dict(zip(method.__code__.co_freevars, method.__closure__ or (), strict=True))
    within = cells[_WARNED_OF].cell_contents
    cells[_WARNED_OF] = CellType(wraps(within)(wrap(within)))
    return FunctionType(
        method.__code__, method.__globals__, method.__name__, method.__defaults__, tuple(cells.values())
    )
