"""What does no harm in a run, told apart from what does: no TensorFlow."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.made_run import INF, NAN, Op, made_run, op

from tfdbg_cli.analysis.origin.benign import holding, judged
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.exactness import Exactness, ExecutionWay, parted
from tfdbg_cli.model.ignored import Ignored, IgnoredPlace
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.sources import Frame
from tfdbg_cli.model.tensors import MemoryTensorStore, describe
from tfdbg_cli.model.values import Lack, NoValue

X = op("x", "Placeholder", value=[1.0, -1.0])
BAD = op("log", "Log", "x", value=[0.0, NAN])


def _run(*nodes: Op, fetches: tuple[str, ...] = ("y:0",), **changes: Any) -> Run:
    run = made_run(*nodes)
    return replace(run, call=replace(run.call, fetches=fetches, **changes))


def test_what_nothing_reads_is_a_place_with_what_holds_it_too() -> None:
    run = _run(
        X, BAD, op("twice", "Mul", "log", value=[0.0, NAN]), op("root", "Sqrt", "x", value=[1.0, NAN]),
        op("y", "Exp", "x", value=[1.0, 2.0]),
    )  # fmt: skip
    judgement = judged(run)
    assert not judgement.harm
    assert [(place.tensor.node, place.nodes, place.holds, place.intended) for place in judgement.places] == [
        ("log", ("log", "twice"), "NaN", False),
        ("root", ("root",), "NaN", False),
    ]
    assert "no variable is touched" in judgement.places[0].why


def test_what_is_put_into_a_queue_does_harm() -> None:
    put = op("put", "QueueEnqueueV2", "queue", "log")
    judgement = judged(_run(X, BAD, put, op("y", "Exp", "x", value=[1.0, 2.0]), targets=("put",)))
    assert judgement.harm.text == "put puts log:0 where other runs take it out." and not judgement.places
    counted = op("counted", "Cast", "log", value=[0, 1])
    put = op("put", "QueueEnqueueV2", "queue", "counted")
    judgement = judged(_run(X, BAD, counted, put, op("y", "Exp", "x", value=[1.0, 2.0])))
    assert judgement.harm.text.startswith("counted makes a number out of NaN")


def test_places_of_one_line_are_one() -> None:
    frames = {name: (Frame("/home/ada/x.py", 12, "step", "y"),) for name in ("log", "root")}
    nodes = (X, BAD, op("root", "Sqrt", "x", value=[1.0, NAN]), op("y", "Exp", "x", value=[1.0, 2.0]))
    (place,) = judged(replace(_run(*nodes), tracebacks=frames)).places
    assert place.nodes == ("log", "root")
    assert place.title == "NaN of which nothing comes at x.py:12"


def test_an_infinity_that_becomes_a_number_is_not_nothing() -> None:
    log = op("log", "Log", "x", value=[0.0, -INF])
    used = _run(X, log, op("y", "Tanh", "log", value=[0.0, -1.0]))
    (place,) = judged(used).places
    assert place.title == "-inf that leaves results and variables finite at log:0"
    assert place.why == "no result, no applied gradient and no variable is NaN or infinite by it"
    unused = _run(X, log, op("size", "Size", "log", value=2), op("y", "Mul", "x", "size", value=[2.0, -2.0]))
    (place,) = judged(unused).places
    assert place.title == "-inf of which nothing comes at log:0"


@pytest.mark.parametrize(
    ("last", "harm"),
    [
        (op("y", "Add", "log", "x", value=[1.0, NAN]), "y:0 comes out of the run."),
        (op("y", "Greater", "log", "x", value=[False, False]), "y makes a number out of NaN"),
        (op("y", "IsFinite", "log", value=[True, False]), ""),
        (op("y", "NotEqual", "log", "log", value=[False, True]), ""),
        (op("y", "NotEqual", "log", "x", value=[True, True]), "y makes a number out of NaN"),
        (op("y", "SelectV2", "x", "log", "x", value=[1.0, -1.0]), ""),
        (op("y", "Maximum", "log", "x", value=[1.0, -1.0]), "y makes a number out of NaN"),
        (op("y", "Maximum", "log", "x", value=[1.0, NAN]), "y:0 comes out of the run."),
    ],
    ids=["result", "compared", "asked", "asked of itself", "compared with another", "replaced", "dropped", "kept"],
)
def test_what_comes_out(last: Op, harm: str) -> None:
    found = judged(_run(X, BAD, last)).harm
    assert found is not None and found.text.startswith(harm) if harm else found is None


def test_an_infinity_may_be_compared() -> None:
    infinite = op("log", "Log", "x", value=[0.0, -INF])
    run = _run(X, infinite, op("y", "Greater", "log", "x", value=[False, False]))
    assert not judged(run).harm


def test_a_comparison_that_leads_nowhere_is_none() -> None:
    run = _run(
        X, BAD, op("aside", "Greater", "log", "x", value=[False, False]), op("y", "Exp", "x", value=[1.0, 2.0])
    )
    assert not judged(run).harm


@pytest.mark.parametrize(
    ("op_type", "value", "harm"),
    [
        ("NonMaxSuppressionV3", [1], "made makes a number out of NaN"),
        ("CTCGreedyDecoder", [1], "made makes a number out of NaN"),
        ("AsString", np.array([b"-nan"], object), "made makes a number out of NaN"),
        ("OpOfNobodyKnown", [True], "made makes a number out of NaN"),
        ("EagerPyFunc", [1.0], "made hands a NaN to Python of the program"),
        ("Size", [2], ""),
        ("IsFinite", [True, False], ""),
        ("Slice", [1], ""),
        ("SparseReorder", [1], ""),
        ("OpOfNobodyKnown", [1.0], ""),
    ],
)
def test_what_is_made_of_a_nan(op_type: str, value: Any, harm: str) -> None:
    """A blind test: boxes were chosen, and texts made, by scores that are NaN, and nothing was said to come of it."""
    made = op("made", op_type, "log", value=value)
    judgement = judged(_run(X, BAD, made, op("y", "Pack", "made", value=[1])))
    assert (judgement.harm.text if judgement.harm else "").startswith(harm) and bool(judgement.harm) == bool(harm)
    assert not judged(_run(X, BAD, made, op("y", "Exp", "x", value=[1.0, 2.0]))).harm, "it leads nowhere"


def test_a_python_function_is_named_last() -> None:
    """Of it nobody knows what it makes of a NaN."""
    nodes = (
        op("called", "EagerPyFunc", "log", value=[1.0]),
        op("less", "Less", "log", "x", value=[False, True]),
        op("y", "Pack", "called", "less", value=[1.0]),
    )
    judgement = judged(_run(X, BAD, *nodes))
    assert judgement.harm is not None and judgement.harm.text.startswith("less makes a number")


def _with_indices(run: Run) -> Run:
    """`run` with the second output of its TopKV2, too."""
    rows = range(len(run.tensors))
    indices = np.array([1, 0], np.int32)
    further = describe(TensorName("top", 1), indices, device="", op_type="TopKV2", dtype="int32")
    held = [run.tensors.value(row) for row in rows]
    return replace(run, tensors=MemoryTensorStore([*(run.tensors[row] for row in rows), further], [*held, indices]))


def test_one_of_two_outputs_may_hide_it() -> None:
    """A blind test: top_k gives values, of which one is NaN, and indices, which alone come out."""
    top = op("top", "TopKV2", "log", value=[NAN, 0.0])
    assert judged(_with_indices(_run(X, BAD, top, op("y", "Pack", "top:1", value=[1, 0])))).harm
    assert not judged(_with_indices(_run(X, BAD, top, op("y", "Exp", "x", value=[1.0, 2.0])))).harm


def test_a_nan_that_a_loop_begins_with_decides_whether_it_turns() -> None:
    """A blind test: `while loss > limit` of a loss that is NaN ends at once, with the step that it began with."""
    run = _run(
        X, BAD,
        op("loop", "StatelessWhile", "log", "x", value=[0.0, NAN]),
        op("loop/body/loss", "LoopVariable", "log"),
        op("loop/cond/asked", "Greater", "loop/body/loss", "x", value=[False]),
        op("y", "Exp", "loop:1", value=[1.0, 2.0]),
    )  # fmt: skip
    judgement = judged(run)
    assert judgement.harm is not None and judgement.harm.text.startswith("loop/cond/asked makes a number out of NaN")


def test_the_condition_of_a_loop_decides_what_it_gives() -> None:
    run = _run(
        X, op("while/cond/log", "Log", "x", value=[0.0, NAN]),
        op("while/cond/Less", "Less", "while/cond/log", "x", value=[True, False]),
        op("while", "While", "x", value=[1.0, -1.0]), op("y", "Exp", "while", value=[1.0, 2.0]),
    )  # fmt: skip
    assert judged(run).harm.text.startswith("while/cond/Less makes a number out of NaN")


def test_an_applied_gradient_and_a_variable_count() -> None:
    update = op("w/after_update", "UpdatedVariable", "w", "log", value=[1.0, 2.0])
    nodes = (X, BAD, op("w", "Placeholder"), op("y", "Exp", "x", value=[1.0, 2.0]))
    assert judged(_run(*nodes, update)).harm.text == "log:0 is applied to the variable w."
    not_made = op("cond/true/w/after_update", "UpdatedVariable", "w", "log")
    assert not judged(_run(*nodes, not_made)).harm, "in a branch that was not taken"
    spoiled = op("w/after_update", "UpdatedVariable", "w", "x", value=[1.0, INF])
    assert judged(_run(*nodes, spoiled)).harm.text == "the variable w is not finite after its update."


def test_what_the_program_gets_is_named_before_a_variable_and_that_before_a_gradient() -> None:
    applied = op("g", "Neg", "log", value=[0.0, NAN])
    spoiled = op("w/after_update", "UpdatedVariable", "w", "g", value=[1.0, NAN])
    nodes = (X, BAD, applied, op("w", "Placeholder"), spoiled)
    got = judged(_run(*nodes, op("y", "Exp", "log", value=[1.0, NAN])))
    assert got.harm.text == "y:0 comes out of the run."
    kept = judged(_run(*nodes, op("y", "Exp", "x", value=[1.0, 2.0])))
    assert kept.harm.text == "the variable w is not finite after its update."


def _unknown(run: Run) -> str:
    """What is said of `run`, of which nobody can tell whether harm was done."""
    harm = judged(run).harm
    assert harm is not None and harm.words == f"harm cannot be ruled out: {harm.text}"
    return harm.text


def test_what_cannot_be_told_is_not_called_harm_that_was_done() -> None:
    fine = op("y", "Exp", "x", value=[1.0, 2.0])
    assert _unknown(_run(X, BAD, fine, fetches=("y:0", "z:0"))) == "the value of the result z:0 is not known."
    assert "what the program got" in _unknown(_run(X, BAD, fine, fetches=()))
    assert not judged(_run(X, BAD, fine, fetches=(), kind=RunKind.FUNCTION)).harm, "it gives nothing back"
    lost = _run(X, BAD, fine)
    lost.tensors._values[2] = NoValue(Lack.DAMAGED, "gone")  # type: ignore[attr-defined,index]
    assert _unknown(lost) == "the values of 1 tensor are lost."
    assert _unknown(_run(op("y", "Log"))) == "the values of the run are missing.", "no tensor was captured"


def test_what_is_excluded_is_not_asked() -> None:
    run = _run(X, BAD, op("y", "Add", "log", value=[0.0, NAN]))
    assert judged(run).harm and not judged(run, "^(log|y)$").harm


def test_all_that_is_meant_is_fine_even_where_results_are_not_known() -> None:
    mask = op("mask", "Const", value=[0.0, -INF])
    nodes = (X, mask, op("sum", "AddV2", "x", "mask", value=[1.0, -INF]), op("y", "Softmax", "sum", value=[1.0, 0.0]))
    judgement = judged(_run(*nodes, fetches=()))
    (place,) = judgement.places
    assert place.intended and place.holds == "-inf" and place.nodes == ("mask", "sum")
    assert place.title == "-inf made on purpose at mask:0"


def test_what_is_held_is_named() -> None:
    assert holding([np.array([1.0, -INF])]) == "-inf"
    assert holding([np.array([INF, NAN]), np.array([-INF])]) == "inf and NaN and -inf"
    assert holding([np.array([complex(INF, 0)])]) == "inf"
    assert holding([np.array([1, 2])]) == "inf or NaN"


def test_a_result_that_is_nan_in_the_programs_run_alone_rules_no_harm_out() -> None:
    """A blind test: XLA gave a gradient with NaN, and the run made again without it none."""
    run = made_run(
        op("x", "Placeholder", value=[0.0]),
        op("inf", "Reciprocal", "x", value=[INF]),
        op("y", "Tanh", "inf", value=[1.0]),
    )
    differs = parted(["y:0"], [np.array([NAN], np.float32)], [np.array([1.0], np.float32)])
    harm = judged(replace(run, exactness=Exactness(ExecutionWay.UNCHANGED, 1, differs))).harm
    assert harm is not None and harm.text.startswith("y:0 is NaN in one of the two")


def _place(node: str, line: int, *nodes: str) -> IgnoredPlace:
    return IgnoredPlace(1, "f", TensorName(node, 0), "Log", "NaN", "why", False, (node, *nodes), "/x.py", line)


def test_a_place_is_added_once() -> None:
    ignored = Ignored()
    assert ignored.add([_place("a", 1, "b"), _place("c", 2)])
    assert not ignored.add([_place("a", 1)])
    assert len(ignored.add([_place("a", 1, "d"), _place("e", 3)])) == 2
    assert ignored.nodes == {("f", node) for node in "abcde"}
    assert ignored.words.startswith("ignored 4 places: NaN of which nothing comes at x.py:1, NaN of which")
    assert ignored.words.endswith("x.py:2, …")
