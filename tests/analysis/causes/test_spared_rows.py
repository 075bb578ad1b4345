"""Infinities that other rows of the batch take without harm are not what sets the bad rows apart."""

from __future__ import annotations

import numpy as np
import pytest
from support.made_run import INF, NAN, Op, made_run, op
from support.prompt import json_of

from tfdbg_cli.analysis.causes.spared_rows import spared_rows
from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run

KEPT = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]], np.float32)
MASK = np.array([[0.0, -INF], [-INF, -INF], [-INF, 0.0]], np.float32)
OPEN = np.array([[0.0, -INF], [0.0, 0.0], [-INF, 0.0]], np.float32)
SHARES = np.array([[1.0, 0.0], [NAN, NAN], [0.0, 1.0]], np.float32)


def _run(*nodes: Op, mask: np.ndarray = MASK, **feeds: np.ndarray) -> Run:
    given = {"kept": np.exp(mask), "scores": np.zeros((3, 2), np.float32), **feeds}
    inputs = [op(name, "Placeholder", value=value) for name, value in given.items()]
    return made_run(
        *inputs, op("log", "Log", "kept", value=mask), op("sum", "AddV2", "scores", "log", value=mask), *nodes,
        feeds={f"{name}:0": value for name, value in given.items()},
    )  # fmt: skip


def _origin(run: Run) -> tuple[str, list[int], list[str]]:
    """The origin, its rows, and what was passed over and why."""
    search = OriginSearch(run)
    origin = search.first()
    assert origin is not None
    return (
        origin.name.node,
        json_of("origin", run)["batch_rows"],
        [f"{one.name.node}: {one.what}" for one in search.intended],
    )


SPARED = ["log: infinities that other rows of the batch take without harm"]


def test_a_mask_is_followed_through_whatever_stands_before_the_softmax() -> None:
    half = op("half", "Mul", "sum", "by", value=MASK)
    run = _run(op("by", "Const", value=np.float32(0.5)), half, op("soft", "Softmax", "half", value=SHARES))
    assert _origin(run) == ("soft", [1], SPARED)


def test_a_softmax_written_by_hand() -> None:
    run = _run(
        op("axis", "Const", value=np.array([1], np.int32)),
        op("most", "Max", "sum", "axis", value=np.array([[0.0], [-INF], [0.0]], np.float32), keep_dims="true"),
        op("off", "Sub", "sum", "most", value=np.array([[0.0, -INF], [NAN, NAN], [-INF, 0.0]], np.float32)),
        op("exp", "Exp", "off", value=np.array([[1.0, 0.0], [NAN, NAN], [0.0, 1.0]], np.float32)),
    )  # fmt: skip
    assert _origin(run) == ("off", [1], SPARED)


def test_another_infinity_in_a_row_of_them_is_the_origin_by_its_own_elements() -> None:
    by = np.array([[1.0], [0.0], [2.0]], np.float32)
    run = _run(
        op("cold", "RealDiv", "sum", "by", value=np.array([[0.0, -INF], [INF, INF], [-INF, 0.0]], np.float32)),
        op("soft", "Softmax", "cold", value=SHARES), mask=OPEN, by=by,
    )  # fmt: skip
    assert _origin(run) == ("cold", [1], SPARED)


def test_a_row_that_another_infinity_closes_is_not_spared_by_the_mask_of_others() -> None:
    """The division by 0 makes -inf in row 1 alone; those of the mask that it hands on are not its own."""
    by, scores = np.array([[1.0], [0.0], [2.0]], np.float32), np.full((3, 2), -1.0, np.float32)
    run = _run(
        op("cold", "RealDiv", "sum", "by", value=np.array([[-1.0, -INF], [-INF, -INF], [-INF, -0.5]], np.float32)),
        op("soft", "Softmax", "cold", value=SHARES), mask=OPEN, by=by, scores=scores,
    )  # fmt: skip
    assert _origin(run) == ("cold", [1], SPARED)


def test_nan_that_comes_from_elsewhere_is_the_origin_though_it_is_computed_later() -> None:
    by = np.array([[1.0], [-1.0], [2.0]], np.float32)
    logged = np.array([[0.0], [NAN], [0.7]], np.float32)
    run = _run(
        op("gain", "Log", "by", value=logged), op("times", "Mul", "sum", "gain", value=OPEN * logged),
        op("soft", "Softmax", "times", value=SHARES), mask=OPEN, by=by,
    )  # fmt: skip
    assert _origin(run) == ("gain", [1], SPARED)


@pytest.mark.parametrize(
    ("why", "nodes"),
    [
        ("all rows go bad", [op("zero", "Mul", "sum", "scores", value=np.full((3, 2), NAN))]),
        ("one goes on as an infinity", [
            op("soft", "Tanh", "sum", value=np.array([[1.0, NAN], [NAN, NAN], [-INF, 1.0]])),
            op("loss", "Sum", "soft", "axes", value=np.float32(NAN)),
        ]),
        ("the rows are mixed", [op("turned", "Transpose", "sum", "axes", value=np.full((2, 3), NAN))]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_where_that_is_not_so_the_logarithm_is_the_origin(why: str, nodes: list[Op]) -> None:
    run = _run(op("axes", "Const", value=np.array([0, 1], np.int32)), *nodes)
    origin, _, passed = _origin(run)
    assert origin == "log" and not passed


def _made_of(op_type: str, *nodes: Op, mask: np.ndarray = MASK) -> Run:
    """A run in which an op of that type makes `mask` of what is fed, before `nodes`."""
    given = np.zeros(mask.shape, np.float32)
    return made_run(
        op("x", "Placeholder", value=given), op("made", op_type, "x", value=mask), *nodes, feeds={"x:0": given}
    )


@pytest.mark.parametrize("op_type", ["Cast", "RealDiv", "Mul", "Log"])
def test_whatever_made_the_infinities(op_type: str) -> None:
    """A blind test: a cast of -1e9 to half precision was the origin, with rows that took it without harm."""
    run = _made_of(op_type, op("soft", "Softmax", "made", value=SHARES))
    assert _origin(run) == ("soft", [1], ["made: infinities that other rows of the batch take without harm"])


def test_heads_that_are_folded_into_the_batch() -> None:
    """A blind test: rows were followed as those of one axis, and lost where it became another one."""
    folded, shares = np.repeat(MASK, 2, 0), np.repeat(SHARES, 2, 0)
    run = _run(
        op("shape", "Const", value=np.array([6, 2], np.int32)),
        op("heads", "Pack", "sum", "sum", value=np.stack([MASK, MASK], 1), axis="1"),
        op("fold", "Reshape", "heads", "shape", value=folded), op("by", "Const", value=np.float32(0.5)),
        op("half", "Mul", "fold", "by", value=folded), op("soft", "Softmax", "half", value=shares),
    )  # fmt: skip
    assert _origin(run) == ("soft", [1], SPARED)


def test_the_gradient_of_a_constant_that_nobody_asked_for() -> None:
    """A blind test: a session computes it, where -inf meets the slopes of masked places, which are 0."""
    run = _run(
        op("by", "Const", value=np.float32(0.5)), op("half", "Mul", "sum", "by", value=MASK),
        op("soft", "Softmax", "half", value=SHARES),
        op("slope", "Const", value=np.zeros((3, 2), np.float32)),
        op("unused", "Mul", "sum", "slope", value=np.array([[0.0, NAN], [NAN, NAN], [NAN, 0.0]], np.float32)),
        op("loss", "Neg", "soft", value=-SHARES),
    )  # fmt: skip
    assert _origin(run) == ("soft", [1], SPARED)


def test_time_before_batch() -> None:
    turned = np.ascontiguousarray(MASK.T)
    off = np.array([[0.0, NAN, -INF], [-INF, NAN, 0.0]], np.float32)
    run = _run(
        op("axes", "Const", value=np.array([1, 0], np.int32)), op("turned", "Transpose", "sum", "axes", value=turned),
        op("axis", "Const", value=np.array([0], np.int32)),
        op("most", "Max", "turned", "axis", value=np.array([[0.0, -INF, 0.0]], np.float32), keep_dims="true"),
        op("off", "Sub", "turned", "most", value=off), op("exp", "Exp", "off", value=np.exp(off)),
    )  # fmt: skip
    assert _origin(run) == ("off", [1], SPARED)


def test_two_masks_of_which_each_closes_a_row() -> None:
    """A blind test: of two rows that were NaN the one that the other mask closed was named nowhere."""
    one = np.array([[0.0, -INF], [-INF, -INF], [0.0, 0.0]], np.float32)
    two = np.array([[0.0, 0.0], [0.0, 0.0], [-INF, -INF]], np.float32)
    both = one + two
    kept = np.exp(two)
    run = _run(
        op("second", "Log", "kept_2", value=two), op("both", "AddV2", "sum", "second", value=both),
        op("by", "Const", value=np.float32(0.5)), op("half", "Mul", "both", "by", value=both),
        op("soft", "Softmax", "half", value=np.array([[1.0, 0.0], [NAN, NAN], [NAN, NAN]], np.float32)),
        mask=one, kept_2=kept,
    )  # fmt: skip
    second = "second: infinities that other rows of the batch take without harm"
    assert _origin(run) == ("soft", [1, 2], [*SPARED, second])


CLOSED = np.array([[0.0, 0.0], [-INF, -INF], [0.0, 0.0]], np.float32)
GROWN = np.array([[0.0, -INF], [INF, -INF], [0.0, 0.0]], np.float32)


@pytest.mark.parametrize(
    ("why", "run"),
    [
        ("nothing is finite", _made_of("Mul", op("soft", "Softmax", "made", value=SHARES), mask=CLOSED)),
        ("+inf is no mask", _made_of("Mul", op("soft", "Softmax", "made", value=SHARES), mask=GROWN)),
        ("other numbers beside it", _made_of(
            "MatMul", op("soft", "Softmax", "made", value=SHARES),
            mask=np.array([[2.5, -INF], [-INF, -INF], [0.25, 1.0]], np.float32),
        )),
        ("it comes out", _made_of(
            "Mul", op("soft", "Softmax", "made", value=SHARES), op("out", "Neg", "made", value=-MASK),
        )),
        ("a product is no softmax", _made_of(
            "RealDiv", op("by", "Const", value=np.isfinite(CLOSED).astype(np.float32)),
            op("times", "Mul", "made", "by", value=np.array([[0.0, -INF], [NAN, NAN], [-INF, 0.0]], np.float32)),
            op("soft", "Exp", "times", value=SHARES),
        )),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_an_overflow_that_does_harm_itself_is_the_origin(why: str, run: Run) -> None:
    origin, _, passed = _origin(run)
    assert origin == "made" and not passed


LABELS = np.array([0, 1, 1])
LOGITS = np.array([[0.0, -INF], [0.0, -INF], [0.0, 0.0]], np.float32)
LOSSES = np.array([0.0, INF, 0.7], np.float32)


def _loss(op_type: str) -> Run:
    """Logits that an op of that type masked, and a loss of which the label of row 1 is masked."""
    entropy = op("loss", "SparseSoftmaxCrossEntropyWithLogits", "half", "y", value=LOSSES)
    return made_run(
        op("kept", "Placeholder", value=np.exp(LOGITS)), op("y", "Placeholder", value=LABELS),
        op("made", op_type, "kept", value=LOGITS), op("by", "Const", value=np.float32(0.5)),
        op("half", "Mul", "made", "by", value=LOGITS), entropy,
        feeds={"kept:0": np.exp(LOGITS), "y:0": LABELS},
    )  # fmt: skip


def test_a_loss_that_is_infinite_by_its_label_is_not_so_by_the_mask() -> None:
    """A blind test: the mask was blamed for the label of one row, and no row was told."""
    passed = ["made: infinities that other rows of the batch take without harm"]
    assert _origin(_loss("Log")) == ("loss", [1], passed)
    assert json_of("origin", _loss("Log"))["cause"].startswith("A masked label: at 1 element y:0")


def test_a_loss_that_is_infinite_by_an_overflow_is_so_by_that() -> None:
    assert _origin(_loss("MatMul"))[0] == "made"


def test_values_that_do_not_fit_their_op_end_the_search() -> None:
    """The graph and the values of a file may be anybody's."""
    texts = op("mixed", "Identity", "made", value=np.array(["a"], object))
    run = _made_of("Cast", texts, op("soft", "Softmax", "made", value=SHARES))
    lineage = Lineage(run)
    name = TensorName("made", 0)
    assert spared_rows(run, lineage, lambda row: True, name, MASK, masks=False) is None


def test_data_are_no_mask() -> None:
    data = np.array([[3.0, -INF], [-INF, -INF], [-INF, 4.0]], np.float32)
    run = made_run(
        op("x", "Placeholder", value=data), op("c", "Const", value=np.float32(2.0)),
        op("y", "Mul", "x", "c", value=data * 2.0), op("soft", "Softmax", "y", value=SHARES), feeds={"x:0": data},
    )  # fmt: skip
    assert _origin(run)[0] == "x"
