"""A captured run is made as the program made it; its values are of the same run made again, and that is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tfdbg_cli.capture.replay import session_copy
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.model.decision import CaptureRequest, Continue, DebugRun, Detach, GraphChoice, RunUntil, Values
from tfdbg_cli.model.exactness import ExecutionWay
from tfdbg_cli.model.graph import GraphKind

pytestmark = pytest.mark.tf

STEPS = 4


class Quotient:
    """A step in which TensorFlow makes one op of a root and a division, unless somebody reads the root."""

    def __init__(self, tf: Any, *, resource: bool = True) -> None:
        numbers = np.random.RandomState(1).randn(400).astype(np.float32)
        self.w = tf.get_variable("w", initializer=numbers, use_resource=resource)
        self.scale = tf.placeholder_with_default(np.float32(0.01), [], name="scale")
        root = tf.sqrt(tf.abs(self.w) + 0.1, name="root")
        y = tf.divide(tf.cos(self.w), root, name="y")
        self.loss = tf.reduce_sum(tf.nn.relu(y), name="loss")
        self.update = self.w.assign_sub(y * self.scale)
        self.fetches = [self.loss, self.update.op if resource else self.update]
        self.init = tf.global_variables_initializer()

    def steps(self, session: Any) -> list[bytes]:
        """The bits of the losses."""
        return [session.run(self.fetches)[0].tobytes() for _ in range(STEPS)]


@pytest.mark.parametrize("resource", [True, False], ids=["resource", "reference"])
def test_a_captured_run_gives_the_numbers_of_the_program(tf, debugged, graph, resource) -> None:
    step = Quotient(tf, resource=resource)
    with tf.Session() as raw:
        raw.run(step.init)
        expected, left = step.steps(raw), raw.run(step.w)
    with tf.Session() as raw:
        raw.run(step.init)
        session, front = debugged(raw, *[DebugRun() for _ in range(2 * STEPS)])
        assert step.steps(session) == expected
        assert raw.run(step.w).tobytes() == left.tobytes()
    for end in front.ends:
        exactness = end.run.exactness
        assert exactness.way is ExecutionWay.UNCHANGED
        assert exactness.compared >= 2
        # What is shown was made with a reader of the root, and it is said that it differs. Beside variables of the
        # old kind what needs no update is read in a run of its own.
        assert ("w" in {parting.name for parting in exactness.differs}) is resource
        assert all(parting.max_abs is not None and parting.max_abs < 1e-3 for parting in exactness.differs)
        assert "The program's own call" in exactness.sentence or "unchanged" in exactness.sentence
    assert any(end.run.exactness.differs for end in front.ends)


def test_values_that_are_the_same_are_said_to_be(tf, debugged, graph) -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    v = tf.get_variable("v", initializer=[1.0, 2.0])
    with tf.control_dependencies([tf.identity(x * v, name="product")]):
        update = v.assign_add(x)
    with tf.Session() as raw:
        raw.run(tf.global_variables_initializer())
        session, front = debugged(raw, DebugRun(), Detach())
        session.run([graph.get_tensor_by_name("product:0"), update.op], {x: [1.0, 1.0]})
    run = front.ends[0].run
    assert run.exactness.exact
    assert run.exactness.compared == 2
    assert run.graph_kind is GraphKind.PYTHON
    (row,) = run.tensors.named("v/after_update", 0)
    assert run.tensors.value(row).tolist() == [2.0, 3.0]


def test_later_runs_are_made_again_in_the_copy_of_the_first(tf, debugged, graph, monkeypatch) -> None:
    made = []
    original = session_copy.SessionCopy.__init__

    def init(self: Any, replay_spec: Any) -> None:
        made.append(replay_spec)
        original(self, replay_spec)

    monkeypatch.setattr(session_copy.SessionCopy, "__init__", init)
    step = Quotient(tf)
    with tf.Session() as raw:
        raw.run(step.init)
        session, front = debugged(raw, *[DebugRun() for _ in range(2 * STEPS)], DebugRun(), DebugRun())
        step.steps(session)
        assert len(made) == 1
        more = tf.identity(step.loss, name="more")
        session.run(more)
        assert len(made) == 2, "another call is another copy"
    shown = [end.run.tensors.value(end.run.tensors.named("root", 0)[0]) for end in front.ends[:STEPS]]
    assert len({root.tobytes() for root in shown}) == STEPS, "each run is made from its own state"


def test_values_of_an_earlier_run_stay_when_the_next_is_made_again(tf, debugged, graph) -> None:
    """What is read of a variable of the old kind shares its memory."""
    v = tf.get_variable("v", initializer=[1.0], use_resource=False)
    read = tf.identity(v, name="read")
    with tf.control_dependencies([tf.identity(read * 2.0)]):
        update = v.assign_add([1.0])
    runs: list[Any] = []

    def look(stop: Any) -> DebugRun:
        runs.append(stop.run)
        return DebugRun()

    with tf.Session() as raw:
        raw.run(tf.global_variables_initializer())
        session, _ = debugged(raw, DebugRun(), look, look)
        for _ in range(2):
            session.run(update.op)

    def value(run: Any, name: str) -> list[float]:
        (row,) = run.tensors.named(name, 0)
        return run.tensors.value(row).tolist()

    assert [value(run, "v") for run in runs] == [[1.0], [2.0]]
    assert [value(run, "AssignAdd") for run in runs] == [[2.0], [3.0]]
    assert [value(run, "v/after_update") for run in runs] == [[2.0], [3.0]]


@pytest.mark.parametrize(
    ("decision", "why"),
    [
        (DebugRun(values=Values.KEEP), "`--keep` or `--values keep` asks for it"),
        (DebugRun(CaptureRequest(graph=GraphChoice.RUNTIME)), "the runtime graph is what TensorFlow makes"),
    ],
)
def test_a_run_captured_in_place_says_so(tf, debugged, graph, decision, why) -> None:
    step = Quotient(tf)
    with tf.Session() as raw:
        raw.run(step.init)
        session, front = debugged(raw, decision, Detach())
        session.run(step.fetches)
    exactness = front.ends[0].run.exactness
    assert exactness.way is ExecutionWay.IN_PLACE
    assert not exactness.exact
    assert why in exactness.sentence
    assert "last digits may differ" in exactness.sentence


def test_values_that_are_too_large_for_memory_are_dumped(tf, debugged, graph) -> None:
    x = tf.placeholder(tf.float32, [1 << 16], name="x")
    y = tf.exp(x, name="y")
    small = Settings(memory_budget=1 << 16)
    with tf.Session() as raw:
        session, front = debugged(raw, DebugRun(), Detach(), settings=small)
        session.run(y, {x: np.zeros(1 << 16)})
    run = front.ends[0].run
    assert front.stops[0].estimate.medium == "disk"
    assert run.graph_kind is GraphKind.RUNTIME
    assert "more than tfdbg may hold in memory" in run.exactness.doubt


def test_a_run_that_initializes_a_variable_is_captured_in_place_and_says_why(tf, debugged, graph) -> None:
    v = tf.get_variable("v", initializer=1.0)
    with tf.Session() as raw:
        session, front = debugged(raw, DebugRun(), Detach())
        session.run(v.initializer)
    exactness = front.ends[0].run.exactness
    assert exactness.way is ExecutionWay.IN_PLACE
    assert "the state before it could not be read (FailedPreconditionError)" in exactness.doubt


def test_a_run_with_an_obstacle_names_it(tf, debugged, graph, loops_of_v1) -> None:
    looped = tf.while_loop(
        lambda total: total < 2.0, lambda total: total + tf.random_uniform([], seed=1, name="drawn"), [0.0]
    )
    with tf.Session() as raw:
        session, front = debugged(raw, DebugRun(), Detach())
        assert session.run(looped) >= 2
    exactness = front.ends[0].run.exactness
    assert exactness.way is ExecutionWay.IN_PLACE
    assert "draws something in a loop or a branch" in exactness.doubt


def test_a_run_that_fails_shows_what_was_computed_until_then(tf, debugged, graph) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.log(x, name="y")
    checked = tf.check_numerics(y, "bad", name="checked")
    with tf.Session() as raw:
        session, front = debugged(raw, DebugRun(), Continue())
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(checked, {x: 0.0})
    run = front.ends[0].run
    assert run.error.node == "checked"
    assert run.tensors.value(run.tensors.named("y", 0)[0]) == -np.inf


@pytest.mark.parametrize("runs", [1, 2])
def test_a_run_that_fails_behind_a_batch_shows_the_batch(tf, debugged, graph, runs) -> None:
    """What was drawn is drawn, and would be lost with the run that failed."""
    data = tf.data.Dataset.from_tensor_slices([[1.0, 2.0], [0.0, 3.0]])
    batch = tf.identity(tf.data.make_one_shot_iterator(data.repeat()).get_next(), name="batch")
    noise = tf.random_uniform([2], seed=1, name="noise")
    y = tf.log(batch, name="y")
    with tf.control_dependencies([tf.identity(y + noise, name="sum")]):
        checked = tf.check_numerics(y, "bad", name="checked")
    with tf.Session() as raw:
        session, front = debugged(raw, *[DebugRun()] * (2 * runs + 2))
        for at in range(2 * runs):
            if at % 2:
                with pytest.raises(tf.errors.InvalidArgumentError):
                    session.run(checked)
            else:
                session.run(checked)
    failed = [end.run for end in front.ends if end.run.error is not None]
    assert len(failed) == runs
    for run in failed:
        assert run.error.node == "checked"
        assert run.tensors.value(run.tensors.named("batch", 0)[0]).tolist() == [0.0, 3.0]
        assert run.tensors.value(run.tensors.named("y", 0)[0])[0] == -np.inf
        assert run.tensors.named("noise/RandomUniform", 0)


@pytest.mark.parametrize("decision", [DebugRun(), RunUntil("has_inf_or_nan")], ids=["run", "watch"])
@pytest.mark.parametrize("stateful", [True, False])
def test_python_of_the_program_is_called_once(tf, debugged, graph, stateful, decision) -> None:
    calls: list[int] = []

    def answer() -> np.float32:
        calls.append(1)
        return np.float32(len(calls))

    y = tf.log(tf.py_func(answer, [], tf.float32, stateful=stateful), name="y")
    with tf.Session() as raw:
        session, _ = debugged(raw, decision, Detach())
        assert session.run(y) == 0.0
    assert len(calls) == 1


def test_a_filter_of_the_persons_own_is_asked_about_variables_of_the_old_kind(tf, debugged, graph) -> None:
    """TensorFlow's tfdbg gives it the value of the variable, before and after it was written."""
    v = tf.get_variable("v", initializer=0.0, use_resource=False)
    update = tf.assign_add(v, 1.0, name="update")
    asked: list[tuple[str, float]] = []

    def large(datum: Any, value: Any) -> bool:
        if datum.node_name in ("v", "update"):
            asked.append((datum.node_name, float(value)))
        return bool(datum.node_name == "update" and value > 3)

    for values in (Values.AUTO, Values.KEEP):
        asked.clear()
        with tf.Session() as raw:
            raw.run(v.initializer)
            session, front = debugged(raw, RunUntil("large", values=values), Detach())
            session._tfdbg_controller.add_filter("large", large)
            for _ in range(5):
                session.run(update)
        assert [end.hit.runs for end in front.ends] == [4], values
        assert asked[:4] == [("v", 0.0), ("update", 1.0), ("v", 1.0), ("update", 2.0)], values


def test_the_end_of_the_data_is_no_failure_of_ours(tf, debugged, graph, capsys) -> None:
    """Each epoch ended with a sentence on a run that cannot be made again, which nobody had asked for."""
    data = tf.data.Dataset.from_tensor_slices(np.random.RandomState(1).rand(8, 3).astype(np.float32)).batch(4)
    batches = tf.data.make_initializable_iterator(data)
    given = batches.get_next()
    w = tf.get_variable("w", [3, 3], initializer=tf.ones_initializer())
    scaled = given / tf.norm(given, axis=1, keepdims=True)
    step = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_mean(tf.square(tf.matmul(scaled, w))))
    init = tf.global_variables_initializer()
    with tf.Session() as raw:
        raw.run(init)
        session, front = debugged(raw, RunUntil("has_inf_or_nan"))
        for _ in range(2):
            session.run(batches.initializer)
            session.run(step)
            session.run(step)
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(step)
    assert not front.ends
    assert not front.said
    assert "made again" not in capsys.readouterr().err
