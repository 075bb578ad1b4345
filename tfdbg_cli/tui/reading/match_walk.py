"""Walking from match to match in a document while the search goes on."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from tfdbg_cli.document.text import Line
from tfdbg_cli.tui.reading.paint import Range, columns
from tfdbg_cli.tui.reading.search import Search
from tfdbg_cli.tui.reading.value_lines import value_lines
from tfdbg_cli.tui.reading.viewport import Viewport

_AT_ONCE_SECONDS = 0.004
AT_ONCE = 100  # lines searched before the screen is drawn with what was typed


@dataclass(frozen=True, slots=True)
class _Wish:
    """A match to go to as soon as it is known: the next below `line` (or at it), or the one above."""

    line: int
    forward: bool
    here: bool = False


class MatchWalk:
    """The search in one document. `notice` is what it has to say, `failed` whether that is bad news."""

    def __init__(self, view: Viewport) -> None:
        self._view = view
        self._search: Search | None = None
        self._wish: _Wish | None = None
        self._further: list[bool] = []  # steps asked for before that wish came true, each forward or not
        self._origin = (0, 0, 0)
        self._halted = False
        self.notice = ""
        self.failed = False

    @property
    def active(self) -> bool:
        """Whether there is a search to go on with."""
        return self._search is not None

    @property
    def text(self) -> str:
        """The pattern looked for."""
        return self._search.text if self._search else ""

    @property
    def running(self) -> bool:
        """Whether lines are left to look at."""
        return self._search is not None and not self._search.done and not self._halted

    def begin(self) -> None:
        """Remember where the user is, to come back on `cancel`."""
        self._origin = (self._view.selected, self._view.top, self._view.left)

    def look_for(self, text: str) -> None:
        """Search for `text` from where the user began, and go to the first match.

        Raises:
            TfdbgError: not a regular expression.

        """
        if not text:
            self.stop()
            return
        start = self._origin[0]
        self._search = self._new(text, start)
        self._halted = False
        self._seek(_Wish(start, forward=True, here=True))

    def cancel(self) -> None:
        """Forget the search and go back to where it began."""
        self.stop()
        selected, top, left = self._origin
        self._view.go(selected)
        self._view.top, self._view.left = top, left
        self._view.go(selected)

    def stop(self) -> None:
        """Forget the search; stay here."""
        self._search = None
        self._forget_wishes()
        self.notice, self.failed = "", False

    def halt(self) -> None:
        """Look at no more lines, but keep what was found."""
        self._halted = True
        self._forget_wishes()
        self._report("stopped")

    def relaid(self) -> None:
        """The document has a new layout: search it again, staying here."""
        if self._search is not None:
            self._search = self._new(self._search.text, self._view.selected)
            self._halted = False
            self._forget_wishes()

    def next(self) -> None:
        """Go to the next match, round the end if need be."""
        self._step(forward=True)

    def previous(self) -> None:
        """Go to the match before, round the top if need be."""
        self._step(forward=False)

    def work(self, lines: int = AT_ONCE, enough: Callable[[], bool] = lambda: False) -> None:
        """Look at some more lines, and go to the match wished for once it is known.

        After each step of the search `enough` may end it: one may take as long as a thousand lines of a text.
        """
        search = self._search
        if search is None or self._halted:
            return
        search.scan(lines, enough)
        remark = ""
        while (wish := self._wish) is not None:
            found = search.after(wish.line, here=wish.here) if wish.forward else search.before(wish.line)
            if found is None:
                if search.done:
                    self._forget_wishes()
                break
            self._go(found[0])
            wrapped = "past the end, from the top" if wish.forward else "past the top, from the end"
            remark = wrapped if found[1] else ""
            self._wish = _Wish(self._view.selected, self._further.pop(0)) if self._further else None
        self._report(remark)

    def ranges(self, line: Line, index: int) -> list[Range]:
        """The matches to show on `line`, which stands at `index`."""
        return self._search.ranges(line, index) if self._search else []

    def _go(self, index: int) -> None:
        """Select the matching line at `index`, and the link that its first match is in, so that Enter follows it."""
        view = self._view
        view.go(index, centre=True)
        line = view.line(index)
        for start, _ in self.ranges(line, index)[:1]:
            view.choose_at(columns(line.text[:start]))

    def _new(self, text: str, start: int) -> Search:
        """A search by the values of the arrays here, where `text` asks for that, or else by what is shown."""
        return Search(text, self._view.lines, start, value_lines(text, self._view))

    def _step(self, *, forward: bool) -> None:
        """One match further than where the steps asked for so far lead to: a fast hand is ahead of the search."""
        if self._wish is not None:
            self._further.append(forward)
        else:
            self._seek(_Wish(self._view.selected, forward))

    def _forget_wishes(self) -> None:
        self._wish = None
        self._further.clear()

    def _seek(self, wish: _Wish) -> None:
        self._forget_wishes()
        self._wish = wish
        self._halted = False
        end = time.monotonic() + _AT_ONCE_SECONDS
        self.work(enough=lambda: time.monotonic() >= end)

    def _report(self, remark: str) -> None:
        search = self._search
        if search is None:
            return
        self.failed = search.done and not search.count
        ordinal = search.ordinal(self._view.selected)
        if self.failed:
            state = "no match"
        elif search.done:
            state = f"{ordinal}/{search.count}" if ordinal else f"{search.count} matches"
        else:
            state = f"{search.count} matches so far, {search.share:.0%} searched"
        self.notice = f"/{search.text}  {state}" + (f", {remark}" if remark else "")
