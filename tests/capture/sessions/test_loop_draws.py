"""What a loop of version 1 draws comes out of it in the order of its turns, and is fed when it is made again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tfdbg_cli.capture.tf import base_classes, compat
from tfdbg_cli.model.decision import DebugRun, Decision, RunUntil, Values
from tfdbg_cli.model.exactness import ExecutionWay

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("loops_of_v1")]

STEPS = 3
MODES: dict[str, tuple[Decision, ...]] = {
    "run": tuple(DebugRun() for _ in range(2 * STEPS)),
    "has_inf_or_nan": (RunUntil("has_inf_or_nan"),),
    "bad_result": (RunUntil("bad_result"),),
    "keep": (RunUntil("has_inf_or_nan", values=Values.KEEP),),
}


def _loop(tf: Any, turns: int, turn: Callable[[Any, Any], Any]) -> Any:
    """What a loop ends with. Turns side by side draw in whatever order they come: undebugged they differ, too."""
    return tf.while_loop(lambda i, x: i < turns, turn, [0, tf.ones([4])], parallel_iterations=1)[1]


def uniform(tf: Any, w: Any, turns: int = 3) -> Any:
    """A loop that multiplies by what it draws."""

    def turn(i: Any, x: Any) -> Any:
        return i + 1, x * tf.random_uniform([4], 0.5, 1.5, seed=3) + w

    return _loop(tf, turns, turn)


def dropped(tf: Any, w: Any) -> Any:
    """Dropout, and two more draws, one of integers."""

    def turn(i: Any, x: Any) -> Any:
        noise = tf.random_normal([4], seed=5) * tf.cast(tf.random_uniform([], 0, 9, tf.int32, seed=6), tf.float32)
        return i + 1, tf.nn.dropout(x * w, rate=0.5, seed=7) + noise

    return _loop(tf, 4, turn)


def no_turn(tf: Any, w: Any) -> Any:
    """A loop that is not gone through."""
    return uniform(tf, w, turns=0) * w


def _fetches(tf: Any, make: Callable[[Any, Any], Any]) -> list[Any]:
    """A loss and the update that it leads to, and an update of another variable whose readers wait for nothing."""
    tf.set_random_seed(1)
    w = tf.get_variable("w", initializer=np.full(4, 0.5, np.float32), use_resource=True)
    loss = tf.reduce_sum(make(tf, w), name="loss")
    return [loss, tf.train.GradientDescentOptimizer(0.01).minimize(loss), w.read_value()]


@pytest.mark.parametrize("make", [uniform, dropped, no_turn])
def test_a_run_made_again_draws_in_each_turn_what_the_program_drew(tf, debugged, graph, make) -> None:
    fetches = _fetches(tf, make)
    with tf.Session() as raw:
        raw.run(tf.global_variables_initializer())
        session, front = debugged(raw, *MODES["run"])
        got = [session.run(fetches[:2])[0] for _ in range(STEPS)]
    assert len(set(map(float, got))) == STEPS, "each run draws other numbers"
    for end, loss in zip(front.ends, got, strict=True):
        run = end.run
        assert run.exactness.way is ExecutionWay.UNCHANGED
        assert not run.exactness.doubt
        assert run.exactness.differs == ()
        (row,) = run.tensors.named("loss", 0)
        assert run.tensors.value(row) == loss
        drawn = [name for name in {one.node for one in run.tensors} if "random" in name and "turns/" in name]
        assert not drawn, "what was added is not shown"
        assert not any("left out" in note for note in run.notes)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("make", [uniform, dropped, no_turn])
def test_nothing_but_the_list_of_draws_runs_beside_the_program(tf, debugged, graph, monkeypatch, make, mode) -> None:
    """What is fetched besides comes out of the loop; nothing is dumped, since that changes the order."""
    fetches = _fetches(tf, make)
    told: list[Any] = []
    original = getattr(base_classes.plain_base(), compat.RUN)

    def run(session: Any, options: Any, feeds: Any, outputs: Any, ops: Any, metadata: Any) -> Any:
        if session.graph is graph:
            tensors, targets = compat.run_elements(session.graph, outputs, ops)
            if any(one.name.startswith("loss") for one in tensors):
                others = {one.op.type for one in tensors if one.op.type != "TensorListStack"}
                told.append((options, others, [one.name for one in targets]))
        return original(session, options, feeds, outputs, ops, metadata)

    monkeypatch.setattr(base_classes.plain_base(), compat.RUN, run)
    with tf.Session() as raw:
        raw.run(tf.global_variables_initializer())
        raw.run(fetches)
        plain = told.pop()
        session, _ = debugged(raw, *MODES[mode])
        for _ in range(STEPS):
            session.run(fetches)
    assert told == [plain] * STEPS


def test_what_a_loop_draws_that_makes_nan_is_found(tf, debugged, graph) -> None:
    def turn(i: Any, x: Any) -> Any:
        return i + 1, x + tf.log(tf.random_uniform([4], -2.0, -1.0, seed=3), name="bad")

    tf.set_random_seed(1)
    w = tf.get_variable("w", initializer=np.ones(4, np.float32), use_resource=True)
    y = tf.while_loop(lambda i, x: i < 2, turn, [0, w.read_value()])[1]
    with tf.Session() as raw:
        raw.run(tf.global_variables_initializer())
        session, front = debugged(raw, *MODES["has_inf_or_nan"])
        session.run([y, w.assign_add(tf.ones([4]))])
    (end,) = front.ends
    assert end.hit.runs == 1
    bad = end.run.tensors.named("while/bad", 0)
    assert len(bad) == 2, "both turns are shown"
    assert all(np.isnan(end.run.tensors.value(row)).all() for row in bad)


def in_a_branch(tf: Any, w: Any) -> Any:
    """A loop that need not be gone through."""
    return tf.cond(tf.reduce_sum(w) < 100.0, lambda: uniform(tf, w), lambda: w * 1.0)


def sometimes(tf: Any, w: Any) -> Any:
    """A draw in a branch of the turn."""

    def turn(i: Any, x: Any) -> Any:
        return i + 1, tf.cond(i < 1, lambda: x * tf.random_uniform([4], seed=3), lambda: x * w)

    return tf.while_loop(lambda i, x: i < 3, turn, [0, tf.ones([4])])[1]


def asked(tf: Any, w: Any) -> Any:
    """A draw in the condition, which is asked once more than there are turns."""

    def goes_on(i: Any, x: Any) -> Any:
        return i + tf.random_uniform([], 0, 1, tf.int32, seed=2) < 3

    return tf.while_loop(goes_on, lambda i, x: (i + 1, x * w), [0, tf.ones([4])])[1]


def nested(tf: Any, w: Any) -> Any:
    """A loop in a loop."""
    return tf.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, x * uniform(tf, w)), [0, tf.ones([4])])[1]


def any_shape(tf: Any, w: Any) -> Any:
    """What is drawn is as long as something that is not known before the run."""
    size = tf.placeholder_with_default(4, [])

    def turn(i: Any, x: Any) -> Any:
        return i + 1, x * tf.reduce_mean(tf.random_uniform([size], seed=3)) * w

    return tf.while_loop(lambda i, x: i < 3, turn, [0, tf.ones([4])])[1]


@pytest.mark.parametrize("make", [in_a_branch, sometimes, asked, nested, any_shape])
def test_where_the_order_may_be_another_it_is_said(tf, debugged, graph, make) -> None:
    """What cannot be carried out of the loop is dumped."""
    fetches = _fetches(tf, make)
    with tf.Session() as raw:
        raw.run(tf.global_variables_initializer())
        session, front = debugged(raw, DebugRun())
        assert np.isfinite(session.run(fetches)[0])
    exactness = front.ends[0].run.exactness
    assert exactness.way is ExecutionWay.IN_PLACE
    assert "draws something in a loop or a branch" in exactness.doubt
    assert "use w in no order" in exactness.doubt
    assert not exactness.program_exact
    assert exactness.words == "not exact: the order of what uses w"
