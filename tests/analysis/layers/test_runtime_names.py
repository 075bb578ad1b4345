"""Nodes by the names that the runtime gives them where it put functions in the place of their calls."""

from __future__ import annotations

import pytest
from support.made_run import made_graph, op

from tfdbg_cli.analysis.layers.runtime_names import RuntimeNames

_GRAPH = made_graph(
    op("x", "Placeholder"), op("Sum", "Sum"),
    op("StatefulPartitionedCall", "StatefulPartitionedCall", f="__inference_step_7"),
    op("step/dense/Relu", "Relu"), op("step/Sum", "Sum"), op("while", "While"), op("while/cond/Less", "Less"),
    op("while/body/add", "AddV2"), op("while/body/Sum", "Sum"), op("while/body/cond", "If"),
    op("while/body/cond/true/StatefulPartitionedCall", "StatefulPartitionedCall", f="__inference_inner_3"),
    op("while/body/cond/true/add", "AddV2"), op("while/body/cond/true/inner/Sin", "Sin"),
    op("while/body/cond/false/sub", "Sub"), op("model/case", "Case"), op("model/case/branch1/Exp", "Exp"),
    op("model/case/branch1/model/Log", "Log"),
)  # fmt: skip
_THEN = "while/body/_5/while/cond/then/_50/while/cond"


@pytest.mark.parametrize(
    ("called", "node"),
    [
        ("Sum", "Sum"),
        ("StatefulPartitionedCall/dense/Relu", "step/dense/Relu"),
        ("StatefulPartitionedCall/Sum", "step/Sum"),
        ("StatefulPartitionedCall/dense/folded", "step/dense/folded"),
        ("while/cond/_4/while/Less", "while/cond/Less"),
        ("while/body/_5/while/add", "while/body/add"),
        ("while/body/_5/while/Sum", "while/body/Sum"),
        (f"{_THEN}/add", "while/body/cond/true/add"),
        ("while/body/_5/while/cond/else/_51/while/cond/sub", "while/body/cond/false/sub"),
        (f"{_THEN}/StatefulPartitionedCall/Sin", "while/body/cond/true/inner/Sin"),
        (f"{_THEN}/made", "while/body/cond/true/made"),
        ("model/case/branch1/_9/model/case/Exp", "model/case/branch1/Exp"),
        ("model/case/branch1/_9/model/Log", "model/case/branch1/model/Log"),
        ("StatefulPartitionedCall_9/x", "x"),
        ("PartitionedCall/StatefulPartitionedCall/dense/Relu", "step/dense/Relu"),
        ("_send_x_0", "_send_x_0"),
        ("of/nothing", "of/nothing"),
    ],
)  # fmt: skip
def test_a_name_of_the_runtime_is_a_node_of_the_graph(called: str, node: str) -> None:
    assert RuntimeNames(_GRAPH).node(called) == node
