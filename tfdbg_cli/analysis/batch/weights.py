"""Weights that a loop holds in plain tensors: what the turn before computed, and others are multiplied with."""

from __future__ import annotations

from collections.abc import Iterator

from tfdbg_cli.analysis.graph.making.parts import flag
from tfdbg_cli.analysis.graph.nodes.feeds import fed_elements, given_arrays
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.walks import reached
from tfdbg_cli.ops.kinds import MATMULS

_MOST_NODES = 2_000
_TURNED = (("transpose_a", "adj_x"), ("transpose_b", "adj_y"))


def are_weights(run: Run, node: Node) -> bool:
    """Whether `node` is a matrix that an earlier run computed, with a row for each feature of what it multiplies.

    Where as many rows are multiplied as it has, it may be the state of the nodes of a graph, whose rows are records;
    where a single one is, it has to be as wide as something that came in, else it may hold weights of the records.
    """
    held = fed_elements(run.call.given, TensorName(node.name, 0)) if node.name in run.call.carried else None
    if held is None or held.ndim != 2:
        return False
    size = len(held)
    widths = {
        array.shape[-1]
        for name, array in given_arrays(run).items()
        if array is not None and array.ndim > 1 and name != node.name and len(array) != size
    }
    return any(count != size and (count > 1 or size in widths) for count in _multiplied(run, node))


def _multiplied(run: Run, node: Node) -> Iterator[int]:
    """How many rows are multiplied with those of `node`, in each product that sums over its first axis."""
    for product in {reader.name: reader for reader, _ in run.graph.consumers(node.name)}.values():
        made = run.tensors.named(product.name)
        shape = run.tensors[made[0]].shape if made else None
        if product.op_type not in MATMULS or shape is None or len(shape) < 2 or len(product.inputs) < 2:
            continue
        at = [read.node for read in product.inputs[:2]].index(node.name)
        sums_rows = (at == 0) == any(flag(product, name) for name in _TURNED[at])
        if sums_rows and not _is_made_of(run.graph, product.inputs[1 - at], node.name):
            yield shape[-1] if at == 0 else shape[-2]


def _is_made_of(graph: Graph, tensor: TensorName, name: str) -> bool:
    """Whether the node called `name` is behind `tensor`."""

    def inputs(one: str) -> Iterator[str]:
        found = graph.find(one)
        return (read.node for read in (() if found is None else found.inputs))

    return name in reached([tensor.node], inputs, most=_MOST_NODES)
