"""The origin by elements: an infinity beside another is not the reason for it. No TensorFlow."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.made_run import INF, NAN, Op, made_run, op

from tfdbg_cli.analysis.origin.benign import judged
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.model.runs import Run

DIAGONAL = op("diagonal", "Const", value=INF)
ONE = op("one", "Const", value=1.0)


def _found(*ops: Op) -> tuple[str, int]:
    """The origin that harms the outcome, the last op, and how many come before it."""
    search = OriginSearch(made_run(*ops))
    origin = search.first()
    assert origin is not None
    found, before = search.harmful(origin)
    return str(found.name), before


def _distances(*off: float) -> Op:
    return op("d", "MatrixSetDiagV3", "x", "diagonal", value=np.array([[INF, off[0]], [off[1], INF]], np.float32))


def test_a_reciprocal_of_zero_beside_an_infinite_diagonal() -> None:
    x = op("x", "Const", value=np.zeros((2, 2), np.float32))
    quotient = op("w", "RealDiv", "one", "d", value=np.array([[0, INF], [INF, 0]], np.float32))
    assert _found(x, DIAGONAL, ONE, _distances(0.0, 0.0), quotient) == ("w:0", 1)


def test_what_passes_the_infinity_on_is_blamed_on_it() -> None:
    x = op("x", "Const", value=np.zeros((2, 2), np.float32))
    doubled = op("w", "Mul", "d", "one", value=np.array([[INF, 0], [0, INF]], np.float32))
    assert _found(x, DIAGONAL, ONE, _distances(0.0, 0.0), doubled) == ("diagonal:0", 0)


def test_an_infinity_that_is_spread_meets_every_element() -> None:
    row = op("row", "Log", "zero", value=[-INF, 0.0])
    whole = op("whole", "AddV2", "m", "row", value=np.array([[-INF, 1], [-INF, 1]], np.float32))
    assert _found(
        op("zero", "Const", value=[0.0, 1.0]), op("m", "Const", value=np.ones((2, 2), np.float32)), row, whole
    )[0] == ("row:0")


@pytest.mark.parametrize("op_type", ["BiasAdd", "Softmax", "Foo"])
def test_ops_whose_elements_do_not_meet_one_another_are_told_by_tensors(op_type: str) -> None:
    bad = op("bad", "Log", "zero", value=[-INF, 0.0])
    mixed = op("mixed", op_type, "bad", value=[0.0, NAN])
    assert _found(op("zero", "Const", value=[0.0, 1.0]), bad, mixed) == ("bad:0", 0)


def test_shapes_that_cannot_be_are_no_reason_to_fail() -> None:
    bad = op("bad", "Log", "zero", value=np.array([[-INF], [0.0], [1.0]], np.float32))
    mixed = op("mixed", "Mul", "bad", value=[0.0, NAN])
    assert _found(op("zero", "Const", value=[0.0, 1.0]), bad, mixed) == ("bad:0", 0)


def test_the_places_that_a_watch_leaves_out_begin_where_the_elements_do() -> None:
    """A quotient that is bad for its own reason is a place of its own beside the infinity that it also reads."""
    x = op("x", "Const", value=np.zeros((2, 2), np.float32))
    quotient = op("w", "RealDiv", "one", "d", value=np.array([[0, INF], [INF, 0]], np.float32))
    y = op("y", "Tanh", "w", value=np.array([[0, 1], [1, 0]], np.float32))
    run: Run = made_run(x, DIAGONAL, ONE, _distances(0.0, 0.0), quotient, y)
    run = replace(run, call=replace(run.call, fetches=("y:0",)))
    assert [place.tensor.node for place in judged(run).places] == ["diagonal", "w"]


def test_what_was_assigned_and_is_there_no_more_is_not_to_blame() -> None:
    """Scores are set back to -inf, and written over with NaN in the same run."""
    nodes = (
        op("v", "VarHandleOp"), op("start", "Const", value=[0.0, -INF]),
        op("x", "Const", value=[-1.0, -1.0]), op("log", "Log", "x", value=[NAN, NAN]),
        op("first", "AssignVariableOp", "v", "start"), op("second", "AssignVariableOp", "v", "log"),
    )  # fmt: skip
    after = op(
        "v/after_update", "UpdatedVariable", "v", "start", "log", value=[NAN, NAN], control=("first", "second")
    )
    assert _found(*nodes, after) == ("log:0", 1)
    kept = op(
        "v/after_update", "UpdatedVariable", "v", "start", "log", value=[NAN, -INF], control=("first", "second")
    )
    assert _found(*nodes, kept) == ("start:0", 0)


@pytest.mark.parametrize("writer", ["ScatterUpdate", "AssignAdd", "TensorScatterUpdate"])
def test_what_was_bad_did_not_make_what_is_new_beside_it(writer: str) -> None:
    v, x = op("v", "VariableV2", value=[NAN, 1.0]), op("x", "Const", value=[-1.0])
    root = op("root", "Sqrt", "x", value=[NAN])
    assert _found(v, x, root, op("write", writer, "v", "root", value=[NAN, NAN])) == ("root:0", 1)
    fine = op("root", "Sqrt", "x", value=[0.5])
    assert _found(v, x, fine, op("write", writer, "v", "root", value=[NAN, 0.5])) == ("v:0", 0)


@pytest.mark.parametrize("select", ["Select", "SelectV2"])
@pytest.mark.parametrize("flipped", [False, True])
def test_a_where_is_bad_by_the_side_that_it_takes(select: str, flipped: bool) -> None:
    """A blind test: where(b > 0, sqrt(b * w), log(b)) of a negative b was blamed on the root, which is not taken."""
    sides = ("log", "root") if flipped else ("root", "log")
    nodes = (
        op("b", "Const", value=[1.0, -1.0]), op("w", "Const", value=[1.0, 1.0]),
        op("mul", "Mul", "b", "w", value=[1.0, -1.0]),
        op("ok", "Const", value=np.array([True, False]) ^ flipped),
        op("root", "Sqrt", "mul", value=[1.0, NAN]), op("log", "Log", "b", value=[0.0, NAN]),
    )  # fmt: skip
    assert _found(*nodes, op("y", select, "ok", *sides, value=[1.0, NAN])) == ("log:0", 1)
    both = (op("y", select, "ok", *sides, value=[1.0, NAN]), op("z", "AddV2", "y", "root", value=[2.0, NAN]))
    assert _found(*nodes, *both) == ("root:0", 0), "which comes out on another way"


def test_of_two_sides_that_read_the_same_the_one_that_is_taken_is_to_blame() -> None:
    b, root = op("b", "Const", value=[1.0, -1.0]), op("root", "Sqrt", "b", value=[1.0, NAN])
    ok, log = op("ok", "Const", value=np.array([True, False])), op("log", "Log", "b", value=[0.0, NAN])
    assert _found(b, ok, root, log, op("y", "SelectV2", "ok", "root", "log", value=[1.0, NAN])) == ("log:0", 1)


@pytest.mark.parametrize("condition", [None, [1.0, 0.0]])
def test_where_it_is_not_known_what_a_where_takes_the_first_side_is_to_blame(condition: list[float] | None) -> None:
    b, root = op("b", "Const", value=[1.0, -1.0]), op("root", "Sqrt", "b", value=[1.0, NAN])
    ok, log = op("ok", "Const", value=condition), op("log", "Log", "b", value=[0.0, NAN])
    assert _found(b, ok, root, log, op("y", "SelectV2", "ok", "root", "log", value=[1.0, NAN])) == ("root:0", 0)
