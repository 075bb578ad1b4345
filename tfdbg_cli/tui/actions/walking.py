"""The `ui:` actions that go from tensor to tensor by what they hold."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TypeVar

from tfdbg_cli.document.table import Table
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.recording.fetching import in_steps
from tfdbg_cli.tui.reading.viewport import LINK_REACH
from tfdbg_cli.tui.state.bars import Message
from tfdbg_cli.tui.state.screen import Screen

_Found = TypeVar("_Found")

BEGIN_WITH_THEIRS = ("origin", "here", "error")
"""Kinds of pages whose first link leads to the tensor, or the node, that the page is about."""

_LISTS_OF_RUNS = ("runs", "alerts", "timeline")  # kinds of pages whose rows stand for runs, or for what is in one


class Walking:
    """Walks from tensor to tensor on one screen, in slices between two keys; the next action drops a walk."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._state = screen.state
        self._steps: Iterator[str | float] | None = None
        self._nowhere = ""

    @property
    def running(self) -> bool:
        """Whether something is being looked for."""
        return self._steps is not None

    def drop(self) -> None:
        """Look no further."""
        self._steps = None

    def bad(self, step: int) -> None:
        """To the next tensor that holds NaN or infinity (`step` 1), or to the one before (-1).

        In a list that is the next such row, elsewhere the next such tensor in the order of execution.
        """
        walk = self._state.service.walk
        index, start = None if self._table is not None else self._index(), self._state.page.view.selected + step

        def looked_through() -> Iterator[str]:
            rows = self._rows(step, start) if index is None else walk.beside(index, ahead=step > 0)
            return walk.first_bad(rows)

        self._begin(looked_through, f"No NaN or infinity {'below' if step > 0 else 'above'}.")

    def upstream(self) -> None:
        """To the first bad input of the chosen tensor, else to its largest one."""
        walk, index = self._state.service.walk, self._index()
        self._begin(lambda: walk.upstream(index), "Nothing that it was made from was captured.")

    def work(self, enough: Callable[[], bool]) -> None:
        """Look on until it is `enough`, and go there once it is found."""
        while self._steps is not None:
            try:
                found = next(self._steps, None)
            except TfdbgError:
                self.drop()
                raise
            if found is None:
                self.drop()
                self._screen.say(Message(self._nowhere))
            elif isinstance(found, str) and found:
                self.drop()
                self._go(found)
            if enough():
                return

    def filled(self, action: str) -> str:
        """The command string of a key, with a `{tensor}`, `{node}` or `{place}` at its end filled in.

        Raises:
            TfdbgError: no tensor is chosen, or the line that created it is not known.

        """
        walk = self._state.service.walk
        if action.endswith("{tensor}"):
            return walk.filled(action, self._node(), self._index())
        return walk.filled(action, self._node()) if action.endswith(("{node}", "{place}")) else action

    def place(self) -> tuple[str, int]:
        """The file and the line that made the chosen tensor, or those of a chosen line of source.

        Raises:
            TfdbgError: nothing of that is chosen, or nobody knows the line.

        """
        chosen = self._state.read.view.chosen
        found = self._state.service.walk.place_of(chosen.link) if chosen is not None else None
        return found or self._state.service.walk.made_at(self._node())

    @property
    def other_run(self) -> str:
        """The command that goes to the run of the chosen row, in a list of runs; "" where that is the one on show."""
        chosen = self._state.read.view.chosen if self._state.pages.all else None  # none is made yet at the first key
        verb, _, place = (chosen.link if chosen is not None else "").partition(" ")
        if verb != "runs" or not place.isdecimal() or self._state.page.document.kind not in _LISTS_OF_RUNS:
            return ""
        return f"runs {place}" if int(place) - 1 != self._state.service.run else ""

    def _begin(self, steps: Callable[[], Iterator[str]], nowhere: str) -> None:
        self._steps, self._nowhere = in_steps(steps), nowhere
        end = time.monotonic() + self._screen.at_once
        self.work(lambda: time.monotonic() >= end)
        if self.running:
            self._screen.say(Message("Looking …", hint="Any key stops it.", passing=True))
            self._screen.go_on()

    def _go(self, command: str) -> None:
        """Go to the row of the list with the link `command`, if it is near; else carry out `command`."""
        self._screen.say(None)
        view = self._state.page.view
        for step in (-1, 1) if self._table is not None else ():
            for number, link in islice(self._linked(step, view.selected), LINK_REACH):
                if link == command:
                    view.go(number, centre=True)
                    return
        self._screen.command(command)

    def _index(self) -> int:
        """The tensor that is chosen, or that the page is about."""
        return self._about(self._state.service.walk.index_of)

    def _node(self) -> str:
        """The node that is chosen, or that the page is about."""
        return self._about(self._state.service.walk.node_of)

    def _about(self, tell: Callable[[str], _Found | None]) -> _Found:
        """What `tell` says of the chosen link, else of the page."""
        page, chosen = self._state.page, self._state.read.view.chosen
        link = chosen.link if chosen is not None else ""
        # The page of a node opens with a link to another node selected, which the user has not chosen.
        unchosen = page.document.kind == "node" and link == self._first_of_all
        unchosen = unchosen or self._state.service.walk.is_vaguer(link, page.command)
        first = self._first_of_all if page.document.kind in BEGIN_WITH_THEIRS else ""
        for command in (page.command, link) if unchosen else (link, page.command, first):
            found = tell(command)
            if found is not None:
                return found
        if there := self.other_run:
            raise TfdbgError("This row is of another run.", hint=f"Enter goes there: `{there}`.")
        raise TfdbgError("No tensor is chosen here.", hint="`lt` lists the tensors.")

    @property
    def _first_of_all(self) -> str:
        """Where the first link of the page leads."""
        view = self._state.page.view
        links = (link for number in range(len(view.lines)) for link in view.links(number))
        return next((link.link for link in links), "")

    @property
    def _table(self) -> Table | None:
        """The list on the page, where the user is in it."""
        view = self._state.page.view
        if self._state.read is not self._state.page or self._state.page.document.kind != "tensors":
            return None
        return next((block for block in view.document.blocks if isinstance(block, Table)), None)

    def _rows(self, step: int, start: int) -> Iterator[str]:
        """Where the rows of the list lead from line `start` on."""
        return (link for _, link in self._linked(step, start))

    def _linked(self, step: int, start: int) -> Iterator[tuple[int, str]]:
        """The lines of the list from line `start` on, each with the last link on it."""
        view, table = self._state.page.view, self._table
        assert table is not None, "there is a list"
        part = view.parts[view.document.blocks.index(table)]
        first, end = part.start + part.headed, part.start + part.length
        for number in range(max(start, first), end) if step > 0 else range(min(start, end - 1), first - 1, -1):
            row = table.row(number - first)
            yield number, row[len(row) - 1].link
