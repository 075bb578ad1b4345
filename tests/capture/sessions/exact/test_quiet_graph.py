"""A run made again makes every update of the program's run, in its order, and does nothing outside of its graph."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import tensorflow
from tensorflow.python.ops.data_flow_ops import StagingArea

from tfdbg_cli.capture.runs.session import trial_run
from tfdbg_cli.capture.sessions.call_state import call_state
from tfdbg_cli.capture.sessions.exact import made_alike
from tfdbg_cli.capture.sessions.exact.quiet_graph import QuietGraph, quiet_graph
from tfdbg_cli.capture.sessions.graph_ops import GraphOp
from tfdbg_cli.capture.sessions.reach import ancestors
from tfdbg_cli.capture.state import run_snapshot as holding
from tfdbg_cli.capture.state.run_snapshot import RunSnapshot
from tfdbg_cli.model.decision import Continue, DebugRun, Decision, RunUntil, Values
from tfdbg_cli.model.exactness import ExecutionWay

pytestmark = pytest.mark.tf

STEPS = 4
WATCH = "has_inf_or_nan"
MODES: dict[str, tuple[Decision, ...]] = {
    "watched": (RunUntil(WATCH),),
    "hits": tuple(RunUntil("magnitude_above:-0.5") for _ in range(2 * STEPS)),
    "kept": (RunUntil(WATCH, values=Values.KEEP),),
    "captured": tuple(DebugRun() for _ in range(2 * STEPS)),
}
Drawing = Callable[[Any, Any], Any]


def python(tf: Any, x: Any) -> Any:
    return tf.py_func(lambda a: np.float32(a * 2), [x], tf.float32)


def stateless(tf: Any, x: Any) -> Any:
    return tf.py_func(lambda a: np.float32(a * 2), [x], tf.float32, stateful=False)


def eager(tf: Any, x: Any) -> Any:
    return tf.py_function(lambda a: np.float32(a * 2), [x], tf.float32)


def arrays(tf: Any, x: Any) -> Any:
    return tf.numpy_function(lambda a: np.float32(a * 2), [x], tf.float32)


def printed(tf: Any, x: Any) -> Any:
    return tf.Print(x * 2, [x], "PRINTED")


def batch(tf: Any, x: Any) -> Any:
    data = tf.data.Dataset.from_tensor_slices(np.arange(100, dtype=np.float32))
    return tf.data.make_one_shot_iterator(data).get_next() + x


def dequeued(tf: Any, x: Any) -> Any:
    queue = tf.queue.FIFOQueue(100, [tf.float32], [[]])
    tf.add_to_collection("fill", queue.enqueue_many([tf.range(50.0)]))
    return queue.dequeue() + x


def random(tf: Any, x: Any) -> Any:
    return tf.random_uniform(tf.concat([tf.shape(x), [2]], 0), seed=3)[0] + x


def looked_up(tf: Any, x: Any) -> Any:
    values = tf.lookup.KeyValueTensorInitializer(tf.range(10, dtype=tf.int64), tf.range(10.0))
    return tf.lookup.StaticHashTable(values, -1.0).lookup(tf.cast(x, tf.int64))


DRAWINGS: list[Drawing] = [python, stateless, eager, arrays, printed, batch, dequeued, random, looked_up]


def waiting(tf: Any, w: Any, x: Any, draw: Drawing) -> list[Any]:
    """Drawn after an update."""
    with tf.control_dependencies([tf.assign_add(w, 1.0)]):
        return [draw(tf, tf.identity(x))]


def reading(tf: Any, w: Any, x: Any, draw: Drawing) -> list[Any]:
    """Drawn from what an update gave."""
    return [draw(tf, tf.assign_add(w, 1.0) + x)]


def only_run(tf: Any, w: Any, x: Any, draw: Drawing) -> list[Any]:
    """As before, and nobody reads what was drawn."""
    with tf.control_dependencies([draw(tf, tf.assign_add(w, 1.0) + x)]):
        return [tf.identity(x), tf.no_op()]


def overwriting(tf: Any, w: Any, x: Any, draw: Drawing) -> list[Any]:
    """An update before what is drawn, and an assignment after it, ordered by nothing else."""
    with tf.control_dependencies([tf.assign_add(w, 100.0)]):
        drawn = draw(tf, tf.identity(x))
    return [tf.assign(w, tf.reduce_sum(drawn))]


def read_afterwards(tf: Any, w: Any, x: Any, draw: Drawing) -> list[Any]:
    """What is drawn lies between an update and a reader of it."""
    with tf.control_dependencies([tf.assign_add(w, 1.0)]):
        drawn = draw(tf, tf.identity(x))
    with tf.control_dependencies([drawn]):
        return [drawn, (w.read_value() if hasattr(w, "read_value") else tf.identity(w)) * 3.0]


def read_before(tf: Any, w: Any, x: Any, draw: Drawing) -> list[Any]:
    """What is drawn lies between a reader and an update."""
    read = w.read_value() * 1.0
    with tf.control_dependencies([read]):
        drawn = draw(tf, tf.identity(x))
    return [tf.assign_add(w, tf.reduce_sum(drawn) + 1.0), read]


def twice(tf: Any, w: Any, x: Any, draw: Drawing) -> list[Any]:
    """Something is drawn from what was drawn after an update."""
    with tf.control_dependencies([tf.assign_add(w, 1.0)]):
        first = draw(tf, tf.identity(x))
    return [tf.py_func(lambda a: np.float32(a + 1), [first], tf.float32)]


def said(tf: Any, w: Any, x: Any, draw: Drawing) -> list[Any]:
    """A line is printed after an update, and what is drawn waits for it."""
    with tf.control_dependencies([tf.assign_add(w, 1.0)]):
        line = tf.print("PRINTED", x)
    with tf.control_dependencies([line]):
        return [draw(tf, tf.identity(x)), line]


def only_said(tf: Any, w: Any, x: Any, draw: Drawing) -> list[Any]:
    """The line is all that is run."""
    draw(tf, x)
    return [tf.print("PRINTED", tf.assign_add(w, 1.0))]


def asserted(tf: Any, w: Any, x: Any, draw: Drawing) -> list[Any]:
    """An assertion lies between the update and what is drawn."""
    with tf.control_dependencies([tf.assign_add(w, 1.0)]):
        sure = tf.debugging.assert_less(x, 100.0)
    with tf.control_dependencies([sure]):
        return [draw(tf, tf.identity(x))]


def in_a_branch(tf: Any, w: Any, x: Any, draw: Drawing) -> list[Any]:
    """The update is in a branch."""
    updated = tf.cond(x > 0.5, lambda: tf.assign_add(w, 1.0) + 0.0, lambda: tf.assign_sub(w, 2.0) + 0.0)
    with tf.control_dependencies([updated]):
        return [draw(tf, tf.identity(x))]


def in_a_loop(tf: Any, w: Any, x: Any, draw: Drawing) -> list[Any]:
    """The update is in a loop."""

    def turn(i: Any, total: Any) -> Any:
        return i + 1, total + tf.assign_add(w, 1.0)

    _, total = tf.while_loop(lambda i, total: i < 3, turn, [0, x], parallel_iterations=1)
    return [draw(tf, total)]


def printing_in_a_branch(tf: Any, w: Any, x: Any, draw: Drawing) -> list[Any]:
    """A line is printed in a branch, and an update waits for it."""

    def yes() -> Any:
        with tf.control_dependencies([tf.print("PRINTED", x)]):
            return tf.assign_add(w, 1.0) + tf.constant(1.0)

    return [tf.cond(x > 0.5, yes, lambda: tf.Print(x + 0.0, [x], "PRINTED")), draw(tf, x)]


def in_a_function(tf: Any, w: Any, x: Any, draw: Drawing) -> list[Any]:
    """The update is in a function that is called."""
    import tensorflow

    updated = tensorflow.function(lambda a: w.assign_add(a, read_value=True), autograph=False)(x)
    with tf.control_dependencies([updated]):
        return [draw(tf, tf.identity(x))]


SHAPES = [
    waiting, reading, only_run, overwriting, read_afterwards, read_before, twice, said, only_said, asserted,
    in_a_branch, in_a_loop, printing_in_a_branch, in_a_function,
]  # fmt: skip


def in_turn(made: Sequence[Callable[..., Any]]) -> list[Any]:
    """Each of `made` in two modes with new variables and in one with old ones, modes in turn; all under `-m slow`."""
    modes = list(MODES)
    return [
        pytest.param(
            one,
            resource,
            mode,
            id=f"{one.__name__}-{'resource' if resource else 'reference'}-{mode}",
            marks=[] if (place - at) % len(modes) in ((0, 2) if resource else (1,)) else pytest.mark.slow,
        )
        for at, one in enumerate(made)
        for resource in (True, False)
        for place, mode in enumerate(modes)
    ]


def given(tf: Any, session: Any, raw: Any, fetches: list[Any], x: Any) -> list[Any]:
    """What `STEPS` runs gave and left, each."""
    raw.run(tf.global_variables_initializer())
    raw.run([tf.tables_initializer(), *tf.get_collection("fill")])
    found = []
    for step in range(STEPS):
        values = session.run(fetches, {x: step / 2})
        left = raw.run(tf.global_variables())
        found.append([None if value is None else np.asarray(value).tolist() for value in (*values, *left)])
    return found


def require_same(tf: Any, debugged: Any, fetches: list[Any], x: Any, mode: str) -> Any:
    """Make sure that the runs give and leave the same debugged; the front end."""
    with tf.Session() as raw:
        expected = given(tf, raw, raw, fetches, x)
    with tf.Session() as raw:
        session, front = debugged(raw, *MODES[mode])
        assert given(tf, session, raw, fetches, x) == expected
    return front


@pytest.mark.parametrize(("draw", "resource", "mode"), in_turn(DRAWINGS))
def test_an_update_before_something_is_drawn_is_kept(tf, debugged, graph, draw, mode, resource) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    w = tf.get_variable("w", initializer=0.0, use_resource=resource)
    require_same(tf, debugged, waiting(tf, w, x, draw), x, mode)


@pytest.mark.parametrize(("shape", "resource", "mode"), in_turn(SHAPES))
def test_all_that_leads_to_what_was_drawn_is_done_in_order(
    tf, debugged, graph, loops_of_v1, shape, mode, resource
) -> None:
    if shape is in_a_function and not resource:
        pytest.skip("a function takes no variables of the old kind")
    x = tf.placeholder(tf.float32, [], name="x")
    w = tf.get_variable("w", initializer=0.0, use_resource=resource)
    front = require_same(tf, debugged, shape(tf, w, x, python), x, mode)
    if mode == "captured":
        for end in front.ends:
            assert end.run.exactness.way in (ExecutionWay.UNCHANGED, ExecutionWay.IN_PLACE)
            assert not end.run.exactness.differs, shape


def test_the_graph_of_a_run_is_written_as_the_same_bytes_each_time(tf, graph) -> None:
    """A copy of the run is known again by them. Attributes are a map, which protobuf writes in any order."""
    x = tf.placeholder(tf.float32, [3, 3], name="x")
    for _ in range(50):
        x = tf.matmul(x, x, transpose_a=True)
    order = ancestors([x.op], ())
    state = call_state(list(map(GraphOp, order)), [op.outputs[0].name for op in order], frozenset(), [x.op])
    assert len({quiet_graph(graph, order, (), state).definition for _ in range(5)}) == 1


@pytest.mark.parametrize("resource", [True, False], ids=["resource", "reference"])
def test_an_update_waits_for_what_was_read_before_something_was_drawn(tf, graph, resource) -> None:
    """In the graph itself: with luck TensorFlow takes the same order though no edge asks for it."""
    x = tf.placeholder(tf.float32, [], name="x")
    w = tf.get_variable("w", initializer=0.0, use_resource=resource)
    fetches = read_before(tf, w, x, python)
    order = ancestors([tensor.op for tensor in fetches], {x.name})
    ops = list(map(GraphOp, order))
    names = [name for op in ops for name in op.outputs]
    state = call_state(ops, names, frozenset({x.name}), [tensor.op for tensor in fetches])
    quiet = quiet_graph(graph, order, {x.name}, state)
    with tf.Graph().as_default() as again:
        tf.import_graph_def(tf.GraphDef.FromString(quiet.definition), name="")
    update, read = (again.get_operation_by_name(tensor.op.name) for tensor in fetches)
    assert read in ancestors([update], {x.name, *(tensor.name for tensor in state.sources)})


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", [waiting, said, only_said, printing_in_a_branch, in_a_function])
def test_what_is_printed_is_printed_once(tf, debugged, graph, loops_of_v1, capfd, shape, mode) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    w = tf.get_variable("w", initializer=0.0, use_resource=True)
    fetches = shape(tf, w, x, printed)
    with tf.Session() as raw:
        given(tf, raw, raw, fetches, x)
    expected = capfd.readouterr().err.count("PRINTED")
    assert expected >= STEPS
    with tf.Session() as raw:
        session, front = debugged(raw, *MODES[mode])
        given(tf, session, raw, fetches, x)
    assert capfd.readouterr().err.count("PRINTED") == expected
    if mode in ("captured", "hits"):
        assert len(front.ends) >= STEPS - 1


def test_python_behind_a_call_is_asked_once(tf, debugged, graph) -> None:
    import tensorflow

    calls: list[float] = []

    def answer(a: Any) -> Any:
        calls.append(float(a))
        return a

    x = tf.placeholder(tf.float32, [], name="x")
    called = tensorflow.function(lambda a: tf.exp(a) * 2.0, autograph=False)(x)
    fetches = [tf.py_func(answer, [called], tf.float32)]
    with tf.Session() as raw:
        session, front = debugged(raw, DebugRun(), RunUntil("magnitude_above:-0.5"), Continue())
        session.run(fetches, {x: 1.0})
        session.run(fetches, {x: 2.0})
    assert len(front.ends) == 2
    assert len(calls) == 2


def test_what_printing_handed_on_is_shown(tf, debugged, graph, capfd) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.log(tf.Print(x - 1.0, [x], "PRINTED", name="told"), name="y")
    with tf.Session() as raw:
        session, front = debugged(raw, DebugRun())
        session.run(y, {x: 3.0})
    tensors = front.ends[0].run.tensors
    (row,) = tensors.named("told", 0)
    assert tensors.value(row) == 2.0
    names = [str(tensors[at].name) for at in range(len(tensors))]
    assert not [name for name in names if "hidden" in name]


def test_what_is_fed_and_fetched_is_not_computed_again(tf, debugged, graph) -> None:
    w = tf.get_variable("w", initializer=0.0, use_resource=True)
    y = tf.identity(w.assign_add(1.0), name="y")
    with tf.Session() as raw:
        raw.run(w.initializer)
        session, front = debugged(raw, DebugRun(), RunUntil("magnitude_above:-0.5"), Continue())
        for _ in range(2):
            assert session.run([y, y + 1.0], {y: 5.0}) == [5.0, 6.0]
        assert raw.run(w) == 0.0
    assert front.ends
    for end in front.ends:
        assert not end.run.exactness.differs
        assert not end.run.tensors.named("w/after_update", 0)


def test_updates_of_both_kinds_of_variables_are_shown(tf, debugged, graph) -> None:
    """What needs no variable of the old kind is fetched apart, before these are written."""
    old = tf.get_variable("old", initializer=0.0, use_resource=False)
    new = tf.get_variable("new", initializer=0.0, use_resource=True)
    with tf.control_dependencies([new.assign_add(1.0)]):
        read = new.read_value() * 2.0
    with tf.Session() as raw:
        raw.run(tf.global_variables_initializer())
        session, front = debugged(raw, DebugRun())
        session.run([tf.assign_add(old, 3.0).op, read])
    run = front.ends[0].run
    assert run.exactness.exact
    assert {run.tensors.value(run.tensors.named(f"{name}/after_update", 0)[0]).item() for name in ("old", "new")} == {
        3.0,
        1.0,
    }


def test_what_leads_to_a_read_that_is_fed_is_done_too(tf, debugged, graph) -> None:
    """A read beside an update comes after it, and after an update of another variable."""
    v = tf.get_variable("v", initializer=0.0, use_resource=True)
    w = tf.get_variable("w", initializer=0.0, use_resource=True)
    update = v.assign_add(1.0, read_value=False)

    def late() -> np.float32:
        time.sleep(0.05)
        return np.float32(1.0)

    with tf.control_dependencies([w.assign_add(tf.py_func(late, [], tf.float32), read_value=False)]):
        read = v.read_value()
    with tf.Session() as raw:
        raw.run(tf.global_variables_initializer())
        session, front = debugged(raw, *[DebugRun() for _ in range(20)])
        for _ in range(8):
            session.run([update, read * 2.0])
        assert raw.run([v, w]) == [8.0, 8.0]
    assert len(front.ends) == 8
    for end in front.ends:
        assert not end.run.exactness.differs


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


@pytest.mark.parametrize("shape", [waiting, overwriting, read_before, said, only_said, asserted])
@pytest.mark.parametrize("draw", [python, batch, random])
def test_a_watched_run_is_compared_and_proven(tf, debugged, graph, trials, shape, draw) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    w = tf.get_variable("w", initializer=0.0, use_resource=True)
    require_same(tf, debugged, shape(tf, w, x, draw), x, "watched")
    assert trials
    for trial in trials:
        assert not trial.exactness.doubt
        assert trial.exactness.way is ExecutionWay.PROVEN


def test_a_run_made_again_without_an_update_is_never_believed(tf, debugged, graph, trials, monkeypatch) -> None:
    """Should what leads to a fed tensor be left out after all."""
    original = RunSnapshot._quiet

    def without(self: RunSnapshot) -> QuietGraph:
        found = original(self)
        return replace(found, led_to=())

    monkeypatch.setattr(holding.RunSnapshot, "_quiet", without)
    x = tf.placeholder(tf.float32, [], name="x")
    w = tf.get_variable("w", initializer=0.0, use_resource=True)
    require_same(tf, debugged, [*waiting(tf, w, x, python), x + 1.0], x, "watched")
    assert trials
    for trial in trials:
        assert not trial.exactness.exact
        assert "Made again, the run left out AssignAddVariableOp" in trial.exactness.doubt


def test_a_run_of_which_tensorflow_tells_nothing_is_not_believed(tf, graph) -> None:
    w = tf.get_variable("w", initializer=0.0, use_resource=True)
    with pytest.raises(made_alike.OtherRunError, match="does not tell"):
        op = w.assign_add(1.0).op
        state = made_alike.CallState(touching=(op,))
        made_alike.require_alike([op], frozenset(), state, trial_run.GraphsThatRan())


def _from_queue(tf: Any) -> Any:
    queue = tf.queue.FIFOQueue(100, [tf.float32], [[]])
    return queue.dequeue(), queue.enqueue_many([tf.range(1.0, 20.0)])


def _from_priorities(tf: Any) -> Any:
    queue = tf.queue.PriorityQueue(100, [tf.float32], [[]])
    return queue.dequeue()[1], queue.enqueue_many([tf.range(20, dtype=tf.int64), tf.range(1.0, 21.0)])


def _from_stage(tf: Any) -> Any:
    area = StagingArea([tf.float32], [[]])
    return area.get()[0], tf.group(*[area.put([tf.constant(float(i))]) for i in range(1, 20)])


def _from_iterator(tf: Any) -> Any:
    batches = tf.data.make_initializable_iterator(
        tf.data.Dataset.from_tensor_slices(np.arange(1.0, 20.0, dtype=np.float32))
    )
    return batches.get_next(), batches.initializer


def _from_table(tf: Any) -> Any:
    keys = tf.lookup.KeyValueTensorInitializer(tf.range(10, dtype=tf.int64), tf.range(1.0, 11.0))
    table = tf.lookup.StaticHashTable(keys, -1.0)
    return table.lookup(tf.cast(tf.get_variable("at", initializer=3.0), tf.int64)), tf.tables_initializer()


def _said_then(tf: Any, drawn: Any) -> Any:
    return [tf.print("SAID", drawn)]


def _called(tf: Any, drawn: Any) -> Any:
    return [tensorflow.function(lambda z: tensorflow.sin(z) + 1.0, autograph=False)(drawn)]


def _handed_on(tf: Any, drawn: Any) -> Any:
    return [tf.queue.FIFOQueue(100, [tf.float32], [[]]).enqueue(tf.sqrt(drawn)), drawn]


@pytest.mark.parametrize("use", [_said_then, _called, _handed_on])
@pytest.mark.parametrize("source", [_from_queue, _from_priorities, _from_stage, _from_iterator, _from_table])
def test_no_run_on_copies_draws_or_waits(tf, debugged, graph, trials, capfd, source, use) -> None:
    """The optimizer lets an op that is taken apart, or does nothing, wait for what it was given: nothing waits there.

    A run on copies waited for an element of its own queue, for ever, or found its own iterator without a start.
    """
    drawn, fill = source(tf)
    fetches = use(tf, drawn)
    with tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=20_000)) as raw:
        raw.run([tf.global_variables_initializer(), fill])
        session, _ = debugged(raw, RunUntil(WATCH))
        for _ in range(3):
            session.run(fetches)
    assert len(trials) == 3
    assert "could not" not in capfd.readouterr().err
    assert not any(trial.exactness.differs for trial in trials)
    calls = use is _called  # what becomes of them is not compared, and that is said
    assert all(calls or not trial.exactness.doubt for trial in trials), trials[0].exactness.doubt


def test_a_run_that_only_draws_has_nothing_to_compare_and_no_doubt(tf, debugged, graph, trials) -> None:
    queue = tf.queue.FIFOQueue(100, [tf.float32], [[]])
    size = queue.size()
    with tf.Session() as raw:
        session, _ = debugged(raw, RunUntil(WATCH))
        assert [session.run(size) for _ in range(2)] == [0, 0]
    assert [trial.exactness.doubt for trial in trials] == ["", ""]
