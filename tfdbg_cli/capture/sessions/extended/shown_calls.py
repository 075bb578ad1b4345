"""Calls of a session's graph rewritten so that a run returns all values inside of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tfdbg_cli.capture.functions.calling.frame_reports import Rewritten, Unrolled
from tfdbg_cli.capture.functions.calling.kept_tensors import KeptTensors
from tfdbg_cli.capture.functions.checking.checking_edit import WantedRewrite
from tfdbg_cli.capture.functions.definition.body import Body
from tfdbg_cli.capture.sessions.extended.inside_calls import InsideValues
from tfdbg_cli.capture.sessions.extended.shadow_ops import ShadowOpMaker, ShadowOps
from tfdbg_cli.capture.sessions.hidden_ops import hidden_ops
from tfdbg_cli.capture.sessions.program_graph import tensor_name
from tfdbg_cli.capture.sessions.wrapped_call import GraphFunctions, RewrittenCall, called_root
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.types import EagerTensor, FetchedValue, Op, SymbolicTensor, TfGraph
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.tensors import TensorStore
from tfdbg_cli.model.values import NoValue
from tfdbg_cli.ops.facts import Facts


class ShownCalls:
    """The calls among the ops of one run, rewritten so that they give all values inside; the run is made once."""

    def __init__(self, graph: TfGraph, order: Sequence[Op], fed_names: frozenset[str]) -> None:
        """Add what gives the values to `graph`, for the ops in `order`, inputs first.

        Raises:
            tf.errors.OpError: TensorFlow does not take it.

        """
        self._functions = GraphFunctions(graph, as_written=True)
        self._shown: dict[str, Rewritten] = {}
        self.shadow_ops: ShadowOps = ShadowOpMaker(order, fed_names, again=True).made(
            hidden_ops(graph), self._rewritten
        )

    def _rewritten(self, op: Op, _: Facts[str]) -> RewrittenCall:
        root = called_root(op, self._functions)
        shown = self._shown[op.name] = Rewritten.of(root, WantedRewrite.all_values(root))
        *definitions, around = shown.rewriting.definitions
        return RewrittenCall(op, Body(around), tuple(definitions))

    @property
    def tensors(self) -> list[SymbolicTensor]:
        """What the run must fetch."""
        return [tensor for _, given in self.shadow_ops.given for tensor in given]

    def begin(self) -> None:
        """Get ready for the run."""
        for shown in self._shown.values():
            shown.begin(None)

    def values(self, fetched: Sequence[FetchedValue], outside: TensorStore) -> Iterator[tuple[str, InsideValues]]:
        """The name of each call with what was computed in it.

        `fetched` are the values of `tensors`; `outside` has the values of the graph, among them the calls' inputs.
        What is returned may include outputs and variables that `outside` has, too.
        """
        found = iter(fetched)
        for op, given in self.shadow_ops.given:
            shown = self._shown[op.name]
            tensors = [compat.eager_tensor(next(found)) for _ in given]
            unrolled = Unrolled(shown.reports.end())
            unrolled.know(_given(op, shown, outside))
            unrolled.add(shown.exposed.items, tensors)
            yield op.name, InsideValues(KeptTensors.of(unrolled.values))


def _given(op: Op, shown: Rewritten, outside: TensorStore) -> dict[TensorName, EagerTensor]:
    """The inputs of `op` from which values inside are computed when somebody looks, as eager tensors."""
    items = (*shown.exposed.items, *(item for frame in shown.rewriting.frames for item in frame.items))
    read = {name for item in items if item.recipe is not None for name in item.recipe.inputs}
    found: dict[TensorName, EagerTensor] = {}
    for name in read.intersection(map(tensor_name, op.inputs)):
        rows = outside.named(name.node, name.slot)
        value = outside.value(rows[0]) if len(rows) == 1 else None  # in a loop there are several
        if value is not None and not isinstance(value, NoValue):
            found[name] = compat.eager_tensor(value)
    return found
