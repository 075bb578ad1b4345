"""The first lines of an origin: what went wrong, and in which turn of a loop."""

from __future__ import annotations

from pathlib import PurePath

from tfdbg_cli.analysis.graph.flow.turns import LoopTurns
from tfdbg_cli.analysis.origin.origin_found import Origin
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.commands.views.links import node_link, source_link, tensor_link
from tfdbg_cli.commands.views.variable_view import untold_link
from tfdbg_cli.document.document import Block
from tfdbg_cli.document.flow import Flow, Piece
from tfdbg_cli.document.labels import label_span
from tfdbg_cli.document.text import Line, Span, Style, line
from tfdbg_cli.document.wrapping import Labelled
from tfdbg_cli.model.dtypes import name_of
from tfdbg_cli.model.names import short_device
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.statistics import summarize
from tfdbg_cli.model.units import shape_text


def head_line(run: Run, origin: Origin) -> Line:
    """The tensor in which it began, its op, how many of its elements are not finite, and the device."""
    facts = summarize(origin.value)
    tensor = run.tensors[origin.index] if origin.index is not None else None
    dtype = tensor.dtype if tensor is not None else name_of(origin.value.dtype)
    link = (
        untold_link(run, origin.name, origin.node) if origin.index is None else tensor_link(run.tensors, origin.index)
    )
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
        label_span("Origin"),
        Span(str(origin.name), Style.TITLE, link),
        f"{again}  ",
        Span(origin.op_type, Style.OP, node_link(origin.node.name) if origin.node else ""),
        f"  {dtype}{shape_text(origin.value.shape)} ",
        *counts,
        f" of {origin.value.size:,}  ",
        Span(short_device(origin.device), Style.DEVICE),
    )


def cause_block(run: Run, origin: Origin, text: str) -> Block:
    """The cause in words; the inputs that it names lead to their values."""
    named = {str(seen.name): tensor_link(run.tensors, seen.index) for seen in origin.inputs if seen.index is not None}
    return Labelled("Cause", text, Style.WARNING, links=tuple(named.items()))


def nan_blocks(run: Run, nan: Origin) -> list[Block]:
    """Where NaN began, in the op that made it of an infinity, and how."""
    value = Span(str(nan.name), Style.NAME, "" if nan.index is None else tensor_link(run.tensors, nan.index))
    pieces: list[Piece] = [(value,), (Span("  "), Span(nan.op_type, Style.OP))]
    if nan.frame is not None:
        place = f"{PurePath(nan.frame.file).name}:{nan.frame.line}"
        pieces.append((Span("  "), Span(place, Style.DIM, source_link(nan.frame.file, nan.frame.line))))
    pieces.append((Span("  "), Span("origin --nan", Style.KEY, "origin --nan")))
    return [Flow("NaN at", tuple(pieces)), Labelled("", nan.cause.text, Style.WARNING)]


def turn_lines(run: Run, origin: Origin) -> list[Line]:
    """Which turn of a loop it was, where that can be told, with a link to the tensor in all turns."""
    if origin.index is None:
        return []
    turns = LoopTurns(run.graph, run.tensors)
    loop, turn = turns.loop_around(origin.name.node), turns.turn(origin.index)
    if loop is None or turn is None:
        return []
    name = Span(loop, Style.NAME, node_link(loop) if loop in run.graph else "")  # one of version 1 is no node
    link = f"pt {quoted(str(origin.name))} -n all"
    return [
        line(
            label_span("Turn"),
            f"{turn + 1} of the loop ",
            name,
            " · ",
            Span("all turns", Style.KEY, link),
        )
    ]
