"""The log of eager ops: what it still knows of ops that it has let go of."""

from __future__ import annotations

import pytest
import tensorflow as tf

from tfdbg_cli.capture.runs.eager.log.noted_ops import taken
from tfdbg_cli.capture.runs.eager.log.recent import RecentOps

pytestmark = pytest.mark.tf


@pytest.mark.parametrize("budget", [1, 1 << 20], ids=["let go of", "kept"])
def test_gradients_find_the_layers_of_ops(budget: int) -> None:
    x, weight, other = (tf.random.normal([3, 3]) for _ in range(3))
    log = RecentOps(budget)
    log.add("Neg", [x], (), (taken(x),), [], "")
    assert not log.forward, "no op was in a scope"
    products = [x @ weight, x @ other]
    for scope, given, product in zip(("left/", "right/"), (weight, other), products, strict=True):
        log.add("MatMul", [x, given], (), (taken(product),), [], scope)
    total = products[0] + products[1]
    log.add("AddV2", products, (), (taken(total),), [], "")
    assert len(log) == (1 if budget == 1 else 4)

    def scope_of(op_type: str, inputs: list[tf.Tensor] | None, outputs: list[tf.Tensor] | None) -> str | None:
        op = log.forward.of(op_type, inputs, outputs, [])
        return None if op is None else op.scope

    assert scope_of("MatMul", [x, other], None) == "right/"
    assert scope_of("MatMul", [x, weight], None) == "left/"
    assert scope_of("MatMul", [weight, x], None) is None
    assert scope_of("Relu", None, [products[1]]) == "right/"
    relu = tf.nn.relu(total)
    log.add("Relu", [total], (), (taken(relu),), [], "last/")
    assert scope_of("Relu", None, [relu]) == "last/", "ops that come later are noted, too"
