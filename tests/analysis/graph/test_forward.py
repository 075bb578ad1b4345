"""The forward op whose gradient an op computes, where neither a name nor the op's type tells."""

from __future__ import annotations

import pytest
from support.made_run import Op, made_run, op

from tfdbg_cli.analysis.graph.forward import forward_of, steep_forward_of
from tfdbg_cli.analysis.graph.lineage import Lineage

_TAPE = "gradient_tape/"
OF_ACOSH = (
    op("f", "Acosh", "x"),
    op(f"{_TAPE}Sinh", "Sinh", "f"),
    op("bad", "RealDiv", "g", f"{_TAPE}Sinh"),
)
OF_ATAN2 = (
    op("f", "Atan2", "y", "x"),
    op(f"{_TAPE}Square", "Square", "y"),
    op(f"{_TAPE}Square_1", "Square", "x"),
    op(f"{_TAPE}add", "AddV2", f"{_TAPE}Square", f"{_TAPE}Square_1"),
    op("bad", "RealDiv", "g", f"{_TAPE}add"),
)


@pytest.mark.parametrize("nodes", [OF_ACOSH, OF_ATAN2], ids=["acosh", "atan2"])
def test_a_quotient_that_a_tape_made_is_of_the_op_with_the_steep_slope(nodes: tuple[Op, ...]) -> None:
    *before, last = nodes
    name = f"{_TAPE}truediv"
    run = made_run(
        op("x", "Placeholder"), op("y", "Placeholder"), op("g", "Const"), *before, op(name, "RealDiv", *last.inputs)
    )
    lineage, node = Lineage(run), run.graph.find(name)
    assert node is not None
    found = steep_forward_of(run.graph, lineage, node)
    assert found is not None and found.name == "f"
    found = forward_of(run.graph, lineage, node)
    assert found is not None and found.name == "f"


def test_a_sinh_of_the_program_behind_an_acosh_is_no_gradient() -> None:
    run = made_run(op("x", "Placeholder"), op("f", "Acosh", "x"), op("s", "Sinh", "f"))
    node = run.graph.find("s")
    assert node is not None and forward_of(run.graph, Lineage(run), node) is None
