"""The line that says which branch a conditional took, and what chose it."""

from __future__ import annotations

import re

from tfdbg_cli.analysis.graph.flow.branches import Taken
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.commands.views.links import node_link, tensor_link
from tfdbg_cli.document.text import Line, Span, Style, line
from tfdbg_cli.model.names import node_of
from tfdbg_cli.model.tensors import TensorStore
from tfdbg_cli.model.units import count_text


def taken_line(taken: Taken, store: TensorStore) -> Line:
    """`Took     false, by Greater:0`: the branch leads to what ran there, the rest to the value that chose it."""
    parts: list[str | Span] = [Span("Took     ", Style.LABEL)]
    several = len(taken.times) > 1 or sum(taken.times.values()) > 1
    for branch, times in taken.times.items():
        parts += [", "] if len(parts) > 1 else []
        parts += [Span(branch, Style.NAME, _link(taken, branch)), f" {count_text(times, 'time')}" if several else ""]
    if taken.scopes is not None:  # a merge says itself what came through
        rows = store.named(taken.chooser.node, taken.chooser.slot)
        link = tensor_link(store, rows[0]) if len(rows) == 1 else f"pt {quoted(str(taken.chooser))}"
        parts += [", by ", Span(str(taken.chooser), Style.NAME, link)]
    if taken.untold:
        parts.append(Span(f" (of {taken.untold:,} it is not known)", Style.HINT))
    return line(*(part for part in parts if part != ""))


def _link(taken: Taken, branch: str) -> str:
    if taken.scopes is None:
        return node_link(node_of(branch))
    return f"lt -n {quoted(f'^{re.escape(taken.scopes[branch])}/')}" if branch in taken.scopes else ""
