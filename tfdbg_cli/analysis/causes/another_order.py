"""An op that cannot have given what it gave: TensorFlow's optimizer computed it in another order.

It moves constants through products: `a * b * 1000` becomes `a * (b * 1000)`, which may overflow where the first does
not; behind that 0 * inf is NaN (grappler's constant folding and its arithmetic optimizer).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tfdbg_cli.analysis.causes.causes import Cause
from tfdbg_cli.analysis.causes.evidence import Evidence, largest_magnitude
from tfdbg_cli.analysis.graph.making.lineage import InputSeen, Lineage
from tfdbg_cli.model.dtypes import is_inexact
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.walks import reached
from tfdbg_cli.ops.kinds import COPIES, LITERALS

_PRODUCT = "Mul"
_THROUGH = COPIES | {_PRODUCT, "Neg", "Cast"}
_MOST_OPS = 30
_TRY = (
    "Keep {factor} in range: clip it, or in an exponential subtract the maximum first. In the order of the program"
    ' TensorFlow computes with tf.config.optimizer.set_experimental_options({{"constant_folding": False,'
    ' "arithmetic_optimization": False}}).'
)


def another_order(lineage: Lineage, inputs: Sequence[InputSeen], evidence: Evidence) -> Cause | None:
    """The cause of elements of a product that its factors, as they are shown, do not give; None where they do."""
    if evidence.op_type != _PRODUCT or len(evidence.operands) != 2:
        return None
    first, second = evidence.operands
    if first is None or second is None:
        return None
    with np.errstate(all="ignore"):
        if not (np.abs(first * second) <= evidence.largest).all():
            return None
    found = _overflow(lineage, inputs, evidence.largest)
    if found is None:
        return None
    factor, constant, number = found
    told = "NaN" if np.isnan(evidence.outputs).any() else "an infinity"
    times = f"{factor} * {number:g}" if constant else f"the constant {factor} * {number:g}"
    text = (
        f"{evidence.op_type} gave {told}, which {evidence.name(0)} * {evidence.name(1)}, as they are shown, is not:"
        " TensorFlow's optimizer computed the product in another order than the program. It moves constants, and"
        f" {times} exceeds {evidence.largest:.3g}, the largest {evidence.dtype}."
    )
    return Cause(text, _TRY.format(factor=factor), rule=f"{evidence.op_type}: another order")


def _overflow(lineage: Lineage, inputs: Sequence[InputSeen], largest: float) -> tuple[str, bool, float] | None:
    """A factor of the product that a constant in it makes too large, whether it is no constant, and that constant."""
    factors = [one for one in _factors(lineage, inputs) if one.value is not None and is_inexact(one.value.dtype)]
    constants = [one for one in factors if _is_constant(one)]
    for constant in constants:
        number = largest_magnitude(constant.value)
        for factor in factors:
            if factor.name != constant.name and largest_magnitude(factor.value) * number > largest:
                return str(factor.name), not _is_constant(factor), number
    return None


def _factors(lineage: Lineage, inputs: Sequence[InputSeen]) -> Iterator[InputSeen]:
    """The factors of a product, and what they are products of."""
    by_name = {one.name: one for one in inputs}

    def further(name: TensorName) -> list[TensorName]:
        node = by_name[name].node
        if node is None or node.op_type not in _THROUGH:
            return []
        read = lineage.inputs_of_node(node)
        by_name.update({one.name: one for one in read})
        return [one.name for one in read]

    for name in list(reached([one.name for one in inputs], further, most=_MOST_OPS)):
        yield by_name[name]


def _is_constant(seen: InputSeen) -> bool:
    return seen.node is not None and seen.node.op_type in LITERALS and seen.value is not None and seen.value.size == 1
