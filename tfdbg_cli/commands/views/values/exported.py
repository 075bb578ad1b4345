"""Tensors written for other programs: a file of NumPy's, CSV, JSON or safetensors, as its name says."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import IO, Any

import numpy as np

from tfdbg_cli.commands.views.values.array_file import save_array, save_arrays, written_as
from tfdbg_cli.commands.whole_file import new_file, write_whole
from tfdbg_cli.document.array_words import decoded, native
from tfdbg_cli.document.exports.csv_rows import csv_text
from tfdbg_cli.document.jsonlines import standard
from tfdbg_cli.document.text import Line, Span, Style, line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.container.elements import ElementBytes, elements_of
from tfdbg_cli.model.units import bytes_text
from tfdbg_cli.model.values import Array

SUFFIXES = (".npy", ".npz", ".csv", ".json", ".safetensors")
_FORCE = "Add --force to replace it."
_OF_BYTES = ("uint8", "quint8")
_PIECE = 1 << 14  # elements that become objects of Python at once


@dataclass(frozen=True, slots=True)
class Exported:
    """A value to be written: what it is called, its element type by TensorFlow's name, and its elements."""

    name: str
    dtype: str
    array: Array


def export_tensors(tensors: Sequence[Exported], file: str, *, force: bool) -> Line:
    """Write `tensors` to `file` as its suffix says; says where they are.

    Raises:
        TfdbgError: there is no such format, it cannot hold them, or the file cannot be written.

    """
    suffix = require_suffix(file, SUFFIXES)
    if suffix == ".npy":
        if len(tensors) != 1:
            raise TfdbgError(f"A .npy file holds one array, and these are {len(tensors)}.", hint="Write .npz.")
        return save_array(tensors[0].array, file, force=force, dtype=tensors[0].dtype)
    if suffix == ".npz":
        members = {_member(name): one for name, one in _by_name(tensors).items()}
        dtypes = {name: one.dtype for name, one in members.items()}
        return save_arrays({name: one.array for name, one in members.items()}, file, force=force, dtypes=dtypes)
    if suffix == ".safetensors":
        found = {name: _safe_part(one) for name, one in _by_name(tensors).items()}
        parts = {name: part for name, (part, _) in found.items()}
        words = "".join(f", {text}" for text in dict.fromkeys(text for _, text in found.values() if text))
        return write_file(file, lambda out: _safetensors(parts, out), force=force, kept_as=words)
    write = {".csv": _csv, ".json": _json}[suffix]
    return write_file(file, lambda out: write(tensors, out), force=force)


def export_table(data: Mapping[str, Any], command: str, file: str, *, force: bool) -> Line:
    """Write the rows in `data`, the JSON form of what `command` shows, as text with commas.

    Raises:
        TfdbgError: there is no table in it, or the file cannot be written.

    """
    text = csv_text(data, command).encode()

    def write(out: IO[bytes]) -> None:
        out.write(text)

    return write_file(file, write, force=force)


def export_json(data: object, file: str, *, force: bool) -> Line:
    """Write `data` as JSON.

    Raises:
        TfdbgError: the file cannot be written.

    """
    return write_file(file, lambda out: _write_json(out, data), force=force)


def require_suffix(file: str, suffixes: Sequence[str]) -> str:
    """The suffix of `file`, which is one of `suffixes`.

    Raises:
        TfdbgError: it is another.

    """
    suffix = PurePath(file).suffix.lower()
    if suffix not in suffixes:
        raise TfdbgError(f"{file!r} does not say which format.", hint=f"End it with {', '.join(suffixes)}.")
    return suffix


def write_file(file: str, write: Callable[[IO[bytes]], None], *, force: bool, kept_as: str = "") -> Line:
    """Have `write` fill `file`; says where it is, and what is `kept_as` another type.

    Raises:
        TfdbgError: it cannot be written.

    """
    path = new_file(file, replace=force, way_out=_FORCE)
    write_whole(path, write)
    return line("Exported to: ", Span(str(path), Style.NAME), f" ({bytes_text(path.stat().st_size)}{kept_as})")


def _by_name(tensors: Sequence[Exported]) -> dict[str, Exported]:
    found: dict[str, Exported] = {}
    for one in tensors:
        name, again = one.name, 2
        while name in found:
            name, again = f"{one.name} ({again})", again + 1
        found[name] = one
    return found


def _member(name: str) -> str:
    """`name` as the name of a file in an archive, which somebody may unpack: it leads nowhere else."""
    safe = re.sub(r"[\x00-\x1f\\]", "_", name.encode("utf-8", "backslashreplace").decode())
    return "/".join("_" if part in {"", ".", ".."} else part for part in safe.split("/"))


def _csv(tensors: Sequence[Exported], out: IO[bytes]) -> None:
    """One array of up to two axes as it lies; else a row for each element: name, place, value."""
    if len(tensors) == 1 and tensors[0].array.ndim <= 2:
        array = np.atleast_1d(tensors[0].array)
        _write_rows(
            out, ([decoded(item) for item in row] for row in _rows(array if array.ndim == 2 else array[:, None]))
        )
        return
    _write_rows(out, [["tensor", "index", "value"]])
    for name, one in _by_name(tensors).items():
        values = (value for piece in _pieces(one.array) for value in piece.tolist())
        places = np.ndindex(one.array.shape)
        _write_rows(
            out, ([name, " ".join(map(str, at)), decoded(value)] for at, value in zip(places, values, strict=True))
        )


def _rows(array: Array) -> Iterator[Sequence[object]]:
    """The rows of an array of two axes, some made objects at a time."""
    step = max(_PIECE // max(array.shape[1], 1), 1)
    for start in range(0, len(array), step):
        yield from native(array[start : start + step]).tolist()


def _pieces(array: Array) -> Iterator[Array]:
    """The elements of `array` in C order, some at a time: a small file may claim more of them than memory holds."""
    return (native(array.flat[start : start + _PIECE]) for start in range(0, array.size, _PIECE))


def _write_rows(out: IO[bytes], rows: Iterable[Sequence[object]]) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    for row in rows:
        writer.writerow(row)
        if text.tell() > 1 << 20:
            out.write(text.getvalue().encode("utf-8", "backslashreplace"))
            text.seek(0)
            text.truncate()
    out.write(text.getvalue().encode("utf-8", "backslashreplace"))


def _json(tensors: Sequence[Exported], out: IO[bytes]) -> None:
    several = len(tensors) != 1
    out.write(b'{"tensors": [' if several else b"")
    for number, one in enumerate(tensors):
        facts = json.dumps({"name": one.name, "dtype": one.dtype, "shape": list(one.array.shape)})
        out.write(f'{", " if number else ""}{facts[:-1]}, "value": '.encode("ascii"))
        for part in _json_parts(one.array):
            out.write(part.encode("ascii"))
        out.write(b"}")
    out.write(b"]}" if several else b"")


def _json_parts(array: Array) -> Iterator[str]:
    """`array` as nested lists, so that no more than some of its elements are objects at once."""
    if array.size <= _PIECE:
        yield json.dumps(standard(native(array)), allow_nan=False)
        return
    step = len(array) * _PIECE // array.size  # of the first axis, at once
    yield "["
    for start in range(0, len(array), max(step, 1)):
        yield ", " if start else ""
        if step:
            yield json.dumps(standard(native(array[start : start + step])), allow_nan=False)[1:-1]
        else:
            yield from _json_parts(array[start])
    yield "]"


def _write_json(out: IO[bytes], data: object) -> None:
    out.write(json.dumps(standard(data), allow_nan=False).encode("ascii"))


def _safe_part(one: Exported) -> tuple[ElementBytes, str]:
    """The elements of `one` as safetensors has them, and in words how, where that is not its own type.

    Integers of less than 8 bits stand there as those of 8, rare floats as float32: both hold them exactly.
    """
    if one.array.dtype.kind in "OSU":
        raise TfdbgError(
            f"A .safetensors file holds numbers, and {one.name} texts.", hint="Write .json, or leave it out."
        )
    part = elements_of(one.array, "")
    if part.tag == "U8" and part.dtype not in _OF_BYTES:
        wide = native(one.array)
        if wide.dtype.kind == "i":
            wide = wide.astype(np.uint8 if part.dtype.startswith("u") else np.int8)
        part = elements_of(wide, "")
        return part, f"{one.dtype} as {part.dtype}"
    if len(part.shape) != one.array.ndim:
        return part, f"{one.dtype} as {part.tag} with a last axis of the real and the imaginary part"
    return part, written_as(one.dtype, one.array.dtype)


def _safetensors(named: Mapping[str, ElementBytes], out: IO[bytes]) -> None:
    parts = {name.encode("utf-8", "backslashreplace").decode(): part for name, part in named.items()}
    out.write(_safetensors_header(parts))
    for part in parts.values():
        out.write(part.content)


def _safetensors_header(parts: Mapping[str, ElementBytes]) -> bytes:
    header: dict[str, object] = {}
    end = 0
    for name, part in parts.items():
        size = len(part.content)
        header[name] = {"dtype": part.tag, "shape": list(part.shape), "data_offsets": [end, end + size]}
        end += size
    text = json.dumps(header, separators=(",", ":")).encode("ascii")
    text = text.ljust(len(text) + -len(text) % 8)
    return len(text).to_bytes(8, "little") + text
