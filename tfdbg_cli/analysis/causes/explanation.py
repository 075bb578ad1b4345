"""Why an op gave what is not finite: whatever the run, the graph and the table of causes tell together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

import numpy as np

from tfdbg_cli.analysis.batch.batch_roles import BatchRole, BatchRoles, told_parts
from tfdbg_cli.analysis.batch.sample import arrays_of, loop_batch
from tfdbg_cli.analysis.causes.another_order import another_order
from tfdbg_cli.analysis.causes.causes import Cause, explain, filled
from tfdbg_cli.analysis.causes.checkpoint_entry import cause_in_checkpoint
from tfdbg_cli.analysis.causes.collectives import cause_elsewhere
from tfdbg_cli.analysis.causes.evidence import Evidence, gather
from tfdbg_cli.analysis.causes.given_data import Came, GivenData
from tfdbg_cli.analysis.causes.intended import Intentions
from tfdbg_cli.analysis.causes.literals import overflown_input
from tfdbg_cli.analysis.causes.lost_epsilon import lost_epsilon
from tfdbg_cli.analysis.causes.masked_softmax import log_of_masked_softmax
from tfdbg_cli.analysis.causes.rewritten import cause_rewritten, is_rewritten
from tfdbg_cli.analysis.causes.sources_of_values import (
    cause_at_source,
    cause_in_hidden_function,
    cause_of_constant,
    cause_of_increment,
)
from tfdbg_cli.analysis.causes.suggestions import LOST_EPSILON
from tfdbg_cli.analysis.causes.surroundings import Surroundings, asks_of_gradients, scales_loss, surroundings
from tfdbg_cli.analysis.causes.zero_times_infinity import zero_times_infinity
from tfdbg_cli.analysis.graph.making.forward import forward_of
from tfdbg_cli.analysis.graph.making.lineage import InputSeen, Lineage
from tfdbg_cli.analysis.watch.verdicts import Verdicts
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.sources import user_frame
from tfdbg_cli.model.values import Array
from tfdbg_cli.ops.kinds import QUEUES


class Explanations:
    """Explains bad tensors of one run. Tensors that `verdicts` has excused hold intended infinities."""

    def __init__(self, run: Run, lineage: Lineage, intentions: Intentions, verdicts: Verdicts) -> None:
        self._run = run
        self._lineage = lineage
        self._intentions = intentions
        self._verdicts = verdicts
        self._batches = [
            BatchRoles(graph, lineage.captured, unfinished=run.unfinished, told=told_parts(run))
            for graph in lineage.graphs
        ]

    def cause(
        self,
        name: TensorName,
        node: Node,
        inputs: tuple[InputSeen, ...],
        value: Array,
        bad: Array,
        at_fault: Callable[[InputSeen], bool],
    ) -> Cause | None:
        """Why `node` computed the `bad` elements of `value`, the tensor `name`, from `inputs`; None if not known.

        `at_fault` says whether an input is itself to blame.
        """
        found = None
        if self._run.call.kind is RunKind.FUNCTION and not any(map(at_fault, inputs)):
            found = cause_in_hidden_function(node, inputs, self._lineage)
        found = found or cause_at_source(node, inputs, self._lineage, at_fault, self.given(name, node, bad))
        found = found or cause_in_checkpoint(name, node, inputs, at_fault)
        found = found or cause_elsewhere(node, value, inputs)
        stopped_at = self._run.call.kind is RunKind.EAGER and bool(self._run.frames)
        found = found or cause_of_increment(node, inputs, value, self._lineage, looked_at=stopped_at)
        if node.op_type == "Const":
            found = cause_of_constant(self._run, node, value)
        if found is not None:
            return found
        evidence = gather(node, value, bad, inputs, self.around(node, inputs))
        product = zero_times_infinity(self._run, self._lineage, node, inputs, evidence, self.around)
        graph_ran = self._run.call.kind is not RunKind.EAGER
        if product is None and graph_ran:
            product = another_order(self._lineage, inputs, evidence)
        product = product or log_of_masked_softmax(self._lineage, inputs, evidence)
        rewritten = graph_ran and node.op_type == evidence.op_type and is_rewritten(evidence, inputs)
        explained = cause_rewritten(evidence) if rewritten else explain(evidence)
        return product or self._with_literals(explained, node, inputs, evidence, rewritten=rewritten)

    def _with_literals(
        self, cause: Cause | None, node: Node, inputs: tuple[InputSeen, ...], evidence: Evidence, *, rewritten: bool
    ) -> Cause | None:
        """`cause`, with what the dtype did to a literal: a mask became infinite, an epsilon was lost in rounding."""
        told = overflown_input(self._run, node, inputs) if np.isnan(evidence.outputs).any() else ""
        if cause is not None and told:
            return replace(cause, text=f"{cause.text.removesuffix('.')}; {told}.")
        lost = lost_epsilon(self._run, self._lineage, inputs, evidence, rewritten=rewritten)
        if lost is None:
            return cause
        told = lost.told(evidence.dtype)
        if cause is None:
            cause = Cause(f"{filled('{op} of 0 at {n}', evidence, ~np.isfinite(evidence.outputs))}.")
        helps = filled(LOST_EPSILON, evidence, np.zeros(evidence.outputs.shape, np.bool_))
        if lost.too_small:
            helps = cause.suggestion
        elif lost.helps:
            helps = lost.helps
        elif "logits" in cause.suggestion:
            helps = f"{cause.suggestion} {helps}"
        return replace(cause, text=f"{cause.text.removesuffix('.')}; {told}.", suggestion=helps)

    def given(self, name: TensorName, node: Node | None, bad: Array) -> GivenData:
        """What is known of the input `name`, whose `bad` elements are not finite, as data; `node` stands for it."""
        came = Came.FED
        if node is not None and self._lineage.is_captured(node):
            came = Came.ALONG
        elif node is not None and node.op_type in QUEUES:
            came = Came.QUEUED
        elif self._run.call.kind is RunKind.EAGER and not bad.ndim:
            came = Came.AS_NUMBER
        elif loop_batch(self._run, name) is not None:
            came = Came.OF_LOOP
        delivered = came is Came.OF_LOOP or (node is not None and self._lineage.delivers(node))
        arrays = arrays_of(self._run) if delivered else ""
        role = self.batch_role(name) if bad.ndim else None  # what has no rows is no part of a batch
        by_class = any(place.class_weight for place in self._run.call.came.values())
        key = next(filter(None, (each.key(name) for each in self._batches)), "") if role else ""
        return GivenData(bad, role, came, arrays, by_class, key, self._run.call.carried.get(name.node))

    def batch_role(self, name: TensorName) -> BatchRole | None:
        """Which part of a batch the input `name` of one of the run's graphs is; None if that is not known."""
        return next((role for each in self._batches if (role := each.role(name)) is not None), None)

    def around(self, node: Node, inputs: tuple[InputSeen, ...]) -> Surroundings:
        """What stands around `node`, which read `inputs`."""
        readers = self._intentions.bad_readers(node)
        return surroundings(
            self._run,
            self._lineage,
            node,
            inputs,
            readers,
            self._verdicts.excused,
            self._batches,
            scaled=self._scaled,
        )

    @cached_property
    def _scaled(self) -> bool:
        return asks_of_gradients(self._lineage.graphs) or scales_loss(self._run)

    def forward(self, node: Node | None) -> str:
        """The name of the op of the program whose gradient `node` computes; empty where none with a line is known."""
        found = forward_of(self._lineage.graph_of(node), self._lineage, node) if node is not None else None
        traceback = self._run.tracebacks.get(found.name, ()) if found is not None else ()
        return found.name if found is not None and user_frame(traceback) is not None else ""
