"""Wrappers of one's own: what their callbacks are told, and what their answers do."""

from __future__ import annotations

import inspect
import threading

import numpy as np
import pytest

import tfdbg_cli as tf_debug
from tfdbg_cli import DebugDumpDir, open_recording

pytestmark = pytest.mark.tf
ACTIONS = tf_debug.OnRunStartAction


@pytest.fixture(scope="module")
def tf():
    import tensorflow.compat.v1 as tf

    return tf


@pytest.fixture
def model(tf):
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None], name="x")
        yield x, tf.log(x, name="y")


class Wrapper(tf_debug.BaseDebugWrapperSession):
    """Notes what it is told; answers `actions` in turn, and dumps into folders of `root`."""

    def __init__(self, sess, root, *actions, init=tf_debug.OnSessionInitAction.PROCEED, **keywords) -> None:
        self.root, self.actions, self.init, self.told = root, list(actions), init, []
        super().__init__(sess, **keywords)

    def on_session_init(self, request):
        self.told.append(request)
        return tf_debug.OnSessionInitResponse(self.init)

    def on_run_start(self, request):
        self.told.append(request)
        return tf_debug.OnRunStartResponse(self.actions.pop(0), [f"file://{self.root}/{request.run_call_count}"])

    def on_run_end(self, request):
        self.told.append(request)
        return tf_debug.OnRunEndResponse()


def test_each_run_is_asked_about_and_told_of(tf, model, tmp_path) -> None:
    x, y = model
    with tf.Session() as raw:
        session = Wrapper(raw, tmp_path, ACTIONS.DEBUG_RUN, ACTIONS.NON_DEBUG_RUN, ACTIONS.PROFILE_RUN)
        metadata = tf.RunMetadata()
        feeds = {x: [1.0, -1.0]}
        first = session.run(y, feeds, run_metadata=metadata)
        np.testing.assert_array_equal(first, [0.0, np.nan])
        for _ in range(2):
            session.run(y, feeds)
    made, start, end, *others = session.told
    assert (made.session, session.run_call_count, session.actions) == (raw, 3, [])
    assert (start.fetches, start.feed_dict, start.run_call_count) == (y, feeds, 1)
    assert (start.run_metadata is metadata, start.is_callable_runner) == (True, False)
    assert (end.performed_action, end.tf_error, end.run_metadata is metadata) == (ACTIONS.DEBUG_RUN, None, True)
    assert {node.name for node in end.client_graph_def.node} == {"x", "y"}
    assert [one.performed_action for one in others[1::2]] == [ACTIONS.NON_DEBUG_RUN, ACTIONS.PROFILE_RUN]
    dump = tf_debug.DebugDumpDir(str(tmp_path / "1"))
    assert [datum.tensor_name for datum in dump.find(tf_debug.has_inf_or_nan)] == ["y:0"]
    assert [path.name for path in tmp_path.iterdir()] == ["1"]


def test_without_metadata_of_the_program_the_callback_gets_graphs_and_times(tf, model, tmp_path) -> None:
    """As of TensorFlow's: wrappers of tutorials hand `run_metadata.partition_graphs` to `DebugDumpDir`."""
    x, y = model
    with tf.Session() as raw:
        session = Wrapper(raw, tmp_path, ACTIONS.DEBUG_RUN, ACTIONS.PROFILE_RUN, ACTIONS.NON_DEBUG_RUN)
        for _ in range(3):
            session.run(y, {x: [1.0]})
    debugged, profiled, plain = session.told[2::2]
    graphs = debugged.run_metadata.partition_graphs
    assert "y" in {node.name for graph in graphs for node in graph.node}
    assert tf_debug.DebugDumpDir(str(tmp_path / "1"), partition_graphs=graphs).nodes()
    assert profiled.run_metadata.step_stats.dev_stats
    assert plain.run_metadata is None
    assert [start.run_metadata for start in session.told[1::2]] == [None, None, None]


def test_errors_of_ops_are_told_and_raised(tf, tmp_path) -> None:
    with tf.Graph().as_default(), tf.Session() as raw:
        number = tf.strings.to_number("one")
        session = Wrapper(raw, tmp_path, ACTIONS.DEBUG_RUN, ACTIONS.NON_DEBUG_RUN, ACTIONS.DEBUG_RUN)
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError) as caught:
                session.run(number)
            assert session.told[-1].tf_error is caught.value
        with pytest.raises(ValueError, match="nothing of the graph"):
            session.run("nothing of the graph:0")


def test_runners_are_asked_about_too(tf, model, tmp_path) -> None:
    x, y = model
    with tf.Session() as raw:
        session = Wrapper(raw, tmp_path, ACTIONS.DEBUG_RUN)
        assert session.make_callable(y, [x])([1.0]) == [0.0]
    start, end = session.told[1:]
    assert (start.is_callable_runner, end.performed_action) == (True, ACTIONS.DEBUG_RUN)
    assert tf_debug.DebugDumpDir(str(tmp_path / "1")).size


def test_runs_of_callables_that_run_is_given_are_asked_about(tf, model, tmp_path) -> None:
    from tensorflow.core.protobuf import config_pb2

    x, y = model
    with tf.Session() as raw:
        session = Wrapper(raw, tmp_path, *[ACTIONS.DEBUG_RUN] * 2)
        runner = session.make_callable(y, [x])
        assert session.run(None, callable_runner=runner, callable_runner_args=([1.0],)).tolist() == [0.0]
        options = config_pb2.CallableOptions(feed=[x.name], fetch=[y.name])
        given = (np.ones(1, np.float32),)
        assert session.run(None, callable_options=options, callable_runner_args=given)[0].tolist() == [0.0]
    ends = [one for one in session.told if isinstance(one, tf_debug.OnRunEndRequest)]
    assert [one.performed_action for one in ends] == [ACTIONS.DEBUG_RUN] * 2
    assert session.run_call_count == 2


def test_runs_of_other_threads_and_of_nothing_go_by(tf, model, tmp_path) -> None:
    x, y = model
    with tf.Session() as raw:
        session = Wrapper(raw, tmp_path, ACTIONS.NON_DEBUG_RUN, thread_name_filter="worker")
        assert session.run([]) == []
        assert session.run(y, {x: [1.0]}) == [0.0]
        thread = threading.Thread(target=session.run, args=(y, {x: [1.0]}), name="worker-1")
        thread.start()
        thread.join()
    assert [type(one).__name__ for one in session.told[1:]] == ["OnRunStartRequest", "OnRunEndRequest"]


def test_exceptions_of_callbacks_leave_the_run(tf, model, tmp_path) -> None:
    x, y = model

    class Raising(Wrapper):
        def on_run_end(self, request):
            raise KeyError("end")

    with tf.Session() as raw:
        with pytest.raises(KeyError, match="end"):
            Raising(raw, tmp_path, ACTIONS.NON_DEBUG_RUN).run(y, {x: [1.0]})
        with pytest.raises(IndexError):
            Wrapper(raw, tmp_path).run(y, {x: [1.0]})
        with pytest.raises(ValueError, match="unknown action 'later'"):
            Wrapper(raw, tmp_path, "later").run(y, {x: [1.0]})


@pytest.mark.parametrize(
    ("urls", "words"),
    [
        ([], "one folder"),
        (["grpc://localhost:6064"], "one folder"),
        (["file://{here}/new", "/a"], "one folder"),
        (["file://{here}/taken"], "no folder"),
    ],
)
def test_an_address_that_is_no_folder_is_refused(tf, model, tmp_path, urls, words) -> None:
    x, y = model
    (tmp_path / "taken").touch()

    class There(Wrapper):
        def on_run_start(self, request):
            return tf_debug.OnRunStartResponse(ACTIONS.DEBUG_RUN, [url.format(here=tmp_path) for url in urls])

    with tf.Session() as raw, pytest.raises(ValueError, match=words):
        There(raw, tmp_path).run(y, {x: [1.0]})


class Fixed(tf_debug.NonInteractiveDebugWrapperSession):
    """Dumps every run to the same addresses."""

    urls: tuple[str, ...] = ()

    def prepare_run_debug_urls(self, fetches, feed_dict):
        return self.urls


def _values_of(folder) -> list[list[float]]:
    data = DebugDumpDir(str(folder)).watch_key_to_data("y:0:DebugIdentity")
    return [list(datum.get_tensor()) for datum in data]


def test_runs_that_share_a_folder_pile_up_there_as_those_of_tensorflow_do(tf, model, tmp_path) -> None:
    """A blind test: the second run ended the training with a ValueError."""
    x, y = model
    folder = tmp_path / "all"
    with tf.Session() as raw:
        session = Fixed(raw)
        session.urls = (f"file://{folder}",)
        given = [list(session.run(y, {x: [float(at)]})) for at in range(1, 4)]
        assert _values_of(folder) == given
        assert len(DebugDumpDir(str(folder)).core_metadata) == 3
        assert len(DebugDumpDir(str(folder)).partition_graphs()) == 1
        own = tmp_path / "own"
        session.urls = (f"file://{own}",)
        session.run(y, {x: [5.0]})
    assert len(_values_of(own)) == 1
    assert open_recording(str(folder)).runs[0].notes[0].startswith("3 runs wrote into this folder")


def test_a_run_can_be_dumped_into_several_folders(tf, model, tmp_path) -> None:
    """A blind test: TensorFlow does so, and tfdbg raised."""
    x, y = model
    folders = [tmp_path / name for name in ("a", "b")]
    with tf.Session() as raw:
        session = Fixed(raw)
        session.urls = tuple(f"file://{folder}" for folder in folders)
        given = [list(session.run(y, {x: [float(at)]})) for at in range(1, 3)]
    assert [_values_of(folder) for folder in folders] == [given, given]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_the_answer_at_the_beginning_counts(tf, model, tmp_path) -> None:
    with tf.Session() as raw:
        with pytest.raises(NotImplementedError):
            Wrapper(raw, tmp_path, init=tf_debug.OnSessionInitAction.REMOTE_INSTR_LOOP)
        with pytest.raises(ValueError, match="'wait'"):
            Wrapper(raw, tmp_path, init="wait")
        with pytest.raises(TypeError):
            tf_debug.BaseDebugWrapperSession(raw)
        with pytest.raises(TypeError, match="is wanted, not int"):
            Wrapper(3, tmp_path)


def test_a_dump_of_what_a_watch_fn_chooses(tf, model, tmp_path) -> None:
    class Dumping(tf_debug.NonInteractiveDebugWrapperSession):
        def prepare_run_debug_urls(self, fetches, feed_dict):
            (tmp_path / "empty").mkdir(exist_ok=True)
            return f"file://{tmp_path}/empty"

    x, y = model
    with tf.Session() as raw:
        session = Dumping(raw, watch_fn=lambda fetches, feeds: tf_debug.WatchOptions(node_name_regex_allowlist="y$"))
        assert session.run(y, {x: [1.0]}) == [0.0]
        with pytest.raises(TypeError, match="not callable"):
            Dumping(raw, watch_fn=3)
    names = [datum.node_name for datum in tf_debug.DebugDumpDir(str(tmp_path / "empty")).dumped_tensor_data]
    assert names == ["y"]


def test_monitored_sessions_are_asked_about_once_a_run(tf, tmp_path) -> None:
    with tf.Graph().as_default():
        tf.train.get_or_create_global_step()
        y = tf.constant(2.0) + 1.0
        with tf.train.MonitoredSession() as raw:
            session = Wrapper(raw, tmp_path, ACTIONS.DEBUG_RUN, ACTIONS.NON_DEBUG_RUN)
            assert (session.run(y), session.run(y)) == (3.0, 3.0)
            assert not session.should_stop()
    assert len(session.told) == 5


@pytest.mark.parametrize(
    "name",
    [
        "BaseDebugWrapperSession", "NonInteractiveDebugWrapperSession", "OnRunEndRequest", "OnRunStartRequest",
        "OnRunStartResponse", "OnSessionInitResponse",
    ],
)  # fmt: skip
def test_the_arguments_are_tensorflows(tf, name) -> None:
    theirs = pytest.importorskip("tensorflow.python.debug.wrappers.framework")
    parameters = [list(inspect.signature(getattr(one, name)).parameters) for one in (tf_debug, theirs)]
    assert parameters[0] == parameters[1]
