"""Queries asked of the tensors of a run, a slice at a time."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from operator import attrgetter
from typing import Any

import numpy as np

from tfdbg_cli.analysis.choosing.fact_masks import holding, holding_op, holding_role, places
from tfdbg_cli.analysis.choosing.figure_columns import figure_column, figure_in_steps
from tfdbg_cli.analysis.choosing.known_figures import Known, known_figure, known_share
from tfdbg_cli.analysis.graph.nodes.roles import Role
from tfdbg_cli.analysis.graph.nodes.tensor_roles import tensor_role
from tfdbg_cli.analysis.layers.layers import layers_of, scope_text
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.query.facts import (
    BY_NAME,
    Measure,
    amount,
    holding_of_each,
    holds,
    known_to_hold,
    regex,
    role_of_value,
    shape_test,
    text_test,
)
from tfdbg_cli.commands.query.language import FactTest, NamePattern, Query, QueryError
from tfdbg_cli.commands.query.masks import Decided, decided, leaves
from tfdbg_cli.commands.query.stages import RowQuestion, Stage, StagedQuery, no_such_fact
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.names import device_matches
from tfdbg_cli.model.tensors import TellsColumns, Tensor, finite_in_steps
from tfdbg_cli.model.values import LOST, Array

_MOST_SHAPES = 10_000
_COUNT_WHAT_IS_BAD = frozenset({"nan", "inf", "bad"})  # figures that are 0 where all numbers are finite
_MAY_BE_UNKNOWN = frozenset({"shape", "nbytes"})
_AT_ONCE = 1000  # rows asked between two chances to look at the keyboard


@dataclass(frozen=True, slots=True)
class Selected:
    """The rows that a query admits, in order, and of how many nobody knows whether it does."""

    indices: Sequence[int]
    unjudged: int = 0


class TensorRows:
    """What a query asks of the tensors of the run that `context` looks at."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._store = context.run.tensors
        self._graph = context.run.graph

    def select(self, query: Query, base: Sequence[int]) -> Iterator[Selected | None]:
        """The rows among `base` (indices, ascending) that `query` admits: None while it goes on, then the answer.

        Raises:
            QueryError: it asks for what a tensor does not have.

        """
        staged = StagedQuery.of(query, self.asked)
        found, undecided = array("q"), array("q")
        yield None
        asked = self._by_columns if self._tells_columns else self._by_name
        for _ in asked(query, staged, base, found, undecided):
            yield None
        unjudged = 0
        ask = staged.tests[Stage.VALUE]
        for index in undecided:
            for _ in self._context.summary_in_steps(index):
                yield None
            fits = ask(self._store[index].node, index)
            if fits:
                found.append(index)
            elif fits is None:
                unjudged += 1
            yield None
        yield Selected(array("q", sorted(found)) if len(undecided) else found, unjudged)

    @property
    def _tells_columns(self) -> bool:
        return isinstance(self._store, TellsColumns) and self._store.column("dtype") is not None

    def _by_columns(
        self, query: Query, staged: StagedQuery, base: Sequence[int], found: array[int], undecided: array[int]
    ) -> Iterator[None]:
        """What the columns of a run of very many tensors decide goes into `found`; of the rest each is looked at."""
        told: dict[int, Decided] = {}
        finite: Array | None = None
        for part in leaves(query):
            asked = self.asked(part)
            decided_by = self._decided(asked)
            recorded = None if asked.at_once is None else (yield from asked.at_once())
            if decided_by is not None:
                told[id(part)] = decided_by
            elif recorded is not None:
                told[id(part)] = Decided.by(*recorded)
            if asked.of_finite is not None and (recorded is None or not recorded[1].all()):
                if finite is None:
                    finite = np.zeros(len(self._store), bool)
                    for found_finite, _ in finite_in_steps(self._store, base):
                        finite[found_finite] = True
                        yield
                of_values = Decided.by(np.full(len(finite), asked.of_finite), finite)
                told[id(part)] = told[id(part)].or_else(of_values) if id(part) in told else of_values
            yield
        yes_or_no = decided(query, lambda part: told.get(id(part)), len(self._store))
        wanted = np.zeros(len(self._store), bool)
        wanted[np.asarray(base, np.int64)] = True
        found.extend(places(yes_or_no.admitted & wanted))
        by_row = staged.tests[Stage.ROW]
        left = places(yes_or_no.open & wanted)
        for count, index in enumerate(left):
            fits = by_row(self._store[index].node, index)
            if fits:
                found.append(index)
            elif fits is None:
                undecided.append(index)
            if not count % _AT_ONCE:
                yield
        if len(left):
            found[:] = array("q", sorted(found))

    def _decided(self, asked: RowQuestion) -> Decided | None:
        """What the column tells of each tensor; where it tells none, each is to be looked at."""
        mask = self._mask(asked)
        if mask is None or asked.fact not in _MAY_BE_UNKNOWN:
            return None if mask is None else Decided.by(mask)
        return Decided.by(mask, holding(self._store, asked.fact, lambda found: found is not None))

    def _mask(self, asked: RowQuestion) -> Array | None:
        """For each tensor whether it is so, where that is told by the column."""
        if asked.holds is None:
            return None
        if asked.fact == "op_type":
            return holding_op(self._store, self._graph, asked.holds)
        if asked.fact == "role":
            return holding_role(self._store, self._graph, asked.holds)
        return holding(self._store, asked.fact, asked.holds)

    def _by_name(
        self, query: Query, staged: StagedQuery, base: Sequence[int], found: array[int], undecided: array[int]
    ) -> Iterator[None]:
        """What names and descriptions decide goes into `found`, what they leave open into `undecided`."""
        whole = len(base) == len(self._store)
        wanted = None if whole else set(base)
        by_name, by_row = staged.tests[Stage.NAME], staged.tests[Stage.ROW]
        named, nodes = self._store.named, self._store.nodes()
        for start in range(0, len(nodes), _AT_ONCE):
            for name in nodes[start : start + _AT_ONCE]:
                verdict = by_name(name, -1)
                if verdict is False:
                    continue
                indices = named(name) if wanted is None else [i for i in named(name) if i in wanted]
                if verdict:
                    found.extend(indices)
                    continue
                for index in indices:
                    fits = by_row(name, index)
                    if fits:
                        found.append(index)
                    elif fits is None:
                        undecided.append(index)
            yield
        if len(nodes) != len(self._store):  # some have several tensors, between which those of others stand
            found[:], undecided[:] = array("q", sorted(found)), array("q", sorted(undecided))

    def asked(self, part: NamePattern | FactTest) -> RowQuestion:
        """How a word or a comparison is asked of a tensor.

        Raises:
            QueryError: a tensor has no such fact, or the graph no such layer.

        """
        if isinstance(part, NamePattern):
            return self._name(part.text, regex(part.text, part.at))
        measure = BY_NAME[part.fact].measure
        match part.fact:
            case "name":
                return self._name(part.value, text_test(part))
            case "op":
                return self._op(text_test(part))
            case "layer":
                return self._layer(part)
            case "role":
                return self._role(part)
            case "dtype":
                test = cache(text_test(part))  # a run has few of them
                return self._fact("dtype", test)
            case "device":
                return self._fact("device", _device_test(part))
            case "shape":
                fits = lru_cache(_MOST_SHAPES)(shape_test(part))
                return self._told("shape", fits)
            case "worker":
                admitted = text_test(part)(self._context.call.worker)
                return self._fact("dtype", lambda dtype: admitted)
            case "tensors" | "kind":
                raise no_such_fact(part, "a tensor")
        if part.fact in ("rank", "size", "execution", "run"):
            return self._number(part)
        return self._figure(part, measure)

    def _name(self, text: str, test: Callable[[str], bool]) -> RowQuestion:
        """A text with a colon is meant for the name of the tensor, any other for that of its node."""
        if ":" not in text.replace("(?:", "("):
            return self._node(test)
        return self._row(lambda tensor: test(str(tensor.name)))

    def _node(self, test: Callable[[str], bool]) -> RowQuestion:
        return RowQuestion(Stage.NAME, lambda name, index: test(name), "node", test)

    def _row(self, test: Callable[[Tensor], bool]) -> RowQuestion:
        store = self._store
        return RowQuestion(Stage.ROW, lambda name, index: test(store[index]))

    def _fact(self, fact: str, test: Callable[[Any], bool]) -> RowQuestion:
        """What depends on one attribute of the row alone."""
        store, of = self._store, attrgetter(fact)
        return RowQuestion(Stage.ROW, lambda name, index: test(of(store[index])), fact, test)

    def _told(
        self, fact: str, test: Callable[[Any], bool], of_size: Callable[[Known], bool | None] | None = None
    ) -> RowQuestion:
        """The same of a fact that is None where it is not known; then `of_size` asks for the number of elements."""
        store, context, of = self._store, self._context, attrgetter(fact)

        def by_row(name: str, index: int) -> bool | None:
            found = of(store[index])
            if found is not None:
                return test(found)
            summary = context.summary(index)
            if summary is None:
                return None if context.lack(index) in LOST else False  # a handle has none
            return None if of_size is None else of_size(known_figure(summary, "size"))

        return RowQuestion(Stage.ROW, by_row, fact, lambda found: found is not None and test(found))

    def _op(self, test: Callable[[str], bool]) -> RowQuestion:
        find, store, test = self._graph.find, self._store, cache(test)

        def by_row(name: str, index: int) -> bool:
            node = find(name)
            return test(node.op_type if node is not None else store[index].op_type)

        return RowQuestion(Stage.ROW, by_row, "op_type", test)

    def _role(self, part: FactTest) -> RowQuestion:
        wanted, graph, negative = role_of_value(part), self._graph, part.sign == "!="
        store = self._store

        def test(role: Role | None) -> bool:
            return (role is wanted) is not negative

        def by_row(name: str, index: int) -> bool:
            return test(tensor_role(graph, store[index]))

        return RowQuestion(Stage.ROW, by_row, "role", test)

    def _layer(self, part: FactTest) -> RowQuestion:
        layers, negative = layers_of(self._graph), part.sign == "!="
        if part.sign.endswith("~"):
            test = text_test(part)
            return self._node(lambda name: test(scope_text(layers.layer(name))))
        try:
            within = layers.tester(layers.resolve(part.value))
        except TfdbgError as error:
            raise QueryError(error.message.removesuffix("."), part.value_at, hint=error.hint) from None
        return self._node(lambda name: within(name) is not negative)

    def _number(self, part: FactTest) -> RowQuestion:
        wanted = amount(part, BY_NAME[part.fact].measure)
        test = holds(part.sign, wanted.number)
        match part.fact:
            case "rank":
                return self._told("shape", lambda shape: test(len(shape)))
            case "execution":
                return self._fact("execution", test)
            case "run":
                admitted = test(self._context.call.number)
                return self._fact("dtype", lambda dtype: admitted)
        if wanted.bytes:
            return self._told("nbytes", test)
        return self._told("shape", lambda shape: test(math.prod(shape)), known_to_hold(part.sign, wanted.number))

    def _figure(self, part: FactTest, measure: Measure) -> RowQuestion:
        wanted = amount(part, measure)
        name, context, known = part.fact, self._context, known_share if wanted.share else known_figure
        test = known_to_hold(part.sign, wanted.number)

        def by_value(node: str, index: int) -> bool | None:
            summary = context.summary(index)
            if summary is None:
                return None if context.lack(index) in LOST else False
            return test(known(summary, name))

        def at_once() -> Generator[None, None, tuple[Array, Array] | None]:
            for _ in figure_in_steps(self._store, name):
                yield
            found = figure_column(self._store, name, share=wanted.share)
            return None if found is None else (holding_of_each(part.sign, wanted.number, found.numbers), found.known)

        of_finite = test(0) if name in _COUNT_WHAT_IS_BAD else None
        return RowQuestion(Stage.VALUE, by_value, of_finite=of_finite, at_once=at_once)


def _device_test(part: FactTest) -> Callable[[str], bool]:
    if part.sign.endswith("~"):
        return text_test(part)
    negative, wanted = part.sign == "!=", part.value
    return cache(lambda device: device_matches(device, wanted) is not negative)
