"""What a run shows of a variable, whose own output is a handle without numbers."""

from __future__ import annotations

from dataclasses import dataclass

from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.analysis.graph.nodes.feeds import feed_name
from tfdbg_cli.analysis.variables.uses import use_of
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.commands.views.call_rows import argument_shape
from tfdbg_cli.commands.views.links import given_link, tensor_link
from tfdbg_cli.document.document import Document, Text
from tfdbg_cli.document.table import Column, Row, Table
from tfdbg_cli.document.text import EMPTY_LINE, Span, Style, line
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.units import shape_text
from tfdbg_cli.model.updates import after_update, before_update
from tfdbg_cli.model.values import NoValue
from tfdbg_cli.ops.kinds import VARIABLE_READS


@dataclass(frozen=True, slots=True)
class _Captured:
    """One value of the variable: what it is, and the command that shows it."""

    what: str
    name: str
    link: str
    dtype: str
    shape: str


def untold_link(run: Run, name: TensorName, node: Node | None) -> str:
    """What shows a value that no tensor `name` has: what was fed, or what was read from the variable `node`."""
    given = given_link(run.call, feed_name(node) or name)
    if given or node is None:
        return given
    read = Lineage(run).was_read(node)
    return tensor_link(run.tensors, read[0]) if read else f"pt {quoted(str(name))}"


def variable_document(context: Context, name: str) -> Document | None:
    """What was captured of the variable whose node is `name`; None when that is no variable, or nothing was."""
    lineage = Lineage(context.run)
    node = next((found for graph in lineage.graphs if (found := graph.find(name)) is not None), None)
    captured = _captured(context, lineage, node) if node is not None and lineage.is_variable(node) else []
    if node is None or not captured:
        return None
    head = (
        line(Span("Variable ", Style.LABEL), Span(name, Style.TITLE)),
        line(Span("  op ", Style.LABEL), Span(node.op_type, Style.OP)),
        EMPTY_LINE,
        line("Its own output is a handle. Captured of it:"),
    )
    blocks = (Text((*head, EMPTY_LINE)), _table(captured))
    rows = [{"what": one.what, "name": one.name, "dtype": one.dtype, "shape": one.shape} for one in captured]
    return Document("variable", blocks, lambda: {"variable": name, "captured": rows}, f"pt {name}")


def _table(captured: list[_Captured]) -> Table:
    def row(i: int) -> Row:
        one = captured[i]
        return (
            Span(one.what),
            Span(one.dtype),
            Span(one.shape, Style.NUMBER),
            Span(one.name, Style.NAME, one.link),
        )

    columns = (Column("What"), Column("dtype"), Column("Shape"), Column("Tensor name", keep_end=True))
    return Table(columns, len(captured), row)


def _captured(context: Context, lineage: Lineage, node: Node) -> list[_Captured]:
    run, name = context.run, node.name
    found = []
    fed = run.call.feeds.get(name)
    if fed is not None and not isinstance(fed, NoValue):
        argument = next(one for one in run.call.arguments if one.name == name)
        found.append(
            _Captured("before the run", name, f"pf {quoted(name)}", argument.dtype, argument_shape(argument))
        )
    found += _of_node(context, before_update(name), "before its update")
    for reader in _readers(lineage, node):
        found += _of_node(context, reader, "as it was read")
    return found + _of_node(context, after_update(name), "after its update")


def _of_node(context: Context, name: str, what: str) -> list[_Captured]:
    store = context.run.tensors
    return [
        _Captured(what, str(store[i].name), tensor_link(store, i), store[i].dtype, shape_text(store[i].shape))
        for i in store.named(name)
    ]


def _readers(lineage: Lineage, node: Node) -> list[str]:
    """The ops that read the variable, wherever its handle is handed on to."""
    read = (reader for graph in lineage.graphs for reader in use_of(graph, node).readers)
    return list(dict.fromkeys(reader.name for reader in read if reader.op_type in VARIABLE_READS))
