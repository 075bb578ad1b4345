"""What comes out of a run, by its graph: functions, sessions, dumps; `bad_result` asks only that."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support.made_run import NAN, Op, made_graph, made_run, op
from support.prompt import json_of, text_of

from tfdbg_cli.analysis.watch.datum import datum_of
from tfdbg_cli.analysis.watch.filters import bad_result
from tfdbg_cli.analysis.watch.outcome import outcome_of, stop_after
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.graph import GraphKind
from tfdbg_cli.model.runs import Run


def _names(*nodes: Op, graph: GraphKind = GraphKind.PYTHON, **call: Any) -> set[str]:
    run = made_run(*nodes)
    run = replace(run, graph=made_graph(*nodes, kind=graph), call=replace(run.call, **call))
    return {str(name) for name in outcome_of(run.graph, run.call).names(run)}


TRAINING = (
    op("v", "VarHandleOp"), op("rate", "Const", value=0.1), op("gradient", "Mul", "rate", value=1.0),
    op("train", "ResourceApplyGradientDescent", "v", "rate", "gradient"), op("loss", "Sum", "rate", value=1.0),
)  # fmt: skip


def test_a_session_applies_what_its_fetches_need() -> None:
    session = {"kind": RunKind.SESSION}
    assert _names(*TRAINING, fetches=("loss:0",), **session) == {"loss:0"}
    assert _names(*TRAINING, fetches=("loss",), targets=("train",), **session) == {"loss:0", "rate:0", "gradient:0"}


def test_of_a_runtime_graph_all_was_run() -> None:
    found = _names(*TRAINING, graph=GraphKind.RUNTIME, fetches=("loss:0",), kind=RunKind.SESSION)
    assert found == {"loss:0", "rate:0", "gradient:0"}


def test_what_is_put_into_a_queue_comes_out_of_the_run_that_does_so() -> None:
    """A blind test: a NaN that a run put into a queue passed for one of which nothing comes."""
    nodes = (
        op("x", "Placeholder", value=NAN), op("queue", "FIFOQueueV2"), op("put", "QueueEnqueueV2", "queue", "x"),
        op("y", "Neg", "x", value=NAN), op("loss", "Sum", "y", value=NAN),
    )  # fmt: skip
    session = {"kind": RunKind.SESSION}
    assert _names(*nodes, fetches=("put",), targets=("put",), **session) >= {"x:0"}
    assert _names(*nodes, fetches=("loss:0",), **session) == {"loss:0"}, "nothing was put there"


@pytest.mark.parametrize(
    "op_type",
    [
        "QueueEnqueue", "QueueEnqueueManyV2", "BarrierInsertMany", "Stage", "OrderedMapStage", "LookupTableInsertV2",
        "LookupTableImport", "AccumulatorApplyGradient", "ResourceAccumulatorApplyGradient",
    ],
)  # fmt: skip
def test_so_does_what_is_kept_in_another_place_for_other_runs(op_type: str) -> None:
    assert "x:0" in _names(op("x", "Neg", value=NAN), op("put", op_type, "x"), fetches=("put",), targets=("put",))


def test_a_stack_is_no_such_place_since_it_ends_with_the_run() -> None:
    nodes = op("x", "Neg", value=NAN), op("push", "StackPushV2", "stack", "x", value=NAN)
    assert _names(*nodes, fetches=(), targets=("push",)) == set()


def test_nothing_is_put_away_in_a_branch_that_was_not_taken() -> None:
    def found(chosen: bool) -> set[str]:
        return _names(
            op("x", "Neg", value=NAN), op("chosen", "Const", value=chosen),
            op("cond/true/put", "QueueEnqueueV2", "queue", "x"), op("cond/true/done", "Identity", "chosen"),
            op("cond/false/done", "Identity", "chosen"),
            op("cond", "If", "chosen", "cond/true/done", "cond/false/done", value=chosen),
            fetches=(), kind=RunKind.FUNCTION,
        )  # fmt: skip

    assert "x:0" in found(True)
    assert "x:0" not in found(False)


def test_a_variable_of_the_old_kind_is_what_its_update_gives() -> None:
    nodes = (
        op("v", "VariableV2", value=1.0), op("delta", "Neg", value=1.0),
        op("v/add", "AssignAdd", "v", "delta", value=2.0), op("scattered", "ScatterNd", "delta", value=2.0),
    )  # fmt: skip
    found = _names(*nodes, fetches=(), targets=("v/add",), graph=GraphKind.RUNTIME)
    assert found == {"delta:0", "v/add:0"}, "neither what it held before, nor an op that writes no variable"


def test_which_variables_a_run_may_have_written_is_known_only_where_its_graph_shows_all_of_them() -> None:
    session = {"kind": RunKind.SESSION, "fetches": ("loss:0",), "targets": ("train",)}
    after = op("v/after_update", "UpdatedVariable", "v", "gradient", value=1.0)

    def wrote(*nodes: Op, **call: Any) -> bool:
        run = made_run(*nodes)
        stop = stop_after(replace(run, graph=made_graph(*nodes), call=replace(run.call, **call)))
        assert stop.wrote("v") or stop.variables == frozenset()
        return stop.wrote("other")

    assert wrote(*TRAINING, **session), "no variable is shown after its update"
    assert not wrote(*TRAINING, after, **session)
    assert not wrote(op("x", "Placeholder", value=0.0), op("o", "Log", "x", value=1.0), **{**session, "targets": ()})
    assert wrote(*TRAINING, after, kind=RunKind.EAGER), "between its ops ran Python"


def _passing(run: Run) -> list[str]:
    rows = range(len(run.tensors))
    return [str(run.tensors[row].name) for row in rows if bad_result(datum_of(run, row), run.tensors.value(row))]


@pytest.fixture
def spoiled() -> Run:
    run = made_run(
        op("x", "Placeholder", value=[1.0, -1.0]), op("log", "Log", "x", value=[0.0, NAN]),
        op("loss", "Sum", "log", value=NAN), op("count", "Cast", "log", value=[0, 1]),
    )  # fmt: skip
    return replace(run, call=replace(run.call, fetches=("loss:0", "count:0"), kind=RunKind.FUNCTION))


def test_the_filter_asks_results_alone(spoiled: Run) -> None:
    assert _passing(spoiled) == ["loss:0"]
    assert json_of("lt -f bad_result", spoiled)["tensors"][0]["name"] == "loss:0"
    assert "is not known" not in text_of("lt -f bad_result", spoiled)


def test_where_the_results_are_not_known_that_is_said(spoiled: Run) -> None:
    call = replace(spoiled.call, fetches=(), kind=RunKind.CALLABLE)
    unknown = replace(spoiled, call=call)
    assert _passing(unknown) == []
    sentence = "What the program got from this run is not known, so only gradients and variables were asked"
    assert sentence in text_of("lt -f bad_result", unknown, width=200)
    assert json_of("lt -f bad_result", unknown)["note"].startswith(sentence)
    assert "note" not in json_of("lt -f has_inf_or_nan", unknown)


def test_what_knows_nothing_of_a_run_never_passes() -> None:
    class Datum:
        """As TensorFlow's own."""

    assert bad_result(Datum(), made_run(op("x", "Log", value=NAN)).tensors.value(0)) is False
