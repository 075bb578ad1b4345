"""The finder of one stop, for a front end: a text that is typed, a search in slices, its hits as lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.finding import NameHit, NameSearch
from tfdbg_cli.commands.registry import Registry
from tfdbg_cli.commands.views.lists.found import FoundRows
from tfdbg_cli.document.text import Line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.recording.fetching import in_steps


class FindingHere:
    """Finds things by letters of their names. `keys` maps a command to its key, which is shown beside it.

    Raises:
        TfdbgError: the run looked at cannot be read.

    """

    def __init__(self, context: Context, registry: Registry, keys: Callable[[str], str]) -> None:
        self._finding = NameSearch(context, registry)
        self._facts = context, registry, keys
        self._rows = FoundRows(context, registry, self._finding.hits, keys)
        self._shown: Sequence[NameHit] = self._finding.hits
        self._counting: tuple[int, Iterator[float | None]] | None = None
        self._lost: set[int] = set()  # the rows whose value could not be read
        self.is_new = True  # whether the text has changed since the front end last reset this

    @property
    def text(self) -> str:
        """What is looked for."""
        return self._finding.text

    @property
    def running(self) -> bool:
        """Whether names are left to look at."""
        return self._finding.running

    @property
    def total(self) -> int:
        """How many hits there are by now."""
        return self._finding.total

    @property
    def names(self) -> int:
        """How many names there are."""
        return self._finding.names

    @property
    def shown(self) -> int:
        """How many of the hits have a line: the best ones."""
        return len(self._shown)

    def ask(self, text: str) -> None:
        """Look for `text` from now on."""
        self._finding.ask(text)
        self.is_new = True
        self._refresh()

    def work(self, enough: Callable[[], bool]) -> None:
        """Go on looking until `enough`."""
        self._finding.work(enough)
        self._refresh()

    def line(self, row: int, width: int | None) -> Line:
        """The hit at `row` as a line of at most `width` columns, its letters marked."""
        return self._rows.line(row, width, marked=True)

    def missing(self, row: int) -> bool:
        """Whether the health of the hit at `row` is still to be counted."""
        return row < len(self._shown) and row not in self._lost and self._rows.missing(row)

    def count(self, row: int, enough: Callable[[], bool]) -> None:
        """Count the health of the hit at `row` until `enough()`; call again to continue.

        Raises:
            TfdbgError: its value cannot be read. It is not tried again until the hits change.

        """
        if self._counting is None or self._counting[0] != row:
            self._counting = row, in_steps(partial(self._rows.count, row))
        try:
            for _ in self._counting[1]:
                if enough():
                    return
        except TfdbgError:
            self._counting = None
            self._lost.add(row)
            raise
        self._counting = None

    def _refresh(self) -> None:
        if self._finding.hits is not self._shown:
            self._shown = self._finding.hits
            context, registry, keys = self._facts
            self._rows = FoundRows(context, registry, self._shown, keys)
            self._counting = None
            self._lost.clear()
