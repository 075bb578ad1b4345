"""Asking a query of rows with what is known of them: what is dear is asked only where the rest leaves it open."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, TypeAlias

from tfdbg_cli.commands.query.language import Both, Either, FactTest, NamedQuery, NamePattern, Not, Query, QueryError
from tfdbg_cli.model.values import Array


class Stage(IntEnum):
    """What must be at hand to ask something of a row, the cheapest first."""

    NAME = 0  # its name, and what follows from it
    ROW = 1  # its description
    VALUE = 2  # what it holds


# Asked of a row by its name and its index, which means nothing at NAME; None where it takes a later stage.
Test: TypeAlias = Callable[[str, int], bool | None]


@dataclass(frozen=True, slots=True)
class RowQuestion:
    """How a list asks one thing of its rows, and from which stage on it can.

    The test says None where nobody knows it: then the query holds no more than what is not the query.
    Where that depends on one `fact` of the row alone, `holds` tells whether it is so for a value of the fact.
    `of_finite` is what it says of all tensors that hold finite numbers only, where it says the same of all.
    `at_once` finds out, in steps, for every row whether it is so, and of which that is known; None where nobody
    recorded statistics.
    """

    stage: Stage
    test: Callable[[str, int], bool | None]
    fact: str = ""
    holds: Callable[[Any], bool] | None = None
    of_finite: bool | None = None
    at_once: Callable[[], Generator[None, None, tuple[Array, Array] | None]] | None = None


# What a list makes of a word or a comparison. QueryError where its rows have no such fact.
Asker: TypeAlias = Callable[[NamePattern | FactTest], RowQuestion]


@dataclass(frozen=True, slots=True)
class StagedQuery:
    """A query as one test a stage. A test says yes or no as soon as nothing later can change that, else None.

    What the last one leaves open nobody knows: the row cannot be judged.
    """

    tests: tuple[Test, Test, Test]
    last: Stage  # the first stage that leaves nothing open

    @classmethod
    def of(cls, query: Query, ask: Asker) -> StagedQuery:
        """`query`, of which a list asks words and comparisons by `ask`.

        Raises:
            QueryError: the rows have no such fact, or there is no such thing among them.

        """
        known: dict[int, RowQuestion] = {}
        _collect(query, ask, known)
        name, row, value = (_test(query, stage, known) for stage in Stage)
        last = max((asked.stage for asked in known.values()), default=Stage.NAME)
        return cls((name, row, value), last)


def no_such_fact(comparison: FactTest, rows: str) -> QueryError:
    """What to raise for a fact that `rows` (such as "a list of runs") do not have."""
    return QueryError(f"{rows} has no {comparison.fact}", comparison.at)


def _collect(query: Query, ask: Asker, known: dict[int, RowQuestion]) -> None:
    match query:
        case NamePattern() | FactTest():
            known[id(query)] = ask(query)
        case NamedQuery(name, at):
            raise QueryError(f"{name!r} was not looked up", at)
        case Not(part):
            _collect(part, ask, known)
        case Both(parts) | Either(parts):
            for part in parts:
                _collect(part, ask, known)


def _test(query: Query, stage: Stage, known: dict[int, RowQuestion]) -> Test:
    match query:
        case NamePattern() | FactTest() | NamedQuery():
            asked = known[id(query)]
            return asked.test if asked.stage <= stage else _open
        case Not(part):
            return _negated(_test(part, stage, known))
        case Both(parts):
            return _all([_test(part, stage, known) for part in parts])
        case Either(parts):
            return _any([_test(part, stage, known) for part in parts])


def _open(name: str, index: int) -> bool | None:
    return None


def _negated(test: Test) -> Test:
    def negated(name: str, index: int) -> bool | None:
        found = test(name, index)
        return None if found is None else not found

    return negated


def _all(tests: list[Test]) -> Test:
    def all_hold(name: str, index: int) -> bool | None:
        result: bool | None = True
        for test in tests:
            found = test(name, index)
            if found is False:
                return False
            if found is None:
                result = None
        return result

    return all_hold


def _any(tests: list[Test]) -> Test:
    def one_holds(name: str, index: int) -> bool | None:
        result: bool | None = False
        for test in tests:
            found = test(name, index)
            if found:
                return True
            if found is None:
                result = None
        return result

    return one_holds
