"""The numbers that a run gave the program, out of values and out of statistics."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from support.made_run import made_run, op

from tfdbg_cli.analysis.scalar_results import scalar_results
from tfdbg_cli.model.calls import Call, RunKind
from tfdbg_cli.model.exactness import Exactness, ExecutionWay, Parting
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.statistics import Summary, summarize
from tfdbg_cli.model.tensors import MemoryTensorStore
from tfdbg_cli.model.values import Lack, NoValue, Value


def given(*values: Any, kind: RunKind = RunKind.FUNCTION, names: tuple[str, ...] = ()) -> Run:
    """A run that gave `values`, as `r0:0`, `r1:0` and so on."""
    run = made_run(*(op(f"r{at}", "Identity", value=value) for at, value in enumerate(values)))
    function = "step" if kind is RunKind.FUNCTION else ""
    fetches = tuple(f"r{at}:0" for at in range(len(values)))
    return replace(run, call=Call(1, kind, fetches, function=function, result_names=names))


def told(run: Run) -> list[tuple[str, str, float]]:
    return [(str(result.tensor), result.name, result.value) for result in scalar_results(run)]


def test_the_loss_comes_first_and_what_is_no_single_number_is_left_out() -> None:
    run = given(np.float32(0.5), np.ones(3), [[2.0]], "text", True, 1 + 2j, 7, names=(*"ab", "val_Loss", *"defg"))
    assert told(run) == [("r2:0", "val_Loss", 2.0), ("r0:0", "a", 0.5), ("r6:0", "g", 7.0)]


def test_of_a_session_the_node_is_the_name_and_of_a_function_there_may_be_none() -> None:
    assert told(given(1.5, kind=RunKind.SESSION)) == [("r0:0", "r0", 1.5)]
    assert told(given(1.5)) == [("r0:0", "", 1.5)]


def test_names_that_do_not_go_with_the_results_are_not_taken() -> None:
    assert told(given(1.5, 2.5, names=("loss",))) == [("r0:0", "", 1.5), ("r1:0", "", 2.5)]


def test_parts_of_a_sparse_tensor_and_variables_that_the_run_may_write_are_no_results() -> None:
    """A blind test: the shape of a sparse vector was its number, a fetched global_step that before its update."""
    assert told(given(4, 1.5, 3, names=("s", "loss", "s"))) == [("r1:0", "loss", 1.5)]
    run = made_run(op("global_step", "VariableV2", value=7), op("loss", "Mean", value=1.5))
    run = replace(run, call=Call(1, RunKind.SESSION, ("global_step:0", "loss:0")))
    assert told(run) == [("loss:0", "loss", 1.5)]


def test_what_came_to_the_program_otherwise_is_not_shown_as_its_result() -> None:
    """A blind test: a fused kernel gave the program 0.0, and `runs` showed the NaN of the run made again."""
    partings = Parting("r0:0", 1, 0.0, 0), Parting("r1:0", 1, 1e-7, 3), Parting("r2:0", 1, 0.5, 1 << 20)
    run = replace(given(np.nan, 1.5, 2.5, 3.5), exactness=Exactness(ExecutionWay.TRIED, 4, partings))
    assert told(run) == [("r1:0", "", 1.5), ("r3:0", "", 3.5)]


def test_an_integer_keeps_all_of_its_digits() -> None:
    """A blind test: the step 2**62 + 1 was 4.612e+18."""
    [result] = scalar_results(given(np.int64(2**62 + 1)))
    assert result.value == 2**62 + 1 and isinstance(result.value, int)


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.float16, np.int64, np.uint8, ml_dtypes.float8_e5m2])
def test_numbers_of_any_type(dtype: Any) -> None:
    assert told(given(np.array(3, dtype))) == [("r0:0", "", 3.0)]


def test_a_result_whose_execution_is_the_last_one_counts() -> None:
    run = made_run(op("r0", "Identity", values=(1.0, 2.0)))
    assert told(replace(run, call=Call(1, RunKind.SESSION, ("r0:0", "gone:0", "?")))) == [("r0:0", "r0", 2.0)]


class _StatisticsOnly(MemoryTensorStore):
    """Numbers in the place of values, as a recording with `--stats-only` has them."""

    def value(self, index: int) -> Value:
        return NoValue(Lack.GONE, "Statistics were recorded in its place.")

    def summary(self, index: int) -> Summary | None:
        value = super().value(index)
        return None if isinstance(value, NoValue) else summarize(value)


@pytest.mark.parametrize("value", [0.25, -3.0, np.inf, -np.inf, np.nan])
def test_recorded_statistics_of_one_number_are_that_number(value: float) -> None:
    run = given(np.float32(value), np.float32([1, 2]))
    rows = range(len(run.tensors))
    store = _StatisticsOnly([run.tensors[row] for row in rows], [run.tensors.value(row) for row in rows])
    [result] = scalar_results(replace(run, tensors=store))
    np.testing.assert_equal(result.value, value)


def test_recorded_statistics_of_a_boolean_are_no_number_and_those_of_an_integer_are() -> None:
    run = given(True, 7)
    rows = range(len(run.tensors))
    store = _StatisticsOnly([run.tensors[row] for row in rows], [run.tensors.value(row) for row in rows])
    assert told(replace(run, tensors=store)) == [("r1:0", "", 7.0)]
