"""The nodes of a stepper as a list: where one is, what is known of each, and the legend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.commands.views.links import node_link
from tfdbg_cli.document.document import Block
from tfdbg_cli.document.table import Column, Row, Table
from tfdbg_cli.document.text import Line, Span, Style, line
from tfdbg_cli.model.stepping import Letter, Stepper

_STYLES = {
    Letter.P: Style.NUMBER,
    Letter.U: Style.DIM,
    Letter.H: Style.GOOD,
    Letter.I: Style.NAME,
    Letter.O: Style.WARNING,
    Letter.D: Style.ERROR,
}
_AROUND = 2  # rows of the list before and behind the next node


def focus_of(stepper: Stepper, rows: range) -> int | None:
    """The line of the next node: behind the title, the legend, an empty line and the head of the table."""
    return stepper.next - rows.start + len(Letter) + 4 if stepper.next in rows else None


def legend() -> list[Line]:
    """What the marks in the list mean."""
    marks = [(Span("-->", Style.TITLE), "the next node")]
    marks += [(Span(letter.name, _STYLES[letter]), letter.value) for letter in Letter]
    return [line("  ", Span(" " * (3 - len(mark.text))), mark, f"  {text}") for mark, text in marks]


def node_table(stepper: Stepper, rows: Sequence[int]) -> Table:
    """The nodes at `rows`, each with its state; the number leads to `cont`, the name to the node.

    The link spells it `ct`, which means nothing else: `cont` is `continue` once the stepper was left, and an old page
    would run the program on.
    """
    width = len(str(len(stepper.nodes)))

    def row(at: int) -> Row:
        index = rows[at]
        node = stepper.nodes[index]
        letters = "".join(sorted(letter.name for letter in stepper.letters(node.name)))
        strongest = next((letter for letter in reversed(Letter) if letter.name in letters), None)
        return (
            Span("-->" if index == stepper.next else "", Style.TITLE),
            Span(f"({index} / {len(stepper.nodes)})", Style.NUMBER, f"ct {quoted(node.name)}"),
            Span(letters, _STYLES[strongest] if strongest else Style.DIM),
            Span(node.op_type, Style.OP),
            Span(node.name, Style.NAME, node_link(node.name)),
        )

    columns = (
        Column("", width=3),
        Column("Node", right=True, width=2 * width + 5),
        Column("State", width=5),
        Column("Op type", drop=1, least=14),
        Column("Name", keep_end=True),
    )
    return Table(columns, len(rows), row)


def window(stepper: Stepper, *, whole: bool) -> list[Block]:
    """The list around the next node, or the `whole` list, of which a screen makes what it shows."""
    if whole:
        return [node_table(stepper, range(len(stepper.nodes)))]
    first = max(0, min(stepper.next - _AROUND, len(stepper.nodes) - 2 * _AROUND - 1))
    return [node_table(stepper, range(first, min(first + 2 * _AROUND + 1, len(stepper.nodes))))]


def list_data(stepper: Stepper, rows: Sequence[int]) -> Mapping[str, Any]:
    """The JSON form of the nodes at `rows`."""
    nodes = [
        {
            "index": index,
            "name": stepper.nodes[index].name,
            "op_type": stepper.nodes[index].op_type,
            "letters": sorted(letter.name for letter in stepper.letters(stepper.nodes[index].name)),
        }
        for index in rows
    ]
    return {"next": stepper.next, "count": len(stepper.nodes), "notes": list(stepper.notes), "nodes": nodes}
