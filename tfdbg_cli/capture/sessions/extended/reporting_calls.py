"""Calls of a session's graph rewritten so that they report what they compute inside, each value before it is read.

A run that fails returns nothing, and nothing in a loop of version 1 can be fetched. Reports make the values known
all the same, even those of a turn that did not end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tfdbg_cli.capture.functions.calling.frame_reports import Rewritten
from tfdbg_cli.capture.functions.calling.kept_tensors import KeptTensors
from tfdbg_cli.capture.functions.checking.checking_edit import WantedRewrite
from tfdbg_cli.capture.functions.checking.early_reports import Early, shown_early
from tfdbg_cli.capture.functions.definition.body import Body
from tfdbg_cli.capture.functions.definition.shown_values import Shown
from tfdbg_cli.capture.sessions.extended.inside_calls import InsideValues
from tfdbg_cli.capture.sessions.extended.shadow_ops import ShadowOpMaker, ShadowOps
from tfdbg_cli.capture.sessions.hidden_ops import hidden_ops
from tfdbg_cli.capture.sessions.wrapped_call import GraphFunctions, RewrittenCall, called_root
from tfdbg_cli.capture.tf.types import EagerTensor, Op, TfGraph
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.ops.facts import Facts

_EVERYTHING = WantedRewrite(values=False, early=Early(everything=True))


class ReportingCalls:
    """The calls among the ops of one run, rewritten so that they report all values inside; the run is made once."""

    def __init__(self, graph: TfGraph, order: Sequence[Op], fed_names: frozenset[str]) -> None:
        """Add what reports to `graph`, for the ops in `order`, inputs first.

        Raises:
            tf.errors.OpError: TensorFlow does not take it.

        """
        self._functions = GraphFunctions(graph, as_written=True)
        self._reporting: dict[str, Rewritten] = {}
        self._shown: dict[TensorName, Shown] = {}
        self._given: dict[str, frozenset[TensorName]] = {}
        self.shadow_ops: ShadowOps = ShadowOpMaker(order, fed_names, again=True).made(
            hidden_ops(graph), self._rewritten
        )

    def _rewritten(self, op: Op, _: Facts[str]) -> RewrittenCall:
        root = called_root(op, self._functions)
        rewritten = self._reporting[op.name] = Rewritten.of(root, _EVERYTHING, without_xla=True)
        self._shown |= shown_early(root)
        self._given[op.name] = frozenset(root.stands_for.values())
        *definitions, around = rewritten.rewriting.definitions
        return RewrittenCall(op, Body(around), tuple(definitions))

    def begin(self) -> None:
        """Get ready for the run."""
        for rewritten in self._reporting.values():
            rewritten.begin(None)

    def values(self) -> Iterator[tuple[str, InsideValues]]:
        """The name of each call with what was computed in it."""
        for name, rewritten in self._reporting.items():
            told = rewritten.reports.in_order()
            given = self._given[name]
            first = next((tensor for tensor, _ in told if tensor in given), None)  # an argument, reported once a turn
            starts: list[int] = []
            pairs: list[tuple[Shown, EagerTensor]] = []
            for tensor, value in told:
                if tensor == first:
                    starts.append(len(pairs))
                if tensor not in given:
                    pairs.append((self._shown[tensor], value))
            yield name, InsideValues(KeptTensors.of(pairs), tuple(starts))
