"""What of a backward pass is a gradient: numbers with a fraction that its ops made, and no shapes or constants."""

from __future__ import annotations

import numpy as np
import pytest
from support.made_run import Op, made_run, op

from tfdbg_cli.analysis.graph.nodes.roles import Role
from tfdbg_cli.analysis.graph.nodes.tensor_roles import tensor_role

ROWS = np.ones((2, 3), np.float32)
NUMBERS: tuple[Op, ...] = (
    op("x", "Placeholder", value=ROWS),
    op("scale", "Const", value=np.float32(2)),
    op("loss", "Mul", "x", "scale", value=ROWS),
)


def _role(*backward: Op) -> Role | None:
    run = made_run(*NUMBERS, *backward)
    return tensor_role(run.graph, run.tensors[len(run.tensors) - 1])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "bfloat16", "float8_e5m2"])
def test_what_ops_compute_is_a_gradient_in_every_float_type(dtype: str) -> None:
    import ml_dtypes  # noqa: F401  # the small types have names then

    assert _role(op("gradient_tape/Mul", "Mul", "loss", "x", value=ROWS.astype(dtype))) is Role.GRADIENT


@pytest.mark.parametrize(
    "last",
    [
        op("gradient_tape/ones", "Const", value=np.float32(1)),
        op("gradient_tape/Shape", "Shape", "x", value=np.array([2, 3], np.int32)),
        op("gradient_tape/args", "BroadcastGradientArgs", "x", "loss", value=np.zeros(0, np.int32)),
        op("gradient_tape/zeros_like", "ZerosLike", "x", value=ROWS * 0),
        op("gradients/Fill", "Fill", "n", "scale", value=ROWS),
        op("gradient_tape/mask", "Greater", "x", "scale", value=ROWS > 2),
        op("gradient_tape/number", "Cast", "n", value=np.float32(6), SrcT="int32", DstT="float32"),
        op("gradient_tape/text", "Mul", "x", value=np.array([b"a"], object)),
    ],
    ids=lambda last: last.op_type,
)
def test_what_only_serves_the_gradients_has_no_role(last: Op) -> None:
    assert _role(last) is None


def test_a_computed_number_that_is_repeated_is_a_gradient() -> None:
    assert _role(op("gradients/Fill", "Fill", "n", "loss", value=ROWS)) is Role.GRADIENT


def test_a_gradient_in_another_float_type_is_one() -> None:
    cast = op("gradient_tape/Cast", "Cast", "loss", value=ROWS.astype(np.float16), SrcT="float32", DstT="float16")
    assert _role(cast) is Role.GRADIENT


def test_other_parts_keep_their_constants() -> None:
    assert _role(op("dense/shape", "Const", value=np.array([2], np.int32))) is Role.FORWARD
    rate = op("adam/rate", "Const", value=np.float32(0.1))
    update = op("adam/Mul", "Mul", "rate", value=ROWS)
    run = made_run(op("w", "VarHandleOp"), *NUMBERS, op("gradient_tape/Mul", "Mul", "loss", value=ROWS), rate, update)
    assert tensor_role(run.graph, run.tensors[run.tensors.named("adam/rate")[0]]) is Role.UPDATE
