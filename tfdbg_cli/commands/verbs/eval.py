"""`eval`: an expression over tensors."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfdbg_cli.analysis.expression.bounded import evaluate_bounded
from tfdbg_cli.analysis.expression.wire import Described
from tfdbg_cli.commands.asked.expression_tensors import tensor_named, tensor_value, variables_said
from tfdbg_cli.commands.asked.variable_meant import variable_meant
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.registry import LOOKING, Argument, ArgumentKind, Command
from tfdbg_cli.commands.views.given_instead import given_instead
from tfdbg_cli.commands.views.values.value_view import ALL, PRINTING, RANGES, WRITE, saved, view, written_data
from tfdbg_cli.document.document import Document, Text
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line, lines_of
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.dtypes import name_of
from tfdbg_cli.model.tensors import nbytes_of
from tfdbg_cli.model.units import bytes_text, shape_text
from tfdbg_cli.model.values import Array


def _eval(context: Context, options: argparse.Namespace) -> Document:
    text = options.expression.strip()
    asked: list[str] = []

    def value(name: str) -> Array:
        asked.append(name)
        return tensor_value(context, name)

    result = evaluate_bounded(text, value)
    tensors = [name for name in asked if variable_meant(context.run, name) is None]
    said = given_instead(context, [tensor_named(context, name)[0].name for name in tensors])
    said += [line(f"  {sentence}") for sentence in variables_said(context, asked)]
    title = f"eval {text}"
    array = _as_array(result)
    if array is None:
        return _object(options, text, result, title, said)
    dtype = name_of(array.dtype)
    shown = view(context, options, array, dtype)
    head = [line(Span("Value of ", Style.LABEL), Span(text, Style.TITLE))]
    head += [line(f"  {_facts(array, dtype)}"), *said]

    def data() -> dict[str, Any]:
        facts = {"expression": text, "dtype": dtype, "shape": list(array.shape), "nbytes": nbytes_of(array)}
        return facts | shown.data() | written_data(options)

    return Document("value", (Text((*head, *saved(options, array))), *shown.blocks()), data, title)


def _as_array(result: Any) -> Array | None:
    """`result` as an array of numbers or strings, or None where it is something else."""
    if isinstance(result, np.ndarray):
        return _narrowed(result)
    if isinstance(result, bool | int | float | complex | np.generic | list | tuple):
        try:
            array = np.asarray(result)
        except ValueError:
            return None
        return _narrowed(array) if array.dtype.kind != "O" else None
    return None


def _narrowed(array: Array) -> Array:
    """`array` in the longest type that a tensor has and JSON can write, where its own is longer."""
    narrower = {"g": np.float64, "G": np.complex128}.get(array.dtype.char)
    with np.errstate(over="ignore"):
        return array if narrower is None else array.astype(narrower)


def _facts(array: Array, dtype: str) -> str:
    return f"dtype {dtype}  shape {shape_text(array.shape)}  size {bytes_text(nbytes_of(array))}"


def _object(options: argparse.Namespace, text: str, result: Any, title: str, said: Sequence[Line]) -> Document:
    type_name = result.type_name if isinstance(result, Described) else type(result).__name__
    if options.write_path:
        raise TfdbgError(f"A {type_name} does not go into a .npy file.", hint="Make it an array with np.array.")
    head: list[Line] = [line(Span("Value of ", Style.LABEL), Span(text, Style.TITLE)), *said]
    shown = repr(result)
    data = {
        "expression": text,
        "dtype": type_name,
        "value": repr(result),
        "elided": False,
        "summary": None,
    }
    return Document("value", (Text((*head, EMPTY_LINE, *lines_of(shown))),), lambda: data, title)


COMMAND = Command(
    "eval",
    ("ev",),
    "Compute with tensors in backticks and NumPy.",
    _eval,
    (
        Argument(("expression",), "a Python expression", ArgumentKind.TENSOR, metavar="EXPRESSION", nargs="..."),
        ALL,
        *WRITE,
        RANGES,
        *PRINTING,
    ),
    moments=LOOKING,
    values=True,
    details="""\
Write a tensor as `node:slot`, an execution of it as `node:slot[2]`, with a device in front where several have it:
`/job:localhost/replica:0/task:0/device:CPU:1:node:0`. A variable by its name is what it held before the run, in the
stepper and in the middle of a run what it holds now. NumPy is np. The expression computes and nothing else:
no files, no imports, no names with an underscore; tensors cannot be changed. Quote it if it holds a bare >. What may
grow beyond its tensors is computed in a process of its own, with 2 GB of memory beside them and 20 seconds at most.

Examples:
  ev np.isnan(`loss/mul:0`).sum(axis=0)
  ev '`prob:0` > 0.5'
  ev `step/while/Add:0[2]` - `step/while/Add:0[1]`
  ev np.linalg.norm(`w:0`) -w norm.npy""",
)
