"""What an op gave and cannot have computed of its inputs as they are shown: TensorFlow's optimizer rewrote it.

It computes in another order than the program, as `x - (u - 1e-30)` for `x - u + 1e-30`, while the tensors between are
shown as the program has them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from tfdbg_cli.analysis.causes.causes import Cause
from tfdbg_cli.analysis.causes.denormal import as_computed
from tfdbg_cli.analysis.causes.evidence import Evidence
from tfdbg_cli.analysis.graph.making.lineage import InputSeen
from tfdbg_cli.model.values import Array

_Computed: TypeAlias = "Callable[..., Array]"
_OF_ONE: Mapping[str, _Computed] = {
    "Log": np.log, "Log1p": np.log1p, "Exp": np.exp, "Expm1": np.expm1, "Sqrt": np.sqrt, "Square": np.square,
    "Reciprocal": np.reciprocal, "Inv": np.reciprocal, "Rsqrt": lambda x: 1 / np.sqrt(x),
}  # fmt: skip
_OF_TWO: Mapping[str, _Computed] = {
    "RealDiv": np.divide, "Div": np.divide, "Mul": np.multiply, "AddV2": np.add, "Add": np.add, "Sub": np.subtract,
    "SquaredDifference": lambda x, y: np.square(x - y),
}  # fmt: skip
_ARITHMETIC = {1: _OF_ONE, 2: _OF_TWO}  # by the number of inputs
_NEARLY = 0.99  # of the largest number: what rounding may carry beyond it is no proof
IN_ORDER = (
    'tf.config.optimizer.set_experimental_options({"arithmetic_optimization": False, "constant_folding": False})'
    " has TensorFlow compute in the order of the program."
)


def is_rewritten(evidence: Evidence, inputs: Sequence[InputSeen]) -> bool:
    """Whether the inputs, as they are shown, make none of the elements of `evidence` bad, which all are."""
    compute = _ARITHMETIC.get(len(inputs), {}).get(evidence.op_type)
    operands = evidence.operands
    if compute is None or len(operands) != len(inputs) or any(one.index is None for one in inputs):
        return False
    if any(one is None or one.dtype.kind == "c" for one in operands) or as_computed(evidence) is not None:
        return False
    with np.errstate(all="ignore"):
        found = compute(*operands)
    return bool(len(found)) and bool((np.abs(found) <= evidence.largest * _NEARLY).all())


def cause_rewritten(evidence: Evidence) -> Cause:
    """The cause of what is rewritten, where no more is known of it."""
    nan = np.isnan(evidence.outputs)
    told = "NaN" if nan.all() else "NaN and infinities" if nan.any() else "an infinity"
    of = " and ".join(dict.fromkeys(evidence.name(at) for at in range(len(evidence.operands))))
    elements = evidence.counted(~np.isfinite(evidence.outputs), None)
    text = (
        f"{evidence.op_type} gave {told} at {elements}, which it does not give of {of} as shown: TensorFlow's"
        " optimizer computed it in another order than the program."
    )
    helps = f"Bound numbers, as by tf.maximum(x, 1e-7), rather than add to them. {IN_ORDER}"
    return Cause(text, helps, rule=f"{evidence.op_type}: another order")
