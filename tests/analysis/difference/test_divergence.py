"""Where two runs part: told apart from what follows, from rounding, and from its growth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.made_run import made_graph, made_run, op
from support.run_maker import RunMaker

from tfdbg_cli.analysis.difference import comparison
from tfdbg_cli.analysis.difference.compared import TensorChange, TensorFate, Verdict, gap_between
from tfdbg_cli.analysis.difference.compared_recordings import compared_recordings
from tfdbg_cli.analysis.difference.comparison import Comparison, compared_runs
from tfdbg_cli.analysis.difference.graph_changes import What
from tfdbg_cli.analysis.difference.tolerance import Tolerance
from tfdbg_cli.analysis.pairing.kept_pairs import KeptPairs
from tfdbg_cli.analysis.pairing.renames import parsed_renames
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.graph import GraphKind
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.values import Lack, NoValue

X = np.random.RandomState(1).randn(16, 64).astype(np.float32)
W = np.random.RandomState(2).randn(64, 8).astype(np.float32)


def _model(
    *, weight: Any = W, eps: float = 1e-3, noise: float = 0.0, ops: str = "mul add", dtype: Any = np.float32
) -> Run:
    """A layer normalized: x·w, minus its mean, by the root of its variance; each with relative `noise`."""
    random = np.random.RandomState(3)

    def off(value: Any) -> Any:
        return (np.asarray(value) * (1 + noise * random.randn(*np.shape(value)))).astype(dtype)

    x, w = X.astype(dtype), np.asarray(weight).astype(dtype)
    made = off(x.astype(np.float64) @ w.astype(np.float64))
    mean = off(made.mean(1, keepdims=True, dtype=np.float64))
    centred = (made - mean).astype(dtype)
    variance = off((centred.astype(np.float64) ** 2).mean(1, keepdims=True))
    shifted = off(variance + np.array(eps, dtype))
    root = off(1 / np.sqrt(shifted.astype(np.float64)))
    normal = off(centred * root)
    first, second = ops.split()
    value, steps = normal, []
    for one in (first, second):
        value = off(value * 2 if one == "mul" else value + 1)
        reads = steps[-1].name if steps else "norm"
        steps.append(op(one, "Mul" if one == "mul" else "AddV2", reads, f"{one}/y", value=value))
    return made_run(
        op("x", "Placeholder", value=x), op("w", "ReadVariableOp", value=w),
        op("dense", "MatMul", "x", "w", value=made), op("mean", "Mean", "dense", value=mean),
        op("centred", "Sub", "dense", "mean", value=centred), op("square", "Square", "centred", value=centred**2),
        op("variance", "Mean", "square", value=variance), op("eps", "Const", value=np.array(eps, dtype)),
        op("shifted", "AddV2", "variance", "eps", value=shifted), op("root", "Rsqrt", "shifted", value=root),
        op("norm", "Mul", "centred", "root", value=normal), op("mul/y", "Const", value=np.array(2, dtype)),
        op("add/y", "Const", value=np.array(1, dtype)), *steps,
    )  # fmt: skip


def _first(found: Comparison) -> str | None:
    return None if found.first is None else str(found.runs[0].tensors[found.first.rows[0]].node)


def _states(found: Comparison) -> dict[str, TensorFate]:
    return {found.runs[0].tensors[one.rows[0]].node: one.state for one in found.verdicts}


def test_equal_runs_do_not_differ() -> None:
    found = compared_runs(_model(), _model())
    assert found.same and found.first is None and not found.verdicts


def test_a_changed_constant_is_where_it_begins_and_the_rest_follows() -> None:
    found = compared_runs(_model(), _model(eps=1e-5))
    assert _first(found) == "eps" and not found.same
    assert _states(found)["shifted"] is TensorFate.FOLLOWS and _states(found)["norm"] is TensorFate.FOLLOWS
    assert sum(one.state is TensorFate.NEW for one in found.verdicts) == 1


def test_a_constant_that_was_folded_shows_at_the_op_that_reads_it() -> None:
    def without(run: Run) -> Run:
        lost = NoValue(Lack.GONE, "folded")
        values = [run.tensors.value(i) if run.tensors[i].node != "eps" else lost for i in range(len(run.tensors))]
        return replace(run, tensors=type(run.tensors)([run.tensors[i] for i in range(len(run.tensors))], values))

    found = compared_runs(without(_model()), without(_model(eps=1e-5)))
    assert _first(found) == "shifted"
    assert found.inputs(found.first)[1].gap is None


def test_a_weight_that_was_not_copied() -> None:
    weight = W.copy()
    weight[3, 1] += 0.01
    assert _first(compared_runs(_model(), _model(weight=weight))) == "w"


def test_another_order_of_ops() -> None:
    found = compared_runs(_model(ops="mul add"), _model(ops="add mul"))
    assert _first(found) in {"mul", "add"}
    assert any(one.other for one in found.inputs(found.first))


@pytest.mark.parametrize("noise", [1e-8, 6e-8, 3e-7])
def test_rounding_of_every_op_is_none(noise: float) -> None:
    found = compared_runs(_model(), _model(noise=noise))
    assert found.first is None and found.same
    assert not found.differing


def test_a_divergence_amid_rounding() -> None:
    assert _first(compared_runs(_model(noise=6e-8), _model(eps=0.5))) == "eps"


def test_growth_is_told_with_its_way_and_counts_where_a_tolerance_was_asked_for() -> None:
    def run(noise: float) -> Run:
        big = np.float32(1e4) + np.arange(8, dtype=np.float32) * np.float32(0.01)
        near = big * np.float32(1 + noise)
        gone = near - np.float32(1e4)
        return made_run(
            op("x", "Exp", value=near), op("c", "Const", value=np.float32(1e4)),
            op("left", "Sub", "x", "c", value=gone), op("scaled", "Mul", "left", "left", value=gone * gone),
        )  # fmt: skip

    found = compared_runs(run(0.0), run(3e-7))
    assert found.first is None and found.same
    assert _states(found) == {"x": TensorFate.ROUNDED, "left": TensorFate.GROWN, "scaled": TensorFate.GROWN}
    way = [found.runs[0].tensors[one.rows[0]].node for one in found.way_of_growth()]
    assert (way[0] == "x" and way[-1] == "scaled") or way == ["x", "left"]
    left = next(one for one in found.verdicts if one.rows[0] == 2)
    assert left.growth > 1000
    asked = compared_runs(run(0.0), run(3e-7), Tolerance(rtol=1e-5))
    assert asked.first is None and not asked.same


def test_bfloat16_counts_by_its_own_digits() -> None:
    coarse = _model(dtype=ml_dtypes.bfloat16)
    found = compared_runs(_model(), coarse)
    assert found.first is None and found.precision is not None
    assert _first(compared_runs(_model(), _model(dtype=ml_dtypes.bfloat16, eps=0.5))) == "eps"


def test_the_bits_of_numbers_that_differ_by_rounding_are_rounding() -> None:
    """A metric of Keras casts logits to bits."""

    def run(logits: Any) -> Run:
        return made_run(
            op("x", "Placeholder", value=np.float32([1, 2])),
            op("logits", "Exp", "x", value=logits),
            op("bits", "Bitcast", "logits", value=logits.view(np.int32)),
        )

    logits = np.exp(np.float32([1, 2]))
    found = compared_runs(run(logits), run(np.nextafter(logits, np.float32(9)).astype(np.float32)))
    assert found.first is None and _states(found)["bits"] is TensorFate.GROWN
    assert _first(compared_runs(run(logits), run(logits * 2))) == "logits"


def test_a_last_digit_that_decides_an_index_is_rounding() -> None:
    def run(value: Any, index: Any) -> Run:
        return made_run(
            op("x", "Exp", value=np.asarray(value, np.float32)), op("top", "ArgMax", "x", value=np.int64(index)),
            op("chosen", "GatherV2", "table", "top", value=np.float32(index)), op("table", "Const", value=X),
        )  # fmt: skip

    close = compared_runs(run([1.0, 1.0000001], 1), run([1.0, 0.9999999], 0))
    assert close.first is None and _states(close)["chosen"] is TensorFate.GROWN
    assert _first(compared_runs(run([1.0, 2.0], 1), run([1.0, 2.0], 0))) == "top"


def test_shapes_types_and_nan() -> None:
    def run(value: Any) -> Run:
        return made_run(op("x", "Placeholder", value=X), op("y", "Foo", "x", value=value))

    for value, change in (
        (np.ones(4, np.float32), TensorChange.SHAPE),
        (np.array([b"a", b"b", b"c"], object), TensorChange.DTYPE),
        (np.array([1, np.nan, 1], np.float32), TensorChange.BECAME_NONFINITE),
    ):
        found = compared_runs(run(np.ones(3, np.float32)), run(value))
        assert found.first is not None and found.first.gap is not None and found.first.gap.change is change
    back = compared_runs(run(np.array([1, np.nan, 1], np.float32)), run(np.ones(3, np.float32)))
    assert (
        back.first is not None and back.first.gap is not None and back.first.gap.change is TensorChange.BECAME_FINITE
    )


def test_two_ways_to_the_same_are_no_divergence_and_one_that_goes_on_is() -> None:
    def run(*, other: bool, wrong: float = 0.0) -> Run:
        ops = [op("x", "Placeholder", value=X), op("g", "ReadVariableOp", value=np.float32(3))]
        root = np.float32(0.5)
        if other:
            ops += [op("r", "Const", value=root), op("m", "Mul", "r", "g", value=np.full_like(X, 1.5))]
            ops.append(op("out", "Mul", "x", "m", value=X * np.float32(1.5) + np.float32(wrong)))
        else:
            ops += [op("r", "Const", value=root), op("h", "Mul", "x", "r", value=X * root)]
            ops.append(op("m", "Mul", "h", "g", value=X * np.float32(1.5)))
            ops.append(op("out", "Mul", "m", "one", value=X * np.float32(1.5)))
            ops.append(op("one", "Const", value=np.float32(1)))
        return made_run(
            *ops, op("end", "Tanh", "out", value=np.tanh(X * np.float32(1.5) + np.float32(wrong * other)))
        )

    found = compared_runs(run(other=False), run(other=True))
    assert found.first is None and not found.differing
    assert compared_runs(run(other=False), run(other=True, wrong=0.1)).first is not None


def test_replicas_of_one_run_beside_each_other() -> None:
    run = made_run(
        op("x", "Exp", value=1.0), op("y", "Tanh", "x", value=2.0),
        op("replica_1/x", "Exp", value=1.0), op("replica_1/y", "Tanh", "replica_1/x", value=2.5),
    )  # fmt: skip
    found = compared_runs(run, run, pairing=KeptPairs(parsed_renames("(x|y) replica_1/\\1")))
    assert _first(found) == "y"


def test_of_several_runs_the_first_pair_that_differs() -> None:
    runs = [_model(), _model(), _model()]
    others = [_model(), _model(eps=0.1), _model(eps=0.2)]
    found = compared_recordings(runs, others)
    assert (found.places, found.count, found.pairs) == ((1, 1), 2, 3)
    numbered = [replace(run, call=replace(run.call, number=n)) for n, run in zip((1, 2, 3), runs, strict=True)]
    late = [replace(run, call=replace(run.call, number=n)) for n, run in zip((2, 3, 4), others, strict=True)]
    assert compared_recordings(numbered, late).places == (2, 1)
    assert compared_recordings(numbered, late).single == 2
    assert compared_recordings(numbered, late, number=2).comparison.same
    with pytest.raises(TfdbgError) as caught:
        compared_recordings(numbered, late, number=1)
    assert "#1 in B" in caught.value.message


def test_graphs() -> None:
    first = made_graph(
        op("x", "Placeholder"), op("a", "MatMul", "x", "x", device="/device:GPU:0"), op("b", "Relu", "a"),
        op("c", "Conv2D", "b", strides="[1, 1]"), op("gone", "Tanh", "c"),
    )  # fmt: skip
    second = made_graph(
        op("x", "Placeholder"), op("a", "MatMul", "x", "x", device="/device:CPU:0"), op("b", "Elu", "a"),
        op("c", "Conv2D", "b", strides="[2, 2]"), op("new", "Exp", "x"),
    )  # fmt: skip
    run = made_run(op("x", "Placeholder", value=1.0))
    changes = compared_runs(replace(run, graph=first), replace(run, graph=second)).graph_changes
    assert {(change.what, change.first or change.second) for change in changes} == {
        (What.MOVED, "a"), (What.RETYPED, "b"), (What.SET, "c"), (What.REMOVED, "gone"), (What.ADDED, "new"),
    }  # fmt: skip
    changes = compared_runs(_model(), _model(eps=0.5)).graph_changes
    told = [(change.what, change.first, change.text) for change in changes]
    assert told == [(What.SET, "eps", "value 0.001 → 0.5")]
    assert not compared_runs(_model(), _model()).graph_changes
    fused = made_graph(op("x", "Placeholder"), op("b", "_FusedMatMul", "x", "x"))
    python = made_graph(
        op("x", "Placeholder"), op("a", "MatMul", "x", "x"), op("b", "Relu", "a"), kind=GraphKind.PYTHON
    )
    changes = compared_runs(replace(run, graph=python), replace(run, graph=fused)).graph_changes
    assert (What.FUSED, "a") in {(change.what, change.first) for change in changes}
    folded = made_graph(op("x", "Placeholder"), op("b", "Relu", "x"))
    python = made_graph(op("x", "Placeholder"), op("k", "Const"), op("b", "Relu", "x"), kind=GraphKind.PYTHON)
    changes = compared_runs(replace(run, graph=python), replace(run, graph=folded)).graph_changes
    assert [(change.what, change.first) for change in changes] == [(What.PRUNED, "k")]


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 10_000), st.integers(1, 25))
@example(98, 118, 18)  # one run alone has updated a variable of what is paired
@example(3, 72, 20)  # what leads to nothing in one run is read in the other
@example(121, 192, 12)
@example(1257, 2583, 19)  # a Cast of nothing
@example(188, 294, 3)  # two pairs of the same two names, the other way round
def test_swapping_the_runs_swaps_the_answer(seed: int, other: int, nodes: int) -> None:
    one, two = RunMaker(seed).run(nodes), RunMaker(other).run(nodes)
    there, back = compared_runs(one, two), compared_runs(two, one)
    assert [(v.rows, v.state) for v in there.verdicts] == [(v.rows[::-1], v.state) for v in back.verdicts]
    assert (there.first is None) == (back.first is None) and there.same == back.same
    if there.first is not None and back.first is not None:
        assert there.first.rows == back.first.rows[::-1]


def _trained(*, rate: float = 0.1, gradient: float = 0.0) -> Run:
    """A variable read, its gradient applied, and the variable as it is then."""
    slope = np.array([1.0, 1e-9 + gradient], np.float32)
    step = np.float32(rate) * slope
    return made_run(
        op("x", "Placeholder", value=slope), op("slope", "Foo", "x", value=slope),
        op("rate", "Const", value=np.float32(rate)), op("step", "Mul", "slope", "rate", value=step),
        op("v", "VarHandleOp"), op("apply", "AssignSubVariableOp", "v", "step"),
        op("read", "ReadVariableOp", "v", value=5 - step, control=("apply",)),
        op("v/after_update", "UpdatedVariable", "v", "step", value=5 - step),
        order=["x", "slope", "rate", "step", "read", "v/after_update"],
    )  # fmt: skip


def test_a_variable_that_this_run_updated_follows_what_it_was_given() -> None:
    found = compared_runs(_trained(), _trained(rate=0.3))
    assert _first(found) == "rate"
    states = _states(found)
    assert states["read"] is TensorFate.FOLLOWS and states["v/after_update"] is TensorFate.FOLLOWS
    assert [one.names[0] for one in found.inputs(found.verdicts[-1])] == ["step:0"]
    assert compared_runs(_trained(), _trained(gradient=1e-8)).first is None


def test_what_follows_from_what_is_no_difference_is_judged_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that differs is without a first: it was said that rounding had grown, though nobody asked for that."""

    def run(a: float, b: float) -> Run:
        return made_run(
            op("x", "Placeholder", value=[1.0]), op("a", "Foo", "x", value=[a]), op("b", "Bar", "a", value=[b])
        )

    def without_a(runs: object, judge: object, verdicts: Sequence[Verdict]) -> Sequence[Verdict]:
        return [replace(one, state=TensorFate.OTHER_WAY) if one.state is TensorFate.NEW else one for one in verdicts]

    assert [one.state for one in compared_runs(run(1, 2), run(3, 4)).verdicts] == [TensorFate.NEW, TensorFate.FOLLOWS]
    monkeypatch.setattr(comparison, "without_other_ways", without_a)
    found = compared_runs(run(1, 2), run(3, 4))
    assert [one.state for one in found.verdicts] == [TensorFate.OTHER_WAY, TensorFate.NEW]
    assert found.first is not None and found.differing


@pytest.mark.parametrize(("own", "state"), [(0.0, TensorFate.GROWN), (0.02, TensorFate.NEW)])
def test_a_sum_that_cancels_is_off_by_as_much_as_what_it_adds(own: float, state: TensorFate) -> None:
    """Of half precision: no more lies in the sum than in both of what is added, however much is left of it."""
    one, two = np.float32([0.036, -0.02, 0.03]), np.float32([-0.03, 0.018, -0.024])
    off = np.float32([0.0076, -0.007, 0.0071])

    def run(error: np.ndarray, more: float) -> Run:
        x = (one + error).astype(np.float32)
        return made_run(
            op("a", "Placeholder", value=one), op("b", "Placeholder", value=two),
            op("x", "Mul", "a", "b", value=x), op("y", "Neg", "b", value=two),
            op("sum", "AddN", "x", "y", value=(x + two + np.float32(more)).astype(np.float32)),
        )  # fmt: skip

    judge = compared_runs(run(off * 0, 0.0), run(off, own)).judge
    judge._known = {2: Verdict((2, 2), TensorFate.GROWN, gap_between(judge._stores, (2, 2), Tolerance()))}
    assert judge._judged((4, 4)).state is state
