"""Ops that turn a NaN into an ordinary number, so that it disappears, though the outcome depends on it.

If tf.where does not choose a NaN, nothing depends on that. But a comparison with NaN is false, the maximum of NaN and
1 may be 1, and NaN cast to an integer is arbitrary: such results are wrong, but look right.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

import numpy as np

from tfdbg_cli.analysis.graph.branches import was_left_out
from tfdbg_cli.analysis.graph.call_scopes import call_scopes
from tfdbg_cli.analysis.watch.verdicts import nan_mask
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.values import NoValue
from tfdbg_cli.model.walks import reached
from tfdbg_cli.ops.kinds import LOOPS, OF_SHAPES

_SWALLOWS = frozenset({
    "Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual", "ApproximateEqual", "ArgMax", "ArgMin",
    "TopK", "TopKV2", "InTopK", "InTopKV2", "Bucketize", "Cast", "Max", "Min", "Maximum", "Minimum", "ClipByValue",
    "Relu", "Relu6", "LeakyRelu", "MaxPool", "MaxPoolV2", "MaxPool3D", "SegmentMax", "SegmentMin",
    "UnsortedSegmentMax", "UnsortedSegmentMin", "Multinomial", "StatelessMultinomial", "Unique", "UniqueV2",
    "SearchSorted", "LowerBound", "UpperBound", "HistogramFixedWidth", "QuantizeV2",
})  # fmt: skip
_OF_ITSELF = frozenset({"Equal", "NotEqual"})  # x != x asks whether x is NaN


def swallowed(run: Run, bad: Iterable[int], outcome: Collection[TensorName]) -> str:
    """The name of an op that turned a NaN into a number on which something in `outcome` depends; empty for none.

    `bad` are the rows of the tensors of `run` that are not finite.
    """
    tensors = {run.tensors[row].name: row for row in bad}
    met: set[str] = set()
    reaching: set[str] | None = None
    for name, row in tensors.items():
        for reader, slot in run.graph.consumers(name.node):
            if slot != name.slot or reader.op_type not in _SWALLOWS or reader.name in met:
                continue
            met.add(reader.name)
            if _asks_itself(reader) or not _is_hidden(run, reader, tensors) or not _has_nan(run, row):
                continue
            if reaching is None:
                reaching = _depended_on(run.graph, outcome)
            if reader.name in reaching:
                return reader.name
    return ""


def used_by(graph: Graph, outcome: Iterable[TensorName]) -> set[str]:
    """The nodes that gave elements on which something in `outcome` depends, and not just on their shape."""
    return _depended_on(graph, outcome, of_elements=True)


def _asks_itself(reader: Node) -> bool:
    return reader.op_type in _OF_ITSELF and len(set(reader.inputs)) == 1


def _is_hidden(run: Run, reader: Node, bad: Collection[TensorName]) -> bool:
    """Whether all outputs of `reader` are finite, or not shown although it may have run."""
    rows = run.tensors.named(reader.name)
    if not rows and was_left_out(run.graph, run.tensors, reader):
        return False
    return not any(run.tensors[row].name in bad for row in rows)


def _has_nan(run: Run, row: int) -> bool:
    """Whether the tensor at `row` held a NaN in any of its executions."""
    name = run.tensors[row].name
    values = (run.tensors.value(other) for other in run.tensors.named(name.node, name.slot))
    return any(not isinstance(value, NoValue) and bool(np.any(nan_mask(value))) for value in values)


def _depended_on(graph: Graph, outcome: Iterable[TensorName], *, of_elements: bool = False) -> set[str]:
    """The nodes on which the tensors of `outcome` depend: by edges, or as part of the condition of a loop.

    With `of_elements` neither edges of control count nor what is asked for its shape alone.
    """
    deciding = _deciding(graph)

    def needs(name: str) -> Iterator[str]:
        yield from deciding.get(name, ())
        for node in graph.all_named(name):
            if not of_elements:
                yield from node.needs
            elif node.op_type not in OF_SHAPES:
                yield from (given.node for given in node.inputs)

    return set(reached((name.node for name in outcome), needs))


def _deciding(graph: Graph) -> dict[str, Sequence[str]]:
    """By loop, the nodes of its condition, from which no edge of the graph leads to the outputs of the loop."""
    scopes = call_scopes(graph)
    found: dict[str, list[str]] = {}
    if not scopes:
        return {}
    for node in graph:
        for scope in scopes.around(node.name):
            caller = graph.find(scopes.caller(scope))
            if caller is not None and caller.op_type in LOOPS and scope.rpartition("/")[2].startswith("cond"):
                found.setdefault(caller.name, []).append(node.name)
    return dict(found)
