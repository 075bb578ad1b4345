"""Inputs that do not fit their op, as a damaged recording has them: the answer is that nobody can tell."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from support.made_run import NAN, made_run, op

from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.analysis.origin.aftermath import aftermath
from tfdbg_cli.analysis.origin.finding import look_for
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.commands.views.origin.elements import element_data
from tfdbg_cli.model.runs import Run

BAD = np.array([[1.0, NAN], [1.0, 1.0]], np.float32)
X = np.ones((2, 2), np.float32)
TEXTS = np.array([b"x", b"y"], object)
INDEX = np.array([0, 7], np.int32)


def _run(kind: str, *operands: np.ndarray, **attributes: str) -> Run:
    names = [f"i{n}" for n in range(len(operands))]
    given = [op(name, "Placeholder", value=value) for name, value in zip(names, operands, strict=True)]
    return made_run(*given, op("bad", kind, *names, value=BAD, **attributes))


@pytest.mark.parametrize(
    "run",
    [
        _run("Transpose", X, TEXTS),
        _run("Transpose", X),
        _run("StridedSlice", X, INDEX, INDEX, np.array([1], np.int32)),
        _run("StridedSlice", X),
        _run("GatherV2", X, INDEX, TEXTS),
        _run("ConcatV2", np.ones(2, np.float32), X, np.int32(0)),
        _run("ConcatV2"),
        _run("Split", np.int32(0), np.float32(1)),
        _run("ReverseV2", X, TEXTS),
        _run("Pad", X, np.ones((2, 2), np.float32)),
        _run("Sum", X, TEXTS),
        _run("Conv2D"),
        _run("LRN"),
        _run("Log", TEXTS),
        _run("Log", np.zeros(0, ml_dtypes.bfloat16)),
        _run("MatMul", np.full((2, 2), b"x", object), X),
        _run("SparseSoftmaxCrossEntropyWithLogits", X, TEXTS),
        _run("LoopVariable"),
        _run("Pack", X, axis="9" * 30),
    ],
    ids=lambda run: f"{run.graph.find('bad').op_type}-{len(run.tensors)}",
)
def test_the_origin_is_found_all_the_same(run: Run) -> None:
    found = OriginSearch(run).first()
    assert found is not None
    assert str(found.name) == "bad:0"
    assert found.cause.text
    assert all(row in (0, 1) for row in found.batch_rows)
    for element in found.elements:
        element_data(element)


def test_the_elements_of_a_text_are_texts() -> None:
    found = OriginSearch(_run("AddN", np.array([[b"a", b"\x1b["], [b"c", b"d"]], object))).first()
    assert found is not None
    assert element_data(found.elements[0])["inputs"] == ["\\x1b["]


def test_a_question_for_nothing_and_a_node_that_stands_twice_spoil_nothing() -> None:
    run = made_run(
        op("bad", "Log", value=BAD),
        op("ask", "IsFinite"),
        op("w", "AssignVariableOp", "v", "bad"),
        op("w", "AssignVariableOp", "v", "bad"),
    )
    found = aftermath(run, Lineage(run), lambda index: True, 0)
    assert found.variables == ("v",)


def test_the_logarithm_of_a_complex_zero() -> None:
    zero, made = np.array([1.0, 0.0], np.complex64), np.array([0.0, complex(-np.inf, 0.0)], np.complex64)
    found = OriginSearch(made_run(op("x", "Placeholder", value=zero), op("bad", "Log", "x", value=made))).first()
    assert found is not None
    assert found.cause.text.startswith("Log of 0: x:0 is 0 at 1 element")


def test_an_update_whose_terms_do_not_fit_is_looked_at() -> None:
    wide, flat = np.full((3, 3), np.inf, np.float32), np.full((1, 2), np.inf, np.float32)
    run = made_run(
        op("w", "VarHandleOp"), op("wide", "Const", value=wide), op("flat", "Const", value=flat),
        op("sub", "Sub", "wide", "flat", value=flat), op("assign", "AssignVariableOp", "w", "sub"),
        op("w/after_update", "UpdatedVariable", "w", "sub", value=flat, control=("assign",)),
    )  # fmt: skip
    found = OriginSearch(run).first()
    assert found is not None
    look_for(run, OriginSearch(run))
