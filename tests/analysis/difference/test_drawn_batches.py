"""Replicas that draw their batches themselves: what each drew is its own data, as an argument would be."""

from __future__ import annotations

import pytest
from support.replica_steps import drawing_step

from tfdbg_cli.analysis.difference.compared import TensorFate
from tfdbg_cli.analysis.difference.comparison import compared_replicas
from tfdbg_cli.analysis.difference.drawn_data import is_drawn
from tfdbg_cli.analysis.graph.nodes.membership import membership_of
from tfdbg_cli.model.names import TensorName


def test_a_conditional_around_the_batches_of_all_is_of_none() -> None:
    replica = membership_of(drawing_step()).replica
    assert "cond" not in replica and "has" not in replica and "StatefulPartitionedCall" not in replica
    assert (replica["x"], replica["x_1"]) == (0, 1)


@pytest.mark.parametrize("asked", [True, False])
@pytest.mark.parametrize("recorded", [True, False])
@pytest.mark.parametrize("replicas", [(0, 1), (1, 0)])
def test_what_comes_of_what_each_drew_is_its_own(asked: bool, recorded: bool, replicas: tuple[int, int]) -> None:
    comparison = compared_replicas(drawing_step(asked=asked, recorded=recorded), replicas)
    assert comparison.same
    tensors = comparison.runs[0].tensors
    own = {tensors[one.rows[0]].node.removeprefix("replica_1/") for one in comparison.verdicts}
    assert {"mul", "loss", "gradient_tape/mul", "seen/read"} <= own
    assert {one.state for one in comparison.verdicts} == {TensorFate.OWN_DATA}


@pytest.mark.parametrize("asked", [True, False])
def test_a_weight_that_differs_is_still_found(asked: bool) -> None:
    comparison = compared_replicas(drawing_step(asked=asked, weight=2.0), (0, 1))
    assert comparison.first is not None
    assert comparison.runs[1].tensors[comparison.first.rows[1]].node == "replica_1/read"


def test_what_is_drawn_and_what_is_computed() -> None:
    graph = drawing_step().graph
    drawn = {name for name in ("x", "x_1", "cond/true/Identity", "mul", "AddN", "half", "read", "nowhere")
             if is_drawn(graph, TensorName(name, 0))}  # fmt: skip
    assert drawn == {"x", "x_1", "cond/true/Identity"}
