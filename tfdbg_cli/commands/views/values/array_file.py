"""Writing an array to a .npy file, for `-w`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from tfdbg_cli.commands.whole_file import new_file, write_whole
from tfdbg_cli.document.array_words import native
from tfdbg_cli.document.text import Line, Span, Style, line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.dtypes import element_type_named, name_of
from tfdbg_cli.model.units import bytes_text
from tfdbg_cli.model.values import Array


def save_array(array: Array, name: str, *, force: bool, dtype: str = "") -> Line:
    """Write `array` to the file `name` in NumPy's format; says where, how large, and as which type.

    .npy holds no bfloat16, float8 or int4: they are written as float32 or int64, which hold them exactly. Strings
    are written as fixed-width bytes. `dtype` is TensorFlow's name of the type of the elements, where it is not that
    of the array, as of quantized ones. There is never a half-written file.

    Raises:
        TfdbgError: the file exists and `force` is not given, it cannot be written, or .npy cannot hold the strings.

    """
    kept = _fixed_width(array) if array.dtype.kind == "O" else native(array)
    path = _write(name, force, lambda file: np.save(file, kept, allow_pickle=False))
    changed = kept.dtype != array.dtype or written_as(dtype, kept.dtype)
    return _said(path, f", as {kept.dtype}" if changed else "")


def written_as(dtype: str, kept: np.dtype[Any]) -> str:
    """`qint8 as int8`, where numbers of TensorFlow's type `dtype` are `kept` as others; empty where they are not."""
    element = element_type_named(dtype)
    if element is None or element.numpy is None or element.numpy.hasobject or name_of(kept) == element.name:
        return ""
    return f"{element.name} as {name_of(kept)}"


def save_arrays(
    arrays: Mapping[str, Array], name: str, *, force: bool, dtypes: Mapping[str, str] | None = None
) -> Line:
    """Write several arrays to the file `name` in NumPy's .npz format.

    `dtypes` are TensorFlow's names of the types of their elements, where those are not those of the arrays.

    Raises:
        TfdbgError: as `save_array`.

    """
    kept = {key: _fixed_width(a) if a.dtype.kind == "O" else native(a) for key, a in arrays.items()}
    path = _write(name, force, lambda file: np.savez(file, **kept))  # type: ignore[arg-type]
    told = {key: name_of(array.dtype) for key, array in arrays.items()} | dict(dtypes or {})
    others = dict.fromkeys(written_as(told[key], array.dtype) for key, array in kept.items())
    return _said(path, ", ".join((f", with {', '.join(kept)}", *filter(None, others))))


def _said(path: Path, rest: str) -> Line:
    size = bytes_text(path.stat().st_size)
    return line("Saved value to: ", Span(str(path), Style.NAME), f" ({size}{rest})")


def _write(name: str, force: bool, write: Callable[[IO[bytes]], None]) -> Path:
    path = new_file(name, replace=force, way_out="Add --force to replace it.")
    write_whole(path, write)
    return path


def _fixed_width(array: Array) -> Array:
    """Strings as NumPy's fixed-width bytes."""
    items = [item.encode() if isinstance(item, str) else item for item in array.flat]
    if not all(isinstance(item, bytes) for item in items):
        raise TfdbgError("A .npy file holds numbers and strings; this value is neither.")
    if any(item.endswith(b"\0") for item in items):
        raise TfdbgError("A string that ends in a zero byte does not survive in a .npy file.", hint="Use `> FILE`.")
    return np.array(items, np.bytes_).reshape(array.shape)
