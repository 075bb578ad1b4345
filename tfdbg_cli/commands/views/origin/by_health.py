"""The origin of a run of which only numbers were recorded, on the screen and as JSON."""

from __future__ import annotations

import argparse
from typing import Any

from tfdbg_cli.analysis.origin.by_health import HealthOrigin, HealthSearch, InputHealth
from tfdbg_cli.commands.asked.patterns import search_text
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.views.links import node_link, tensor_link
from tfdbg_cli.commands.views.lists.tensor_columns import execution_cell, execution_columns
from tfdbg_cli.commands.views.made_at import made_at_blocks
from tfdbg_cli.document.document import Block, Document, Text
from tfdbg_cli.document.labels import LABEL_WIDTH, label_span
from tfdbg_cli.document.summary import facts_line, summary_data
from tfdbg_cli.document.table import Column, Row, Table
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.document.wrapping import Labelled
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.units import count_text


def origin_by_health(context: Context, options: argparse.Namespace, nothing: dict[str, Any]) -> Document:
    """What `origin` answers; `nothing` is the JSON form where all is finite."""
    run = context.run
    search = HealthSearch(
        run, nan_only=options.nan, exclude_node_names=search_text(options.filter_exclude_node_names)
    )
    if options.all:
        return _every_origin(run, search)
    origin = search.first()
    if origin is None:
        return _all_fine(search, nothing)
    context.memory.origins[context.current] = origin
    later = [index for index in search.bad_rows() if index > origin.index]
    data = {**nothing, **_data(run, origin), "bad_after": len(later)}
    return Document("origin", _screen(run, origin, later), lambda: data, f"origin {origin.name}")


def _screen(run: Run, origin: HealthOrigin, later: list[int]) -> tuple[Block, ...]:
    blocks: list[Block] = [
        Text((_what(run, origin),)),
        Labelled("Cause", origin.cause.text, Style.WARNING),
    ]
    if origin.cause.suggestion:
        blocks.append(Labelled("Try", origin.cause.suggestion, Style.HINT))
    forward = f": {origin.forward}, whose gradient this is" if origin.forward else ""
    blocks += [Text((EMPTY_LINE,)), *made_at_blocks(run, origin.made_by, forward), Text((EMPTY_LINE,))]
    if origin.inputs:
        rows = [_input(run, origin.inputs[i], "From" if i == 0 else "") for i in range(len(origin.inputs))]
        columns = (Column("", width=LABEL_WIDTH - 2), Column(""), Column(""), Column(""))
        blocks += [Table(columns, len(rows), rows.__getitem__, show_head=False), Text((EMPTY_LINE,))]
    label = label_span("After")
    verb = "holds" if len(later) == 1 else "hold"
    after = f"{count_text(len(later), 'later tensor')} {verb} NaN or infinity too: "
    link = Span("lt -f has_inf_or_nan", Style.KEY, "lt -f has_inf_or_nan")
    blocks.append(Text((line(label, after, link) if later else line(label, "no later tensor is bad."),)))
    blocks.append(Labelled("Known", " ".join(run.notes[:1]), Style.DIM))
    return tuple(blocks)


def _what(run: Run, origin: HealthOrigin) -> Line:
    tensor = run.tensors[origin.index]
    again = f" execution {tensor.execution}" if tensor.execution else ""
    return line(
        label_span("Origin"),
        Span(str(origin.name), Style.TITLE, tensor_link(run.tensors, origin.index)),
        f"{again}  ",
        Span(origin.op_type, Style.OP, node_link(origin.node.name) if origin.node else ""),
        f"  {tensor.dtype} " if tensor.dtype else "  ",
        *facts_line(origin.summary).spans,
    )


def _input(run: Run, item: InputHealth, label: str) -> Row:
    seen = item.seen
    link = tensor_link(run.tensors, seen.index) if seen.index is not None else ""
    holds = seen.note if seen.index is None else "nothing recorded" if item.summary is None else ""
    told = facts_line(item.summary).text if item.summary is not None else holds
    return (
        Span(label, Style.LABEL),
        Span(str(seen.name), Style.NAME, link or (node_link(seen.node.name) if seen.node else "")),
        Span(seen.node.op_type if seen.node else "?", Style.OP),
        Span(told, Style.DIM if item.summary is None else Style.PLAIN),
    )


def _all_fine(search: HealthSearch, nothing: dict[str, Any]) -> Document:
    lines = (
        line(Span("No NaN or infinity is recorded in this run.", Style.GOOD)),
        line(f"Of {count_text(search.counted, 'tensor')} it is recorded whether all elements are finite."),
    )
    return Document("origin", (Text(lines),), lambda: nothing, "origin")


def _every_origin(run: Run, search: HealthSearch) -> Document:
    found = search.all()
    head = line(
        Span(f"{count_text(len(found), 'tensor')} not finite although all inputs are", Style.TITLE),
        ", as far as was recorded:" if found else ", as far as was recorded.",
    )

    turns = execution_columns(run.tensors, found)

    def row(at: int) -> Row:
        tensor = run.tensors[found[at]]
        name = Span(str(tensor.name), Style.NAME, tensor_link(run.tensors, found[at]))
        again = (execution_cell(run.tensors, found[at]),) if turns else ()
        return Span(tensor.op_type, Style.OP), *again, name

    blocks: list[Block] = [Text((head,))]
    if found:
        blocks.append(Table((Column("Op type"), *turns, Column("Tensor")), len(found), row))
    names = [str(run.tensors[index].name) for index in found]
    executions = [run.tensors[index].execution for index in found]
    return Document("origins", tuple(blocks), lambda: {"tensors": names, "executions": executions}, "origins")


def _data(run: Run, origin: HealthOrigin) -> dict[str, Any]:
    tensor = run.tensors[origin.index]
    return {
        "tensor": str(origin.name),
        "execution": tensor.execution,
        "op_type": origin.op_type,
        "device": tensor.device,
        "file": origin.frame.file if origin.frame else None,
        "line": origin.frame.line if origin.frame else None,
        "forward": origin.forward or None,
        "inputs": [str(item.seen.name) for item in origin.inputs],
        "cause": origin.cause.text,
        "suggestion": origin.cause.suggestion,
        "summary": summary_data(origin.summary),
    }
