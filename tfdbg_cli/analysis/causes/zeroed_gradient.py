"""Whether a gradient that is infinite at some elements is multiplied by 0 there, since nothing depends on them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.analysis.graph.making.parts import ELEMENTWISE
from tfdbg_cli.analysis.graph.nodes.roles import is_gradient
from tfdbg_cli.analysis.watch.verdicts import nan_mask
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.statistics import nonfinite_mask
from tfdbg_cli.model.values import Array, NoValue
from tfdbg_cli.model.walks import reached

# They multiply a slope by the gradient that comes to them, which is this input.
_COMES_TO = {"SqrtGrad": 1, "RsqrtGrad": 1, "ReciprocalGrad": 1, "InvGrad": 1}
_MOST_NODES = 20


def multiplied_by_zero(run: Run, lineage: Lineage, gradients: Iterable[Node]) -> bool | None:
    """Whether one of the bad `gradients` is multiplied by 0 where it is bad; None where that is known of none.

    What comes to a gradient is 0 at elements on which nothing depends that is differentiated.
    """
    known = [told for gradient in gradients if (told := _is_multiplied(run, lineage, gradient)) is not None]
    return any(known) if known else None


def _is_multiplied(run: Run, lineage: Lineage, gradient: Node) -> bool | None:
    rows = run.tensors.named(gradient.name)
    value = run.tensors.value(rows[0]) if len(rows) == 1 else None
    if value is None or isinstance(value, NoValue):
        return None
    bad = nonfinite_mask(value)
    if gradient.op_type in _COMES_TO:
        return _is_given_zero(lineage, rows[0], _COMES_TO[gradient.op_type], bad)
    if nan_mask(value).any() or not bad.any():
        return None
    products = list(_computed_of(run, lineage, gradient, bad.shape))
    return any(bool((nan_mask(product) & bad).any()) for product in products) if products else None


def _is_given_zero(lineage: Lineage, row: int, position: int, bad: Array) -> bool | None:
    """Whether the gradient that the tensor at `row` was given is 0 where it is `bad`; None where it is not known."""
    inputs = lineage.inputs(row)
    given = inputs[position] if position < len(inputs) else None
    if given is None or given.node is None or given.value is None or given.value.shape != bad.shape:
        return None
    if not is_gradient(lineage.graph_of(given.node), given.node.name):
        return None
    return bool((given.value[bad] == 0).any())


def _computed_of(run: Run, lineage: Lineage, gradient: Node, shape: tuple[int, ...]) -> Iterator[Array]:
    """The values of the gradients that were computed of `gradient` element by element."""
    graph = lineage.graph_of(gradient)

    def further(name: str) -> Iterator[str]:
        for reader, _ in graph.consumers(name):
            if reader.op_type in ELEMENTWISE and is_gradient(graph, reader.name):
                yield reader.name

    for name in reached([gradient.name], further, most=_MOST_NODES):
        rows = run.tensors.named(name) if name != gradient.name else ()
        value = run.tensors.value(rows[0]) if len(rows) == 1 else None
        if value is not None and not isinstance(value, NoValue) and np.shape(value) == shape:
            yield value
