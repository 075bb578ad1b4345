from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.first_bad import first_bad

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.replay import InputRole, ReplayInput, ReplaySpec
from tfdbg_cli.model.values import Array, NoValue

tf = pytest.importorskip("tensorflow")
pytestmark = pytest.mark.tf
v1 = tf.compat.v1

from tfdbg_cli.capture.replay.replayed import Replayed  # noqa: E402
from tfdbg_cli.capture.replay.session import replay_session  # noqa: E402
from tfdbg_cli.model.exactness import same_bits  # noqa: E402

Build = Callable[[], tuple[str, ...]]


def graph_of(build: Build) -> tuple[bytes, tuple[str, ...]]:
    with tf.Graph().as_default() as graph:
        fetches = build()
    return graph.as_graph_def().SerializeToString(), fetches


def replay_spec(build: Build, *inputs: ReplayInput) -> ReplaySpec:
    graph, fetches = graph_of(build)
    return ReplaySpec(RunKind.SESSION, graph, fetches=fetches, inputs=inputs)


def given(name: str, value: Any, role: InputRole = InputRole.GIVEN, node: str = "") -> ReplayInput:
    array = np.asarray(value)
    return ReplayInput(name, role, "string" if array.dtype == object else array.dtype.name, array, node)


def value_of(replayed: Replayed, node: str, slot: int = 0) -> Array:
    (index,) = replayed.tensors.named(node, slot)
    value = replayed.tensors.value(index)
    assert not isinstance(value, NoValue)
    return value


def step(use_resource: bool) -> Build:
    def build() -> tuple[str, ...]:
        x = v1.placeholder(tf.float32, [None], name="x")
        w = v1.get_variable("w", initializer=[1.0, 2.0, 3.0], use_resource=use_resource)
        loss = tf.reduce_sum(tf.math.log(x * w, name="log"), name="loss")
        train = v1.train.GradientDescentOptimizer(0.5).minimize(loss, name="train")
        return loss.name, train.name

    return build


@pytest.mark.parametrize("use_resource", [True, False])
def test_a_step_is_made_again_with_the_variables_from_before(use_resource: bool) -> None:
    held = np.array([4, 5, 6], np.float32)
    made = replay_spec(
        step(use_resource), given("x:0", np.array([1, 0, 2], np.float32)), given("w", held, InputRole.VARIABLE, "w")
    )
    for _ in range(2):
        again = replay_session(made)
        assert again.error is None
        np.testing.assert_array_equal(value_of(again, "mul"), [4, 0, 12])
        assert value_of(again, "loss") == -np.inf
        bad = first_bad(again.tensors)
        assert bad is not None
        assert str(bad.name) == "log:0"
    assert held.tolist() == [4, 5, 6], "the update went into the held value"


def test_what_was_drawn_is_fed_and_not_drawn_again() -> None:
    def build() -> tuple[str, ...]:
        data = tf.data.Dataset.from_tensor_slices(([1.0, 2.0], [5.0, 6.0]))
        first, _second = v1.data.make_one_shot_iterator(data).get_next()
        noise = tf.random.uniform([3], name="noise")
        return (tf.add(first, noise, name="sum").name,)

    drawn = np.array([0.25, np.nan, 0.75], np.float32)
    made = replay_spec(
        build,
        given("IteratorGetNext:0", np.float32(7), InputRole.SOURCE),
        given("noise/RandomUniform:0", drawn, InputRole.SOURCE),
    )
    again = replay_session(made)
    np.testing.assert_array_equal(value_of(again, "sum"), 7 + drawn)
    assert not again.tensors.named("IteratorGetNext", 1)


def test_a_run_that_failed_gives_the_values_before_it_failed() -> None:
    def build() -> tuple[str, ...]:
        x = v1.placeholder(tf.float32, [2], name="x")
        checked = v1.check_numerics(tf.math.log(x, name="log"), "bad", name="check")
        other = tf.square(x, name="square")
        with tf.control_dependencies([checked]):
            return (tf.add(checked, other, name="sum").name,)

    again = replay_session(replay_spec(build, given("x:0", np.zeros(2, np.float32))))
    assert again.error is not None
    assert again.error.node == "check"
    assert value_of(again, "log").tolist() == [-np.inf, -np.inf]
    assert value_of(again, "square").tolist() == [0, 0]
    assert not again.tensors.named("sum")
    assert any("check" in note for note in again.notes)


@pytest.mark.parametrize("dtype", ["bfloat16", "half", "qint8", "string", "bool", "complex64", "int64"])
def test_feeds_of_every_kind(dtype: str) -> None:
    def build() -> tuple[str, ...]:
        return (tf.identity(v1.placeholder(dtype, [None], name="x"), name="same").name,)

    kind = tf.as_dtype(dtype)
    values = np.array([b"a\0", b""], object) if dtype == "string" else np.array([1, 0]).astype(_plain(kind))
    again = replay_session(replay_spec(build, replace(given("x:0", values), dtype=kind.name)))
    assert same_bits(value_of(again, "same"), values)


def _plain(kind: Any) -> Any:
    return np.int8 if kind == tf.qint8 else kind.as_numpy_dtype


def test_a_graph_that_makes_no_sense_is_an_error_of_ours() -> None:
    with pytest.raises(TfdbgError, match="graph"):
        replay_session(ReplaySpec(RunKind.SESSION, b"\xff\xff nonsense"))
    graph, _ = graph_of(lambda: (tf.constant(1.0, name="one").name,))
    with pytest.raises(TfdbgError, match="names"):
        replay_session(ReplaySpec(RunKind.SESSION, graph, fetches=("two:0",)))
    with pytest.raises(TfdbgError, match="inputs"):
        made = replay_spec(step(True), given("x:0", np.zeros([2, 2], np.float32)))
        replay_session(made)
