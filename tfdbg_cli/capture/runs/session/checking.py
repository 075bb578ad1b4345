"""One run checked by ops in its graph, be it the program's own or the same made again on copies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfdbg_cli.capture.sessions.call_names import fed
from tfdbg_cli.capture.sessions.extended.call_checks import CallChecks
from tfdbg_cli.capture.sessions.extended.inner_checks import sums_of
from tfdbg_cli.capture.sessions.graphs_that_ran import GraphsThatRan
from tfdbg_cli.capture.sessions.invocation import Invocation
from tfdbg_cli.capture.tf.types import FetchedValue, Op, RunResult, SymbolicTensor
from tfdbg_cli.model.values import Array


class Checking:
    """The check of one run. Used once: `perform`, then the answers."""

    def __init__(self, invocation: Invocation, call: CallChecks) -> None:
        self._invocation = invocation
        self._call = call
        self._health: FetchedValue = None
        self._inner: FetchedValue = None
        self._done = False

    def perform(
        self, extra: Sequence[SymbolicTensor], graphs: GraphsThatRan | None = None, targets: Sequence[Op] = ()
    ) -> tuple[RunResult, Sequence[FetchedValue]]:
        """Make the call with its checks, fetch `extra` and run `targets` besides: the result, the values of `extra`.

        The graphs that ran are collected in `graphs`, if given. Raises what the call raises.
        """
        call = self._call
        own = [] if call.health is None else [call.health]
        result, values = self._run([*own, *extra], graphs, targets)
        self._health = values[0] if own else None
        self._done = True
        return result, values[len(own) :]

    def _run(
        self, extra: Sequence[SymbolicTensor], graphs: GraphsThatRan | None, besides: Sequence[Op]
    ) -> tuple[RunResult, Sequence[FetchedValue]]:
        """Make the call and fetch `extra`; reads afterwards what checks in loops and branches have added up."""
        call, session = self._call, self._invocation.session
        instead = call.shadow_ops if call.shadow_ops.ops else None
        if not call.inner:
            return self._invocation.with_extra(extra, besides, instead, graphs)
        sums = sums_of(session)
        number, clean = sums.take(call.question)
        try:
            total, targets = call.inner_checks(session.graph, number)
            if not clean:
                total.clear(session)
            clean = False
            found = self._invocation.with_extra(extra, [*targets, *besides], instead, graphs)
            self._inner = total.taken(session)
            clean = True
        finally:
            sums.give_back(call.question, number, clean)
        return found

    @property
    def done(self) -> bool:
        """Whether the run was made and checked."""
        return self._done

    @property
    def found(self) -> bool:
        """Whether something was found, or may have been."""
        return self._done and (any(map(self._call.question.found_in, self._answers)) or self._found_in_feeds)

    @property
    def sure(self) -> bool:
        """Whether something was certainly found."""
        return self._done and (any(map(self._call.question.sure_of, self._answers)) or self._found_in_feeds)

    @property
    def _answers(self) -> list[Array]:
        return [np.asarray(health) for health in (self._health, self._inner) if health is not None]

    @property
    def _found_in_feeds(self) -> bool:
        feeds = fed(self._invocation.feeds) if self._call.given else {}
        return any(self._call.question.asked_of(self._as_fed(name, feeds[name])) for name in self._call.given)

    def _as_fed(self, name: str, value: Any) -> Array:
        tensor = self._invocation.session.graph.as_graph_element(name)
        return np.asarray(value, tensor.dtype.as_numpy_dtype)
