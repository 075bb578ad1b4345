"""`origin`: where a run first went wrong, from what, and what helps."""

from __future__ import annotations

import argparse
from typing import Any

from tfdbg_cli.analysis.lineage import fed_value, tensor_name_of
from tfdbg_cli.analysis.origin import MOST_ELEMENTS, Aftermath, Element, Origin, OriginSearch
from tfdbg_cli.analysis.parts import Part
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.executions import loop_around
from tfdbg_cli.commands.input_rows import input_data, input_rows
from tfdbg_cli.commands.links import node_link, tensor_link
from tfdbg_cli.commands.made_at import made_at_blocks
from tfdbg_cli.commands.patterns import search_text
from tfdbg_cli.commands.registry import WITH_TENSORS, Argument, Command, Kind
from tfdbg_cli.commands.short_names import ShortNames, around
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.document.document import Block, Document, Text
from tfdbg_cli.document.summary import chip, number_text
from tfdbg_cli.document.table import Column, Row, Table
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line, printable
from tfdbg_cli.document.units import count_text, shape_text
from tfdbg_cli.document.wrapping import Labelled
from tfdbg_cli.model.dtypes import name_of
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.statistics import summarize
from tfdbg_cli.model.values import Array

_LABEL = 10  # columns of the labels at the left
_ELEMENTS_SHOWN = 3
_MOST_PART_VALUES = 32  # a longer slice of an input goes into JSON as its size and extremes


def _origin(context: Context, options: argparse.Namespace) -> Document:
    run = context.run
    excluded = search_text(options.filter_exclude_node_names)
    search = OriginSearch(run, nan_only=options.nan, exclude_node_names=excluded)
    if options.all:
        return _every_origin(run, search)
    origin = search.first()
    if origin is None:
        return _all_fine(run, search, options)
    unread = search.unread
    after = _after(search.after(origin.index), options)
    blocks = _screen(run, origin, after, options)
    if unread:
        lost = f"{count_text(unread, 'tensor')} before it could not be read, so it may have begun earlier."
        blocks = (*blocks, Text((line(Span(lost, Style.WARNING)),)))
    return Document("origin", blocks, lambda: _data(run, origin, unread), f"origin {origin.name}")


def _screen(run: Run, origin: Origin, after: Line, options: argparse.Namespace) -> tuple[Block, ...]:
    names = around(run.graph, origin.name.node)
    blocks: list[Block] = [
        Text((_what(run, origin), *_turn(run, origin))),
        Labelled("Cause", printable(origin.cause.text), Style.WARNING, _LABEL),
    ]
    if origin.cause.suggestion:
        blocks.append(Labelled("Try", printable(origin.cause.suggestion), Style.HINT, _LABEL))
    blocks += [Text((EMPTY_LINE,)), *made_at_blocks(run, origin.made_by, _LABEL)]
    if origin.inputs:
        blocks += [Text((EMPTY_LINE,)), input_rows(run, origin.inputs, _LABEL, names=names)]
    blocks += [Text((EMPTY_LINE,)), *_elements(origin, options, names)]
    blocks.append(Text((*_batch(run, origin), after)))
    return tuple(blocks)


def _what(run: Run, origin: Origin) -> Line:
    facts = summarize(origin.value)
    tensor = run.tensors[origin.index] if origin.index is not None else None
    dtype = tensor.dtype if tensor is not None else name_of(origin.value.dtype)
    link = f"pf {quoted(str(origin.name))}" if origin.index is None else tensor_link(run.tensors, origin.index)
    counts: list[Span | str] = []
    for count, word, style in (
        (facts.nan, "NaN", Style.NAN),
        (facts.neg_inf, "-inf", Style.INF),
        (facts.pos_inf, "inf" if facts.of_magnitude else "+inf", Style.INF),
    ):
        if count:
            counts += [" ", Span(f"{word}×{count:,}", style)]
    again = f" execution {tensor.execution}" if tensor is not None and tensor.execution else ""
    return line(
        Span("Origin".ljust(_LABEL), Style.LABEL),
        Span(printable(str(origin.name)), Style.TITLE, link),
        f"{again}  ",
        Span(printable(origin.op_type), Style.OP, node_link(origin.node.name) if origin.node else ""),
        f"  {dtype}{shape_text(origin.value.shape)} ",
        *counts,
        f" of {origin.value.size:,}",
    )


def _turn(run: Run, origin: Origin) -> list[Line]:
    """Which turn of a loop it was, with a link to the tensor in all turns."""
    loop = loop_around(run, origin.name.node) if origin.index is not None else None
    if loop is None or origin.index is None:
        return []
    name = Span(printable(loop), Style.NAME, node_link(loop))
    link = f"pt {quoted(str(origin.name))} -n all"
    turn = run.tensors[origin.index].execution + 1
    return [
        line(
            Span("Turn".ljust(_LABEL), Style.LABEL),
            f"{turn} of the loop ",
            name,
            ": ",
            Span("all turns", Style.KEY, link),
        )
    ]


def _elements(origin: Origin, options: argparse.Namespace, names: ShortNames) -> list[Block]:
    """The first offending elements, beside the input elements that made them."""
    if not origin.value.ndim and not any(part is not None for part in origin.elements[0].parts):
        return []
    shown = origin.elements[: max(1, options.max_elements)]
    known = [i for i in range(len(origin.inputs)) if any(e.parts[i] is not None for e in origin.elements)]
    # The tensor itself goes last: the last column of a table gives way where the screen is narrow.
    titles = [printable(names.short(str(origin.inputs[i].name))) for i in known]
    columns = (
        Column("Elements", width=_LABEL - 2),
        Column(""),
        Column(printable(names.short(str(origin.name)))),
        *(Column(title) for title in titles),
    )

    def row(i: int) -> Row:
        element = shown[i]
        return (
            Span(""),
            Span(shape_text(element.index)),
            _value(_python(element.value)),
            *(_part(element.parts[j]) for j in known),
        )

    blocks: list[Block] = [Table(columns, len(shown), row)]
    total = int(origin.bad.sum())
    if total > len(shown):
        link = f"origin -m {MOST_ELEMENTS}" if len(origin.elements) > len(shown) else ""
        rest = f"… {total - len(shown):,} more" if link else f"… and {count_text(total - len(shown), 'more', 'more')}"
        blocks.append(Text((line(" " * _LABEL, Span(rest, Style.DIM, link)),)))
    return blocks


def _value(value: object) -> Span:
    text = number_text(value) if isinstance(value, float) else str(value)
    style = Style.NAN if "nan" in text else Style.INF if "inf" in text else Style.NUMBER
    return Span(text, style)


def _part(part: Part | None) -> Span:
    if part is None:
        return Span("–", Style.DIM)
    if part.value.size == 1:
        return _value(_python(part.value.reshape(-1)[0]))
    where = f"[{','.join(':' if i is None else str(i) for i in part.index)}]"
    body = chip(part.value, "").text.strip()
    return Span(f"{where} {body.split(' ', 1)[-1]}", Style.NUMBER)


def _python(value: Any) -> object:
    """A NumPy scalar as Python's own number; bfloat16 and float8 as float."""
    found = value.item() if hasattr(value, "item") else value
    return found if isinstance(found, int | float | complex | bool) else float(found)


def _batch(run: Run, origin: Origin) -> list[Line]:
    if not origin.batch_rows:
        return []
    shown = ", ".join(map(str, origin.batch_rows[:12]))
    more = len(origin.batch_rows) - 12
    text = f"{'row' if len(origin.batch_rows) == 1 else 'rows'} {shown}{f' and {more} more' if more > 0 else ''}"
    size = origin.value.shape[0]
    feeds = [
        Span(printable(name), Style.NAME, f"pf {quoted(name)}")
        for name in run.call.given
        if (fed := fed_value(run.call.given, tensor_name_of(name))) is not None and fed.shape[:1] == (size,)
    ]
    parts: list[Span | str] = [Span("Batch".ljust(_LABEL), Style.LABEL), f"{text} of {size}"]
    for i, feed in enumerate(feeds[:3]):
        parts += ["; fed as " if i == 0 else ", ", feed]
    return [line(*parts)]


def _after(after: Aftermath, options: argparse.Namespace) -> Line:
    """What the origin spoiled, with a link to the list."""
    what = "NaN" if options.nan else "NaN or infinity"
    if after.seen < after.total:
        text = f"{after.bad:,} of the next {after.seen:,} tensors hold {what} too ({after.total:,} in all)"
    elif after.bad:
        verb = "holds" if after.bad == 1 else "hold"
        text = f"{after.bad:,} of {count_text(after.total, 'later tensor')} {verb} {what} too"
    else:
        text = f"no later tensor holds {what}"
    excluded = options.filter_exclude_node_names
    link = "lt -f has_inf_or_nan" + (f" -fenn {quoted(excluded)}" if excluded else "")
    return line(Span("After".ljust(_LABEL), Style.LABEL), f"{text}: ", Span("lt -f has_inf_or_nan", Style.KEY, link))


def _all_fine(run: Run, search: OriginSearch, options: argparse.Namespace) -> Document:
    what = "NaN" if options.nan else "NaN or infinity"
    unread = search.unread
    lines = [line(Span(f"No {what} in this run.", Style.GOOD))]
    if unread:
        lines = [line(Span(f"No {what} in what could be read of this run.", Style.WARNING))]
    looked_at = count_text(len(run.tensors) - unread, "tensor")
    lines.append(line(f"Looked at {looked_at} and {count_text(len(run.call.feeds), 'feed')}."))
    if unread:
        lines.append(line(f"{count_text(unread, 'tensor')} could not be read: `lt` shows a ? in place of the size."))
    if options.filter_exclude_node_names:
        lines.append(line(f"Left out: nodes that match {printable(options.filter_exclude_node_names)}."))
    if not len(run.tensors):
        lines.append(line(Span("This run captured no tensors: `run` captures the next one.", Style.HINT)))
    return Document("origin", (Text(tuple(lines)),), lambda: _data(run, None, unread), "origin")


def _every_origin(run: Run, search: OriginSearch) -> Document:
    """A table of every tensor that is bad although its inputs are fine."""
    found = search.all()
    head = line(
        Span(f"{count_text(len(found), 'tensor')} not finite although all inputs are", Style.TITLE),
        ", in order of execution:" if found else ".",
    )
    columns = (Column("op type"), Column("value", drop=1), Column("tensor"))

    def row(i: int) -> Row:
        tensor = run.tensors[found[i]]
        value = run.tensors.value(found[i])
        return (
            Span(printable(tensor.op_type), Style.OP),
            Span(chip(value, tensor.dtype).text),
            Span(printable(str(tensor.name)), Style.NAME, tensor_link(run.tensors, found[i])),
        )

    names = [str(run.tensors[i].name) for i in found]
    blocks: tuple[Block, ...] = (Text((head,)), Table(columns, len(found), row)) if found else (Text((head,)),)
    return Document("origins", blocks, lambda: {"tensors": names}, "origins")


def _data(run: Run, origin: Origin | None, unread: int) -> dict[str, Any]:
    """The JSON form; every field is null (or an empty list) when all is finite.

    `unread` counts the tensors that were asked in vain.
    """
    if origin is None:
        nothing = ("tensor", "execution", "op_type", "device", "file", "line", "cause", "suggestion")
        return {**dict.fromkeys(nothing), "inputs": [], "elements": [], "batch_rows": [], "unread": unread}
    return {
        "tensor": str(origin.name),
        "execution": None if origin.index is None else run.tensors[origin.index].execution,
        "op_type": origin.op_type,
        "device": origin.device,
        "file": origin.frame.file if origin.frame else None,
        "line": origin.frame.line if origin.frame else None,
        "inputs": [str(item.name) for item in origin.inputs],
        "input_values": [input_data(item) for item in origin.inputs],
        "elements": [_element_data(element) for element in origin.elements],
        "batch_rows": list(origin.batch_rows),
        "cause": origin.cause.text,
        "suggestion": origin.cause.suggestion,
        "unread": unread,
    }


def _element_data(element: Element) -> dict[str, Any]:
    return {
        "index": list(element.index),
        "value": _python(element.value),
        "inputs": [None if part is None else _part_data(part.value) for part in element.parts],
    }


def _part_data(values: Array) -> Any:
    if values.size <= _MOST_PART_VALUES:
        return values.item() if not values.ndim else [_python(value) for value in values.reshape(-1)]
    facts = summarize(values)
    return {"size": facts.size, "min": facts.min, "max": facts.max, "nonfinite": facts.nonfinite}


COMMAND = Command(
    "origin",
    (),
    "Where the run first went wrong: the first tensor not finite although all its inputs are.",
    _origin,
    (
        Argument(("--nan",), "look for NaN only; infinities (a mask of -inf) pass", switch=True),
        Argument(
            ("-fenn", "--filter_exclude_node_names"),
            "nodes whose values count as fine",
            Kind.NODE,
            metavar="REGEX",
            default="",
        ),
        Argument(
            ("-m", "--max_elements"), "how many elements to show", metavar="N", type=int, default=_ELEMENTS_SHOWN
        ),
        Argument(("--all",), "list every such tensor, not only the first", switch=True),
    ),
    moments=WITH_TENSORS,
    details="""\
Inputs are looked up in the run along the graph: through Identity and Switch, across devices, and in loops as they
were at that iteration. An input that was folded away or not captured is said to be so.

In JSON `tensor` is null when everything is finite; `execution` counts the turns of a loop from 0. `inputs` are
names; `inputs` of an element are the values of those inputs that made it, in the same order: a number, a list for
the slice that a reduction or a product took (its size and extremes when it is longer than 32), null where that is
not known.""",
    section="Look",
)
