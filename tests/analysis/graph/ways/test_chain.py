"""The chain from what was given to the origin, and what the origin spoiled."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from support.made_run import INF, NAN, Op, made_run, op
from support.prompt import json_of, text_of

from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.analysis.graph.ways.chain import chain_to
from tfdbg_cli.model.calls import CallArgument, RunKind
from tfdbg_cli.model.decision import RunUntil
from tfdbg_cli.model.ignored import Ignored, IgnoredPlace
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Hit, Run, RunEnd, StopBefore
from tfdbg_cli.model.sources import Frame


def _line(number: int) -> tuple[Frame, ...]:
    return (Frame("/home/ada/train.py", number, "step", ""),)


def _chain(run: Run, name: str, through: int | None = None) -> list[str]:
    node = run.graph.node(name)
    way = {} if through is None else {name: through}
    return [str(link.tensor) for link in chain_to(run, Lineage(run), node, 0, way)]


X, W = op("x", "Placeholder", value=[1.0]), op("w", "VariableV2", value=[1.0])


def test_the_shortest_way_from_what_was_fed() -> None:
    run = made_run(
        X, W, op("a", "Neg", "x", value=[1.0]), op("b", "Neg", "a", value=[1.0]),
        op("c", "Mul", "b", "w", value=[1.0]), op("d", "Mul", "c", "a", value=[1.0]),
    )  # fmt: skip
    assert _chain(run, "d") == ["x:0", "a:0", "d:0"]
    assert _chain(run, "d", 0) == ["x:0", "a:0", "b:0", "c:0", "d:0"]
    assert _chain(run, "w") == ["w:0"]


def test_it_begins_with_the_batch_where_that_is_known_though_something_else_is_nearer() -> None:
    offset = op("offset", "Placeholder", value=[1.0])
    run = made_run(X, offset, op("a", "Neg", "x", value=[1.0]), op("b", "Add", "offset", "a", value=[1.0]))
    assert _chain(run, "b") == ["offset:0", "b:0"]
    lineage, node = Lineage(run), run.graph.node("b")
    for batch, begin in (("x:0", "x:0"), ("x", "x:0"), ("gone:0", "offset:0")):
        assert str(chain_to(run, lineage, node, 0, batch=batch)[0].tensor) == begin


def test_a_variable_begins_the_chain_where_nothing_was_fed() -> None:
    run = made_run(W, op("r", "Identity", "w", value=[1.0]), op("log", "Log", "r", value=[1.0]))
    assert _chain(run, "log") == ["w:0", "log:0"]
    assert _chain(made_run(op("c", "Const", value=1.0), op("n", "Neg", "c", value=1.0)), "n") == []


def test_shapes_and_axes_are_no_way() -> None:
    run = made_run(
        X, W, op("shape", "Shape", "x", value=np.array([1])), op("r", "Reshape", "w", "shape", value=[1.0]),
        op("sum", "Sum", "r", "shape", value=1.0),
    )  # fmt: skip
    assert _chain(run, "sum") == ["w:0", "r:0", "sum:0"]


def test_a_single_number_begins_the_chain_only_where_no_array_does() -> None:
    one = op("one", "Placeholder", value=1.0)
    steps = op("a", "Neg", "x", value=[1.0]), op("sub", "Sub", "one", "a", value=[0.0])
    given = {"x:0": [1.0], "one:0": 1.0}
    assert _chain(made_run(X, one, *steps, feeds=given), "sub") == ["x:0", "a:0", "sub:0"]
    alone = made_run(W, one, op("sub", "Sub", "one", "w", value=[0.0]), feeds={"one:0": 1.0})
    assert _chain(alone, "sub") == ["one:0", "sub:0"]


def test_the_shape_of_what_is_filled_is_no_way() -> None:
    shape = op("shape", "Placeholder", value=np.array([2]))
    run = made_run(X, shape, op("f", "Fill", "shape", "x", value=[1.0, 1.0]), feeds={"shape:0": np.array([2])})
    assert _chain(run, "f") == ["x:0", "f:0"]


def test_where_elements_are_put_is_no_way() -> None:
    ops = (
        op("x", "Placeholder", value=[1.0, 2.0]), op("at", "Placeholder", value=np.array([[1]])),
        op("new", "Placeholder", value=[-1.0]), op("kept", "Neg", "x", value=[-1.0, -2.0]),
        op("put", "TensorScatterUpdate", "kept", "at", "new", value=[-1.0, -1.0]),
        op("log", "Log", "put", value=[NAN, NAN]),
    )  # fmt: skip
    run = made_run(*ops)
    chain = chain_to(run, Lineage(run), run.graph.node("log"), 0)
    assert [str(link.tensor) for link in chain] == ["new:0", "put:0", "log:0"]


def test_ops_of_one_line_are_one_step() -> None:
    run = made_run(
        X, W, op("mm", "Mul", "x", "w", value=[0.0]), op("neg", "Neg", "mm", value=[0.0]), op("i", "Identity", "neg"),
        op("log", "Log", "i", value=[-INF]), feeds={"x:0": [1.0]},
    )  # fmt: skip
    run = replace(run, tracebacks={"x": _line(1), "mm": _line(2), "neg": _line(2), "log": _line(3)})
    chain = json_of("origin", run)["chain"]
    assert [(link["tensor"], link["ops"], link["line"]) for link in chain] == [
        ("x:0", ["Placeholder"], 1), ("neg:0", ["Mul", "Neg"], 2), ("log:0", ["Log"], 3),
    ]  # fmt: skip
    assert chain[0]["given"] == "input"
    assert "Chain     x train.py:1 → neg :2 → log :3" in text_of("origin", run)


def test_of_a_long_chain_the_middle_is_left_out() -> None:
    ops = [X, *(op(f"n{i}", "Neg", f"n{i - 1}" if i else "x", value=[0.0]) for i in range(20))]
    run = made_run(*ops, op("log", "Log", "n19", value=[-INF]))
    text = text_of("origin", run, width=60)
    assert "… 15 steps …" in text and len(json_of("origin", run)["chain"]) == 22
    rows = text.split("\n")
    start, end = (next(i for i, row in enumerate(rows) if row.startswith(label)) for label in ("Chain", "From"))
    assert start < end and all(len(row) <= 60 for row in rows[start : end + 1])


def _update(*values: float) -> tuple[Op, ...]:
    return (
        op("w", "Placeholder", dtype="resource"), op("read", "ReadVariableOp", "w", value=[values[0]]),
        op("x", "Placeholder", value=[0.0]), op("log", "Log", "x", value=[values[1]]),
        op("assign", "AssignSubVariableOp", "w", "log"),
        op("w/after_update", "UpdatedVariable", "w", "log", value=[values[2]]),
    )  # fmt: skip


def _function(*ops: Op, after: float) -> Run:
    run = made_run(*ops, times=False)
    arguments = (CallArgument("x", "float32", (1,)), CallArgument("w", "float32", (1,), captured=True))
    feeds = {"x": np.zeros(1, np.float32), "w": np.full(1, after, np.float32)}
    call = replace(
        run.call, kind=RunKind.FUNCTION, function="step", arguments=arguments, feeds=feeds, fetches=("log:0",)
    )
    return replace(run, call=call)


def test_results_and_variables_that_were_spoiled() -> None:
    run = _function(*_update(1.0, -INF, INF), after=INF)
    data = json_of("origin", run)
    assert data["tensor"] == "log:0"
    assert data["after"] == {"bad": 1, "seen": 1, "total": 1, "results": ["log:0"], "variables": ["w"]}


def test_a_variable_that_the_update_makes_infinite() -> None:
    """What a function was given as a variable is known as it is after the run, when that is looked at."""
    run = _function(*_update(3e38, -3e38, INF), after=INF)
    data = json_of("origin", run)
    assert (data["tensor"], data["op_type"]) == ("w/after_update:0", "UpdatedVariable")
    assert data["cause"].startswith("The update itself overflows")


def test_a_variable_that_is_bad_after_a_run_that_shows_no_update() -> None:
    run = _function(*_update(3e38, -3e38, INF)[:-1], after=INF)
    data = json_of("origin", run)
    assert (data["tensor"], data["batch_rows"]) == ("w:0", [])
    assert data["cause"].startswith("The update itself overflows: variable w was finite when it was first read")


def test_a_variable_that_is_read_again_after_the_update_that_spoiled_it() -> None:
    again = op("again", "ReadVariableOp", "w", value=[INF])
    run = _function(*_update(3e38, -3e38, INF)[:-1], again, after=INF)
    data = json_of("origin", run)
    assert data["tensor"] == "again:0" and data["cause"].startswith("The update itself overflows")


def test_a_variable_that_was_bad_before_says_since_when() -> None:
    run = _function(*_update(NAN, NAN, NAN), after=NAN)
    data = json_of("origin", run)
    assert data["cause"].startswith("Variable w was already not finite when it was read") and data["since"] is None
    later = RunEnd(run, Hit("has_inf_or_nan", "", 8, 7))
    assert json_of("origin", later)["since"] == "after run #7, the last one in which the watch found nothing"
    others = RunEnd(run, Hit("has_inf_or_nan", "", 8, 5, others_passed=True))
    assert (
        json_of("origin", others)["since"]
        == "after run #5, the last one of those that look at it in which the watch found nothing"
    )
    results = RunEnd(run, Hit("bad_result", "", 8, 7))
    assert json_of("origin", results)["since"] is None, "it asks no variable that a run only reads"
    first = RunEnd(run, Hit("has_inf_or_nan", "", 1))
    assert "Since     before this watch began: this is its first run" in text_of("origin", first)


def test_an_infinity_that_was_given_is_shown_with_the_op_that_made_nan_of_it() -> None:
    """The program may mean the infinity: then the product is where it went wrong, not the mask."""
    mask, p = op("mask", "VariableV2", value=[INF, 0.0]), op("p", "Const", value=[0.0, 1.0])
    run = made_run(mask, p, op("product", "Mul", "mask", "p", value=[NAN, 0.0]))
    run = replace(run, tracebacks={"mask": _line(7), "product": _line(9)})
    data = json_of("origin", run)
    assert (data["tensor"], data["line"]) == ("mask:0", 7)
    assert (data["nan"]["tensor"], data["nan"]["op_type"], data["nan"]["line"]) == ("product:0", "Mul", 9)
    assert data["nan"]["cause"].startswith("0 * inf: of mask:0 and p:0")
    shown = text_of("origin", run)
    assert "NaN at    product:0  Mul  train.py:9  origin --nan" in shown
    assert "0 * inf" in shown
    fine = made_run(mask, p, op("product", "Mul", "mask", "p", value=[-INF, 0.0]))
    assert json_of("origin", fine)["nan"] is None, "nothing became NaN"
    root = op("root", "Log", "p", value=[-INF, 0.0])
    computed = made_run(p, root, op("product", "Mul", "root", "p", value=[NAN, 0.0]))
    assert json_of("origin", computed)["nan"] is None, "the op that computed the infinity is where it went wrong"


def test_where_the_infinity_is_in_no_batch_the_rows_are_those_behind_nan() -> None:
    x, mask = op("x", "Placeholder", value=[[1.0], [0.0], [2.0]]), op("mask", "VariableV2", value=[INF])
    product = op("product", "Mul", "x", "mask", value=[[INF], [NAN], [INF]])
    given = {"x:0": np.array([[1.0], [0.0], [2.0]], np.float32)}
    run = made_run(x, mask, product, op("loss", "Sum", "product", value=NAN), feeds=given)
    data = json_of("origin", run)
    assert (data["tensor"], data["nan"]["tensor"], data["batch_rows"]) == ("mask:0", "product:0", [1])
    assert data["batch"] == {"source": "x:0", "size": 3}
    assert "Batch     row 1 of 3" in text_of("origin", run)
    assert json_of("row", run)["row"] == 1


def test_nothing_is_said_of_a_variable_that_no_run_looked_at_before() -> None:
    run = _function(*_update(NAN, NAN, NAN), after=NAN)
    assert json_of("origin", RunEnd(run, Hit("has_inf_or_nan", "", 8, others_passed=True)))["since"] is None
    seen = RunEnd(run, Hit("has_inf_or_nan", "", 8, 7))
    name = json_of("origin", seen)["tensor"].removesuffix(":0")
    place = IgnoredPlace(1, "", TensorName(name, 0), "ReadVariableOp", "NaN", "", False, (name,))
    assert json_of("origin", replace(seen, ignored=Ignored([place])))["since"] is None
    excluded = RunEnd(run, Hit("has_inf_or_nan", name, 8, 7))
    assert json_of("origin", excluded)["since"] is None
    eager = replace(run, call=replace(run.call, kind=RunKind.EAGER))
    assert json_of("origin", replace(seen, run=eager))["since"] is None


def test_a_name_with_a_slot_keeps_it() -> None:
    run = made_run(op("x", "Placeholder", value=[0.0]), op("s", "Split", "x"), op("log", "Log", "s:1", value=[-INF]))
    assert _chain(run, "log") == ["x:0", "s:1", "log:0"]
    assert TensorName("s", 1) in {link.tensor for link in chain_to(run, Lineage(run), run.graph.node("log"), 0)}


def test_behind_a_stop_that_stop_is_named_and_how_to_come_further() -> None:
    """It was said to have been so before the watch began, which had watched from the first run on."""
    run = _function(*_update(NAN, NAN, NAN), after=NAN)
    text = text_of("origin", RunEnd(run, Hit("has_inf_or_nan", "", 1, behind=StopBefore(4, None))))
    assert "Since     run #4, the stop before this one, or before" in text
    assert "--skip-update" in text.partition("Try")[2].partition("Since")[0]
    assert "Next" not in text


def test_a_stop_whose_run_did_not_write_the_variable_is_not_to_blame() -> None:
    run = _function(*_update(NAN, NAN, NAN), after=NAN)
    text = text_of("origin", RunEnd(run, Hit("has_inf_or_nan", "", 1, behind=StopBefore(4, frozenset({"other"})))))
    assert "Since     before run #4, the stop before this one, which did not write it" in text
    assert "what `origin` told at run #4" not in text
    assert "skip-update" not in text


def test_at_a_stop_whose_update_stays_it_is_said_how_to_come_further() -> None:
    run = _function(*_update(1.0, NAN, NAN)[:-1], after=NAN)
    stop = RunEnd(run, Hit("bad_result", "", 4, 3))
    told = "Next      What runs from here on begins with these"
    assert told in text_of("origin", stop)
    assert told not in text_of("origin", replace(stop, watch=RunUntil("bad_result", skip_update=True)))
    assert told not in text_of("origin", run)


def test_the_way_to_a_first_turn_of_a_loop_does_not_come_from_a_turn_before() -> None:
    """What a function's loop carries begins as a constant; what is fed is added in each turn."""
    inside = "while/body/"
    run = made_run(
        X, op("zeros", "Const", value=[0.0]),
        op(f"{inside}memory", "LoopVariable", "zeros", f"{inside}add", values=[[0.0], [1.0], [2.0]]),
        op(f"{inside}root", "Sqrt", f"{inside}memory", values=[[0.0], [1.0], [1.4]]),
        op(f"{inside}add", "AddV2", f"{inside}memory", "x", values=[[1.0], [2.0], [3.0]]),
        op("while", "While", "zeros", value=[3.0]),
        order=["x", "zeros", *[f"{inside}{name}" for name in ("memory", "root", "add")] * 3, "while"],
    )  # fmt: skip
    chains = [
        chain_to(run, Lineage(run), run.graph.node(f"{inside}root"), 0, row=row)
        for row in run.tensors.named(f"{inside}root")
    ]
    assert [[str(link.tensor) for link in chain][:2] for chain in chains] == [[], *[["x:0", f"{inside}add:0"]] * 2]
