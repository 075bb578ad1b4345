"""NaN from 0 * inf: the fault is the op that made the infinity, whether the product is in a gradient or not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import PurePath

import numpy as np

from tfdbg_cli.analysis.causes.causes import Cause, explain
from tfdbg_cli.analysis.causes.evidence import Evidence, gather
from tfdbg_cli.analysis.causes.surroundings import Surroundings
from tfdbg_cli.analysis.graph.making.forward import forward_of
from tfdbg_cli.analysis.graph.making.lineage import InputSeen, Lineage
from tfdbg_cli.analysis.graph.making.makers import Maker, maker_of
from tfdbg_cli.analysis.graph.making.parts import MATMUL
from tfdbg_cli.analysis.graph.nodes.annotation import made_at
from tfdbg_cli.analysis.graph.nodes.roles import is_gradient
from tfdbg_cli.model.dtypes import is_inexact
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.statistics import nonfinite_mask
from tfdbg_cli.model.values import Array, NoValue
from tfdbg_cli.ops.kinds import PRODUCTS

_GIVEN = (Maker.DATA, Maker.CONSTANT, Maker.VARIABLE, Maker.MASK)  # an infinity that no op made
_MOST_STEPS = 1_000

Around = Callable[[Node, tuple[InputSeen, ...]], Surroundings]


def zero_times_infinity(
    run: Run, lineage: Lineage, node: Node, inputs: Sequence[InputSeen], evidence: Evidence, around: Around
) -> Cause | None:
    """The cause of NaN in a product: why its other factor became infinite. None if `node` is not such a product.

    Also None if no op of the run made the infinity. `around(node, inputs)` gives the Surroundings of an op.
    """
    position = _infinite(node, evidence)
    if position is None:
        return None
    maker = _made_by(run, lineage, inputs[position])
    if maker is None:
        return None
    index, value = maker
    source = lineage.node(index)
    if source is None or maker_of(source, lineage) in _GIVEN:
        return None
    read = tuple(lineage.inputs(index))
    infinite = nonfinite_mask(value) & ~np.isnan(value)
    why = explain(gather(source, value, infinite, read, around(source, read)))
    gradient = " in a gradient" if is_gradient(lineage.graph_of(node), node.name) else ""
    where = _place(run, lineage, source)
    text = f"0 * inf{gradient}: {source.name}{where} made the infinity"
    if why is None:
        return Cause(f"{text}.", blames=position)
    return replace(why, text=f"{text}: {why.text[0].lower()}{why.text[1:]}", blames=position)


def _infinite(node: Node, evidence: Evidence) -> int | None:
    """The input of the product that is infinite where the other is 0."""
    if node.op_type in PRODUCTS:
        factors: Sequence[Array | None] = evidence.operands[:2]
    else:
        factors = evidence.arrays[:2] if node.op_type in MATMUL else ()
    if len(factors) != 2 or not np.isnan(evidence.outputs).any():
        return None
    first, second = factors
    if first is None or second is None or not (is_inexact(first.dtype) and is_inexact(second.dtype)):
        return None
    aligned = node.op_type in PRODUCTS
    for position, (one, other) in enumerate(((first, second), (second, first))):
        infinite, zero = np.isinf(one), other == 0
        if bool((infinite & zero).any()) if aligned else bool(infinite.any() and zero.any()):
            return position
    return None


def _made_by(run: Run, lineage: Lineage, item: InputSeen) -> tuple[int, Array] | None:
    """The row and value of the first infinite tensor upstream of `item`; None if a NaN is on the way."""
    index, value = item.index, item.value
    for _ in range(_MOST_STEPS):
        if index is None or value is None or np.isnan(value).any():
            return None
        further = next((each for each in lineage.inputs(index) if _is_infinite(each)), None)
        if further is None or further.index is None or further.index >= index:
            return (index, value) if further is None else None
        index, value = further.index, further.value
    return None


def _is_infinite(item: InputSeen) -> bool:
    value = item.value
    return value is not None and not isinstance(value, NoValue) and bool(nonfinite_mask(value).any())


def _place(run: Run, lineage: Lineage, node: Node) -> str:
    """` (train.py:8)`: where the program made `node`, or the op whose gradient it is."""
    forward = forward_of(lineage.graph_of(node), lineage, node)
    frame = made_at(run.tracebacks, (forward or node).name)
    return "" if frame is None else f" ({PurePath(frame.file).name}:{frame.line})"
