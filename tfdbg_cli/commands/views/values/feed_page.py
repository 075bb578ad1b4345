"""What one feed or argument of a run holds: an array, a sparse one, or another object of Python."""

from __future__ import annotations

import argparse
import pprint
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tfdbg_cli.analysis.graph.nodes.feeds import shown_feed
from tfdbg_cli.commands.asked.tensor_choice import sliced
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.views.values.array_file import save_arrays
from tfdbg_cli.commands.views.values.feed_values import feed_named, feed_numbers
from tfdbg_cli.commands.views.values.value_view import saved, view, written_data
from tfdbg_cli.document.document import Block, Document, Text
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line, lines_of
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.dtypes import HANDLES, name_of
from tfdbg_cli.model.names import split_slice
from tfdbg_cli.model.runs import RunStart
from tfdbg_cli.model.tensors import nbytes_of
from tfdbg_cli.model.units import bytes_text, shape_text
from tfdbg_cli.model.values import Array, NoValue, as_array


def feed_document(context: Context, options: argparse.Namespace, feed_text: str) -> Document:
    """The feed that a user wrote as `feed_text`, a slice behind its name or not, shown as `options` ask for.

    Raises:
        TfdbgError: there is no such feed, or it has no such part, or cannot be written.

    """
    if options.number not in (None, 0, -1):
        raise TfdbgError(f"A feed has one value; there is no number {options.number}.", hint="Leave -n out.")
    text, slicing = split_slice(feed_text)
    name = feed_named(context.call.feeds, text)
    feed = context.call.feeds[name]
    if feed is None:
        feed = _given(context, name)
    title = f"pf {name}{slicing}"
    noun = "Argument" if context.call.function else "Feed"
    head = [line(Span(f"{noun} ", Style.LABEL), Span(f"{name}{slicing}", Style.TITLE))]
    if feed is None or isinstance(feed, NoValue):
        why = feed.text if feed is not None else _why_not_kept(context, name)
        return _unknown(options, name, why, head, title)
    parts = _sparse_parts(feed)
    if parts is not None:
        return _sparse(context, options, name, parts, slicing, title)
    array = feed_numbers(feed)
    if array is None:
        return _object(options, name, feed, head, title)
    array = sliced(array, slicing)
    dtype = name_of(array.dtype)
    shown = replace(view(context, options, array, dtype), cut=bool(slicing))
    head.append(_facts(array, feed))

    def data() -> dict[str, Any]:
        extra = {"slice": slicing} if slicing else {}
        extra |= written_data(options)
        return _described(name, array) | extra | shown.data()

    return Document("feed", (Text((*head, *saved(options, array))), *shown.blocks()), data, title)


def _sparse_parts(feed: Any) -> dict[str, Array] | None:
    """The three arrays of a SparseTensorValue (a named tuple) or its like, else None."""
    names = ("indices", "values", "dense_shape")
    if not isinstance(feed, tuple) or getattr(feed, "_fields", ()) != names:
        return None
    return {name: as_array(part) for name, part in zip(names, feed, strict=True)}


def _facts(array: Array, feed: Any) -> Line:
    given = "" if isinstance(feed, np.ndarray) else f"  given as {type(feed).__name__}"
    size = bytes_text(nbytes_of(array))
    return line(f"  dtype {name_of(array.dtype)}  shape {shape_text(array.shape)}  size {size}{given}")


def _described(name: str, array: Array) -> dict[str, Any]:
    dtype = name_of(array.dtype)
    return {"name": name, "dtype": dtype, "shape": list(array.shape), "nbytes": nbytes_of(array)}


def _given(context: Context, name: str) -> Any:
    """What the runtime of a session was given for the feed `name`, by its node for that; None if unknown."""
    if context.call.kind is not RunKind.SESSION or isinstance(context.stop, RunStart):
        return None
    return shown_feed(context.run.tensors, name)


def _why_not_kept(context: Context, name: str) -> str:
    """Why a recording has no value of the feed `name`."""
    if any(item.name == name and item.dtype in HANDLES for item in context.call.arguments):
        return "This is a handle; it holds no numbers."
    return "The recording keeps the names of the feeds, not their values."


def _unknown(options: argparse.Namespace, name: str, why: str, head: list[Line], title: str) -> Document:
    if options.write_path:
        raise TfdbgError(f"There is nothing to write: {why}")
    data = {
        "name": name,
        "dtype": None,
        "shape": None,
        "nbytes": None,
        "summary": None,
        "value": None,
        "elided": False,
    }
    said = (*head, EMPTY_LINE, *lines_of(why, Style.WARNING))
    return Document("feed", (Text(said),), lambda: data, title, lack=why)


def _sparse(
    context: Context,
    options: argparse.Namespace,
    name: str,
    parts: Mapping[str, Array],
    slicing: str,
    title: str,
) -> Document:
    if slicing:
        raise TfdbgError("A sparse feed cannot be sliced.", hint=f"pf {name} shows its indices and values.")
    shape = tuple(int(n) for n in parts["dense_shape"].flat)
    values = parts["values"]
    head = [line(Span("Sparse feed ", Style.LABEL), Span(name, Style.TITLE))]
    head.append(line(f"  dtype {name_of(values.dtype)}  shape {shape_text(shape)}  {values.size:,} elements given"))
    if options.write_path:
        head.append(save_arrays(parts, options.write_path, force=options.force))
    shown = view(context, options, values, name_of(values.dtype))
    plain = argparse.Namespace(**{**vars(options), "ranges": None, "numeric_summary": False})
    blocks: list[Block] = [Text(tuple(head)), *shown.blocks()]
    for part in ("indices", "dense_shape"):
        blocks.append(Text((EMPTY_LINE, line(Span(part, Style.HEADING)))))
        blocks.append(view(context, plain, parts[part], name_of(parts[part].dtype)).blocks()[-1])

    def data() -> dict[str, Any]:
        sparse = {part: view(context, plain, parts[part], "").data()["value"] for part in ("indices", "dense_shape")}
        return {
            **_described(name, values),
            "shape": list(shape),
            "sparse": True,
            **shown.data(),
            **sparse,
            **written_data(options),
        }

    return Document("feed", tuple(blocks), data, title)


def _object(options: argparse.Namespace, name: str, feed: Any, head: list[Line], title: str) -> Document:
    if options.write_path:
        raise TfdbgError(f"A {type(feed).__name__} of this form does not go into a .npy file.")
    text = pprint.pformat(feed, width=100, compact=True)
    head = [*head, line(Span(f"  {type(feed).__name__}, not an array", Style.DIM)), EMPTY_LINE]
    data = {
        "name": name, "dtype": type(feed).__name__, "shape": None, "nbytes": None,
        "summary": None, "value": repr(feed), "elided": False,
    }  # fmt: skip
    return Document("feed", (Text((*head, *lines_of(text))),), lambda: data, title)
