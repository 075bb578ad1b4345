"""What the key `I` is about: the chosen name, the cause under the cursor, or what the page shows."""

from __future__ import annotations

from tfdbg_cli.document.labels import LABEL_WIDTH
from tfdbg_cli.tui.state.state import ScreenState

_CAUSE = "Cause"


def ignoring(state: ScreenState) -> str:
    """The command string that ignores it.

    Raises:
        TfdbgError: it is nothing that can be ignored.

    """
    view = state.read.view
    chosen = view.chosen
    return state.service.ignoring("" if chosen is None else chosen.link, at_cause=_label_at(state) == _CAUSE)


def _label_at(state: ScreenState) -> str:
    """The label of the selected line: a line without one belongs to the one above."""
    view = state.read.view
    for index in range(view.selected, max(-1, view.selected - 20), -1):
        label = view.line(index).text[:LABEL_WIDTH].strip() if index < len(view.lines) else ""
        if label:
            return label
    return ""
