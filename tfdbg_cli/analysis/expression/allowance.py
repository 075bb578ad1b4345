"""Guards of `eval`: a slip of the keyboard must not take the memory of a training program."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tfdbg_cli.errors import TfdbgError

MOST_ELEMENTS = 1 << 27  # of a result; 1 GiB of float64
_MOST_BITS = 1 << 16  # of a whole number
_MOST_ITEMS = 10_000_000  # of a range or a repeated list or text


def _refuse(elements: float) -> TfdbgError:
    return TfdbgError(
        f"The expression would make {elements:.3g} elements; eval stops at {MOST_ELEMENTS:,}.",
        hint="Slice the tensors first.",
    )


def check_elements(shape: Any) -> None:
    """Refuse a result of `shape` (a length or a tuple) that is too large."""
    lengths = shape if isinstance(shape, tuple | list) else (shape,)
    numbers = [float(n) for n in np.atleast_1d(np.asarray(lengths, dtype=object)).flat if _is_number(n)]
    elements = math.prod(numbers) if numbers else 0
    if elements > MOST_ELEMENTS:
        raise _refuse(elements)


def _is_number(item: Any) -> bool:
    return isinstance(item, int | float | np.number)


def check_broadcast(*operands: Any) -> None:
    """Refuse an element-wise result that is too large although its operands are not."""
    shapes = [np.shape(operand) for operand in operands if isinstance(operand, np.ndarray)]
    if len(shapes) > 1:
        try:
            check_elements(np.broadcast_shapes(*shapes))
        except ValueError:
            return  # the operation itself says that the shapes do not fit


def check_operator(symbol: str, left: Any, right: Any) -> None:
    """Refuse an operator whose result would be too large."""
    whole = isinstance(left, int) and isinstance(right, int)
    if symbol == "**" and whole and abs(left) > 1 and right * left.bit_length() > _MOST_BITS:
        raise TfdbgError("This power is too large a number.", hint="Use floats, such as 10.0**400.")
    if symbol == "<<" and whole and right > _MOST_BITS:
        raise TfdbgError("This shift makes too large a number.")
    if symbol == "*":
        for many, times in ((left, right), (right, left)):
            if isinstance(many, str | bytes | list | tuple) and isinstance(times, int | np.integer):
                _check_items(len(many) * int(times))
    if symbol == "@" and isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
        columns = right.shape[-1:] if right.ndim > 1 else ()
        check_elements((*left.shape[:-1], *columns))
    elif symbol != "@":
        check_broadcast(left, right)


def _check_items(count: int) -> None:
    if count > _MOST_ITEMS:
        raise TfdbgError(f"The expression would make {count:,} items; eval stops at {_MOST_ITEMS:,}.")


def check_digits(value: Any) -> None:
    """Refuse a value that holds a whole number of more digits than Python writes: it could not be shown."""
    most = sys.get_int_max_str_digits()
    beyond = 10**most
    waiting = [value] if most else []
    while waiting:
        item = waiting.pop()
        if isinstance(item, int):
            if abs(item) >= beyond:
                raise TfdbgError(f"The value has a whole number of more than {most:,} digits.", hint="Use floats.")
        elif isinstance(item, np.ndarray):
            waiting += item.flat if item.dtype.hasobject and item.dtype.fields is None else ()
        elif isinstance(item, dict):
            waiting += (*item.keys(), *item.values())
        elif isinstance(item, list | tuple | set | frozenset):
            waiting += item


def check_call(function: Any, arguments: list[Any], keywords: Mapping[str, Any]) -> None:
    """Refuse a call whose result would be too large, as far as its arguments tell."""
    if function is range:
        _check_items(len(range(*arguments)))
        return
    if function in (bytes, np.void) and arguments and isinstance(arguments[0], int):
        _check_items(arguments[0])
        return
    if isinstance(function, np.ufunc):
        check_broadcast(*arguments)
        return
    name = getattr(function, "__name__", "")
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.ndarray):
        arguments = [owner, *arguments]
    size = _SIZES.get(name)
    if size is not None and (arguments or keywords):
        try:
            elements = size(*arguments, **keywords)
        except (TypeError, ValueError, IndexError, ZeroDivisionError, OverflowError):
            return  # the call itself says what does not fit
        check_elements(elements)


def _by_shape(shape: Any, *rest: Any, **more: Any) -> Any:
    return shape


def _to_shape(array: Any, shape: Any, *rest: Any, **more: Any) -> Any:
    return shape


def _square(n: Any, m: Any = None, *rest: Any, **more: Any) -> Any:
    return (n, n if m is None else m)


def _steps(start: Any, stop: Any = None, step: Any = 1, *rest: Any, **more: Any) -> Any:
    low, high = (0, start) if stop is None else (start, stop)
    return max(0.0, (high - low) / step)


def _number(start: Any, stop: Any, num: Any = 50, *rest: Any, **more: Any) -> Any:
    return num


def _product(a: Any, b: Any, *rest: Any, **more: Any) -> Any:
    return np.size(a) * np.size(b)


def _repeated(a: Any, repeats: Any, *rest: Any, **more: Any) -> Any:
    counts = np.asarray(repeats)
    return np.size(a) * int(counts.max(initial=1)) if counts.ndim == 0 else int(counts.sum())


def _tiled(a: Any, reps: Any, *rest: Any, **more: Any) -> Any:
    return np.size(a) * math.prod(int(r) for r in np.atleast_1d(reps))


def _grid(*axes: Any, **more: Any) -> Any:
    return math.prod(np.size(axis) for axis in axes) * len(axes)


def _diagonal(v: Any, *rest: Any, **more: Any) -> Any:
    return _square(np.size(v)) if np.ndim(v) == 1 else np.size(v)


def _vander(x: Any, n: Any = None, *rest: Any, **more: Any) -> Any:
    return _square(np.size(x), n)


def _padded(a: Any, pad_width: Any, *rest: Any, **more: Any) -> Any:
    widest = 2 * int(np.max(pad_width))
    return tuple(length + widest for length in np.shape(a))


_SIZES: dict[str, Callable[..., Any]] = {
    "zeros": _by_shape, "ones": _by_shape, "empty": _by_shape, "full": _by_shape, "indices": _by_shape,
    "eye": _square, "identity": _square, "tri": _square, "arange": _steps, "linspace": _number,
    "logspace": _number, "geomspace": _number, "outer": _product, "kron": _product, "tile": _tiled,
    "repeat": _repeated, "meshgrid": _grid, "diag": _diagonal, "diagflat": _diagonal, "pad": _padded,
    "vander": _vander, "resize": _to_shape, "broadcast_to": _to_shape,
}  # fmt: skip
