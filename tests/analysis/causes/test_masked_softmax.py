"""The log of a softmax that a mask made 0 is told from that of one which is rounded to 0."""

from __future__ import annotations

import pytest
from support.made_run import INF, Op, made_run, op
from support.prompt import json_of

MASKED = "where its logits are masked with -inf"
ROUNDED = "so unlikely that it rounds to 0"
SOFTMAX = (op("p", "Softmax", "x", value=[0.0, 1.0]),)
BY_HAND = (
    op("e", "Exp", "x", value=[0.0, 1.0]), op("sum", "Sum", "e", value=[1.0]),
    op("p", "RealDiv", "e", "sum", value=[0.0, 1.0]),
)  # fmt: skip


def _cause(*nodes: Op) -> str:
    return str(json_of("origin", made_run(*nodes, op("log", "Log", "p", value=[-INF, 0.0])))["cause"])


@pytest.mark.parametrize("share", [SOFTMAX, BY_HAND], ids=["op", "by hand"])
@pytest.mark.parametrize(("logit", "said"), [(-INF, MASKED), (-200.0, ROUNDED)], ids=["masked", "rounded"])
def test_what_made_it_0(share: tuple[Op, ...], logit: float, said: str) -> None:
    cause = _cause(op("x", "Placeholder", value=[logit, 0.0]), *share)
    assert cause.startswith("Log of 0: p:0, a softmax, is 0 at 1 element") and said in cause


def test_a_damaged_graph_has_no_logits() -> None:
    assert ROUNDED in _cause(op("p", "Softmax", value=[0.0, 1.0]))
