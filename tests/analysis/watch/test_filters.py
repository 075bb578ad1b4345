"""The built-in filters: what passes, in every dtype, and how a number is written behind a name."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tfdbg_cli.analysis.watch.datum import datum_of
from tfdbg_cli.analysis.watch.filters import (
    BUILT_IN_FILTERS,
    FILTERS,
    checked_inside,
    filter_named,
    has_inf_or_nan,
    our_filter,
)
from tfdbg_cli.analysis.watch.training_filters import is_final_gradient
from tfdbg_cli.commands.asked.watch_decision import _FOR_NAN
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import Call, RunKind
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import MemoryTensorStore, describe
from tfdbg_cli.model.values import Lack, NoValue

FLOATS = ("float16", "float32", "float64", "bfloat16", "float8_e5m2", "complex64", "complex128")
_VARIABLE = TensorName("v", 0)


def run_of(nodes: list[Node], values: dict[str, Any]) -> Run:
    """A run of `nodes` in which the first output of some has a value."""
    tensors = [
        describe(TensorName(node.name, 0), values[node.name], device="", op_type=node.op_type, dtype="float32")
        for node in nodes
        if node.name in values
    ]
    held = [values[node.name] for node in nodes if node.name in values]
    return Run(Call(1, RunKind.FUNCTION, (), function="step"), MemoryTensorStore(tensors, held), Graph(nodes))


def passes(name: str, value: Any, op_type: str = "Add") -> bool:
    run = run_of([Node("y", op_type, "")], {"y": value})
    return filter_named(BUILT_IN_FILTERS, name)(datum_of(run, 0), value)


@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_and_infinity_are_told_apart_in_every_dtype(dtype: str) -> None:
    both = ([np.nan, np.inf], True, True)
    cases = (([1, np.nan], True, False), ([-np.inf, 1], False, True), both, ([0, 1], False, False))
    for bad, nan, inf in cases:
        value = np.array(bad).astype(dtype)
        assert passes("has_nan", value) == nan
        assert passes("has_inf", value) == inf
        assert passes("has_inf_or_nan", value) == (nan or inf)


def test_a_part_of_a_complex_number_counts() -> None:
    value = np.array([complex(1, np.nan)])
    assert passes("has_nan", value)
    assert not passes("has_inf", value)
    assert passes("magnitude_above:2", np.array([complex(0, -3)]))


@pytest.mark.parametrize("name", list(BUILT_IN_FILTERS))
@pytest.mark.parametrize(
    "value",
    [
        np.array([b"a"], object), np.array([1, 0]), np.array([True]), np.zeros((0, 3), np.float32),
        NoValue(Lack.OPAQUE, "a handle"), np.array(3).astype(ml_dtypes.int4),
    ],
    ids=["string", "int", "bool", "empty", "handle", "int4"],
)  # fmt: skip
def test_what_cannot_be_asked_does_not_pass(name: str, value: Any) -> None:
    for op_type in ("Add", "Relu", "Const", "UpdatedVariable", "ReluGrad"):
        assert not passes(name, value, op_type)


def test_zeros_pass_unless_the_program_wrote_them_down() -> None:
    assert passes("all_zero", np.array([0.0, -0.0], np.float32))
    assert passes("all_zero", np.zeros(2, ml_dtypes.bfloat16))
    assert not passes("all_zero", np.array([0.0, np.nan]))
    assert not passes("all_zero", np.zeros(2), "Const")


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_magnitude_is_that_of_either_sign_and_nan_has_none(dtype: str) -> None:
    value = np.array([1, -300, np.nan]).astype(dtype)
    assert passes("magnitude_above:299", value) == (dtype != "float8_e5m2" or float(-value[1].real) > 299)
    assert not passes("magnitude_above:1e3", value)
    assert passes("magnitude_above:1e3", np.array([-np.inf]).astype(dtype))
    assert not passes("magnitude_above:1", np.array([np.nan]).astype(dtype))


@pytest.mark.parametrize("question", ["magnitude_above:-1", "near_overflow:0", "near_overflow:-1"])
def test_where_no_element_has_a_magnitude_none_is_beyond_anything(question: str) -> None:
    """A blind test: an empty tensor passed magnitude_above:-1."""
    assert passes(question, np.zeros(2, np.float32)) and passes(question, np.array([np.nan, 0.0]))
    assert not passes(question, np.zeros((0, 3), np.float32))
    assert not passes(question, np.array([np.nan, np.nan]))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float32", "complex64"])
def test_near_overflow_is_measured_by_the_dtype(dtype: str) -> None:
    real = np.dtype("float32") if dtype == "complex64" else np.dtype(getattr(ml_dtypes, dtype, dtype))
    largest = float(ml_dtypes.finfo(real).max)
    for share, expected in ((0.75, True), (0.25, False)):
        value = np.array([-largest * share]).astype(dtype)
        assert passes("near_overflow", value) == expected
        assert passes("near_overflow:0.2", value)


def _gradients(first: Any, last: Any) -> Run:
    nodes = [
        Node("x", "Placeholder", ""),
        Node("gradient_tape/MatMul/MatMul", "MatMul", "", (TensorName("x", 0),)),
        Node("gradient_tape/MatMul_1", "MatMul", "", (TensorName("gradient_tape/MatMul/MatMul", 0),)),
        Node("adam/update", "ResourceApplyAdam", "", (_VARIABLE, TensorName("gradient_tape/MatMul_1", 0))),
        Node("v", "VarHandleOp", ""),
    ]
    values = {"x": first, "gradient_tape/MatMul/MatMul": first, "gradient_tape/MatMul_1": last}
    return run_of(nodes, values)


def _passing(name: str, run: Run, earlier: Run | None = None) -> list[str]:
    asked = filter_named(BUILT_IN_FILTERS, name)
    store = run.tensors
    return [store[i].node for i in range(len(store)) if asked(datum_of(run, i, earlier), store.value(i))]


def test_gradients_are_judged_where_they_end() -> None:
    zero, large, small = np.zeros(3), np.full(3, 1e200), np.full(3, 1e-200)
    assert _passing("vanishing_gradient", _gradients(zero, zero)) == ["gradient_tape/MatMul_1"]
    assert _passing("vanishing_gradient", _gradients(zero, small)) == ["gradient_tape/MatMul_1"]
    assert _passing("vanishing_gradient", _gradients(zero, np.ones(3))) == []
    assert _passing("exploding_gradient", _gradients(large, large)) == ["gradient_tape/MatMul_1"]
    assert _passing("exploding_gradient", _gradients(large, np.array([np.nan]))) == ["gradient_tape/MatMul_1"]
    assert _passing("exploding_gradient:1.8", _gradients(zero, np.ones(3))) == []
    assert _passing("exploding_gradient:1.7", _gradients(zero, np.ones(3))) == ["gradient_tape/MatMul_1"]


def test_what_tf_debugging_puts_beside_gradients_is_none() -> None:
    """A blind test: with `enable_check_numerics` the summaries "vanished", and no gradient was a last one."""
    last, summary = "gradient_tape/MatMul", "gradient_tape/DebugNumericSummaryV2"
    graph = Graph([
        Node(last, "MatMul", "", (TensorName("x", 0),)),
        Node(summary, "DebugNumericSummaryV2", "", (TensorName(last, 0),)),
        Node("gradient_tape/CheckNumericsV2", "CheckNumericsV2", "", (TensorName(summary, 0),)),
    ])  # fmt: skip
    final = [node.name for node in graph if is_final_gradient(graph, node.name, 0, node.op_type)]
    assert final == [last]


def test_a_dead_unit_is_zero_in_every_row() -> None:
    value = np.array([[0.0, 0.0, 1.0], [0.0, 2.0, 0.0]], np.float32)
    assert passes("dead_relu:0.3", value, "Relu")
    assert not passes("dead_relu:0.4", value, "Relu")
    assert passes("dead_relu", np.zeros((4, 2), np.float32), "Relu")
    assert not passes("dead_relu", np.zeros((4, 2), np.float32), "Add")


def _step(before: Any, after: Any = None) -> Run:
    nodes = [
        Node("v", "VarHandleOp", ""),
        Node("frozen", "VarHandleOp", ""),
        Node("frozen/Read", "ReadVariableOp", "", (TensorName("frozen", 0),)),
        Node("v/Read", "ReadVariableOp", "", (_VARIABLE,)),
        Node("update", "AssignSubVariableOp", "", (_VARIABLE, TensorName("v/Read", 0))),
        Node("v/after_update", "UpdatedVariable", "", (_VARIABLE, TensorName("v/Read", 0))),
    ]
    values = {"frozen/Read": np.ones(2), "v/Read": before} | ({} if after is None else {"v/after_update": after})
    return run_of(nodes, values)


def test_an_unchanged_variable_is_one_that_is_written() -> None:
    ones = np.ones(2)
    assert _passing("unchanged_variable", _step(ones, ones + 1)) == []
    assert _passing("unchanged_variable", _step(ones, ones)) == ["v/after_update"]
    nan = np.array([np.nan])
    assert _passing("unchanged_variable", _step(nan, nan)) == ["v/after_update"]
    assert _passing("unchanged_variable", _step(ones)) == []
    assert _passing("unchanged_variable", _step(ones), earlier=_step(ones)) == ["v/Read"]
    assert _passing("unchanged_variable", _step(ones), earlier=_step(ones + 1)) == []


def _trained(before: Any, after: Any, *readers: Node) -> Run:
    read = TensorName("v/Read", 0)
    nodes = [
        Node("v", "VarHandleOp", ""),
        Node("v/Read", "ReadVariableOp", "", (_VARIABLE,)),
        *(readers or [Node("MatMul", "MatMul", "", (read,))]),
        Node("update", "AssignSubVariableOp", "", (_VARIABLE, read)),
        Node("v/after_update", "UpdatedVariable", "", (_VARIABLE, read)),
    ]
    return run_of(nodes, {"v/Read": before, "v/after_update": after})


def test_an_update_ratio_is_that_of_a_weight_to_what_it_was() -> None:
    before = np.array([[3.0, 0.0], [0.0, 4.0]], np.float32)  # a norm of 5
    after = before + np.array([[0.0, 10.1], [0.0, 0.0]], np.float32)
    told = ["v/after_update"]
    assert _passing("update_ratio:2", _trained(before, after)) == told
    assert _passing("update_ratio", _trained(before, after)) == told
    assert _passing("update_ratio:2.1", _trained(before, after)) == []
    assert _passing("update_ratio", _trained(before, before * 2)) == [], "once its size is not beyond 1"
    assert _passing("update_ratio:0.5", _trained(before.astype(np.int32), after.astype(np.int32))) == []
    assert _passing("update_ratio", _trained(before * 0, after)) == [], "it began at 0"
    assert _passing("update_ratio", _trained(before[0], after[0] * 100)) == [], "an offset"
    assert _passing("update_ratio", _trained(before, before * np.nan)) == [], "which other filters find"
    assert _passing("update_ratio", _trained(before[:1], after)) == []
    moment = Node("moment", "AssignVariableOp", "", (_VARIABLE, TensorName("v/Read", 0)))
    assert _passing("update_ratio", _trained(before, after, moment)) == [], "state of the optimizer"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("magnitude_above:", "is no number"),
        ("magnitude_above:nan", "is no number"),
        ("magnitude_above:many", "is no number"),
        ("has_nan:3", "takes no number"),
        ("has_nam", "has_nan"),
        ("zzzzz", "Filters: all_zero"),
    ],
)
def test_a_wrong_name_is_told_what_is_wrong(text: str, words: str) -> None:
    with pytest.raises(TfdbgError) as caught:
        filter_named(BUILT_IN_FILTERS, text)
    assert words in str(caught.value)


def test_the_same_text_is_the_same_filter() -> None:
    """Answers are remembered by the filter, so that sorting a list does not ask again."""
    assert filter_named(BUILT_IN_FILTERS, "magnitude_above:7") is filter_named(BUILT_IN_FILTERS, "magnitude_above:7")
    mine = {"a:1": lambda datum, tensor: True}
    assert filter_named(mine, "a:1") is mine["a:1"]


def test_a_row_has_a_name_of_its_own_and_its_meaning_tells_of_its_parameter() -> None:
    assert len(BUILT_IN_FILTERS) == len(FILTERS)
    for each in FILTERS:
        assert ("N" in re.findall(r"\w+", each.meaning)) is (each.parameter is not None)


def test_a_plain_test_of_ours_is_our_filter_and_one_of_the_program_is_none() -> None:
    assert our_filter(has_inf_or_nan) is BUILT_IN_FILTERS["has_inf_or_nan"]
    assert checked_inside(has_inf_or_nan)

    def has_nan(datum: Any, tensor: Any) -> bool:
        return False

    assert our_filter(has_nan) is None and not checked_inside(has_nan)


def test_the_command_line_knows_without_the_rows_which_filters_look_for_nan() -> None:
    """`tfdbg run` must load no NumPy before the program does, so it has their names only."""
    assert {each.name for each in FILTERS if each.finds} == _FOR_NAN
