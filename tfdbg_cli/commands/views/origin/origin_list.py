"""All places of a run at which something bad began, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from tfdbg_cli.analysis.causes.intended import told_once
from tfdbg_cli.analysis.graph.making.lineage import InputSeen
from tfdbg_cli.analysis.graph.nodes.feeds import feed_name
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.commands.views.links import tensor_link
from tfdbg_cli.commands.views.lists.tensor_columns import execution_cell, execution_columns
from tfdbg_cli.commands.views.origin.around import ignored_blocks, intended_blocks
from tfdbg_cli.commands.views.variable_view import untold_link
from tfdbg_cli.document.document import Block, Document, Text
from tfdbg_cli.document.summary import chip
from tfdbg_cli.document.table import Column, Row, Table
from tfdbg_cli.document.text import Span, Style, line
from tfdbg_cli.model.dtypes import name_of
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.units import count_text

_COLUMNS = (Column("Op type"), Column("Value", drop=1))


def origin_list(run: Run, search: OriginSearch, found: Sequence[int | InputSeen]) -> Document:
    """What `search` has `found` in `run`: rows of tensors, and what the run was given that no tensor shows."""
    among = f"{count_text(len(search.unread), 'tensor')} could not be read, and may be." if search.unread else ""
    head = line(
        Span(f"{count_text(len(found), 'tensor')} not finite although all inputs are", Style.TITLE),
        ", in order of execution:" if found else ".",
        *([Span(f" {among}", Style.WARNING)] if among else []),
    )
    blocks: tuple[Block, ...] = (Text((head,)),)
    if found:
        turns = execution_columns(run.tensors, (place for place in found if isinstance(place, int)))
        columns = (*_COLUMNS, *turns, Column("Tensor"))
        blocks += (Table(columns, len(found), lambda i: _row(run, found[i], turns=bool(turns))),)
    ignored = search.dismissals.bad_nodes
    blocks += (
        *intended_blocks(run, told_once(search.intended)),
        *ignored_blocks(ignored),
    )
    names = [str(_name(run, place)) for place in found]
    executions = [run.tensors[place].execution if isinstance(place, int) else None for place in found]
    passed = {"unread": len(search.unread), "ignored": list(ignored)}
    told = {name: what for name, what in passed.items() if what}
    return Document("origins", blocks, lambda: {"tensors": names, "executions": executions, **told}, "origins")


def _name(run: Run, place: int | InputSeen) -> TensorName:
    """What `origin` calls the tensor at `place`."""
    if isinstance(place, int):
        return run.tensors[place].name
    return feed_name(place.node) or place.name


def _row(run: Run, place: int | InputSeen, *, turns: bool) -> Row:
    name, again = str(_name(run, place)), Span("")
    if isinstance(place, int):
        tensor = run.tensors[place]
        op_type, link = tensor.op_type, tensor_link(run.tensors, place)
        told, again = chip(run.tensors.value(place), tensor.dtype).text, execution_cell(run.tensors, place)
    else:
        op_type, link = place.node.op_type if place.node else "Placeholder", untold_link(run, place.name, place.node)
        told = "" if place.value is None else chip(place.value, name_of(place.value.dtype)).text
    return Span(op_type, Style.OP), Span(told), *([again] if turns else []), Span(name, Style.NAME, link)
