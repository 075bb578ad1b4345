"""The prompt: a line being typed, its history, and candidates for completing it."""

from __future__ import annotations

from collections.abc import Callable

from tfdbg_cli.commands.completion import Completions
from tfdbg_cli.commands.typed_commands import History
from tfdbg_cli.tui.state.line_editor import LineEditor


class TypedPrompt:
    """What is typed behind `tfdbg> `.

    `complete` is asked with the text up to the cursor. `candidates` are on show until something else is typed;
    `picked` is the one that Tab stands at (-1: none yet), `left_out` how many are not among them. `refused` says that
    the line is a command that failed, and was not changed since.
    """

    def __init__(self, history: History, complete: Callable[[str], Completions]) -> None:
        self.editor = LineEditor()
        self.candidates: tuple[str, ...] = ()
        self.picked = -1
        self.left_out = 0
        self.refused = False
        self._history = history
        self._complete = complete
        self._start = 0
        self._walk: list[str] | None = None
        self._walked = -1
        self._typed = ""

    def take(self) -> str:
        """The text, which goes into the history; the prompt is empty after it."""
        text = self.editor.text.strip()
        self._history.add(text)
        self.editor.put("")
        self.touched()
        return text

    def touched(self) -> None:
        """Something was typed: candidates and the walk through the history end."""
        self.refused = False
        self.candidates = ()
        self.picked = -1
        self._walk = None

    def older(self) -> None:
        """The next older command that begins with what was typed."""
        if self._walk is None:
            self._typed = self.editor.text
            self._walk = [entry for entry in self._history.matching(self._typed) if entry != self._typed]
            self._walked = -1
            self.candidates = ()
        if self._walked + 1 < len(self._walk):
            self._walked += 1
            self.editor.put(self._walk[self._walked])

    def newer(self) -> None:
        """Back towards what was typed."""
        if self._walk is None or self._walked < 0:
            return
        self._walked -= 1
        self.editor.put(self._walk[self._walked] if self._walked >= 0 else self._typed)

    def complete(self, step: int = 1) -> bool:
        """Complete what is typed; on show already, pick the next candidate. False when nothing fits."""
        if self.candidates:
            self.picked = (self.picked + step) % len(self.candidates)
            self.editor.replace(self._start, self.candidates[self.picked])
            return True
        before = self.editor.text[: self.editor.cursor]
        found = self._complete(before)
        if not found.candidates:
            return False
        self._walk = None
        self._start = found.start
        if len(found.candidates) == 1:
            only = found.candidates[0]
            ahead = self.editor.text[self.editor.cursor :]
            self.editor.replace(found.start, only if ahead or only.endswith(("/", "=")) else f"{only} ")
            return True
        if len(found.common) > len(before) - found.start:
            self.editor.replace(found.start, found.common)
        self.candidates = found.candidates
        self.left_out = max(0, found.total - len(found.candidates))
        self.picked = -1
        return True
