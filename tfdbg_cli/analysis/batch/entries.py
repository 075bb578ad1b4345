"""Where batches come into a run, and what comes in that is none: weights, tables, records, where rows begin."""

from __future__ import annotations

from tfdbg_cli.analysis.batch.batch_rows import Lookup
from tfdbg_cli.analysis.batch.lone_vectors import is_lone_vector, is_one_a_turn
from tfdbg_cli.analysis.batch.lookups import lookup_in
from tfdbg_cli.analysis.batch.stored_batch import DELIVERIES, StoredBatch
from tfdbg_cli.analysis.batch.tables import is_table
from tfdbg_cli.analysis.batch.weights import are_weights
from tfdbg_cli.analysis.graph.making.lineage import InputSeen, Lineage
from tfdbg_cli.analysis.graph.nodes.feeds import feed_name
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.ops.kinds import INPUTS


class BatchEntries:
    """What comes into one run, asked of each thing by itself."""

    def __init__(self, run: Run, lineage: Lineage, stored: StoredBatch) -> None:
        self._run = run
        self._lineage = lineage
        self._stored = stored
        self._lookups: dict[TensorName, Lookup | None] = {}

    def enters(self, node: Node) -> bool:
        """Whether a batch comes into the graph at `node`."""
        if node.op_type in INPUTS:
            return not (self._lineage.is_captured(node) or self._is_table(node))
        given = node.op_type in DELIVERIES or self._lineage.delivers(node)
        return given or f"{node.name}:0" in self._run.call.feeds

    def is_no_batch(self, item: InputSeen) -> bool:
        """Whether a value that no tensor of the run shows is no batch: of a variable, say, or where rows begin."""
        if item.node is None:
            return False
        if self._lineage.is_variable(item.node) or self._stored.is_row_splits(item.node) or self._is_table(item.node):
            return True
        return is_lone_vector(self._run, self._lineage, item.name, item.node, item.shape)

    def why_none(self, item: InputSeen) -> str:
        """Why something that came in is no batch, in words; empty where that need not be said."""
        if item.node is not None and are_weights(self._run, item.node):
            return f"{item.node.name} is what rows are multiplied with that came in, as with weights"
        if not is_one_a_turn(self._run, item.name, item.shape):
            return ""
        name = item.name.node
        return f"out of {name} each turn takes single numbers, and other data comes anew: its places are no rows"

    def lookup(self, node: Node | None) -> Lookup | None:
        """How rows of what comes in at `node` are looked up; None where it is used otherwise, or nobody knows."""
        name = feed_name(node)
        if name is None:
            return None
        if name not in self._lookups:
            self._lookups[name] = lookup_in(self._run, self._lineage, name)
        return self._lookups[name]

    def _is_table(self, node: Node) -> bool:
        lookup = self.lookup(node)
        known = is_table(self._lineage.graph_of(node), node.name) or (lookup is not None and lookup.is_table)
        return known or are_weights(self._run, node)
