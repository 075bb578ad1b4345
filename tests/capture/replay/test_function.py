"""Runs of functions made again from a description, in this process or another: whatever may be in it."""

from __future__ import annotations

import gc
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tfdbg_cli.capture.state.call_snapshot import CallSnapshot
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.replay import InputRole, ReplaySpec

tf = pytest.importorskip("tensorflow")
pytestmark = pytest.mark.tf

from tfdbg_cli.capture.functions.graph.function_graph import function_graph  # noqa: E402
from tfdbg_cli.capture.replay.any_replay import replay  # noqa: E402
from tfdbg_cli.capture.replay.function import fresh_variable  # noqa: E402
from tfdbg_cli.capture.replay.replayed import Replayed  # noqa: E402
from tfdbg_cli.capture.replay.room import require_room_in_function  # noqa: E402
from tfdbg_cli.capture.runs.function.traced_function import traced_function  # noqa: E402
from tfdbg_cli.capture.tf import compat  # noqa: E402
from tfdbg_cli.capture.tf.reentrancy import INSIDE  # noqa: E402


def replay_spec(function: Any, *arguments: Any) -> ReplaySpec:
    """That of one call of `function`, which is made."""
    concrete = function.get_concrete_function(*arguments)
    traced = traced_function(compat.atomic_of(concrete))
    inputs = [*arguments, *concrete.captured_inputs]
    held = CallSnapshot.of(traced.snapshot_plan, inputs)
    held.take_drawn(traced.instrumented.perform(inputs))
    return held.replay_spec()


def value(replayed: Replayed, node: str, execution: int = 0) -> Any:
    return replayed.tensors.value(replayed.tensors.named(node, 0)[execution])


def functions() -> set[str]:
    """The names of the functions that the runtime knows, but for those that it makes of single ops."""
    gc.collect()
    return {name for name in compat.context.context().list_function_names() if not name.startswith("__wrapped__")}


def _step() -> Any:
    weight = tf.Variable([1.0, 2.0], name="weight")

    @tf.function
    def turned(x):
        with tf.name_scope("model"):
            for _ in tf.range(2):
                x = tf.sin(x) if tf.reduce_sum(x) > 0.0 else -x
        return x

    @tf.function
    def step(x):
        weight.assign_add(turned(x))
        return weight * 2.0

    return step


@pytest.fixture
def step() -> Any:
    return _step()


@pytest.fixture(scope="module")
def described() -> ReplaySpec:
    """What describes a call, for tests that change a copy of it."""
    return replay_spec(_step(), tf.constant([1.0, -3.0]))


def test_it_needs_nothing_of_the_program(step) -> None:
    made = replay_spec(step, tf.constant([1.0, -3.0]))
    del step
    again = replay(made)
    assert again.error is None
    first = np.float32([1.0, -3.0]) * -1.0
    np.testing.assert_allclose(value(again, "mul"), 2.0 * (np.float32([1.0, 2.0]) + np.sin(first)), rtol=1e-6)
    names = {again.tensors[row].node for row in range(len(again.tensors))}
    assert {"turned/model/while/body/cond/true/Sin", "turned/model/while/body/cond/false/Neg", "x", "mul"} <= names


def test_no_function_stays_behind(step) -> None:
    made = replay_spec(step, tf.constant([1.0, -3.0]))
    before = functions()
    for _ in range(3):
        replay(made)
    assert functions() <= before


def test_a_run_of_a_worker_is_made_again_by_another_process(described) -> None:
    """A blind test: ops were placed at a task that the process of the replay is not, and none was computed."""
    graph = tf.compat.v1.GraphDef.FromString(b"").library
    graph.ParseFromString(described.graph)
    for function in graph.function:
        for node in function.node_def:
            node.device = "/job:worker/replica:0/task:1/device:CPU:0"
    again = replay(replace(described, graph=graph.SerializeToString()))
    assert again.error is None
    np.testing.assert_array_equal(value(again, "mul"), value(replay(described), "mul"))


def test_other_inputs_give_other_values(step) -> None:
    made = replay_spec(step, tf.constant([1.0, -3.0]))
    zeros = tuple(replace(item, value=np.zeros_like(item.value)) for item in made.inputs)
    np.testing.assert_array_equal(value(replay(replace(made, inputs=zeros)), "mul"), [0.0, 0.0])


def test_the_arrays_of_a_description_are_not_written_to(step) -> None:
    made = replay_spec(step, tf.constant([1.0, -3.0]))
    aligned = tuple(replace(item, value=np.array(item.value)) for item in made.inputs)
    copies = [item.value.copy() for item in aligned]
    for _ in range(2):
        replay(replace(made, inputs=aligned))
    for item, copy in zip(aligned, copies, strict=True):
        np.testing.assert_array_equal(item.value, copy)


def test_an_error_of_an_op_is_part_of_what_is_repeated() -> None:
    @tf.function
    def check(x):
        return tf.debugging.check_numerics(tf.math.log(x), "not well")

    good = replay_spec(check, tf.constant([1.0]))
    (item,) = good.inputs
    again = replay(replace(good, inputs=(replace(item, value=np.float32([0.0])),)))
    assert again.error is not None
    assert again.error.type_name == "InvalidArgumentError" and "not well" in again.error.message
    np.testing.assert_array_equal(value(again, "x"), [0.0])


def _without_input(made: ReplaySpec) -> ReplaySpec:
    return replace(made, inputs=made.inputs[:-1])


def _with_another_role(made: ReplaySpec) -> ReplaySpec:
    return replace(made, inputs=tuple(replace(item, role=InputRole.VARIABLE) for item in made.inputs))


def _with_another_type(made: ReplaySpec) -> ReplaySpec:
    return replace(made, inputs=tuple(replace(item, dtype="float99") for item in made.inputs))


def _with_another_shape(made: ReplaySpec) -> ReplaySpec:
    return replace(made, inputs=tuple(replace(item, dtype="string", value=np.array(b"?")) for item in made.inputs))


DAMAGES = [
    lambda made: replace(made, graph=b"\xff" * 40),
    lambda made: replace(made, graph=b""),
    lambda made: replace(made, entry="elsewhere"),
    lambda made: replace(made, details={"function": "{"}),
    lambda made: replace(made, details={"function": "[]"}),
    lambda made: replace(made, details={"function": json.dumps({"places": {"a": 3}})}),
    lambda made: replace(made, details={"function": json.dumps({"aliases": {"1": 7}})}),
    lambda made: replace(made, kind=RunKind.EAGER),
    _without_input,
    _with_another_role,
    _with_another_type,
    _with_another_shape,
]


@pytest.mark.parametrize("damage", DAMAGES, ids=range(len(DAMAGES)))
def test_damage_is_said_and_nothing_stays_behind(described, damage) -> None:
    before = functions()
    with pytest.raises(TfdbgError):
        replay(damage(described))
    assert functions() <= before


def test_a_description_without_details_is_enough_for_a_plain_function() -> None:
    @tf.function
    def double(x):
        return x * 2.0

    made = replace(replay_spec(double, tf.constant(3.0)), details={})
    assert value(replay(made), "mul") == 6.0


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "int4", "uint8", "complex64", "bool", "float8_e5m2"])
def test_inputs_of_every_kind(dtype) -> None:
    import ml_dtypes

    @tf.function
    def same(x):
        return tf.identity(x)

    kind = np.dtype(getattr(ml_dtypes, dtype)) if hasattr(ml_dtypes, dtype) else np.dtype(dtype)
    x = np.array([[1, 0]]).astype(kind)
    made = replay_spec(same, tf.constant(x))
    again = replay(made)
    assert again.error is None
    assert value(again, "Identity").dtype == kind
    assert value(again, "Identity").tobytes() == x.tobytes()


def test_empty_and_text_inputs() -> None:
    @tf.function
    def both(x, y):
        return tf.identity(x), tf.strings.length(y)

    made = replay_spec(both, tf.zeros([0, 3]), tf.constant([["ä", ""]]))
    again = replay(made)
    assert value(again, "Identity").shape == (0, 3)
    assert value(again, "StringLength").tolist() == [[2, 0]]


def test_a_copy_of_a_variable_is_made_beside_the_program(monkeypatch) -> None:
    """A watch of eager code would take the ops for the program's, and stop at a NaN that a copy is given."""
    made, new_variable = [], compat.new_variable
    monkeypatch.setattr(compat, "new_variable", lambda value: (made.append(INSIDE.holds()), new_variable(value))[1])
    handle = fresh_variable(tf.constant(2.0), "")
    assert made == [True] and not INSIDE.holds()
    assert float(tf.raw_ops.ReadVariableOp(resource=handle, dtype="float32")) == 2.0


def test_where_there_is_one_device_none_is_chosen_for_a_copy(monkeypatch) -> None:
    """Ops on a chosen device take twice as long, and each run made again begins with a copy of every variable."""
    chosen, device = [], tf.device
    monkeypatch.setattr(tf, "device", lambda name: (chosen.append(name), device(name))[1])
    fresh_variable(tf.constant(2.0), "/job:localhost/replica:0/task:0/device:CPU:0")
    assert not chosen
    (only,) = tf.config.list_logical_devices()
    monkeypatch.setattr(tf.config, "list_logical_devices", lambda: [only, only._replace(name="/device:XPU:0")])
    fresh_variable(tf.constant(2.0), only.name)
    fresh_variable(tf.constant(2.0), "/device:TPU:0")
    assert chosen == ["/device:CPU:0", None]


def test_nodes_of_a_function_in_a_branch_have_their_names_of_the_program_also_under_a_tape() -> None:
    """What a gradient needs is given back by name, and TensorFlow numbers the node: `truediv_0`."""
    weight = tf.Variable([0.3, -0.2])

    @tf.function
    def inner(x):
        shares = x / tf.reduce_sum(x)
        return tf.reduce_mean(shares * shares)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.cond(tf.reduce_sum(x) > 0.0, lambda: inner(x * weight), lambda: 0.0)
        return tape.gradient(loss, weight)

    x = tf.constant([1.0, 2.0])
    again = replay(replay_spec(step, x))
    graph = function_graph(step.get_concrete_function(x))
    names = set(again.tensors.nodes())
    assert "cond/true/inner/truediv" in names
    assert not {name for name in names if name not in graph}


def test_room_is_asked_for_in_a_function_whose_ops_stand_beside_those_of_another() -> None:
    """The gradient of a loop around an embedding of Keras: the size of the table is asked of it where it is."""
    table = tf.Variable(tf.ones((5, 3)))

    @tf.function
    def step(ids):
        with tf.GradientTape() as tape:
            loss = tf.constant(0.0)
            for turn in tf.range(3):
                # As Keras does it: the gradient has the shape of the table, which it asks of the read in the loop.
                loss += tf.reduce_sum(tf.gather(tf.convert_to_tensor(table), ids[:, turn]))
        return tape.gradient(loss, table)

    spec = replay_spec(step, tf.ones((4, 3), tf.int32))
    assert b"loc:@" in spec.graph
    require_room_in_function(spec, 1 << 20)
    with pytest.raises(TfdbgError, match="tfdbg may use"):
        require_room_in_function(spec, 10)
