"""What rules have found while the program trained on, on the screen and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfdbg_cli.commands.views.links import source_link, tensor_link
from tfdbg_cli.document.document import Block, Text
from tfdbg_cli.document.table import Column, Row, Table
from tfdbg_cli.document.text import EMPTY_LINE, Span, Style, line
from tfdbg_cli.model.names import parse_tensor_name
from tfdbg_cli.model.rules import RuleAlert
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.units import count_text

_COLUMNS = (
    Column("Rule"),
    Column("Run", right=True),
    Column("Times", right=True, drop=3),
    Column("Made at", drop=1),
    Column("Holds", drop=2),
    Column("Tensor", subject=True, keep_end=True),
)


def rule_blocks(alerts: Sequence[RuleAlert], shown: Run | None) -> list[Block]:
    """A table of `alerts`, each with the run in which the rule fired first.

    What the run that is `shown` holds leads to its value.
    """
    if not alerts:
        return []

    def row(i: int) -> Row:
        alert = alerts[i]
        place = Span("")
        if alert.file is not None and alert.line is not None:
            name = alert.file.replace("\\", "/").rpartition("/")[2]
            place = Span(f"{name}:{alert.line}", Style.LABEL, source_link(alert.file, alert.line))
        return (
            Span(alert.rule, Style.WARNING),
            Span(f"#{alert.run}", Style.NUMBER),
            Span(f"{alert.runs:,}", Style.NUMBER),
            place,
            Span(alert.holds),
            Span(alert.tensor, Style.NAME, _link(alert, shown)),
        )

    rules = len({alert.rule for alert in alerts})
    head = line(Span(f"{count_text(rules, 'rule')} fired", Style.TITLE), f", for {count_text(len(alerts), 'tensor')}")
    hint = line(Span("Run is the first in which it did, Times of how many judged runs.", Style.HINT))
    return [Text((head, hint, EMPTY_LINE)), Table(_COLUMNS, len(alerts), row), Text((EMPTY_LINE,))]


def _link(alert: RuleAlert, shown: Run | None) -> str:
    name = parse_tensor_name(alert.tensor)
    if shown is None or name is None or alert.run != shown.call.number:
        return ""
    rows = shown.tensors.named(name.node, name.slot)
    at = next((row for row in rows if shown.tensors[row].execution == alert.execution), None)
    return "" if at is None else tensor_link(shown.tensors, at)


def rule_data(alert: RuleAlert) -> dict[str, Any]:
    """The JSON form of one of them."""
    return {
        "rule": alert.rule,
        "run": alert.run,
        "place": None,
        "tensor": alert.tensor,
        "file": alert.file,
        "line": alert.line,
        "text": alert.text,
        "execution": alert.execution,
        "op_type": alert.op_type,
        "runs": alert.runs,
        "last_run": alert.last_run,
    }
