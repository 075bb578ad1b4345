"""One origin over functions and the eager code around them, whichever of both a bad number comes from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from support.prompt import text_of
from support.scripted import ScriptedFrontend

from tfdbg_cli.analysis.batch.components import components
from tfdbg_cli.analysis.graph.making.eager_past import with_recorded_past, without_past
from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.analysis.graph.ways.chain import chain_to
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.capture.intercept.all_functions import intercept_all_functions
from tfdbg_cli.capture.runs.eager.watch import watch_of
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.decision import RunUntil
from tfdbg_cli.model.gathered import PartOfStore
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run

pytestmark = pytest.mark.tf
DATA = np.array([[1.0, 2.0], [3.0, 0.0], [5.0, 6.0]], np.float32)


@contextmanager
def watched(filter_name: str, exclude: str = "") -> Iterator[ScriptedFrontend]:
    decision = RunUntil(filter_name, exclude)
    front = ScriptedFrontend(*[decision] * 9)
    debugger = Debugger(lambda: front)
    debugger.attendant = watch_of(debugger)
    end = intercept_all_functions(debugger)
    debugger.set_watch(decision)
    try:
        yield front
    finally:
        end()
        debugger.attendant.attend(False)
        debugger.attendant = None
        debugger.end_watch()


def origin_and_rows(run: Run) -> tuple[str, tuple[int, ...]]:
    origin = OriginSearch(run).first()
    assert origin is not None
    return str(origin.name), origin.batch.rows


def test_what_eager_code_gave_to_a_function_is_followed_out_of_it() -> None:
    step = tf.function(lambda x: tf.reduce_sum(x * 2.0))
    with watched("bad_result") as front:
        for _ in range(2):
            x = tf.math.log(tf.constant(DATA)) + 1.0
            assert step(x) == -np.inf
    run = front.ends[0].run
    assert run.call.title == "run #1: <lambda>(x)"
    assert origin_and_rows(run) == ("eager/Log_0:0", (1,))
    assert any(Path(__file__).name in frame.file for frame in run.tracebacks["eager/Log_0"])
    assert any("ran before this call" in note for note in run.notes)
    assert {"eager/Log_0", "eager/AddV2_0"} <= {node.name for node in run.graph}


def test_what_was_made_before_the_call_is_replaced_as_its_argument() -> None:
    step = tf.function(lambda x: tf.reduce_sum(x * 2.0))
    with watched("bad_result") as front:
        for _ in range(2):
            step(tf.math.log(tf.constant(DATA)) + 1.0)
    run = front.ends[0].run
    assert run.what_if is not None
    with pytest.raises(TfdbgError, match="which was given it as x") as given:
        run.what_if.require_replaceable(run, TensorName("eager/AddV2_0", 0))
    assert given.value.hint == "Replace what the call was given: set x EXPRESSION"
    with pytest.raises(TfdbgError, match="made before this call, and is not computed again"):
        run.what_if.require_replaceable(run, TensorName("eager/Log_0", 0))
    with pytest.raises(TfdbgError, match="is no value of this function"):
        run.what_if.require_replaceable(run, TensorName("nothing", 0))


def test_a_function_alone_reads_its_arguments() -> None:
    """As where the run is made again from a bundle, and its eager past is not."""

    @tf.function
    def step(x: Any, y: Any) -> Any:
        with tf.name_scope("eager"):  # a name of the program's own
            return tf.reduce_sum(tf.math.log(x)) + y

    with watched("bad_result") as front:
        for _ in range(2):
            step(tf.constant(DATA) * 2.0, tf.constant(1.0))
    run = front.ends[0].run
    assert "eager/Mul_0" in run.graph
    assert str(run.graph.find("eager/Log").inputs[0]) == "x:0"
    assert str(run.graph.find("x").inputs[0]) == "eager/Mul_0:0"
    alone = without_past(run).graph
    assert "eager/Mul_0" not in alone
    assert str(alone.find("eager/Log").inputs[0]) == "x:0"
    assert without_past(replace(run, graph=alone)).graph.names() == alone.names()


def test_a_function_that_is_given_what_nobody_made_stays_as_it_is() -> None:
    step = tf.function(lambda x: tf.math.log(x))
    with watched("bad_result") as front:
        step(tf.constant(DATA))
    run = front.ends[0].run
    assert not any(node.name.startswith("eager/") for node in run.graph)
    assert origin_and_rows(run) == ("Log:0", (1,))


def test_what_a_function_gave_to_eager_code_is_followed_into_it() -> None:
    forward = tf.function(lambda x: tf.math.log(x * 2.0))
    with watched("has_inf_or_nan", "Log|Identity") as front:
        for _ in range(2):
            p = forward(tf.constant(DATA))
            _ = tf.exp(p) * p  # 0 times infinity
    run = front.ends[0].run
    assert origin_and_rows(run) == ("<lambda>_0/Log:0", (1,))
    assert run.graph.node("Exp_0").inputs[0].node.startswith("<lambda>_0/")


def test_of_what_a_function_gave_that_cannot_be_called_again_its_run_is_named() -> None:
    """A blind test: the next op that read the result of the stop before was told as a new origin."""
    calls = tf.Variable(np.float32(0.0))

    @tf.function
    def forward(x: Any) -> Any:
        calls.assign_add(1.0)  # so it is not called once more
        return tf.reduce_sum(tf.math.log(x))

    with watched("has_inf_or_nan") as front:
        forward(tf.constant(DATA) + 1.0)
        _ = tf.exp(-forward(tf.constant(DATA)))
    first, second = (end for end in front.ends if end.hit is not None)
    assert (first.run.call.number, second.run.call.runs_within) == (2, {"forward_0": 1, "forward_1": 2})
    shown = text_of("origin", second, width=None)
    assert "Cause     A function gave it that was called before, in run #2: how it came to be is not shown" in shown
    assert "Try       See what `origin` tells of run #2." in shown
    assert "Since     run #2, the stop before this one\n" in shown
    assert "not shown here" not in text_of("origin", first)


def test_what_a_function_gave_to_a_function_is_followed_out_of_it() -> None:
    w = tf.Variable(np.float32(2.0))
    forward = tf.function(lambda x: tf.nn.relu(x - 2.0) * w)
    loss = tf.function(lambda p: tf.reduce_sum(tf.math.log(p)))
    with watched("has_inf_or_nan") as front:
        for _ in range(2):
            loss(forward(tf.constant(DATA) * 1.0))
    run = front.ends[0].run
    assert run.call.title.endswith("<lambda>(p)")
    (read,) = run.graph.node("Log").inputs
    assert read.node == "p" and run.graph.node("p").inputs[0].node.startswith("eager/<lambda>_0/")
    origin = OriginSearch(run).first()
    assert origin is not None
    assert origin_and_rows(run) == ("Log:0", (0, 1))
    assert f"Log of 0: {read} is 0 at 3 elements" in origin.cause.text
    assert not [node for node in without_past(run).graph if node.name.startswith("eager/")]


def test_of_a_function_with_variables_the_results_are_known() -> None:
    w = tf.Variable(np.ones((2, 2), np.float32))
    forward = tf.function(lambda x: tf.math.log(x) @ w)
    with watched("has_inf_or_nan", "Log|Identity|matmul|MatMul") as front:
        for _ in range(2):
            p = forward(tf.constant(DATA))
            _ = p * 0.0
    run = front.ends[0].run
    origin = OriginSearch(run).first()
    assert origin is not None
    assert origin.name.node.startswith("<lambda>_0/")
    assert {tensor.op_type for tensor in map(run.tensors.__getitem__, range(len(run.tensors)))} >= {"Mul"}


def test_functions_and_eager_code_give_the_same_under_a_watch() -> None:
    def program() -> list[Any]:
        w = tf.Variable([1.0, 2.0])
        step = tf.function(lambda x: x * w)
        found = []
        for turn in range(4):
            with tf.GradientTape() as tape:
                y = tf.reduce_sum(step(tf.constant([1.0, float(turn)])) ** 2)
            w.assign_sub(0.01 * tape.gradient(y, w))
            found += [y.numpy().tobytes(), w.numpy().tobytes()]
        return found

    plain = program()
    with watched("has_inf_or_nan") as front:
        assert program() == plain
    assert not front.ends


def test_rows_that_were_put_in_another_order_before_the_call_are_those_of_what_was_given_first() -> None:
    w = tf.Variable([[1.0], [1.0]])
    step = tf.function(lambda x, y: tf.reduce_sum(tf.math.log(x @ w) * y))
    labels = np.arange(3, dtype=np.float32)[:, np.newaxis]
    raw = DATA * np.array([[1.0], [0.0], [1.0]], np.float32)
    for order, shown in (
        ([2, 0, 1], {"eager/raw"}),
        ([0, 1, 2], {"eager/raw", "x", "y"}),
    ):
        with watched("bad_result") as front:
            for _ in range(2):
                step(tf.gather(tf.constant(raw), tf.constant(order)) * 1.0, labels)
        run = front.ends[0].run
        origin = OriginSearch(run).first()
        assert origin is not None and origin.batch.rows == (1,)
        assert {part.name.partition(":")[0] for part in components(run, origin.batch)} == shown


@pytest.mark.parametrize("changed", [False, True])
def test_rows_are_followed_through_a_function_as_long_as_its_variables_are_the_same(changed: bool) -> None:
    """Else its inner values are not known, and no row of what it was given is shown."""
    w = tf.Variable(tf.eye(2))
    encode = tf.function(lambda x: x @ w)
    decode = tf.function(lambda h: tf.reduce_sum(tf.math.log(tf.reduce_sum(h, 1))))
    raw = DATA * np.array([[0.0], [1.0], [1.0]], np.float32)
    with watched("bad_result") as front:
        for _ in range(2):
            h = encode(tf.constant(raw))
            if changed:
                w.assign_add([[1.0, 0.0], [0.0, 1.0]])
            decode(tf.reverse(h, [0]))
    run = front.ends[0].run
    origin = OriginSearch(run).first()
    assert origin is not None
    inner = [row for row in range(len(run.tensors)) if run.tensors[row].node.endswith("/matmul")]
    assert bool(inner) is not changed
    (shown,) = components(run, origin.batch)
    assert (shown.name, origin.batch.rows) == (("h", (2,)) if changed else ("eager/raw", (0,)))
    assert shown.row(origin.batch.rows[0]).tolist() == [0.0, 0.0]


def test_the_gradient_of_a_function_shows_the_inside_of_its_forward_part() -> None:
    w = tf.Variable(tf.eye(2))

    @tf.function
    def encode(x: Any) -> Any:
        y = x @ w
        with tf.name_scope("norm"):  # as tf.norm is before TensorFlow 2.22, from which on it has a slope at 0
            return tf.squeeze(tf.sqrt(tf.reduce_sum(y * y, 1, keepdims=True)), 1)

    raw = DATA * np.array([[0.0], [1.0], [1.0]], np.float32)
    with watched("bad_result") as front:
        for _ in range(2):
            x = tf.reverse(tf.constant(raw), [0])
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(encode(x))
            tape.gradient(loss, w)
    run = front.ends[0].run
    origin = OriginSearch(run).first()
    assert origin is not None and origin.node.op_type == "SqrtGrad"
    names = [str(run.tensors[row].name) for row in range(len(run.tensors))]
    scope = next(
        node.name.partition("/")[0] for node in run.graph if node.name.endswith("/x") and "eager" not in node.name
    )
    forward = [name for name in names if name.startswith(f"{scope}/")]
    assert [name.rpartition("/")[2] for name in forward if "norm/S" in name and "indices" not in name] == [
        "Sum:0", "Sqrt:0", "Squeeze:0",
    ]  # fmt: skip
    assert chain_to(run, Lineage(run), origin.node, 0)[0].tensor.node == "eager/raw"
    (shown,) = components(run, origin.batch)
    assert (shown.name, origin.batch.rows) == ("eager/raw", (0,))
    argument = without_past(run).graph.find(f"{scope}/x")
    assert argument is not None and argument.op_type == "Placeholder"
    # Made again, the gradient is given what the forward part handed over, and nothing else of that.
    computed = [row for row, name in enumerate(names) if name.startswith("gradients/")]
    handed = [row for row in range(len(names)) if run.tensors[row].op_type == "Placeholder"]
    alone = replace(without_past(run), tensors=PartOfStore(run.tensors, [*handed, *computed]))
    found = OriginSearch(with_recorded_past(alone, run)).first()
    assert found is not None and found.batch == origin.batch


def test_rows_of_a_ragged_tensor_that_eager_ops_put_in_order_are_its_own_and_not_those_of_its_splits() -> None:
    means = tf.function(lambda rt: tf.reduce_sum(rt, 1) / tf.cast(rt.row_lengths(), tf.float32))
    with watched("bad_result") as front:
        for _ in range(2):
            means(tf.gather(tf.ragged.constant([[1.0, 2.0], [], [3.0], [4.0, 5.0], [7.0]]), [4, 2, 0, 3, 1]))
    run = front.ends[0].run
    origin = OriginSearch(run).first()
    assert origin is not None
    assert (origin.batch.rows, origin.batch.size, origin.batch.stored) == ((4,), 5, True)
    assert [part.row(4).tolist() for part in components(run, origin.batch)] == [[]]
