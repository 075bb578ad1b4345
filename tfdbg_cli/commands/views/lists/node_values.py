"""What nodes gave, at the end of their rows: dtype and shape, and on a screen their health, counted later."""

from __future__ import annotations

from collections.abc import Sequence

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.views.lists.health_columns import SumsLater
from tfdbg_cli.document.later import Later
from tfdbg_cli.document.text import Span, Style
from tfdbg_cli.model.runs import RunStart
from tfdbg_cli.model.tensors import EMPTY_STORE
from tfdbg_cli.model.units import count_text, shape_text


class NodeValues:
    """The rows of `nodes`, by their names; nothing is said of what was not captured."""

    def __init__(self, context: Context, nodes: Sequence[str]) -> None:
        self._store = EMPTY_STORE if isinstance(context.stop, RunStart) else context.run.tensors
        self._nodes = nodes
        counted = context.later and len(self._store) > 0
        self._sums = SumsLater(context, lambda row: self._store.named(nodes[row])) if counted else None

    @property
    def later(self) -> Later | None:
        """What counts the health of a row; None where no front end shows it."""
        return self._sums

    def spans(self, row: int) -> Sequence[Span | str]:
        """`float32[4,2]  2 NaN  1 ±inf  |x| max 2.9`: of a node with several tensors all of them together."""
        found = self._store.named(self._nodes[row])
        if not found:
            return ()
        tensor = self._store[found[0]]
        several = f" ×{len(found):,}" if len(found) > 1 else ""
        text = f"{tensor.dtype}{shape_text(tensor.shape)}{several}"
        if len(self._store.named(tensor.node, tensor.slot)) < len(found):  # outputs that may differ
            text = count_text(len(found), "tensor")
        parts: list[Span | str] = ["  ", Span(text, Style.NUMBER)]
        if self._sums is None:
            return parts
        if self._sums.missing(row):
            return (*parts, "  ", self._sums.cell(row))
        largest = self._sums.largest(row)
        for bad in self._sums.words(row):
            parts += ["  ", bad]
        if largest.text:
            parts += [Span("  |x| max ", Style.DIM), largest]
        return parts
