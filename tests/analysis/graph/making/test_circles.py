"""A graph in which a node reads itself, as only a damaged file has it: what follows its edges comes to an end."""

from __future__ import annotations

import numpy as np
import pytest
from support.made_run import NAN, made_graph, made_run, op

from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.analysis.graph.making.makers import Maker, maker_of
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.ops.undefined_outputs import is_undefined_in


@pytest.mark.parametrize("kind", ["Identity", "IdentityN"])
def test_a_copy_of_itself_is_no_undefined_output(kind: str) -> None:
    assert not is_undefined_in(made_graph(op("a", kind, "a")), TensorName("a", 0))
    circle = made_graph(op("a", kind, "b"), op("b", kind, "a"))
    assert not is_undefined_in(circle, TensorName("a", 0))


def test_a_very_long_chain_of_copies_is_not_followed_to_its_end() -> None:
    chain = [op("c0", "FusedBatchNormV3", is_training="False"), op("c1", "Identity", "c0:3")]
    chain += [op(f"c{i}", "Identity", f"c{i - 1}") for i in range(2, 400)]
    graph = made_graph(*chain)
    assert is_undefined_in(graph, TensorName("c50", 0))
    assert not is_undefined_in(graph, TensorName("c399", 0))


@pytest.mark.parametrize(
    "ops",
    [
        (op("a", "Sqrt", "a"),),
        (op("one", "Const", value=1.0), op("a", "Sub", "one", "a")),
        (op("a", "Sum", "b"), op("b", "Mul", "c", "c"), op("c", "Conj", "c")),
        (op("a", "Sqrt", "b"), op("b", "Sqrt", "a")),
    ],
)
def test_what_made_an_operand_is_told_of_a_circle_too(ops) -> None:
    run = made_run(*ops)
    assert maker_of(run.graph.find("a"), Lineage(run)) in (Maker.OTHER, Maker.SQUARED_NORM)


def test_the_root_of_a_root_of_a_variance_is_still_told() -> None:
    chain = (op("x", "Placeholder"), op("c", "Sub", "x", "x"), op("s", "Square", "c"), op("v", "Mean", "s"))
    run = made_run(*chain, op("a", "Sqrt", "v"))
    assert maker_of(run.graph.find("a"), Lineage(run)) is Maker.DEVIATION


@pytest.mark.parametrize("kind", ["Identity", "Sqrt", "Conj", "LoopVariable", "NextIteration", "Reshape", "AddN"])
def test_the_origin_of_a_run_with_a_circle_is_found(kind: str) -> None:
    found = OriginSearch(made_run(op("a", kind, "a", value=np.array([NAN, 1.0], np.float32)))).first()
    assert found is not None
    assert str(found.name) == "a:0"
