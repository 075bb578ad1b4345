"""Infinities that look intended are told last; one that comes to anything counts as a fault."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.made_run import INF, NAN, Op, made_run, op
from support.prompt import json_of, text_of

from tfdbg_cli.analysis.origin.origin_found import OnIntended
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.model.calls import CallArgument, RunKind
from tfdbg_cli.model.runs import Run
from tfdbg_cli.ops.intended_infinities import HABITS

SCORES = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
MASKED = np.array([[1.0, -INF], [3.0, 4.0]], np.float32)
SHARES = np.array([[1.0, 0.0], [0.3, 0.7]], np.float32)


def _attention(*more: Op, softmax: np.ndarray = SHARES) -> Run:
    mask = np.array([[0.0, -INF], [0.0, 0.0]], np.float32)
    return made_run(
        op("scores", "Placeholder", value=SCORES), op("mask", "Const", value=mask),
        op("masked", "AddV2", "scores", "mask", value=MASKED), op("soft", "Softmax", "masked", value=softmax),
        *more, feeds={"scores:0": SCORES},
    )  # fmt: skip


def _origin(run: Run, benign: OnIntended = OnIntended.LAST) -> str:
    origin = OriginSearch(run, benign=benign).first()
    return "" if origin is None else str(origin.name)


def test_a_mask_before_a_softmax_is_told_last() -> None:
    assert _origin(_attention()) == "mask:0"
    assert _origin(_attention(), OnIntended.SKIP) == ""
    assert _origin(_attention(op("log", "Log", "scores", value=np.full((2, 2), NAN)))) == "log:0"
    assert _origin(_attention(op("log", "Log", "scores", value=np.full((2, 2), NAN))), OnIntended.SHOW) == "mask:0"


def test_what_is_meant_is_listed_with_what_a_watch_skips() -> None:
    run = _attention(op("log", "Log", "scores", value=np.full((2, 2), NAN)))
    data = json_of("origin", run)
    why = {"tensor": "mask:0", "why": "a mask of -inf", "end": "soft", "nodes": ["mask", "masked"]}
    assert data["benign"] == [why] and data["intended"] is None
    text = text_of("origin", run, width=200)
    assert "2 tensors hold infinities that look intended: mask:0, a mask of -inf, gone in soft." in text
    assert "-fenn '^(mask|masked)$'" in text
    assert "no NaN" not in text_of(f"lt -f has_inf_or_nan -fenn {'^(mask|masked)$'!r}", run)


def test_nothing_but_a_mask_is_said_to_look_intended() -> None:
    text = text_of("origin", _attention(), width=120)
    assert "It looks so: a mask of -inf, gone in soft. Nothing else is wrong in this run." in text
    assert json_of("origin", _attention())["intended"] == "a mask of -inf"
    assert json_of("origin --benign skip", _attention())["tensor"] is None
    assert "look intended" in text_of("origin --benign skip", _attention())


def test_a_row_that_is_all_masked_is_the_fault() -> None:
    run = _attention(softmax=np.array([[NAN, NAN], [0.3, 0.7]], np.float32))
    assert _origin(run) == "soft:0"
    assert [str(item.name) for item in _searched(run).intended] == ["mask:0"]


def test_so_it_is_where_the_mask_is_a_logarithm() -> None:
    """A blind test: the logarithm was to blame, which is -inf in each row, and all rows of the batch with it."""
    kept = np.array([[0.0, 0.0], [1.0, 0.0]], np.float32)
    mask = np.array([[-INF, -INF], [0.0, -INF]], np.float32)
    soft = np.array([[NAN, NAN], [1.0, 0.0]], np.float32)

    def masked(reader: str, value: np.ndarray) -> Run:
        return made_run(
            op("kept", "Placeholder", value=kept), op("scores", "Placeholder", value=SCORES),
            op("log", "Log", "kept", value=mask), op("masked", "AddV2", "scores", "log", value=mask),
            op("out", reader, "masked", value=value), feeds={"kept:0": kept, "scores:0": SCORES},
        )  # fmt: skip

    run = masked("Softmax", soft)
    assert _origin(run) == "out:0"
    assert [item.what for item in _searched(run).intended] == ["a mask of -inf made by log(0) and added"]
    data = json_of("origin", run)
    assert data["cause"] == "Softmax of a row that is nothing but -inf in masked:0." and data["batch_rows"] == [0]
    assert _origin(masked("Sum", np.array(-INF, np.float32))) == "log:0"


def test_the_mask_of_a_later_layer_is_not_to_blame_for_what_the_row_was_before() -> None:
    """A blind test: of two layers the mask of the second was to blame, whose sum is NaN where the first made it."""
    kept = np.array([[0.0, 0.0], [1.0, 0.0]], np.float32)
    mask = np.array([[-INF, -INF], [0.0, -INF]], np.float32)
    soft = np.array([[NAN, NAN], [1.0, 0.0]], np.float32)
    second = np.array([[NAN, NAN], [0.0, -INF]], np.float32)
    run = made_run(
        op("kept", "Placeholder", value=kept), op("scores", "Placeholder", value=SCORES),
        op("log_1", "Log", "kept", value=mask), op("log", "Log", "kept", value=mask),
        op("masked", "AddV2", "scores", "log", value=mask), op("soft", "Softmax", "masked", value=soft),
        op("masked_1", "AddV2", "log_1", "soft", value=second), op("soft_1", "Softmax", "masked_1", value=soft),
        feeds={"kept:0": kept, "scores:0": SCORES},
    )  # fmt: skip
    assert _origin(run) == "soft:0"
    assert json_of("origin", run)["batch_rows"] == [0]


def test_the_logarithm_of_what_else_is_subtracted_is_no_mask() -> None:
    one_hot, log = np.array([1.0, 0.0], np.float32), np.array([0.0, -INF], np.float32)
    run = made_run(
        op("y", "Placeholder", value=one_hot), op("log", "Log", "y", value=log),
        op("p", "Placeholder", value=one_hot), op("log_1", "Log", "p", value=log),
        op("apart", "Sub", "log", "log_1", value=[0.0, NAN]),
        op("soft", "Softmax", "apart", value=[NAN, NAN]), feeds={"y:0": one_hot, "p:0": one_hot},
    )  # fmt: skip
    assert _origin(run) == "log:0"


def _searched(run: Run) -> OriginSearch:
    search = OriginSearch(run)
    search.first()
    return search


@pytest.mark.parametrize("reader", ["AssignVariableOp", "Tanh", "Unheard"])
def test_a_mask_that_gets_elsewhere_is_a_fault(reader: str) -> None:
    leak = op("leak", reader, *(["w"] if reader == "AssignVariableOp" else []), "masked", value=np.ones((2, 2)))
    run = _attention(op("w", "VarHandleOp"), leak, op("log", "Log", "scores", value=np.full((2, 2), NAN)))
    assert _origin(run) == "mask:0"


def test_plus_infinity_is_no_mask() -> None:
    run = made_run(
        op("c", "Const", value=[INF]), op("x", "Placeholder", value=[1.0]), op("a", "AddV2", "x", "c", value=[INF]),
        op("s", "Softmax", "a", value=[NAN]), feeds={"x:0": [1.0]},
    )  # fmt: skip
    assert _origin(run) == "c:0"


@pytest.mark.parametrize("captured", [True, False])
def test_a_mask_that_is_fed(captured: bool) -> None:
    mask = np.array([[0.0, -INF], [0.0, 0.0]], np.float32)
    run = made_run(
        op("scores", "Placeholder", value=SCORES), op("mask", "Placeholder", value=mask if captured else None),
        op("masked", "AddV2", "scores", "mask", value=MASKED), op("soft", "Softmax", "masked", value=SHARES),
        op("log", "Log", "scores", value=np.full((2, 2), NAN)), feeds={"scores:0": SCORES, "mask:0": mask},
    )  # fmt: skip
    assert _origin(run) == "log:0" and _origin(run, OnIntended.SHOW) == "mask:0"
    assert json_of("origin", run)["benign"][0]["nodes"] == ["mask", "masked"]


def test_nothing_but_a_mask_that_is_fed() -> None:
    mask = np.array([-INF, 0.0], np.float32)
    run = made_run(
        op("mask", "Placeholder"), op("soft", "Softmax", "mask", value=[0.0, 1.0]), feeds={"mask:0": mask}
    )  # fmt: skip
    assert _origin(run) == "mask:0" and json_of("origin", run)["intended"] == "a mask of -inf that was given"
    assert _origin(run, OnIntended.SKIP) == ""
    bad = made_run(op("x", "Placeholder"), op("dense", "Tanh", "x", value=[-1.0, 0.0]), feeds={"x:0": mask})
    assert _origin(bad, OnIntended.SKIP) == "x:0"


def test_a_product_with_a_mask_is_the_fault() -> None:
    run = made_run(
        op("c", "Const", value=-INF), op("x", "Placeholder", value=[0.0, 1.0]),
        op("m", "Mul", "x", "c", value=[NAN, -INF]), feeds={"x:0": [0.0, 1.0]},
    )  # fmt: skip
    origin = OriginSearch(run).first()
    assert origin is not None and str(origin.name) == "m:0"
    assert origin.cause.text.startswith(
        "0 * inf: c:0 is infinite and x:0 is 0 at 1 element, a mask made by a product"
    )
    assert [element.index for element in origin.elements] == [(0,)]


def test_the_start_of_a_running_minimum() -> None:
    run = made_run(
        op("start", "Const", value=INF), op("x", "Placeholder", value=[3.0, 2.0]),
        op("best", "LoopVariable", "start", "less", values=(INF, 3.0)),
        op("less", "Minimum", "best", "x", values=(3.0, 2.0)),
        op("while", "While", "less", "start", value=2.0), op("log", "Log", "x", value=[NAN, 0.0]),
        order=("start", "x", "best", "less", "best", "less", "while", "log"),
    )  # fmt: skip
    assert _origin(run) == "log:0"
    assert [item.what for item in _searched(run).intended] == ["the start of a running minimum or maximum"]


def _best(after: float, *more: Op) -> Run:
    """A function that keeps the least loss in a variable which begins with inf."""
    run = made_run(
        op("best", "Placeholder", dtype="resource"), op("read", "ReadVariableOp", "best", value=INF),
        op("loss", "Placeholder", value=3.0), op("min", "Minimum", "read", "loss", value=3.0),
        op("assign", "AssignVariableOp", "best", "min"),
        op("best/after_update", "UpdatedVariable", "best", "min", value=after), *more,
    )  # fmt: skip
    arguments = (CallArgument("loss", "float32", ()), CallArgument("best", "float32", (), captured=True))
    feeds = {"loss": np.float32(3), "best": np.float32(INF)}
    return replace(run, call=replace(run.call, kind=RunKind.FUNCTION, arguments=arguments, feeds=feeds))


def test_a_variable_that_begins_with_infinity() -> None:
    assert _origin(_best(3.0), OnIntended.SKIP) == ""
    assert _origin(_best(INF), OnIntended.SKIP) == ""  # it may stay so, where nothing was less
    assert _origin(_best(3.0, op("log", "Log", "loss", value=NAN))) == "log:0"
    assert _origin(_best(3.0, op("double", "AddV2", "read", "read", value=INF)), OnIntended.SKIP) == "best:0"


def test_a_bound_that_nothing_reaches() -> None:
    run = made_run(
        op("x", "Placeholder", value=[3.0]), op("c", "Const", value=INF), op("min", "Minimum", "x", "c", value=[3.0])
    )  # fmt: skip
    assert json_of("origin", run)["intended"] == "a bound that nothing reaches"


def test_data_below_a_bound_are_no_start_of_a_maximum() -> None:
    run = made_run(
        op("x", "Placeholder", value=[-INF, 1.0]), op("max", "Maximum", "x", "zero", value=[0.0, 1.0]),
        op("zero", "Const", value=0.0), feeds={"x:0": np.array([-INF, 1.0], np.float32)},
    )  # fmt: skip
    assert json_of("origin", run)["intended"] is None


def _replaced(*more: Op, chosen: float = 0.0) -> Run:
    return made_run(
        op("ok", "Placeholder", value=np.array([True, False])), op("x", "Placeholder", value=[1.0, 0.0]),
        op("log", "Log", "x", value=[0.0, -INF]), op("zero", "Const", value=0.0),
        op("where", "SelectV2", "ok", "log", "zero", value=[0.0, chosen]), *more,
    )  # fmt: skip


def test_a_value_that_a_where_replaces() -> None:
    assert _origin(_replaced(), OnIntended.SKIP) == ""
    assert _origin(_replaced(chosen=-INF), OnIntended.SKIP) == "log:0"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([0.0, NAN], "1 tensor holds NaN that looks intended"),
        ([0.0, INF], "1 tensor holds infinities that look intended"),
        ([0.0, NAN, -INF], "1 tensor holds NaN and infinities that look intended"),
    ],
)
def test_what_is_said_to_look_intended_is_what_is_there(value: list[float], said: str) -> None:
    size = len(value)
    root = (
        op("ok", "Placeholder", value=np.arange(size) == 0), op("x", "Placeholder", value=np.ones(size)),
        op("root", "Sqrt", "x", value=value), op("zero", "Const", value=0.0),
        op("where", "SelectV2", "ok", "root", "zero", value=np.zeros(size)),
    )  # fmt: skip
    run = made_run(*root, op("log", "Log", "x", value=np.full(size, NAN)))
    for command in ("origin", "origin --all"):
        assert f"{said}: root:0, a value that tf.where replaces, gone in where." in " ".join(
            text_of(command, run).split()
        )


def test_a_value_that_a_where_replaces_while_its_gradient_goes_bad() -> None:
    run = _replaced(op("gradient_tape/Reciprocal", "Reciprocal", "x", value=[1.0, INF]))
    origin = OriginSearch(run).first()
    assert origin is not None and str(origin.name) == "log:0"
    assert "where, a tf.where, hides it from the result, but not from the gradient" in origin.cause.text
    assert "double where" in origin.cause.suggestion


def test_a_where_that_lets_some_of_them_through_hides_nothing() -> None:
    """As dropout does, which chooses by chance among elements that are all bad."""
    dropped = (
        op("kept", "Placeholder", value=np.array([True, False])), op("x", "Placeholder", value=[2e38, 2e38]),
        op("two", "Const", value=2.0), op("drop/Mul", "Mul", "x", "two", value=[INF, INF]),
        op("zero", "Const", value=0.0),
    )  # fmt: skip
    slope = op("gradient_tape/Mul", "Mul", "x", "drop/Mul", value=[INF, INF])
    some = made_run(*dropped, op("drop/SelectV2", "SelectV2", "kept", "drop/Mul", "zero", value=[INF, 0.0]), slope)
    origin = OriginSearch(some).first()
    assert origin is not None and str(origin.name) == "drop/Mul:0"
    assert origin.cause.text.startswith("Overflow of a product: at 2 elements") and "hides" not in origin.cause.text
    assert "double where" not in origin.cause.suggestion


def test_a_where_that_takes_what_has_no_gradient_hides_nothing() -> None:
    """The root of 0 is 0, so that it is not seen in the result whether it is taken."""

    def run(taken: bool) -> Run:
        return made_run(
            op("ok", "Placeholder", value=np.array([True, taken])), op("x", "Placeholder", value=[1.0, 0.0]),
            op("sqrt", "Sqrt", "x", value=[1.0, 0.0]), op("zero", "Const", value=0.0),
            op("where", "SelectV2", "ok", "sqrt", "zero", value=[1.0, 0.0]),
            op("gradient_tape/one", "Const", value=[1.0, float(taken)]),
            op("gradient_tape/SqrtGrad", "SqrtGrad", "sqrt", "gradient_tape/one", value=[0.5, INF if taken else NAN]),
        )  # fmt: skip

    for taken in (True, False):
        origin = OriginSearch(run(taken)).first()
        assert origin is not None and str(origin.name) == "gradient_tape/SqrtGrad:0"
        assert ("where, a tf.where, hides it" in origin.cause.text) is not taken


def test_a_list_of_all_origins_leaves_them_out() -> None:
    run = _attention(op("log", "Log", "scores", value=np.full((2, 2), NAN)))
    assert json_of("origin --all", run)["tensors"] == ["log:0"]
    assert json_of("origin --all --benign show", run)["tensors"] == ["mask:0", "log:0"]


def test_every_habit_says_what_it_is() -> None:
    assert len({habit.what for habit in HABITS}) == len(HABITS)
    assert all(habit.carriers and habit.ends for habit in HABITS)


def test_a_limit_that_something_is_compared_with_looks_intended() -> None:
    """As the line search of L-BFGS has it."""
    limit = (op("x", "Placeholder", value=[1.0, 2.0]), op("limit", "Const", value=-INF))
    compared = op("less", "LessEqual", "x", "limit", value=[False, False])
    run = made_run(*limit, compared)
    assert _origin(run, OnIntended.SKIP) == ""
    data = json_of("origin", run)
    assert data["intended"] == "a limit that something is compared with"
    assert data["benign"] == [] and data["tensor"] == "limit:0"
    added = made_run(
        *limit, compared, op("sum", "Mul", "x", "limit", value=[-INF, -INF]), op("y", "Exp", "sum", value=0.0)
    )
    assert json_of("origin", added)["intended"] is None, "it is not only compared with"


def test_what_is_handed_on_is_not_taken_for_the_fault() -> None:
    """A mask becomes NaN in the third turn; in the first two it is only handed on."""
    turns = ([1.0, -INF], [1.0, -INF], [NAN, -INF])
    run = made_run(
        op("x", "Placeholder", value=[1.0, 1.0]), op("mask", "Const", value=[0.0, -INF]),
        op("masked", "AddV2", "mask", "x", values=turns), op("same", "Identity", "masked", values=turns),
    )  # fmt: skip
    origin = OriginSearch(run).first()
    assert origin is not None and str(origin.name) == "masked:0"
    assert np.isnan(origin.value).any()


def test_an_op_whose_input_is_infinite_is_not_said_to_have_finite_ones() -> None:
    """The mask is excused, and what it made elsewhere is not."""
    given = op("x", "Placeholder", value=[INF, 1.0])
    text = text_of("origin --benign skip", made_run(given, op("y", "Weird", "x", value=[NAN, 1.0])))
    assert "out of finite inputs" not in text


def test_many_places_are_named_in_short() -> None:
    scope = "sampler/while/body/" * 8
    nodes: list[Op] = [op("x", "Placeholder", value=SCORES)]
    for number in range(9):
        mask, masked = f"{scope}mask_{number}", f"{scope}masked_{number}"
        nodes += [
            op(mask, "Const", value=np.array([[0.0, -INF], [0.0, 0.0]], np.float32)),
            op(masked, "AddV2", "x", mask, value=MASKED),
            op(f"{scope}soft_{number}", "Softmax", masked, value=SHARES),
        ]  # fmt: skip
    text = text_of("origin --all", made_run(*nodes), width=None)
    assert "18 tensors hold infinities that look intended: …/" in text
    assert "5 more. To count them: origin --benign show. A watch skips them with --benign skip" in text
    assert max(map(len, text.splitlines())) < 1000
    places = json_of("origin --benign skip", made_run(*nodes))["benign"]
    assert len(places) == 9 and all(name.startswith(scope) for place in places for name in place["nodes"])
