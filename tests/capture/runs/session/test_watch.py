"""A watched session is checked in its own graph, without the program seeing it; a hit has all its values."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from tfdbg_cli.capture.sessions.hidden_ops import PREFIX
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.decision import CaptureRequest, DebugRun, Detach, GraphChoice, RunUntil, Values
from tfdbg_cli.model.graph import GraphKind
from tfdbg_cli.model.replay import InputRole

pytestmark = pytest.mark.tf

WATCH = RunUntil("has_inf_or_nan")
KEEP = RunUntil("has_inf_or_nan", values=Values.KEEP)
GOOD, BAD = [[1.0, 2.0], [3.0, 4.0]], [[1.0, 0.0], [3.0, 4.0]]


class Step:
    """A training step with noise, whose logarithm is bad where `x` is zero while its loss stays finite."""

    def __init__(self, tf, *, resource: bool = True) -> None:
        tf.set_random_seed(3)
        self.x = tf.placeholder(tf.float32, [None, 2], name="x")
        self.v = tf.get_variable("v", initializer=np.array([1, 2], np.float32), use_resource=resource)
        noise = tf.random_uniform([2], name="noise")
        y = tf.log(self.x * self.v, name="y")
        self.loss = tf.reduce_sum(tf.where(tf.is_finite(y), y, tf.zeros_like(y)), name="loss")
        step = tf.train.get_or_create_global_step()
        optimizer = tf.train.MomentumOptimizer(0.01, 0.9)
        self.train = optimizer.minimize(self.loss + tf.reduce_sum(self.v * noise), global_step=step)
        self.init = tf.global_variables_initializer()


def value(run, node: str):
    (index,) = run.tensors.named(node, 0)
    return run.tensors.value(index)


def bad_names(run) -> set[str]:
    found = ((run.tensors[at].name, run.tensors.value(at)) for at in range(len(run.tensors)))
    return {
        str(name) for name, array in found if np.asarray(array).dtype.kind == "f" and not np.isfinite(array).all()
    }


@pytest.mark.parametrize("resource", [True, False], ids=["resource", "reference"])
@pytest.mark.parametrize("decision", [WATCH, KEEP], ids=["replay", "keep"])
def test_a_hit_has_the_values_of_the_run(tf, debugged, graph, decision, resource) -> None:
    step = Step(tf, resource=resource)
    with tf.Session() as raw:
        raw.run(step.init)
        session, front = debugged(raw, decision, Detach())
        for _ in range(2):
            session.run([step.loss, step.train], {step.x: GOOD})
        before = raw.run(step.v)
        loss, _ = session.run([step.loss, step.train], {step.x: BAD})
        after = raw.run(step.v)
    (end,) = front.ends
    assert end.hit.runs == 3
    assert end.run.caught
    run = end.run
    assert run.graph.kind is GraphKind.PYTHON
    assert "y:0" in bad_names(run)
    assert "v/after_update:0" in bad_names(run)
    np.testing.assert_array_equal(value(run, "loss"), loss)
    np.testing.assert_array_equal(value(run, "v/after_update"), after)
    assert value(run, "global_step/after_update") == 3
    assert run.graph.node("v/after_update").op_type == "UpdatedVariable"
    assert "noise:0" not in bad_names(run)
    np.testing.assert_array_equal(value(run, "mul/ReadVariableOp" if resource else "v/read"), before)


def test_a_replay_leaves_the_variables_and_an_undo_puts_them_back(tf, debugged, graph) -> None:
    step = Step(tf)
    names = ["v:0", "v/Momentum:0", "global_step:0"]
    with tf.Session() as raw:
        raw.run(step.init)
        session, front = debugged(raw, WATCH, Detach())
        session.run(step.train, {step.x: GOOD})
        before = raw.run(tf.global_variables())
        assert [variable.name for variable in tf.global_variables()] != names[:1]
        session.run(step.train, {step.x: BAD})
        assert not np.isfinite(raw.run(step.v)).all()
        said = front.ends[0].run.replayable.undo()
        for now, then in zip(raw.run(tf.global_variables()), before, strict=True):
            np.testing.assert_array_equal(now, then)
    assert said == ("What was drawn (batches, random numbers) stays drawn.",)


def test_a_repetition_tells_what_the_run_read(tf, debugged, graph) -> None:
    step = Step(tf)
    with tf.Session() as raw:
        raw.run(step.init)
        session, front = debugged(raw, WATCH, Detach())
        session.run([step.loss, step.train], {step.x: BAD})
        replay_spec = front.ends[0].run.replayable.replay_spec()
        definition = tf.GraphDef.FromString(replay_spec.graph)
    roles = {item.name: item.role for item in replay_spec.inputs}
    assert roles == {
        "x:0": InputRole.GIVEN, "v": InputRole.VARIABLE, "v/Momentum": InputRole.VARIABLE,
        "global_step": InputRole.VARIABLE, "noise/RandomUniform:0": InputRole.SOURCE,
    }  # fmt: skip
    assert replay_spec.fetches == ("loss:0", step.train.name)
    ours = [node.name for node in definition.node if node.name.startswith(PREFIX)]
    assert all(name.startswith(f"{PREFIX}nothing/") for name in ours), "no checks"
    assert "v/Initializer/initial_value" not in {node.name for node in definition.node}, "more than the run needs"


def test_the_values_are_kept_where_the_run_cannot_be_made_again(tf, debugged, graph) -> None:
    """A variant that an op drew cannot be fetched and fed again."""
    sparse = tf.data.Dataset.from_tensors(tf.SparseTensor([[0]], [0.0], [2])).repeat()
    batch = tf.data.make_one_shot_iterator(sparse).get_next()
    tf.log(batch.values, name="log")
    with tf.Session() as raw:
        session, front = debugged(raw, WATCH, Detach())
        session.run("log:0")
    (end,) = front.ends
    assert value(end.run, "log").tolist() == [-np.inf]


def test_values_that_do_not_fit_into_memory_are_missing(tf, debugged, graph) -> None:
    sparse = tf.data.Dataset.from_tensors(tf.SparseTensor([[0]], [0.0], [2])).repeat()
    batch = tf.data.make_one_shot_iterator(sparse).get_next()
    tf.add(tf.log(batch.values), tf.zeros([1000, 1]), name="sum")
    with tf.Session() as raw:
        session, front = debugged(raw, WATCH, Detach(), settings=Settings(memory_budget=1000))
        session.run("sum:0")
    (end,) = front.ends
    assert end.run.caught
    assert len(end.run.tensors) == 0
    assert any("more than the 1000 B of memory" in note for note in end.run.notes)


@pytest.mark.parametrize("copied", [False, True], ids=["in place", "on copies"])
def test_a_hit_that_memory_has_no_room_for_is_not_made_again(tf, debugged, graph, monkeypatch, copied) -> None:
    from tfdbg_cli.capture.replay.session import _Made

    x = tf.placeholder(tf.float32, [1 << 12], name="x")
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    loss = tf.reduce_sum(tf.log(x), name="loss")
    # Without an order between read and update such a run is checked on copies.
    step = [loss, v.read_value(), v.assign_add(1.0).op] if copied else [loss]

    def never(made):
        raise AssertionError("all values were made")

    monkeypatch.setattr(_Made, "values", never)
    with tf.Session() as raw:
        raw.run(v.initializer)
        session, front = debugged(raw, WATCH, Detach(), settings=Settings(memory_budget=1000))
        session.run(step, {x: np.ones(1 << 12)})
        session.run(step, {x: np.zeros(1 << 12)})
    (end,) = front.ends
    assert end.hit.runs == 2
    assert len(end.run.tensors) == 0
    assert any("checked when it was made again" in note for note in end.run.notes) is copied
    assert any("The values are missing" in note and "memory_budget" in note for note in end.run.notes), end.run.notes


def test_a_variable_that_the_run_initializes(tf, debugged, graph) -> None:
    v = tf.get_variable("v", initializer=tf.log([0.0], name="log"))
    with tf.Session() as raw:
        session, front = debugged(raw, WATCH, Detach())
        session.run(v.initializer)
    (end,) = front.ends
    assert value(end.run, "log").tolist() == [-np.inf]
    assert any("could not be read" in note for note in end.run.notes)


@pytest.mark.parametrize("filter_name", ["has_inf_or_nan", "has_nan", "has_inf"])
def test_each_filter_means_itself(tf, debugged, graph, filter_name) -> None:
    x = tf.placeholder(tf.float32, [1], name="x")
    y = tf.identity(x, name="y")
    with tf.Session() as raw:
        for given, filters in ((np.nan, {"has_inf_or_nan", "has_nan"}), (-np.inf, {"has_inf_or_nan", "has_inf"})):
            session, front = debugged(raw, RunUntil(filter_name), Detach())
            session.run(y, {x: [1.0]})
            session.run(y, {x: [given]})
            assert bool(front.ends) is (filter_name in filters)


@pytest.mark.parametrize(
    ("decision", "hit"),
    [
        (RunUntil("has_inf_or_nan", "^y$|^z$"), False),
        (RunUntil("has_inf_or_nan", "^z$"), True),
        (RunUntil("has_inf_or_nan", "^y$"), True),
        (RunUntil("has_inf_or_nan", capture=CaptureRequest(node_name_filter="other")), False),
        (RunUntil("has_inf_or_nan", capture=CaptureRequest(op_type_filter="Log")), True),
        (RunUntil("has_inf_or_nan", capture=CaptureRequest(tensor_dtype_filter="float64")), False),
    ],
)
def test_what_is_left_out_covers_nothing_and_is_no_hit(tf, debugged, graph, decision, hit) -> None:
    """`y` is transparent to `z`: whichever of the two is left out, the other is checked."""
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.log(x, name="y")
    z = tf.identity(y, name="z")
    with tf.Session() as raw:
        session, front = debugged(raw, decision, Detach())
        session.run(z, {x: [1.0, 0.0]})
    assert bool(front.ends) is hit


def test_a_variable_is_checked_after_its_update(tf, debugged, graph) -> None:
    v = tf.get_variable("v", initializer=[3e38])
    w = tf.get_variable("w", initializer=[3e38], use_resource=False)
    with tf.Session() as raw:
        raw.run(tf.global_variables_initializer())
        for variable, name in ((v, "v/after_update"), (w, "w/after_update")):
            session, front = debugged(raw, WATCH, Detach())
            session.run(tf.scatter_add(variable, [0], [3e38]).op)
            assert value(front.ends[0].run, name).tolist() == [np.inf]
            assert "AssignVariableOp" not in bad_names(front.ends[0].run)


def test_a_saved_graph_is_the_same_with_a_watch(tf, debugged, tmp_path) -> None:
    def exported(*script) -> tuple[list[bytes], list[str], str, bytes]:
        with tf.Graph().as_default() as graph, tf.Session() as raw:
            step = Step(tf)
            saver = tf.train.Saver()
            raw.run(step.init)
            session, _ = debugged(raw, *script)
            session.run([step.loss, step.train], {step.x: GOOD})
            after = tf.random_uniform([2], name="noise")  # its name and its seed
            tf.io.write_graph(graph, str(tmp_path), "graph.pbtxt")
            tf.io.write_graph(raw.graph_def, str(tmp_path), "graph.pb", as_text=False)
            saver.save(session, str(tmp_path / "model"))
            graphs = [
                graph.as_graph_def().SerializeToString(deterministic=True),
                graph.as_graph_def(add_shapes=True).SerializeToString(deterministic=True),
                tf.train.export_meta_graph().SerializeToString(deterministic=True),
                (tmp_path / "graph.pbtxt").read_bytes(),
                (tmp_path / "graph.pb").read_bytes(),
                (tmp_path / "model.meta").read_bytes(),
            ]
            names = [op.name for op in graph.get_operations()]
            return graphs, names, after.name, raw.run(after).tobytes()

    graphs, names, name, numbers = exported(Detach())
    watched_graphs, watched_names, watched_name, watched_numbers = exported(WATCH)
    assert watched_names == names
    assert watched_name == name
    assert watched_numbers == numbers
    for watched, plain in zip(watched_graphs, graphs, strict=True):
        assert watched == plain


def test_the_graph_can_be_built_on_while_it_is_watched(tf, debugged, graph, loops_of_v1) -> None:
    step = Step(tf)
    with tf.Session() as raw:
        raw.run(step.init)
        session, _ = debugged(raw, WATCH)
        session.run(step.loss, {step.x: GOOD})
        more = tf.exp(step.loss, name="more")
        read = tf.identity(more, name="read")
        assert more.consumers() == [read.op], "TensorFlow's own count of its ops is right"
        assert tf.gradients(read, [step.x])[0] is not None
        (imported,) = tf.graph_util.import_graph_def(
            graph.as_graph_def(), return_elements=["more:0"], name="imported"
        )
        looped = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)])
        assert session.run([read, looped], {step.x: GOOD})[1] == 3
        assert imported.op.name == "imported/more"


def test_a_finalized_graph_and_a_monitored_session_that_stops_before_its_hook_raises(tf, debugged, graph) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    loss = tf.log(x, name="loss")
    hook = tf.train.NanTensorHook(loss, fail_on_nan_loss=True)
    with tf.train.MonitoredSession(hooks=[hook]) as monitored:
        assert graph.finalized
        session, front = debugged(monitored, WATCH, Detach())
        session.run(loss, {x: 1.0})
        with pytest.raises(tf.train.NanLossDuringTrainingError):
            session.run(loss, {x: -1.0})
        assert graph.finalized
    (end,) = front.ends
    assert end.run.error is None
    assert np.isnan(value(end.run, "loss"))


def test_an_error_of_check_numerics_shows_the_values_before_it(tf, debugged, graph) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    checked = tf.check_numerics(tf.log(x, name="log"), "bad")
    with tf.Session() as raw:
        session, front = debugged(raw, WATCH, Detach())
        session.run(checked, {x: 1.0})
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(checked, {x: -1.0})
    (end,) = front.ends
    assert end.run.error.node == "CheckNumerics"
    assert np.isnan(value(end.run, "log"))


def test_runners_are_watched(tf, debugged, graph) -> None:
    from tensorflow.core.protobuf import config_pb2

    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.log(x, name="y")
    good, bad = np.float32(1.0), np.float32(0.0)
    options = config_pb2.CallableOptions(feed=["x:0"], fetch=["y:0"])
    makers = (lambda session: session.make_callable(y, [x]), lambda s: s._make_callable_from_options(options))
    with tf.Session() as raw:
        for make in makers:
            session, front = debugged(raw, WATCH, Detach())
            runner = make(session)
            for given, expected in ((good, 0.0), (good, 0.0), (bad, -np.inf)):
                assert np.asarray(runner(given)).tolist() in (expected, [expected])
            assert front.ends[0].hit.runs == 3
            assert value(front.ends[0].run, "y") == -np.inf


def test_a_runner_that_is_fed_another_shape_than_the_graph_promises(tf, debugged, graph) -> None:
    """`0 · NaN` shows the NaN of `v`, unless there is nothing to multiply it with."""
    from tensorflow.core.protobuf import config_pb2

    x = tf.placeholder(tf.float32, [2, 3], name="x")
    v = tf.placeholder(tf.float32, [3, 2], name="v")
    tf.matmul(x, v, name="y")
    bad = np.full([3, 2], np.nan, np.float32)
    options = config_pb2.CallableOptions(feed=["x:0", "v:0"], fetch=["y:0"])
    with tf.Session() as raw:
        session, front = debugged(raw, WATCH, Detach())
        session._make_callable_from_options(options)(np.zeros([0, 3], np.float32), bad)
    assert len(front.ends) == 1


def test_nothing_is_added_after_the_first_run_of_a_kind(tf, debugged, graph) -> None:
    step = Step(tf)
    with tf.Session() as raw:
        raw.run(step.init)
        session, front = debugged(raw, WATCH)
        for fetches in (step.loss, [step.loss, step.train]):
            session.run(fetches, {step.x: GOOD})
        version, listed = graph.version, len(graph.get_operations())
        for _ in range(100):
            session.run(step.loss, {step.x: GOOD})
        assert (graph.version, len(graph.get_operations())) == (version, listed)
    assert front.ends == []


def test_threads_share_a_watched_session(tf, debugged, graph) -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    heads = [tf.log(x * float(at + 1), name=f"head{at}") for at in range(4)]
    wrong = []

    def work(session, at: int) -> None:
        for turn in range(20):
            expected = np.log(np.float32([1, turn + 1]) * np.float32(at + 1))
            if not np.allclose(session.run(heads[at], {x: [1, turn + 1]}), expected, rtol=1e-5):
                wrong.append((at, turn))

    with tf.Session() as raw:
        session, front = debugged(raw, WATCH)
        threads = [threading.Thread(target=work, args=(session, at)) for at in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong
    assert front.path == ["start 1"]


def finite(tf, value):
    """The logarithm of `value` where it is finite."""
    found = tf.log(value, name="log")
    return tf.where(tf.is_finite(found), found, tf.zeros_like(found))


@pytest.mark.parametrize("taken", [0.0, 1.0])
def test_branches_of_version_1_are_looked_into(tf, debugged, graph, loops_of_v1, taken) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.cond(x > 0.5, lambda: tf.constant(1.0), lambda: finite(tf, x))
    with tf.Session() as raw:
        session, front = debugged(raw, WATCH, Detach())
        session.run(y, {x: taken})
    assert bool(front.ends) is (taken == 0.0)


def test_loops_of_version_2_are_looked_into(tf, debugged, graph) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    tf.enable_control_flow_v2()
    y = tf.while_loop(lambda i, v: i < 2, lambda i, v: (i + 1, finite(tf, v)), [0, x])[1]
    with tf.Session() as raw:
        session, front = debugged(raw, WATCH, Detach())
        session.run(y, {x: 2.0})
        session.run(y, {x: 0.0})
    assert [end.hit.runs for end in front.ends] == [2]


@pytest.mark.parametrize("choice", [GraphChoice.PYTHON, GraphChoice.RUNTIME])
def test_a_run_that_is_stopped_at_can_be_made_again_and_undone(tf, debugged, graph, choice) -> None:
    from tfdbg_cli.capture.replay.any_replay import replay

    step = Step(tf)
    replayed = []

    def look(end):
        replayed.append(replay(end.run.replayable.replay_spec()))
        end.run.replayable.undo()
        return Detach()

    with tf.Session() as raw:
        raw.run(step.init)
        before = raw.run(step.v)
        session, front = debugged(raw, DebugRun(CaptureRequest(graph=choice)), look)
        loss, _ = session.run([step.loss, step.train], {step.x: GOOD})
        np.testing.assert_array_equal(raw.run(step.v), before)
    (again,) = replayed
    (index,) = again.tensors.named("loss", 0)
    assert again.tensors.value(index) == loss
    (noise,) = again.tensors.named("noise/RandomUniform", 0)
    np.testing.assert_array_equal(again.tensors.value(noise), value(front.ends[0].run, "noise/RandomUniform"))


def test_a_run_says_why_it_cannot_be_made_again(tf, debugged, graph) -> None:
    noise = tf.random_uniform([2], name="noise")
    request = CaptureRequest(graph=GraphChoice.PYTHON, node_name_filter="other")
    with tf.Session() as raw:
        session, front = debugged(raw, DebugRun(request, values=Values.KEEP), DebugRun(request), Detach())
        session.run(noise)
        session.run(noise)
    kept, again = (end.run for end in front.ends)
    with pytest.raises(TfdbgError, match="What noise/RandomUniform:0 gave is not known"):
        kept.replayable.replay_spec()
    assert again.replayable.replay_spec().inputs, "it is fetched whatever is to be shown"


def test_files_are_not_written_again(tf, debugged, graph, tmp_path) -> None:
    path = tmp_path / "written"
    x = tf.placeholder(tf.float32, [], name="x")
    with tf.control_dependencies([tf.write_file(str(path), tf.as_string(x))]):
        y = tf.log(x, name="y")
    with tf.Session() as raw:
        session, front = debugged(raw, WATCH, Detach())
        session.run(y, {x: 1.0})
        assert path.read_text().startswith("1")
        path.unlink()
        session.run(y, {x: 0.0})
    run = front.ends[0].run
    assert path.exists(), "the program writes it"
    assert value(run, "y") == -np.inf
    path.unlink()
    from tfdbg_cli.capture.replay.any_replay import replay

    replay(run.replayable.replay_spec())
    assert not path.exists(), "a repetition does not"
    assert any("WriteFile" in limit for limit in run.replayable.replay_spec().limits)


def drawn_by(tf, kind: str, calls: list[int]):
    """A tensor that is another each time, and zero the third time."""
    counted = tf.range(2.0, -8.0, -1.0)
    if kind == "data set":
        return tf.data.make_one_shot_iterator(tf.data.Dataset.from_tensor_slices(counted)).get_next()
    if kind == "queue":
        queue = tf.queue.FIFOQueue(10, [tf.float32], [[]])
        tf.add_to_collection("fill", queue.enqueue_many([counted]))
        return queue.dequeue()
    if kind == "Python":

        def answer() -> np.float32:
            calls.append(1)
            return np.float32(3 - len(calls))

        value = tf.py_func(answer, [], tf.float32, stateful=True)
        value.set_shape([])
        return value
    keys = tf.constant([0, 1, 2], tf.int64)
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, counted[:3]), -1.0)
    at = tf.get_variable("at", initializer=np.int64(-1))
    return table.lookup(at.assign_add(1, read_value=True))


@pytest.mark.parametrize("kind", ["data set", "queue", "Python", "table"])
def test_what_ops_drew_is_not_drawn_again(tf, debugged, graph, kind) -> None:
    calls: list[int] = []
    drawn = tf.identity(drawn_by(tf, kind, calls), name="drawn")
    y = tf.log(drawn, name="y")
    with tf.Session() as raw:
        raw.run([tf.global_variables_initializer(), tf.tables_initializer(), *tf.get_collection("fill")])
        session, front = debugged(raw, WATCH, Detach())
        for _ in range(3):
            session.run(y)
        assert front.ends[0].hit.runs == 3
        assert value(front.ends[0].run, "drawn") == 0.0
        assert value(front.ends[0].run, "y") == -np.inf
        assert not calls or len(calls) == 3
        assert np.isnan(raw.run(y)), "the next one comes next"
