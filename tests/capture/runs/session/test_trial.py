"""Watched runs are compared with the same run left alone, and where they differ the program gets the latter."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from test_unchanged import STEPS, Quotient

from tfdbg_cli.capture.replay.prepared_run import PreparedRun
from tfdbg_cli.capture.runs.session import trial_run
from tfdbg_cli.capture.sessions.known_exactness import KnownExactness
from tfdbg_cli.capture.state.run_snapshot import COPIES, RunSnapshot
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.model.decision import Continue, Detach, RunUntil, Values
from tfdbg_cli.model.exactness import ExecutionWay

pytestmark = pytest.mark.tf

WATCH = RunUntil("has_inf_or_nan")


@pytest.fixture
def trials(monkeypatch: pytest.MonkeyPatch) -> list[trial_run.TrialRun]:
    """The watched runs that were made."""
    made: list[trial_run.TrialRun] = []
    original = trial_run.TrialRun.__init__

    def init(self: Any, *arguments: Any, **keywords: Any) -> None:
        original(self, *arguments, **keywords)
        made.append(self)

    monkeypatch.setattr(trial_run.TrialRun, "__init__", init)
    return made


@pytest.mark.parametrize("resource", [True, False], ids=["resource", "reference"])
def test_a_watch_that_changes_last_digits_gives_the_program_its_own(tf, debugged, graph, trials, resource) -> None:
    step = Quotient(tf, resource=resource)
    with tf.Session() as raw:
        raw.run(step.init)
        expected, left = step.steps(raw), raw.run(step.w)
    with tf.Session() as raw:
        raw.run(step.init)
        session, front = debugged(raw, WATCH, Detach())
        assert step.steps(session) == expected
        assert raw.run(step.w).tobytes() == left.tobytes()
    assert front.ends == []
    if resource:
        (trial,) = trials
        assert trial.exactness.way is ExecutionWay.GIVEN
        assert trial.exactness.exact
        assert "gave other numbers than left alone" in trial.notes[0]
        assert "checked when they are made again" in trial.notes[0]


def test_all_variables_are_given_back_in_one_run(tf, debugged, monkeypatch, trials) -> None:
    """Where an op was added TensorFlow goes over the whole graph again."""
    added: list[int] = []
    original = compat.add_hidden_ops

    def add(*given: Any) -> Any:
        added[-1] += 1
        return original(*given)

    monkeypatch.setattr(compat, "add_hidden_ops", add)
    for count in (2, 6):
        with tf.Graph().as_default(), tf.Session() as raw:
            steps = []
            for at in range(count):
                with tf.variable_scope(f"step{at}"):
                    steps.append(Quotient(tf))
            raw.run([step.init for step in steps])
            session, _ = debugged(raw, WATCH, Detach())
            added.append(0)
            session.run([step.fetches for step in steps])
        written = {parting.name for parting in trials[-1]._differs} & {step.w.op.name for step in steps}
        assert len(written) == count
    assert added[0] == added[1]


def test_what_the_watch_saw_of_such_a_run_is_shown(tf, debugged, graph) -> None:
    step = Quotient(tf)
    with tf.Session() as raw:
        raw.run(step.init)
        session, front = debugged(raw, WATCH, Detach())
        for scale in (0.01, 0.01, np.inf):
            session.run(step.fetches, {step.scale: scale})
    (end,) = front.ends
    assert end.hit.runs == 3
    assert end.run.exactness.way is ExecutionWay.UNCHANGED
    assert any("was left as it is, and looked at when it was made again" in note for note in end.run.notes)


def test_a_watch_that_changes_nothing_is_proven_by_the_graphs(tf, debugged, graph, trials) -> None:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.get_variable("w", initializer=np.ones((3, 2), np.float32))
    loss = tf.reduce_sum(tf.exp(tf.matmul(x, w)))
    train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    with tf.Session() as raw:
        raw.run(tf.global_variables_initializer())
        session, front = debugged(raw, WATCH, Detach())
        for _ in range(3):
            session.run([loss, train], {x: np.ones((2, 3))})
        session.run([loss, train], {x: np.full((2, 3), np.inf)})
    assert [trial.exactness.compared for trial in trials] == [2, 2, 0, 2], "the first, and then ever more seldom"
    exactness = front.ends[0].run.exactness
    assert exactness.way is ExecutionWay.PROVEN
    assert exactness.exact
    assert "TensorFlow made the same ops" in exactness.sentence


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, tuple[str, ...]]]:
    """What is prepared to be run on copies: the thread that has it compiled, and what it runs for."""
    made: list[tuple[str, tuple[str, ...]]] = []
    original = PreparedRun.__init__

    def init(self: Any, session: Any, feeds: Any, tensors: Any, targets: Any, *options: Any) -> None:
        original(self, session, feeds, tensors, targets, *options)
        made.append((threading.current_thread().name, tuple(one.name for one in (*tensors, *targets))))

    monkeypatch.setattr(PreparedRun, "__init__", init)
    return made


def test_the_plain_run_is_compiled_once_beside_the_watched_one(tf, debugged, graph, trials, compiled) -> None:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.get_variable("w", initializer=np.ones((3, 2), np.float32))
    noise = tf.random_uniform([2], seed=1)
    loss = tf.reduce_sum(tf.exp(tf.matmul(x, w)) + noise, name="loss")
    train = tf.train.GradientDescentOptimizer(0.01).minimize(loss, name="train")
    with tf.Session() as raw:
        raw.run(tf.global_variables_initializer())
        session, _ = debugged(raw, WATCH, Detach())
        session.run([loss, train], {x: np.ones((2, 3))})
        before = list(compiled)
        for rows in (2, 4, 5):
            session.run([loss, train], {x: np.ones((rows, 3))})
    assert [trial.exactness.compared for trial in trials] == [2, 2, 0, 2]
    assert all(trial.exactness.exact for trial in trials)
    assert ("tfdbg-beside", ("loss:0", "train")) in before
    assert compiled == before, "later trials run what was compiled for the first"
    assert {thread for thread, _ in compiled} == {"tfdbg-beside"}


def test_where_order_is_left_to_chance_nothing_is_compiled_beside(tf, debugged, graph, trials, compiled) -> None:
    w = tf.get_variable("w", initializer=np.float32(3.0))
    apart = tf.exp(w.read_value())  # a read of its own, which may come before the update or after it
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.square(w))
    with tf.Session() as raw:
        raw.run(w.initializer)
        session, _ = debugged(raw, WATCH, Detach())
        session.run([apart, train])
    assert not trials, "such a run is left as it is, and checked when it is made again"
    assert "tfdbg-beside" not in {thread for thread, _ in compiled}


def test_a_plain_run_that_cannot_be_prepared_beside_is_prepared_later(
    tf, debugged, graph, trials, monkeypatch
) -> None:
    monkeypatch.setattr(RunSnapshot, "prepare_plain", lambda self: 1 / 0)
    x = tf.placeholder(tf.float32, [3], name="x")
    y = tf.exp(x, name="y")
    with tf.Session() as raw:
        session, _ = debugged(raw, WATCH, Detach())
        assert session.run(y, {x: [0.0, 0.0, 0.0]}).tolist() == [1.0, 1.0, 1.0]
    (trial,) = trials
    assert trial.exactness.compared == 1


def test_a_variable_without_a_value_is_told_by_the_run_alone(tf, debugged, graph, trials, capsys) -> None:
    w = tf.get_variable("w", initializer=np.ones(3, np.float32))
    y = tf.exp(w, name="y")
    with tf.Session() as raw:
        session, _ = debugged(raw, WATCH, Detach())
        with pytest.raises(tf.errors.FailedPreconditionError):
            session.run(y)
    assert "could not" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "run",
    [
        lambda session, x, y: session.run("missing:0"),
        lambda session, x, y: session.run(y, {"missing:0": 1.0}),
        lambda session, x, y: session.run(y, [1.0]),
        lambda session, x, y: session.run(y, {x: y}),
        lambda session, x, y: session.run(y, {x: "text"}),
        lambda session, x, y: session.close() or session.run(y, {x: 1.0}),
    ],
)
def test_a_call_that_is_wrong_is_told_by_tensorflow_alone(tf, debugged, graph, capsys, run) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    queue = tf.queue.FIFOQueue(1, [tf.float32], [[]])
    y = tf.exp(x, name="y") + queue.dequeue()
    with tf.Session() as raw:
        session, _ = debugged(raw, WATCH, Detach())
        with pytest.raises((ValueError, TypeError, RuntimeError)):
            run(session, x, y)
    assert not capsys.readouterr().err


def test_what_the_program_has_tensorflow_tell_of_a_run_is_as_without_a_watch(tf, debugged, graph) -> None:
    x = tf.placeholder(tf.float32, [3], name="x")
    w = tf.get_variable("w", initializer=np.full(3, 2.0, np.float32), use_resource=True)
    loss = tf.reduce_sum(tf.square(tf.log(x) * w))
    train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)

    def told(session: Any, given: float) -> Any:
        metadata = tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=True)
        session.run([loss, train], {x: [given, 1.0, 2.0]}, options=options, run_metadata=metadata)
        ran = sorted(op.node_name for device in metadata.step_stats.dev_stats for op in device.node_stats)
        return ran, [sorted(node.name for node in part.node) for part in metadata.partition_graphs]

    with tf.Session() as raw:
        raw.run(tf.global_variables_initializer())
        plain = told(raw, 1.0)
        session, front = debugged(raw, WATCH, Detach())
        assert [told(session, 1.0), told(session, 2.0)] == [plain, plain]
        assert told(session, 0.0) == plain
    (end,) = front.ends
    assert end.hit is not None
    assert end.run.exactness.exact
    assert "has TensorFlow tell which ops" in " ".join(end.run.notes)


def test_the_copies_hold_nothing_between_two_trials(tf, debugged, graph, trials) -> None:
    x = tf.placeholder(tf.float32, [3], name="x")
    w = tf.get_variable("w", initializer=np.ones(3, np.float32))
    step = w.assign_add(tf.exp(x))
    with tf.Session() as raw:
        raw.run(w.initializer)
        session, _ = debugged(raw, WATCH, Detach())
        for _ in range(3):
            session.run(step.op, {x: [0.0, 1.0, 2.0]})
    assert [trial.exactness.compared for trial in trials] == [1, 1, 0]
    (copy,) = COPIES.of(graph).kept
    assert [reader.shape for reader in copy.session().run(copy._readers)] == [(0,)]


def test_ops_that_were_made_otherwise_are_named(tf, debugged, graph, trials) -> None:
    x = tf.placeholder(tf.float32, [4, 4], name="x")
    root = tf.sqrt(x, name="root")
    y = tf.divide(tf.cos(x), root, name="y")
    with tf.Session() as raw:
        session, _ = debugged(raw, WATCH, Detach())
        session.run(y, {x: np.full((4, 4), 4.0)})
    (trial,) = trials
    exactness = trial.exactness
    if exactness.way is ExecutionWay.PROVEN:  # the digits were the same
        assert "made something else of" in exactness.doubt
        assert "root" in exactness.doubt or "y" in exactness.doubt


def hidden_by_relu(tf: Any) -> tuple[Any, list[Any]]:
    """A step whose update is bad while what the program fetches is not."""
    x = tf.placeholder(tf.float32, [], name="x")
    step = Quotient(tf)
    bad = tf.log(x, name="bad")
    return x, [*step.fetches, tf.nn.relu(bad)]


@pytest.mark.parametrize("values", [Values.AUTO, Values.KEEP])
def test_at_a_hit_the_program_has_what_it_would_have_had(tf, debugged, graph, monkeypatch, values) -> None:
    monkeypatch.setattr(KnownExactness, "next_is_due", lambda self: False)  # only the hit leads to a comparison
    x, fetches = hidden_by_relu(tf)
    given = [1.0, 2.0, 0.0, 3.0]
    (w,) = tf.global_variables()

    def bits(session: Any) -> list[list[bytes]]:
        found = [session.run(fetches, {x: one}) for one in given]
        return [[np.asarray(value).tobytes() for value in step if value is not None] for step in found]

    with tf.Session() as raw:
        raw.run(w.initializer)
        before = bits(raw)
    with tf.Session() as raw:
        raw.run(w.initializer)
        for one in given[:2]:
            raw.run(fetches, {x: one})
        session, front = debugged(raw, RunUntil("has_inf_or_nan", values=values), Continue())
        found = [session.run(fetches, {x: one}) for one in given[2:]]
    (end,) = front.ends
    assert end.hit.runs == 1
    after = [[np.asarray(value).tobytes() for value in step if value is not None] for step in found]
    assert after == before[2:]
    assert end.run.exactness.way in (ExecutionWay.GIVEN, ExecutionWay.PROVEN, ExecutionWay.IN_PLACE)
    assert [type(value) for value in found[0] if value is not None] == [np.float32, np.float32]


def test_a_runner_gets_its_own_numbers_too(tf, debugged, graph) -> None:
    from tensorflow.core.protobuf import config_pb2

    step = Quotient(tf)
    options = config_pb2.CallableOptions(fetch=["loss:0"], target=[step.update.op.name])
    makers = (
        lambda session: session.make_callable({"loss": step.loss, "update": step.update.op}),
        lambda session: session._make_callable_from_options(options),
    )
    for make in makers:
        results = []
        for watched in (False, True):
            with tf.Session() as raw:
                raw.run(step.init)
                runner = make(debugged(raw, WATCH, Detach())[0] if watched else raw)
                found = [runner() for _ in range(2)]
                results.append((np.asarray(raw.run(step.w)).tobytes(), repr(found)))
        assert results[0] == results[1]


@contextmanager
def _beside(tf: Any, session: Any, variables: Sequence[Any]) -> Iterator[None]:
    """A context in which another thread is in a run of `session` that reads `variables`, too."""
    inside, go_on = threading.Event(), threading.Event()

    def wait() -> np.float32:
        inside.set()
        assert go_on.wait(120)
        return np.float32(1.0)

    other = threading.Thread(target=session.run, args=([tf.py_func(wait, [], tf.float32), *variables],))
    other.start()
    assert inside.wait(120)
    try:
        yield
    finally:
        go_on.set()
        other.join()


def test_variables_that_another_thread_may_have_written_are_left_alone(tf, debugged, graph, trials) -> None:
    step = Quotient(tf)
    with tf.Session() as raw:
        raw.run(step.init)
        session, _ = debugged(raw, WATCH, Detach())
        with _beside(tf, session, [step.w]):
            session.run(step.fetches)
    doubts = [trial.exactness.doubt for trial in trials]
    assert any("runs were made of the session meanwhile that use its variables" in doubt for doubt in doubts)


def test_a_run_is_compared_while_a_queue_is_filled(tf, debugged, graph, trials) -> None:
    """A blind test: a session that is trained through a queue got other weights, as its runners never rest."""
    step = Quotient(tf)
    with tf.Session() as raw:
        raw.run(step.init)
        expected, left = step.steps(raw), raw.run(step.w)
    with tf.Session() as raw:
        raw.run(step.init)
        session, _ = debugged(raw, WATCH, Detach())
        with _beside(tf, session, []):
            assert step.steps(session) == expected
        assert raw.run(step.w).tobytes() == left.tobytes()
    assert any(trial.exactness.way is ExecutionWay.GIVEN for trial in trials)


def test_where_the_copy_does_not_do_the_same_nothing_is_put_into_the_program(
    tf, debugged, graph, trials, monkeypatch
) -> None:
    step = Quotient(tf)
    monkeypatch.setattr(trial_run.TrialRun, "_is_faithful", lambda self, own, held: False)
    with tf.Session() as raw:
        raw.run(step.init)
        session, _ = debugged(raw, WATCH, Detach())
        step.steps(session)
    assert len(trials) == STEPS, "no run is left alone for it"
    assert "gave something else, watched or not" in trials[0].exactness.doubt


def test_runs_whose_values_are_kept_say_that_they_may_differ(tf, debugged, graph) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    with tf.Session() as raw:
        session, front = debugged(raw, RunUntil("has_inf_or_nan", values=Values.KEEP), Detach())
        session.run(tf.log(x), {x: 0.0})
    exactness = front.ends[0].run.exactness
    assert exactness.way is ExecutionWay.IN_PLACE
    assert not exactness.exact


@pytest.mark.parametrize("values", [Values.AUTO, Values.KEEP])
def test_the_line_of_the_watch_says_so_before_anything_is_found(tf, debugged, graph, values) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    with tf.Session() as raw:
        session, _ = debugged(raw, RunUntil("has_inf_or_nan", values=values), Detach())
        session.run(tf.log(x), {x: 1.0})
        words = session._tfdbg_controller.active_watch.watch.words
    assert words.startswith("no has_inf_or_nan in 1 run")
    assert ("may not be exact" in words) is (values is Values.KEEP)


@pytest.mark.parametrize("values", [Values.AUTO, Values.KEEP])
def test_a_nan_that_a_fused_relu_swallows_is_passed_over_as_without_us(tf, debugged, graph, values) -> None:
    """Fused with the product before it, a ReLU can give zero for NaN; watched, it would give NaN to the weights."""
    batches = np.random.RandomState(0).randn(6, 8, 6).astype(np.float32)
    batches[2, 2, 1] = np.nan
    x = tf.placeholder(tf.float32, [8, 6])
    h = x
    for name in ("a", "b"):
        w = tf.get_variable(name, initializer=np.random.RandomState(1).randn(6, 6).astype(np.float32) * 0.3)
        bias = tf.get_variable(f"{name}_bias", initializer=np.zeros(6, np.float32))
        h = tf.nn.relu(tf.nn.bias_add(tf.matmul(h, w), bias))
    loss = tf.reduce_mean(tf.square(h - 0.5))
    train = tf.train.AdamOptimizer(0.01).minimize(loss)

    def steps(script: Any) -> tuple[list[bytes], Any]:
        with tf.Session() as raw:
            raw.run(tf.global_variables_initializer())
            session, front = debugged(raw, script, Continue())
            losses = [session.run([loss, h, train], {x: batch})[:2] for batch in batches]
            kept = raw.run(tf.global_variables())
        return [np.asarray(value).tobytes() for value in (*(one for step in losses for one in step), *kept)], front

    expected, _ = steps(Continue())
    found, front = steps(RunUntil("has_inf_or_nan", values=values))
    assert [end.hit.runs for end in front.ends] == [3]
    assert found == expected
