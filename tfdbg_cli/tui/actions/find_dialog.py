"""The dialog of Ctrl-P: whatever has a name, found as one types."""

from __future__ import annotations

import time
from collections.abc import Callable

from tfdbg_cli.commands.service.finding_here import FindingHere
from tfdbg_cli.document.document import Document
from tfdbg_cli.document.rows import Rows
from tfdbg_cli.tui.keys.keymap import KeyContext, bindings, key_name
from tfdbg_cli.tui.reading.viewport import Viewport
from tfdbg_cli.tui.state.line_editor import LineEditor
from tfdbg_cli.tui.state.state import Dialog, ScreenState

_FIRST_SIZE = (60, 10)  # until the screen says how much room there is
_OFFER = "Type letters of the name of a tensor, layer, op, file, command or run."


class FindDialog(Dialog):
    """What is typed, and the best hits so far. The health of those in sight is counted between two keys."""

    def __init__(self, finding: FindingHere) -> None:
        self.editor = LineEditor()
        self._finding = finding
        super().__init__("Find", Viewport(Document("find", ())))
        self.view.resize(*_FIRST_SIZE)
        self._show()

    @property
    def status(self) -> str:
        """What Enter would do, or how to begin."""
        link = self.view.chosen
        if link is None:
            return "looking …" if self._finding.running else "Nothing has these letters in its name."
        return f"Enter: {link.link}" if self.editor.text else _OFFER

    @property
    def count(self) -> str:
        """How many hits there are by now, of how many names."""
        more = "…" if self._finding.running else ""
        return f"{self._finding.total:,}{more} of {self._finding.names:,}"

    @property
    def unfinished(self) -> bool:
        """Whether names are left to look at, or a row in sight lacks its health."""
        return self._finding.running or self._lacking() is not None

    def typed(self, at_once: float) -> None:
        """The text changed: look for it, for at most the seconds `at_once` before the screen is drawn."""
        if self.editor.text == self._finding.text:
            return
        self._finding.ask(self.editor.text)
        end = time.monotonic() + at_once
        self.work(lambda: time.monotonic() >= end)
        if not self._finding.running:
            self._show()

    def work(self, enough: Callable[[], bool]) -> None:
        """Go on looking, and then counting, until `enough`."""
        if self._finding.running:
            self._finding.work(enough)
            self._show()
        while not self._finding.running and not enough() and (line := self._lacking()) is not None:
            self._finding.count(line, enough)
            self.view.forget(line)

    def _lacking(self) -> int | None:
        return next((line for line in self.view.visible() if self._finding.missing(line)), None)

    def _show(self) -> None:
        """The hits as they are now, the chosen place as it was unless the text changed."""
        selected, before = self.view.selected, self.view
        finding = self._finding
        rows = Rows(finding.shown, lambda row: finding.line(row, self.view.cols))
        self.view = Viewport(Document("find", (rows,)))
        self.view.resize(before.cols, before.rows)
        if not finding.is_new and selected < finding.shown:
            self.view.choose(selected, 0)
        finding.is_new = False


def key_of(state: ScreenState) -> Callable[[str], str]:
    """What tells the key that runs a command, by its name, at this stop; empty where none does."""
    keys: dict[str, str] = {}
    for binding in bindings(KeyContext.DOCUMENT, state.service.moment, state.own_bindings):
        if ":" not in binding.action.partition(" ")[0]:
            keys.setdefault(binding.action, key_name(binding.keys[0]))
    return lambda command: next((keys[one] for one in state.service.spellings(command) if one in keys), "")
