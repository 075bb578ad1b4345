"""What the program calls a tensor is looked for when it is first read, and where it has a name at all."""

from __future__ import annotations

import warnings
from collections import Counter, namedtuple
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from support.scripted import ScriptedFrontend

from tfdbg_cli.analysis.variables.listing import variables_of
from tfdbg_cli.capture.runs.eager import section
from tfdbg_cli.capture.runs.eager.log.noted_ops import OutsideInput
from tfdbg_cli.capture.runs.eager.program.stacks import stack_here
from tfdbg_cli.capture.runs.eager.program_names import namer, names_of_tensors
from tfdbg_cli.capture.runs.eager.watch import watch_of
from tfdbg_cli.capture.tf.compat import tensor_id
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.decision import RunUntil
from tfdbg_cli.model.frames import Frame, LiveFrame

pytestmark = pytest.mark.tf


@contextmanager
def _watched(**asked: int) -> Iterator[ScriptedFrontend]:
    """A watch of eager code, with the front end at which it stops."""
    decision = RunUntil("has_inf_or_nan", **asked)
    front = ScriptedFrontend(decision)
    debugger = Debugger(lambda: front)
    debugger.attendant = watch = watch_of(debugger)
    debugger.set_watch(decision)
    try:
        yield front
    finally:
        debugger.attendant = None
        watch.attend(False)


def test_what_has_no_name_is_looked_for_in_one_turn_only(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: Counter[int] = Counter()
    names_at_hand = section.names_at_hand

    def counted(wanted: set[int]) -> dict[int, str]:
        asked[turn] += 1
        return dict(names_at_hand(wanted))

    monkeypatch.setattr(section, "names_at_hand", counted)
    weight = tf.Variable(np.ones((3, 2), np.float32))
    with _watched() as front:
        for turn in range(5):
            batch = tf.constant(np.full((4, 3), 2.0 - turn, np.float32))
            hidden = tf.matmul(batch, weight)
            sums = tf.reduce_sum(tf.nn.relu(hidden), axis=[0])  # the axes are TensorFlow's own tensor
            weight.assign_sub(0.1 * tf.math.log(sums)[None] * tf.ones([3, 1]))
    assert asked[1] < asked[0]
    (end, *_) = front.ends
    np.testing.assert_array_equal(end.run.call.feeds["batch"], np.zeros((4, 3)))


def test_data_that_all_turns_have_in_common_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: Counter[int] = Counter()
    names_at_hand = section.names_at_hand
    monkeypatch.setattr(section, "names_at_hand", lambda wanted: (asked.update(wanted), names_at_hand(wanted))[1])
    weight, data = tf.Variable(np.ones((3, 2), np.float32)), tf.constant(np.ones((4, 3), np.float32))
    with _watched() as front:
        for turn in range(5):
            hidden = tf.matmul(data, weight)
            weight.assign_sub(tf.ones([3, 2]))
            if turn == 3:
                tf.math.log(hidden - hidden)
    assert asked[tensor_id(data)] == 1
    assert "data" in front.ends[0].run.call.feeds, "in the fourth turn, too"


def test_a_run_that_is_kept_calls_its_variables_as_the_stop_does() -> None:
    weight = tf.Variable(np.ones((3, 2), np.float32))
    with _watched(keep=2) as front:
        for turn in range(3):
            weight.assign_sub(tf.math.log(tf.reduce_sum(weight) - 100.0 * (turn // 2)) * tf.ones([3, 2]))
    (end,) = front.ends[:1]
    for run in (*end.earlier, end.run):
        assert "weight" in run.graph and "Variable" not in run.graph
        assert run.variables is not None
        assert run.variables.trainable == {"weight": True}


def test_variables_that_each_turn_makes_have_the_same_names_in_all_runs() -> None:

    def scaled() -> Any:
        scale = tf.Variable([2.0, 3.0])
        scale.assign_add([1.0, 1.0])
        return scale + 1.0

    with _watched(keep=3) as front:
        for turn in range(3):
            state = tf.Variable([1.0, 2.0], name="first")
            state.assign_add([1.0, 1.0])
            state = tf.Variable([5.0, 2.0], name="second")
            state.assign_sub(scaled())
            tf.math.log(state - 20.0 * (turn // 2) + 5.0)
    (end,) = front.ends[:1]
    for run in (*end.earlier, end.run):
        updated = [node.name for node in run.graph if node.op_type == "UpdatedVariable"]
        assert updated == ["state/after_update", "scale/after_update", "second/after_update"]
        listed = {one.name: one.slot_of for one in variables_of(run)}
        assert listed == {"state": "", "scale": "", "second": ""}, "each is there once, and is no slot of another"


def test_a_number_has_not_the_name_of_the_first_tensor_of_the_process() -> None:
    named = namer((), {0: "first"})
    assert named(OutsideInput(0.2)) == ""
    assert named(OutsideInput(np.ones(2, np.float32), tf.float32.as_datatype_enum, 0)) == "first"


def test_parts_of_structures_have_the_names_of_the_program() -> None:
    """A blind test: what an eager function gave back as a namedtuple in a tuple was `out[1][0]`."""
    step = namedtuple("step", "loss grads")
    loss, kernel, total, rest = (tf.constant(float(value)) for value in range(4))
    out = ({"x": total}, step(loss, [kernel]), (rest, 1))
    frame = LiveFrame(Frame("/home/me/train.py", 12, "main", "use(out)"), {"out": out}, {})
    named = names_of_tensors((frame,))
    names = [named[tensor_id(one)] for one in (total, loss, kernel, rest)]
    assert names == ["out[0]['x']", "out[1].loss", "out[1].grads[0]", "out[2][0]"]


def test_of_two_arrays_with_the_same_elements_none_is_named() -> None:
    """An argument of zeros bore the name of whatever other array happened to be zero."""
    advantages, observations, returns = np.zeros(3), np.zeros(3), np.ones(3)
    names = {"advantages": advantages, "observations": observations, "returns": returns, "again": returns}
    named = namer((LiveFrame(Frame("/home/me/train.py", 12, "main", "loss(advantages)"), names, {}),))
    assert named(OutsideInput(np.zeros(3, np.float32))) == ""
    assert named(OutsideInput(np.ones(3, np.float32))) == "returns", "two names of one array are no two arrays"


def test_a_list_of_actions_has_not_the_name_of_returns_that_happen_to_be_equal() -> None:
    """A blind test: the actions `[1]` were called `ret`, an array of one reward."""
    names = {"returns": np.ones(1, np.float32), "actions": [1], "words": ["a"], "deep": [[1]], "large": [10**400]}
    named = namer((LiveFrame(Frame("/home/me/train.py", 12, "main", "tf.gather(logits, actions)"), names, {}),))
    assert named(OutsideInput(np.ones(1, np.int32))) == "actions"
    assert named(OutsideInput(np.ones(1, np.float32))) == "returns"
    del names["actions"]
    assert named(OutsideInput(np.ones(1, np.int32))) == ""
    names["counts"] = [2, 3]
    assert named(OutsideInput(np.array([2.0, 3.0], np.float32))) == "counts", "TensorFlow makes floats of integers"


def test_a_stack_that_is_asked_for_above_all_calls_is_empty() -> None:
    assert stack_here(10_000) == []
    assert stack_here(0)[0].co_name == "stack_here"
    assert stack_here()[0].co_name == "test_a_stack_that_is_asked_for_above_all_calls_is_empty"


@pytest.mark.parametrize("how", ["raise", "warn"])
def test_a_name_is_found_where_the_program_makes_errors_of_numpys_warnings(how: Any) -> None:
    """NaN of an array is no integer, which NumPy says while both are compared."""
    data = np.array([1.0, np.nan, 3.0], np.float32)
    order = np.array([1, 0, 2], np.int32)
    frame = LiveFrame(Frame(__file__, 1, "train", ""), {"data": data, "order": order}, {})
    with np.errstate(all=how), warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        assert namer([frame])(OutsideInput(order)) == "order"
        assert np.geterr()["invalid"] == how
