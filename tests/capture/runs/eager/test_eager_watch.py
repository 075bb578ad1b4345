"""The watch of eager ops: what it looks at, and what it leaves as it is."""

from __future__ import annotations

import gc
import math
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from support.prompt import json_of, text_of
from support.scripted import ScriptedFrontend

from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.capture.runs.eager import stops
from tfdbg_cli.capture.runs.eager.checks import norm_bound
from tfdbg_cli.capture.runs.eager.log.noted_ops import taken
from tfdbg_cli.capture.runs.eager.log.recent import RecentOps
from tfdbg_cli.capture.runs.eager.program.stacks import stack_here
from tfdbg_cli.capture.runs.eager.watch import EagerWatch, watch_of
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.decision import OnBenign, RunUntil
from tfdbg_cli.model.values import NoValue

pytestmark = pytest.mark.tf


class ActiveWatch:
    """A watch of this process that goes on behind every hit."""

    def __init__(self, filter_name: str = "has_inf_or_nan", **options: Any) -> None:
        decision = RunUntil(filter_name, **options)
        self.front = ScriptedFrontend(*[decision] * 50)
        self.debugger = Debugger(lambda: self.front)
        self.watch = watch_of(self.debugger)
        self.debugger.attendant = self.watch
        self.debugger.set_watch(decision)

    def __enter__(self) -> ActiveWatch:
        return self

    def __exit__(self, *_: object) -> None:
        self.debugger.attendant = None
        self.watch.attend(False)

    @property
    def found(self) -> list[str]:
        """The op types that were stopped at."""
        origins = [OriginSearch(end.run).first() for end in self.front.ends]
        return [origin.op_type if origin is not None else "" for origin in origins]


def test_every_dtype_and_every_bad_number() -> None:
    for dtype in (tf.float16, tf.bfloat16, tf.float32, tf.float64, tf.complex64, tf.complex128):
        for bad in (np.nan, np.inf, -np.inf):
            good = tf.cast(tf.ones([3, 3]), dtype)
            with ActiveWatch() as watching:
                _ = good * 2
                assert not watching.found
                _ = good * tf.constant([1, 1, bad], dtype)
            assert watching.found == ["Placeholder"], (dtype, bad)  # it was given so


def test_an_optimizer_whose_variables_are_behind_a_method_is_looked_through() -> None:
    """Those of Keras 2 are so."""

    class Legacy:
        def variables(self) -> list[tf.Variable]:
            return [tf.Variable(1.0, name="iter")]

    Legacy.__module__ = "tf_keras.legacy"
    optimizer, w = Legacy(), tf.Variable([2.0])
    with ActiveWatch() as watching:
        _ = tf.math.log(w * 0.0)
    assert optimizer and watching.found == ["Log"]


def test_a_single_string_is_no_number(capsys) -> None:
    with ActiveWatch() as watching:
        text = tf.strings.join(["a", tf.constant("b")])
        assert text.numpy() == b"ab"
        _ = tf.math.log(tf.constant([0.0]))
    assert watching.found == ["Log"]
    assert "could not" not in capsys.readouterr().err


@pytest.mark.parametrize("size", [1, 100, 8192, 8193, 100_000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_one_bad_element_anywhere(size, dtype) -> None:
    array = np.full(size, np.finfo(dtype).max, dtype)  # the squares of which are infinite
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        assert norm_bound(array) is not None
        for bad in (np.nan, np.inf, -np.inf):
            array[size // 2] = bad
            assert norm_bound(array) is None
            assert norm_bound(array[size // 2]) is None


_KINDS = ["relu", "neg", "log", "exp", "sum", "mul", "concat", "div"]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sampled_from(_KINDS), min_size=1, max_size=8),
    st.lists(st.floats(-90, 90, width=32), min_size=1, max_size=4),
)
def test_the_first_op_that_gives_a_bad_number_is_always_stopped_at(ops, numbers) -> None:
    """Few values are looked at; which are, must never matter."""
    kinds = {
        "relu": tf.nn.relu, "neg": tf.negative, "log": tf.math.log, "exp": tf.math.exp,
        "sum": lambda x: tf.reduce_sum(x, keepdims=True), "mul": lambda x: x * x,
        "concat": lambda x: tf.concat([x, x], 0), "div": lambda x: x / (x - 1.0),
    }  # fmt: skip
    expected = None
    with ActiveWatch() as watching:
        x = tf.constant(numbers)
        for count, name in enumerate(ops):
            x = kinds[name](x)
            if expected is None and not np.isfinite(x.numpy()).all():
                expected = count
            assert bool(watching.front.ends) == (expected is not None), (count, name)


def test_a_variable_is_looked_at_after_its_update_and_when_a_function_may_have_written_it() -> None:
    w = tf.Variable([1e38, 1.0])

    @tf.function
    def spoil() -> None:
        w.assign(w * 1e38)

    with ActiveWatch() as watching:
        w.assign_add([1e38, 0.0])
        _ = w + 1.0
        assert not watching.front.ends
        w.assign_add([3e38, 0.0])
        assert watching.found == ["UpdatedVariable"]
    w.assign([1e38, 1.0])
    with ActiveWatch() as watching:
        _ = w + 1.0
        watching.debugger.run_starts(_Run())
        spoil()  # nothing of it is seen here
        _ = tf.identity(w.read_value())
    assert watching.found[:1] == ["ReadVariableOp"]


class _Run:
    """A run of a function about to happen."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: None


def test_a_mask_of_minus_infinity_is_passed_over_until_nan_comes_of_it() -> None:
    w, causal = tf.Variable(tf.ones((2, 2))), tf.where([[True, False], [True, True]], 0.0, -np.inf)
    with ActiveWatch(benign=OnBenign.SKIP) as watching:
        best = tf.Variable(np.inf, name="best")
        for one in (True, True, False):
            scores = tf.where([[True, True], [one, False]], w * 2.0, -np.inf)
            assert not watching.front.ends
            share = tf.nn.softmax(scores) + tf.nn.softmax(w + causal)
            best.assign(tf.minimum(best, tf.reduce_max(share)))
        watching.watch.end()
    assert watching.found == ["Softmax"]
    assert [said for said in watching.front.said if "made on purpose" in said] == watching.front.said[:1]


def test_an_infinity_that_nothing_takes_away_is_stopped_at_in_the_end() -> None:
    w = tf.Variable(1.0)
    with ActiveWatch(benign=OnBenign.SKIP) as watching:
        for penalty in (0.0, np.inf):
            _ = w * w + penalty
        watching.watch.end()
    assert watching.found == ["Placeholder"]


def test_an_infinity_that_is_multiplied_or_assigned_in_part_is_stopped_at_once() -> None:
    w, v = tf.Variable(1.0), tf.Variable([1.0, 2.0])
    for spoil in (lambda: w * -np.inf, lambda: v.assign([1.0, np.inf]), lambda: tf.math.log(w - w)):
        with ActiveWatch(benign=OnBenign.SKIP) as watching:
            spoil()
            assert len(watching.front.ends) == 1
        w.assign(1.0)


@pytest.mark.parametrize(
    "infinite",
    [lambda: np.inf, lambda: tf.constant(np.inf), lambda: np.full([], np.inf), lambda: tf.fill([], np.inf)],
    ids=["number", "constant", "array", "filled"],
)
def test_a_variable_that_is_set_back_to_infinity_is_passed_over_as_in_functions(
    infinite: Callable[[], Any],
) -> None:
    """A blind test: the best loss so far, set to infinity in each epoch, ended `run -f has_inf_or_nan`."""
    best, loss = tf.Variable(0.0, name="best"), tf.Variable(3.0)
    with ActiveWatch(benign=OnBenign.SKIP) as watching:
        for _ in range(2):
            best.assign(infinite())
            for _ in range(2):
                loss.assign_sub(1.0)
                best.assign(tf.minimum(best, loss))
        watching.watch.end()
        assert not watching.front.ends
        best.assign(infinite())
        loss.assign(loss * 0.0 - best)
    assert watching.found == ["Placeholder"]


@pytest.mark.parametrize("unset", [np.inf, np.nan])
def test_a_variable_that_is_filled_element_by_element_is_passed_over(unset: float) -> None:
    """`log[at]` reads the variable by ops of its own, before it is written."""
    log = tf.Variable(tf.fill([3], np.float32(unset)), name="log")
    with ActiveWatch(benign=OnBenign.SKIP) as watching:
        for at in range(2):
            loss = tf.sqrt(float(at))
            log[at].assign(loss)
        watching.watch.end()
        assert not watching.front.ends
        log[2].assign(tf.sqrt(-1.0))
    (end,) = watching.front.ends
    assert end.run.tensors[len(end.run.tensors) - 1].op_type == "Sqrt"


def test_so_is_none_that_an_op_computed_in_an_earlier_turn() -> None:
    best, spoiled = tf.Variable(0.0, name="best"), tf.constant(0.0)
    with ActiveWatch(benign=OnBenign.SKIP) as watching:
        for turn in range(3):
            best.assign(spoiled)
            spoiled = tf.math.divide(best + 1.0, float(turn != 1))
    assert [end.run.tensors[len(end.run.tensors) - 1].op_type for end in watching.front.ends] == [
        "RealDiv",
        "UpdatedVariable",
    ]


def test_what_is_made_of_a_bad_number_is_not_stopped_at_again_in_the_same_run() -> None:
    with ActiveWatch() as watching:
        x = tf.math.log(tf.constant([0.0, 1.0]))
        _ = tf.reduce_sum(x * 2.0)
        _ = 1.0 / tf.constant([0.0])
    assert watching.found == ["Log", "RealDiv"]
    assert [end.run.call.number for end in watching.front.ends] == [1, 2]
    assert [len(end.run.tensors) for end in watching.front.ends] == [1, 1]


def test_a_turn_whose_end_cannot_be_told_is_stopped_in_again() -> None:
    """A blind test: all ops of its outer loop are in inner ones, and a watch was silent behind its first stop."""
    step, other = tf.math.log, tf.sqrt
    with ActiveWatch() as watching:
        for _ in range(2):
            for function in (step, other):
                for number in (3.0, -1.0):
                    function(tf.constant([1.0, number]))
    assert watching.found == ["Log", "Sqrt", "Log", "Sqrt"]


def test_what_goes_bad_of_its_own_in_a_turn_that_was_stopped_in_is_counted() -> None:
    """A blind test: the square root of the same turn was NaN, and the last words were that nothing passed."""
    with ActiveWatch() as watching:
        for turn in range(4):
            x = tf.constant([1.0, 1.0 - turn])
            _ = tf.math.log(x)
            _ = tf.sqrt(x - 0.5)
            _ = tf.math.log(x) * 2.0
    assert watching.found == ["Log", "Log", "Log"]
    assert watching.watch.stops.passed_over == 2


def test_the_origin_is_the_op_that_was_stopped_at_whatever_a_library_made_before(monkeypatch) -> None:
    """A blind test: behind a fit that gave NaN the origin was in an op of Keras, and the stop at a square root."""
    asked: list[bool] = []
    monkeypatch.setattr(stops, "counts", lambda stack: bool(asked))
    with ActiveWatch() as watching:
        _ = tf.math.log(tf.constant([-1.0]))  # as if a library had run it between
        asked.append(True)
        _ = tf.sqrt(tf.constant([-1.0]))
    assert watching.found == ["Sqrt"]


def test_nodes_that_are_left_out_and_outputs_that_mean_nothing() -> None:
    with ActiveWatch(exclude_node_names="^Log") as watching:
        tf.math.log(tf.constant(0.0))
        image = tf.ones([1, 2, 2, 1])
        tf.raw_ops.FusedBatchNormV3(x=image, scale=[1.0], offset=[0.0], mean=[0.0], variance=[1.0], is_training=False)
    assert not watching.front.ends


def test_other_filters_are_asked_of_runs() -> None:
    with ActiveWatch("magnitude_above:50") as watching:
        for _ in range(2):
            x = tf.constant(100.0) * 2.0  # outside of a run: data
        w = tf.Variable(2.0)
        for turn in range(4):
            x = w * (10.0 * turn)
    assert x.numpy() == 60
    assert [end.run.call.title for end in watching.front.ends][-1].startswith("run #")
    assert all("Mul" in {tensor.op_type for tensor in end.run.tensors} for end in watching.front.ends)


def test_a_filter_of_the_programs_own_that_fails_is_told_of_once(capsys) -> None:
    def broken(datum: Any, value: Any) -> bool:
        raise KeyError("mine")

    w = tf.Variable(1.0)
    with ActiveWatch() as watching:
        watching.debugger.add_filter("broken", broken)
        watching.debugger.set_watch(RunUntil("broken"))
        for _ in range(3):
            _ = w * 2.0
    assert capsys.readouterr().err.count("mine") == 1


def test_tensors_die_when_the_program_lets_go_of_them() -> None:
    with ActiveWatch():
        x = tf.constant([1.0, 2.0]) * 2.0
        gone = weakref.ref(x)
        del x
        gc.collect()
        assert gone() is None


def test_the_log_forgets_the_oldest_and_says_so() -> None:
    log = RecentOps(10_000)
    for _ in range(20):
        x = tf.ones([500])
        log.add("Fill", [], (), [taken(x)], stack_here())
    assert len(log) == 5
    assert log.dropped == 15
    assert log.count == 20


def test_a_large_variable_is_not_copied_at_its_update() -> None:
    """Whoever holds what a variable held makes TensorFlow copy it before it writes."""

    def place(variable: Any) -> int:
        return int(compat.host_array(variable.read_value()).__array_interface__["data"][0])

    for watched in (False, True):
        w = tf.Variable(tf.zeros([300_000]))
        w.assign_add(tf.ones([300_000]))
        before = place(w)
        with ActiveWatch() if watched else nullcontext():
            tf.reduce_sum(w.read_value())
            w.assign_add(tf.ones([300_000]))
        assert place(w) == before


def test_what_the_program_has_set_for_numpy_stays() -> None:
    with np.errstate(all="raise"), warnings.catch_warnings(), ActiveWatch():
        warnings.simplefilter("error")
        x = tf.constant(np.full(20_000, 1e30, np.float32)) * 1.0
    assert x.shape == (20_000,)


def test_persistent_and_nested_tapes_custom_gradients_and_accumulators_give_the_same() -> None:
    @tf.custom_gradient
    def clipped(x: Any) -> Any:
        return tf.identity(x), lambda d: tf.clip_by_value(d, -1.0, 1.0)

    def program() -> list[Any]:
        x = tf.Variable([1.0, 2.0, 3.0])
        found: list[Any] = []
        with tf.GradientTape(persistent=True) as outer:
            with tf.GradientTape() as inner:
                y = tf.reduce_sum(clipped(x) ** 3 + tf.stop_gradient(x) * x)
            first = inner.gradient(y, x)
            z = tf.reduce_sum(first**2)
        found += [y, first, outer.gradient(z, x), outer.jacobian(first, x), outer.watched_variables()[0] is x]
        with tf.autodiff.ForwardAccumulator(x, tf.ones(3)) as accumulator:
            found.append(accumulator.jvp(tf.math.sin(x) * x))
        tf.random.set_seed(5)
        found += [tf.random.normal([4]), tf.random.Generator.from_seed(3).normal([2])]
        return [np.asarray(each).tobytes() for each in map(_plain, found)]

    plain = program()
    with ActiveWatch() as watching:
        watched = program()
    assert watched == plain
    assert not watching.front.ends


def _plain(value: Any) -> Any:
    return value.numpy() if hasattr(value, "numpy") else value


def test_exceptions_of_ops_are_the_programs(capsys) -> None:
    with ActiveWatch():
        for call in (
            lambda: tf.constant([[1.0, 2.0]]) @ tf.constant([[1.0]]),
            lambda: tf.constant([1.0]) + tf.constant([1, 2]),
            lambda: tf.debugging.assert_positive(tf.constant([-1.0])),
            lambda: tf.reshape(tf.zeros(3), [2]),
        ):
            with pytest.raises((tf.errors.InvalidArgumentError, TypeError)) as plain:
                call()
            assert "tfdbg" not in str(plain.value)
    assert not capsys.readouterr().err


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    names = compat.FAST_EXECUTOR, compat.SLOW_EXECUTOR
    before = [getattr(compat.EXECUTORS, name) for name in names]
    yield
    assert [getattr(compat.EXECUTORS, name) for name in names] == before


def test_nobody_listens_while_the_program_only_goes_on() -> None:
    """What TensorFlow calls then is its own, so that an op takes what it takes without us."""
    names = compat.FAST_EXECUTOR, compat.SLOW_EXECUTOR
    before = [getattr(compat.EXECUTORS, name) for name in names]
    debugger = Debugger(lambda: ScriptedFrontend(), settings=Settings())
    debugger.attendant = watch = EagerWatch(debugger)
    for _ in range(2):
        debugger.set_watch(RunUntil("has_inf_or_nan"))
        assert not any(getattr(compat.EXECUTORS, name) is own for name, own in zip(names, before, strict=True))
        debugger.set_watch(None)
        assert all(getattr(compat.EXECUTORS, name) is own for name, own in zip(names, before, strict=True))
    watch.end()


def test_a_watch_asks_what_it_was_begun_for() -> None:
    with ActiveWatch("has_nan") as watching:
        tf.math.log(tf.constant(0.0))
        tf.math.log(tf.constant(-1.0))
    assert len(watching.front.ends) == 1


def test_bad_result_stops_at_the_update_that_spoils_a_variable_and_names_what_began_it() -> None:
    w = tf.Variable([1.0, 2.0])
    with ActiveWatch("bad_result") as watching:
        for turn in range(3):
            mask = tf.math.log(tf.constant([0.0, 1.0]))  # nothing comes of it
            gradient = tf.math.log(w - float(turn))
            w.assign_sub(tf.where(gradient > 100.0, mask, gradient) * 0.0 + tf.constant([0.0, 0.0]))
            if watching.front.ends:
                break
    assert turn == 1
    (end,) = watching.front.ends
    assert end.run.tensors[len(end.run.tensors) - 1].op_type == "UpdatedVariable"
    assert "Log" in {tensor.op_type for tensor in end.run.tensors}


def test_bad_result_lets_a_variable_begin_with_an_infinity() -> None:
    """As the best loss so far does: it is no update. What is assigned later is one."""
    with ActiveWatch("bad_result") as watching:
        best = tf.Variable(np.inf, name="best")
        filled = tf.Variable(np.full(3, np.nan, np.float32))
        best.assign(tf.minimum(best, 2.0))
        filled.assign(tf.ones([3]))
        assert not watching.front.ends
        best.assign(tf.math.divide(best, 0.0))
    (end,) = watching.front.ends
    assert end.run.tensors[len(end.run.tensors) - 1].node == "best/after_update"


def test_bad_result_lets_nan_be_that_the_program_only_carries(tmp_path) -> None:
    """A log filled with NaN is written element by element, saved and restored; then NaN is computed into it."""
    with ActiveWatch("bad_result") as watching:
        log = tf.Variable(tf.fill([4], np.nan))
        for at in range(2):
            log.assign(tf.tensor_scatter_nd_update(log, [[at]], [tf.sqrt(float(at))]))
        path = tf.train.Checkpoint(log=log).write(str(tmp_path / "log"))
        other = tf.Variable(tf.fill([4], np.nan))
        tf.train.Checkpoint(log=other).read(path)
        assert not watching.front.ends
        other.assign(tf.tensor_scatter_nd_update(other, [[1]], [tf.sqrt(-1.0)]))
    (end,) = watching.front.ends
    search = OriginSearch(end.run)
    first = search.first()
    assert first is not None and search.harmful(first)[0].op_type == "Sqrt"


def test_nan_with_which_a_program_fills_a_variable_is_judged_at_the_end_of_the_run() -> None:
    with ActiveWatch(benign=OnBenign.SKIP) as watching:
        filled, given = tf.Variable(tf.fill([4], np.nan)), tf.Variable(np.full(4, np.nan, np.float32))
        filled.assign(tf.ones([4]))
        given.assign(tf.ones([4]))
        watching.watch.end()
        assert not watching.front.ends
        means = tf.where([True, False], [1.0, 2.0], np.nan)
        watching.watch.end()
        assert len(watching.front.ends) == 1 and means.shape == (2,), "the program may have got it"
        _ = tf.constant(2.0) * np.nan
    assert len(watching.front.ends) == 2, "arithmetic with it is no way to fill anything"


def test_a_variable_that_began_infinite_and_is_written_over_in_the_same_turn_harms_nothing() -> None:
    """Its first value was said to be what the update made: "the update itself overflows"."""
    with ActiveWatch(benign=OnBenign.SKIP) as watching:
        for k in range(3):
            best = tf.Variable(np.inf, name="best")
            best.assign(tf.minimum(best, float(k)))
        watching.watch.end()
        assert not watching.front.ends
        for k in (1.0, 0.0):
            best = tf.Variable(np.inf, name="best")
            best.assign(tf.math.divide(1.0, k))
    (end,) = watching.front.ends
    search = OriginSearch(end.run)
    first = search.first()
    assert first is not None and search.harmful(first)[0].op_type == "RealDiv"


def test_each_value_of_a_variable_is_told_of_the_update_that_made_it() -> None:
    with ActiveWatch(benign=OnBenign.SKIP) as watching:
        best = tf.Variable(np.inf, name="best")
        best.assign(tf.minimum(best, 2.0))
        best.assign_add(tf.constant(1.0))
        _ = tf.math.log(best - best)
    end = watching.front.ends[-1]
    run, lineage = end.run, Lineage(end.run)
    rows = run.tensors.named("best/after_update")
    made = [(lineage.update(row), lineage.inputs(row)) for row in rows]
    assert [update.op_type for update, _ in made if update is not None] == [
        "AssignVariableOp", "AssignVariableOp", "AssignAddVariableOp",
    ]  # fmt: skip
    given = [item.node.op_type for _, inputs in made for item in inputs[1:] if item.node is not None]
    assert given == ["Placeholder", "Minimum", "Placeholder"]
    first = OriginSearch(run).first()
    assert first is not None and "overflows" not in first.cause.text


def test_a_variable_of_strings_is_one_of_strings_behind_its_update() -> None:
    """A blind test: its dtype there was object, NumPy's word."""
    words = tf.Variable(["a", "bb"], name="words")
    with ActiveWatch() as watching:
        words.assign(["x", "yyy"])
        _ = tf.math.log(tf.constant(0.0))
    tensors = watching.front.ends[-1].run.tensors
    (row,) = tensors.named("words/after_update")
    assert (tensors[row].dtype, tensors[row].nbytes) == ("string", 4)


@pytest.mark.parametrize("times", [1, 40])
def test_a_variable_is_shown_as_it_is_where_its_update_was_not_looked_at(times) -> None:
    w = tf.Variable(np.full((3, 2), 2.0, np.float32))
    with ActiveWatch() as watching:
        for turn in range(times + 1):
            [w.assign_sub(tf.ones([3, 2]) * 0.25) for _ in range(2)]
            _ = tf.math.log(tf.reduce_sum(w) * 0.0 + float(turn < times))
    run = watching.front.ends[0].run
    rows = run.tensors.named("w/after_update", 0)
    assert np.asarray(run.tensors.value(rows[-1])).tolist() == (w.numpy()).tolist()
    assert times > 1 or isinstance(run.tensors.value(rows[0]), NoValue)


@pytest.mark.parametrize("given", [tf.zeros([2]), [0.0, 0.0]])
def test_what_was_assigned_to_a_variable_is_shown_though_it_was_updated_since(given: Any) -> None:
    """As an optimizer makes its slots in the turn that updates them first."""
    w = tf.Variable([1.0, 1.0])
    with ActiveWatch() as watching:
        for _ in range(3):
            w.assign(given)
            w.assign_add([0.0, -1.0])
            _ = tf.math.log(w)
            break
    run = watching.front.ends[0].run
    rows = run.tensors.named("w/after_update", 0)
    assert [np.asarray(run.tensors.value(row)).tolist() for row in rows] == [[0, 0], [0, -1]]


def test_an_update_that_overflows_is_stopped_at_however_many_came_before() -> None:
    w = tf.Variable([1.0, 1.0])
    with ActiveWatch() as watching:
        for turn in range(60):
            w.assign_add(tf.constant([0.5, 3e38 if turn > 50 else 1.0]))
            if watching.front.ends:
                break
    assert turn == 52
    assert watching.found == ["UpdatedVariable"]


def test_a_bad_value_that_is_assigned_leads_to_the_line_of_the_assignment() -> None:
    v = tf.Variable([1.0, 2.0])
    with ActiveWatch() as watching:
        v.assign([1.0, math.nan])
    (end,) = watching.front.ends
    data, text = json_of("origin", end.run), text_of("origin", end.run, width=200)
    line = test_a_bad_value_that_is_assigned_leads_to_the_line_of_the_assignment.__code__.co_firstlineno + 3
    assert (data["file"], data["line"]) == (__file__, line)
    assert data["cause"].startswith("Already in the value that AssignVariableOp is given for variable")
    assert "before the update" in data["suggestion"] and not data["batch_rows"]
    assert f"{Path(__file__).name}:{line} in" in text and "AssignVariableOp_0, which is given it" in text
    assert "Made at" in text and "no traceback" not in text


def test_a_bad_value_that_no_op_made_leads_to_the_line_that_reads_it_first() -> None:
    given = tf.constant([1.0, math.nan])
    with ActiveWatch() as watching:
        tf.math.log(given)
    (end,) = watching.front.ends
    text = text_of("origin", end.run, width=200)
    assert "Read at" in text and "Log_0, which is given it" in text and "no traceback" not in text


def test_an_array_of_the_program_that_several_ops_are_given_has_one_name() -> None:
    """A blind test: each op makes a tensor of it, and these were called data, data_1 and data_2."""
    data = np.array([[1.0, 3.0], [2.0, 3.0]], np.float32)
    with ActiveWatch() as watching:
        (data - tf.reduce_mean(data, 0)) / tf.math.reduce_std(data, 0)
    (end,) = watching.front.ends
    assert [name for name in end.run.call.feeds if name.startswith("data")] == ["data"]
    shown = text_of("origin", end.run, width=200)
    assert "fed as data\n" in shown and "Chain     data →" in shown


def _notes_at_log_of(number: float, benign: OnBenign) -> str:
    with ActiveWatch(benign=benign) as watching:
        tf.reduce_max(tf.math.log(tf.constant([1.0, number])))
    return " ".join(watching.front.ends[0].notes)


def test_a_stop_at_an_infinity_says_that_what_becomes_of_it_is_not_known() -> None:
    """A blind test: transition probabilities of 0 had a log, of which a maximum made finite numbers: no fault."""
    told = _notes_at_log_of(0.0, OnBenign.SKIP)
    assert "not known yet whether the program makes finite numbers of this infinity" in told and "`ignore`" in told
    assert not _notes_at_log_of(-1.0, OnBenign.SKIP), "a NaN is seldom meant"
    assert not _notes_at_log_of(0.0, OnBenign.STOP), "it was asked for"
    overflow = tf.Variable([3e38])
    with ActiveWatch(benign=OnBenign.SKIP) as watching:
        overflow.assign_add([3e38])
    assert not watching.front.ends[0].notes, "the variable is harmed"


def test_bounds_of_variables_are_never_below_what_they_hold() -> None:
    w = tf.Variable(np.ones(5000, np.float32))
    with ActiveWatch() as watching:
        for turn in range(50):
            w.assign_add(tf.constant(np.full(5000, (-3.0) ** turn, np.float32)))
    assert watching.found == [] or not np.isfinite(w.numpy()).all()
    assert np.isfinite(w.numpy()).all() == (not watching.found)


def test_what_ops_were_given_counts_against_the_budget() -> None:
    log, stack = RecentOps(1 << 20), stack_here()
    for _ in range(20):
        batch = tf.constant(np.ones(1 << 16, np.float32))  # 256 KB
        log.add("Sum", [batch, 0], (), [taken(tf.reduce_sum(batch))], stack)
        log.add("Mul", [np.ones(1 << 16, np.float32), 1.0], (), [taken(tf.constant(1.0))], stack)
    assert log.dropped and 2 <= len(log) <= 4
    large = tf.constant(np.ones(1 << 20, np.float32))
    log.add("Sum", [large, 0], (), [taken(tf.reduce_sum(large))], stack)
    assert [op.op_type for op in log.ops()] == ["Sum"], "the op at which to stop is always there"


def test_after_a_stop_nothing_of_the_program_is_held() -> None:
    class Thing:
        pass

    def step() -> tuple[Any, Any, Any]:
        thing, x = Thing(), tf.zeros(3) + 0.0
        held, given = weakref.ref(thing), weakref.ref(x)
        y = tf.math.log(x)
        gave = weakref.ref(y)
        del thing, x, y
        return held(), given(), gave()

    gc.disable()  # what goes in circles would not die at once
    try:
        with ActiveWatch() as watching:
            assert step() == (None, None, None)
    finally:
        gc.enable()
    assert watching.found == ["Log"]


def test_what_a_tape_computes_is_known_as_gradients() -> None:
    w = tf.Variable([3.0, 4.0])
    with ActiveWatch("exploding_gradient:100") as watching:
        for rate in (1.0, 1e3, 1.0):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(w * w) * rate
            w.assign_sub(tape.gradient(loss, w) * 1e-6)
        watching.watch.end()
    (end,) = watching.front.ends
    names = [tensor.node for tensor in end.run.tensors]
    assert any(name.startswith("gradient_tape/Mul_") for name in names)
    assert "Mul_0" in names
