"""Queries asked of rows that are few, whatever they are about: a list says what its rows know of which fact."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from tfdbg_cli.analysis.choosing.known_figures import Known, share_of
from tfdbg_cli.commands.query.argument import query_line, unjudged_line
from tfdbg_cli.commands.query.facts import BY_NAME, Measure, amount, known_to_hold, regex, shape_test, text_test
from tfdbg_cli.commands.query.language import FactTest, NamePattern, Query
from tfdbg_cli.commands.query.named import asked_query
from tfdbg_cli.commands.query.stages import RowQuestion, Stage, StagedQuery, no_such_fact
from tfdbg_cli.document.text import Line
from tfdbg_cli.model.tensors import Shape

Row = TypeVar("Row")


@dataclass(frozen=True)
class Left(Generic[Row]):
    """The rows that a query left of `total`, or all of them without one, and what the list says of that.

    `everything` is the command string that shows them all. Of `unjudged` rows nobody knows whether the query admits
    them: they are not among `rows`, nor would they be with `not` before it.
    """

    rows: Sequence[Row]
    total: int
    query: str
    everything: str
    unjudged: int = 0

    @property
    def head(self) -> list[Line]:
        """How the query was understood, and how many rows it left; nothing without one."""
        if not self.query:
            return []
        found = query_line(self.query, len(self.rows), self.total, self.everything)
        return [found, unjudged_line(self.unjudged)] if self.unjudged else [found]

    def title(self, name: str) -> str:
        """The title of the list `name`."""
        return f"{name}[{self.query}]: {len(self.rows):,} of {self.total:,}" if self.query else name

    @property
    def data(self) -> dict[str, Any]:
        """The part of the JSON form that tells of the query."""
        told = {"unread": self.unjudged} if self.unjudged else {}
        return {"query": self.query, **told} if self.query else {}


@dataclass(frozen=True)
class PlainRows(Generic[Row]):
    """What rows know. Plain words search in `words`, and so does the fact `name` unless `texts` has another.

    `texts` and `numbers` tell facts of a row, and so do `counted`, which take their time. A size among `numbers` is
    one in bytes; `elements` is what a share of elements is one of, and a size without a unit. `shape` tells that of a
    row. A number is NaN where there is none, of which nothing holds, and None or `Bounds` where nobody knows it.
    `kind` says what has these facts: "a run". A row of which a fact raises one of `lost` is not admitted.
    """

    kind: str
    words: Callable[[Row], str]
    texts: Mapping[str, Callable[[Row], str]] = field(default_factory=dict)
    numbers: Mapping[str, Callable[[Row], Known]] = field(default_factory=dict)
    counted: Mapping[str, Callable[[Row], Known]] = field(default_factory=dict)
    elements: Callable[[Row], Known] | None = None
    shape: Callable[[Row], Shape | None] | None = None
    lost: tuple[type[Exception], ...] = ()

    def left(self, query: str, rows: Sequence[Row], everything: str) -> Left[Row]:
        """What the query written as `query` leaves of `rows`.

        Raises:
            TfdbgError: it cannot be read, or asks for what these rows do not have.

        """
        if not query:
            return Left(rows, len(rows), query, everything)
        found, unjudged = self._judged(asked_query(query), rows)
        return Left(found, len(rows), query, everything, unjudged)

    def admitted(self, query: Query, rows: Sequence[Row]) -> list[Row]:
        """Those of `rows` that `query` admits.

        Raises:
            QueryError: it asks for what these rows do not have.

        """
        return self._judged(query, rows)[0]

    def _judged(self, query: Query, rows: Sequence[Row]) -> tuple[list[Row], int]:
        """Those of `rows` that `query` admits, and of how many nobody knows whether it does."""
        staged = self._staged(query, rows)
        whole = staged.tests[Stage.VALUE]
        found, unjudged = [], 0
        for index, row in enumerate(rows):
            try:
                cheap = staged.tests[Stage.ROW]("", index)
                admitted = whole("", index) if cheap is None else cheap
            except self.lost:
                continue
            if admitted:
                found.append(row)
            elif admitted is None:
                unjudged += 1
        return found, unjudged

    def undecided(self, query: Query, rows: Sequence[Row]) -> list[Row]:
        """Those of `rows` of which `query` takes what has to be counted.

        Raises:
            QueryError: it asks for what these rows do not have.

        """
        staged = self._staged(query, rows)
        if staged.last is not Stage.VALUE:
            return []
        test = staged.tests[Stage.ROW]
        return [row for index, row in enumerate(rows) if test("", index) is None]

    def _staged(self, query: Query, rows: Sequence[Row]) -> StagedQuery:
        return StagedQuery.of(query, lambda part: self._asked(part, rows))

    def _asked(self, part: NamePattern | FactTest, rows: Sequence[Row]) -> RowQuestion:
        if isinstance(part, NamePattern):
            search = regex(part.text, part.at)
            return RowQuestion(Stage.ROW, lambda _, index: search(self.words(rows[index])))
        if part.fact in self.texts or part.fact == "name":
            test, text = text_test(part), self.texts.get(part.fact, self.words)
            return RowQuestion(Stage.ROW, lambda _, index: test(text(rows[index])))
        measure = BY_NAME[part.fact].measure
        if measure is Measure.SHAPE:
            return self._asked_shape(part, rows)
        number = self.numbers.get(part.fact) or self.counted.get(part.fact)
        if number is None:
            raise no_such_fact(part, self.kind)
        wanted = amount(part, measure)
        fits = known_to_hold(part.sign, wanted.number)
        if measure is Measure.SIZE and not wanted.bytes and self.elements is not None:
            size = self.elements
            return RowQuestion(Stage.ROW, lambda _, index: fits(size(rows[index])))
        elements = self.elements if wanted.share else None
        if wanted.share is (elements is None) or (measure is Measure.SIZE) is not wanted.bytes:
            raise no_such_fact(part, self.kind)
        stage = Stage.ROW if part.fact in self.numbers else Stage.VALUE
        if elements is None:
            return RowQuestion(stage, lambda _, index: fits(number(rows[index])))
        return RowQuestion(stage, lambda _, index: fits(share_of(number(rows[index]), elements(rows[index]))))

    def _asked_shape(self, part: FactTest, rows: Sequence[Row]) -> RowQuestion:
        shape = self.shape
        if shape is None:
            raise no_such_fact(part, self.kind)
        fits = shape_test(part)
        return RowQuestion(Stage.ROW, lambda _, index: fits(shape(rows[index])))
