"""Outputs that no kernel writes: what lies there by chance is no finding."""

from __future__ import annotations

import numpy as np
import pytest

from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.analysis.watch.datum import datum_of
from tfdbg_cli.analysis.watch.filters import has_inf, has_inf_or_nan, has_nan
from tfdbg_cli.model.calls import Call, RunKind
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import MemoryTensorStore, describe
from tfdbg_cli.ops.undefined_outputs import is_undefined_in

GARBAGE = np.array([np.nan, np.inf, 1.0], np.float32)


def _graph(op_type: str, **attributes: str) -> Graph:
    return Graph(
        [Node("norm", op_type, "", attributes=attributes), Node("copy", "Identity", "", (TensorName("norm", 3),))]
    )


@pytest.mark.parametrize(
    ("op_type", "attribute"), [("SelfAdjointEigV2", "compute_v"), ("Eig", "compute_v"), ("Svd", "compute_uv")]
)
def test_vectors_that_a_decomposition_is_not_asked_for_mean_nothing(op_type, attribute) -> None:
    without, with_them = (_graph(op_type, **{attribute: text}) for text in ("False", "True"))
    assert is_undefined_in(without, TensorName("norm", 1))
    assert not is_undefined_in(without, TensorName("norm", 0))
    assert not is_undefined_in(with_them, TensorName("norm", 1))


@pytest.mark.parametrize(
    ("op_type", "slot", "training", "undefined"),
    [
        ("FusedBatchNormV3", 0, "False", False),
        ("FusedBatchNormV3", 3, "False", True),
        ("FusedBatchNormV3", 4, "False", True),
        ("FusedBatchNormV3", 3, "True", False),
        ("FusedBatchNormV3", 5, "True", True),
        ("FusedBatchNormGradV3", 2, "True", False),
        ("FusedBatchNormGradV3", 4, "True", True),
        ("Mul", 5, "False", False),
    ],
)
def test_which_outputs_of_a_normalization_mean_nothing(op_type, slot, training, undefined) -> None:
    graph = _graph(op_type, is_training=training)
    assert is_undefined_in(graph, TensorName("norm", slot)) is undefined


def test_a_copy_means_as_little() -> None:
    assert is_undefined_in(_graph("FusedBatchNormV3", is_training="False"), TensorName("copy", 0))
    assert not is_undefined_in(_graph("FusedBatchNormV3", is_training="True"), TensorName("copy", 0))
    assert not is_undefined_in(Graph(), TensorName("unknown", 0))


def test_what_a_branch_gives_for_what_another_computes_means_nothing() -> None:
    graph = Graph(
        [
            Node("fake", "FakeParam", ""),
            Node("real", "MatMul", ""),
            Node("copy", "Identity", "", (TensorName("fake", 0),)),
            Node("either", "Merge", "", (TensorName("real", 0), TensorName("fake", 0))),
            Node("both", "Merge", "", (TensorName("real", 0), TensorName("real", 0))),
        ]
    )
    undefined = {node.name for node in graph if is_undefined_in(graph, TensorName(node.name, 0))}
    assert undefined == {"fake", "copy", "either"}


def test_neither_a_filter_nor_the_origin_finds_it() -> None:
    names = (TensorName("norm", 5), TensorName("copy", 0))
    tensors = [describe(name, GARBAGE, device="", op_type="", dtype="float32") for name in names]
    graph = _graph("FusedBatchNormV3", is_training="False")
    run = Run(Call(1, RunKind.SESSION, ("norm:0",)), MemoryTensorStore(tensors, [GARBAGE, GARBAGE]), graph)
    for row in range(2):
        datum = datum_of(run, row)
        assert not any(test(datum, GARBAGE) for test in (has_inf_or_nan, has_nan, has_inf))
    assert OriginSearch(run).first() is None
    assert has_inf_or_nan(None, GARBAGE), "without a word on where it comes from, a NaN is a NaN"
