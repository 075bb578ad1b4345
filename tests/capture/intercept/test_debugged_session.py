"""A wrapped session is the session itself, and stops where it should."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest
from support.scripted import ScriptedFrontend

from tfdbg_cli.capture.intercept.debugged_session import DebuggedSession
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.decision import CaptureRequest, Continue, DebugRun, Detach, GraphChoice, PlainRun, ProfileRun
from tfdbg_cli.model.graph import GraphKind

pytestmark = pytest.mark.tf

RUNTIME = DebugRun(CaptureRequest(graph=GraphChoice.RUNTIME))
PYTHON = DebugRun(CaptureRequest(graph=GraphChoice.PYTHON))


def value_of(run, node: str, slot: int = 0) -> np.ndarray:
    (index,) = run.tensors.named(node, slot)
    return run.tensors.value(index)


@pytest.fixture
def model(tf, graph):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    w = tf.get_variable("w", initializer=[[1.0], [2.0]], use_resource=True)
    y = tf.matmul(x, w, name="y")
    loss = tf.reduce_sum(tf.square(y), name="loss")
    return x, y, loss, tf.train.GradientDescentOptimizer(0.1).minimize(loss), tf.global_variables_initializer()


@pytest.mark.parametrize("decision", [RUNTIME, PYTHON], ids=["runtime", "python"])
def test_a_captured_run_shows_its_tensors_and_gives_the_same_result(tf, debugged, model, decision) -> None:
    x, y, loss, _, init = model
    with tf.Session() as raw:
        raw.run(init)
        feed = {x: [[1.0, 1.0], [2.0, 0.5]]}
        expected = raw.run({"a": [y, loss], "b": y}, feed)
        taken = []

        def look(event):
            run = event.run
            taken.append((value_of(run, "y"), value_of(run, "loss"), run.graph.kind, run.notes, run.call))
            return Detach()

        session, _ = debugged(raw, decision, look)
        result = session.run({"a": [y, loss], "b": y}, feed)
    np.testing.assert_equal(result, expected)
    ((seen_y, seen_loss, kind, notes, call),) = taken
    np.testing.assert_equal([seen_y, seen_loss], expected["a"])
    assert kind is (GraphKind.RUNTIME if decision is RUNTIME else GraphKind.PYTHON)
    assert str(kind) in notes[0]
    assert list(zip(call.fetches, call.names_of_fetches, strict=True)) == [
        ("y:0", "a[0]"),
        ("y:0", "b"),
        ("loss:0", "a[1]"),
    ]
    assert list(call.feeds) == ["x:0"]
    assert call.kind is RunKind.SESSION


def test_the_stop_knows_where_nodes_were_made(tf, debugged, model) -> None:
    with tf.Session() as raw:
        session, front = debugged(raw, Detach())
        session.run(model[-1])
    start = front.stops[0]
    frames = start.tracebacks["y"]
    assert frames[-1].file != ""
    assert any(frame.file == __file__ and "tf.matmul" in frame.text for frame in frames)
    assert start.graph.node("y").inputs[0].node == "x"
    assert start.graph.node("y").attributes["T"] == "float32"
    assert start.call.targets == ("init",)


def test_training_goes_on_as_without_us(tf, debugged, model) -> None:
    x, _, loss, train, init = model
    feed = {x: np.array([[0.1, 0.2]], np.float32)}

    def losses(wrap) -> list:
        with tf.Session() as raw:
            session = wrap(raw)
            session.run(init)
            return [session.run([train, loss], feed)[1] for _ in range(6)]

    plain = losses(lambda raw: raw)
    steps = [PlainRun(), RUNTIME, PYTHON, ProfileRun(), PlainRun(), Continue()]
    assert losses(lambda raw: debugged(raw, *steps)[0]) == plain


def test_every_public_attribute_of_a_session_works_on_the_wrapped_one(tf, debugged, model) -> None:
    """tensorflow#7991: the old wrapper lacked as_default, so it was no drop-in."""
    with tf.Session() as raw:
        session, _ = debugged(raw, Detach())
        names = [name for name in dir(raw) if not name.startswith("_")]
        assert {"as_default", "run", "make_callable", "partial_run", "list_devices", "reset"} <= set(names)
        for name in names:
            assert callable(getattr(session, name)) == callable(getattr(raw, name)), name
            assert name in dir(session)
        assert session.graph is raw.graph
        assert session.sess_str == raw.sess_str
        assert session.graph_def == raw.graph_def
        assert [device.name for device in session.list_devices()] == [device.name for device in raw.list_devices()]
        session.mark = 5
        assert raw.mark == 5
        del session.mark
        assert not hasattr(raw, "mark")
        with pytest.raises(AttributeError):
            _ = session.no_such_thing


def test_isinstance_holds_as_for_the_session_itself(tf, debugged, graph) -> None:
    """GPflow#769: GPflow checks isinstance(session, tf.Session)."""
    with tf.Session() as raw:
        session, _ = debugged(raw)
        assert isinstance(session, tf.Session)
        assert isinstance(session, DebuggedSession)
        assert not isinstance(session, tf.InteractiveSession)


@pytest.mark.parametrize("wrong", [None, 3, "session", lambda: None, object()])
def test_other_things_are_refused_with_what_to_pass(tf, debugged, wrong) -> None:
    """darkflow#771, tensorflow#29679: a friendly TypeError, that says Keras and TF2 code make no Session.run."""
    with pytest.raises(TypeError, match=r"MonitoredSession is wanted, not .*make no Session\.run"):
        debugged(wrong)
    with pytest.raises(TypeError, match=r"write Session\(\)"):
        debugged(tf.Session)


def test_the_context_and_as_default_put_the_wrapper_in_place(tf, debugged, model) -> None:
    x, y, _, _, init = model
    session, front = debugged(tf.Session(), DebugRun(), DebugRun(), DebugRun(), Detach())
    with session as entered:
        assert entered is session
        assert tf.get_default_session() is session
        init.run()
        y.eval({x: [[1.0, 1.0]]})
    assert tf.get_default_session() is None
    with pytest.raises(RuntimeError, match="closed"):
        session.run(init)
    assert front.path == ["start 1", "end 1", "end 2"]
    other, front = debugged(tf.Session(), DebugRun(), Detach())
    with other.as_default() as entered:
        assert entered is other
        init.run()
    assert front.path == ["start 1", "end 1"]
    other.close()


def test_an_interactive_session_stays_the_default_one(tf, debugged, model) -> None:
    """As with TensorFlow's wrapper: what is not asked of the wrapper is not debugged, and both can be closed."""
    raw = tf.InteractiveSession()
    session, front = debugged(raw, DebugRun(), Detach())
    assert tf.get_default_session() is raw
    model[-1].run()
    assert front.path == []
    session.run(model[-1])
    assert front.path == ["start 1", "end 1"]
    session.close()
    assert tf.get_default_session() is None


def test_a_wrapped_interactive_session_is_the_default_one_where_it_is_asked_to_be(tf, debugged, model) -> None:
    raw = tf.InteractiveSession()
    session, front = debugged(raw, DebugRun(), Detach())
    with session as entered:
        assert entered is session
        assert tf.get_default_session() is session
        model[-1].run()
    assert front.path == ["start 1", "end 1"]
    assert tf.get_default_session() is raw
    raw.close()
    assert tf.get_default_session() is None


def test_a_session_that_was_entered_can_be_wrapped_and_entered(tf, debugged, model) -> None:
    """As with TensorFlow's wrapper: `with tf.Session() as sess:` and, within it, `with wrapper:`."""
    with tf.Session() as raw:
        session, front = debugged(raw, DebugRun(), Detach())
        with session as entered, session:
            assert entered is session
            assert tf.get_default_session() is session
            model[-1].run()
        assert tf.get_default_session() is raw
        raw.run(model[-1])  # it is open
    assert front.path == ["start 1", "end 1"]
    assert tf.get_default_session() is None


def test_a_session_can_be_entered_within_its_wrapper(tf, debugged, model) -> None:
    """As with TensorFlow's wrapper, and as a plain session within another."""
    raw = tf.Session()
    session, front = debugged(raw, DebugRun(), Detach())
    with session:
        with raw as entered:
            assert entered is raw
            assert tf.get_default_session() is raw
            raw.run(model[-1])  # not asked of the wrapper
        assert tf.get_default_session() is session
    assert tf.get_default_session() is None
    assert front.path == []
    with pytest.raises(RuntimeError, match="closed"):
        raw.run(model[-1])


def test_make_callable_is_debugged_with_its_names(tf, debugged, model) -> None:
    x, y, loss, _, init = model
    with tf.Session() as raw:
        raw.run(init)
        given = np.array([[1.0, 2.0]], np.float32)
        expected = raw.make_callable([y, loss], [x])(given)
        session, front = debugged(raw, RUNTIME, PYTHON, PYTHON, RUNTIME, Detach())
        runner = session.make_callable([y, loss], [x])
        for _ in range(4):
            np.testing.assert_equal(runner(given), expected)
    assert [end.run.call.fetches for end in front.ends] == [("y:0", "loss:0")] * 4
    assert front.ends[0].run.call.kind is RunKind.CALLABLE
    np.testing.assert_equal(front.ends[1].run.call.feeds["x:0"], given)
    np.testing.assert_equal(value_of(front.ends[1].run, "y"), expected[0])


@pytest.mark.parametrize("accept_options", [False, True])
@pytest.mark.parametrize("decision", [RUNTIME, PYTHON, Detach()], ids=["runtime", "python", "detach"])
def test_make_callable_without_feeds(tf, debugged, graph, accept_options, decision) -> None:
    y = tf.constant(3.0) * tf.Variable(1.0)
    with tf.Session() as raw:
        raw.run(tf.global_variables_initializer())
        session, _ = debugged(raw, decision)
        assert session.make_callable(y, accept_options=accept_options)() == 3.0
        assert session.make_callable(y.op, accept_options=accept_options)() is None
        if accept_options:
            metadata = tf.RunMetadata()
            options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
            assert session.make_callable({"y": y}, accept_options=True)(options, metadata) == {"y": 3.0}
            assert metadata.step_stats.dev_stats


@pytest.mark.parametrize("decision", [RUNTIME, PYTHON, ProfileRun()], ids=["runtime", "python", "profile"])
def test_options_of_the_caller_are_honoured_and_left_as_they_are(tf, debugged, graph, decision) -> None:
    y = tf.constant(3.0) + tf.random_uniform([])
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    before = options.SerializeToString()
    metadata = tf.RunMetadata()
    with tf.Session() as raw:
        session, _ = debugged(raw, decision)
        session.run(y, options=options, run_metadata=metadata)
    assert options.SerializeToString() == before
    assert metadata.step_stats.dev_stats


def test_callables_from_options_as_keras_2_makes_them(tf, debugged, model) -> None:
    x, y, _, _, init = model
    from tensorflow.core.protobuf import config_pb2

    options = config_pb2.CallableOptions(feed=[x.name], fetch=[y.name], target=[])
    before = options.SerializeToString()
    given = np.array([[1.0, 2.0]], np.float32)
    with tf.Session() as raw:
        raw.run(init)
        expected = raw._make_callable_from_options(options)(given)
        session, front = debugged(raw, RUNTIME, PYTHON, PYTHON, Detach())
        runner = session._make_callable_from_options(options)
        for _ in range(4):
            np.testing.assert_equal(runner(given), expected)
        del runner
    assert options.SerializeToString() == before
    assert front.path == ["start 1", "end 1", "end 2", "end 3"]
    np.testing.assert_equal(value_of(front.ends[1].run, "y"), expected[0])


def test_partial_run_works(tf, debugged, graph) -> None:
    """TensorFlow's tfdbg: partial_run was unimplemented in every debug wrapper."""
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    first = a + 1.0
    second = first * b
    with tf.Session() as raw:
        session, front = debugged(raw)
        handle = session.partial_run_setup([first, second], [a, b])
        assert session.partial_run(handle, first, {a: 1.0}) == 2.0
        assert session.partial_run(handle, second, {b: 5.0}) == 10.0
    assert front.stops == []


def test_run_step_fn_and_should_stop_on_a_plain_session(tf, debugged, graph) -> None:
    y = tf.constant(2.0)
    with tf.Session() as raw:
        session, front = debugged(raw, DebugRun(), Detach())
        assert session.run_step_fn(lambda step_context: step_context.run_with_hooks(y)) == 2.0
        assert front.path == ["start 1", "end 1"]
        with pytest.raises(ValueError, match="Only a MonitoredSession"):
            session.should_stop()


@pytest.mark.parametrize("fetches", [[], {}, (), [[], {}]])
def test_nothing_fetched_is_nothing_to_debug(tf, debugged, graph, fetches) -> None:
    tf.constant(1.0)
    with tf.Session() as raw:
        session, front = debugged(raw)
        assert session.run(fetches) == raw.run(fetches)
    assert front.stops == []


def test_fetches_and_feeds_of_every_kind(tf, debugged, graph) -> None:
    sparse = tf.sparse_placeholder(tf.float32, shape=[2, 2], name="s")
    ragged = tf.ragged.constant([[1, 2], [3]])
    variable = tf.get_variable("v", initializer=4.0)
    text = tf.constant("dog", name="text")
    texts = tf.constant(["a", "ünï"], name="texts")
    a, b = tf.placeholder(tf.int32, name="a"), tf.placeholder(tf.int32, name="b")
    fetches = {
        "sparse": sparse, "ragged": ragged, 3: (variable, text, "texts:0"), "op": variable.initializer,
        "sum": a + b, "slices": tf.IndexedSlices(tf.constant([1.0]), tf.constant([0])),
    }  # fmt: skip
    value = tf.SparseTensorValue([[0, 1]], np.array([2.5], np.float32), [2, 2])
    feeds = {sparse: value, (a, b): (1, np.array([2, 3]))}
    with tf.Session() as raw:
        raw.run(variable.initializer)
        expected = raw.run(fetches, feeds)
        expected_ragged = expected.pop("ragged").to_list()
        session, front = debugged(raw, RUNTIME, PYTHON, Detach())
        for _ in range(2):
            result = session.run(fetches, feeds)
            assert result.pop("ragged").to_list() == expected_ragged
            np.testing.assert_equal(result, expected)
    call = front.ends[1].run.call
    assert {"s/indices:0", "s/values:0", "a:0", "b:0"} <= set(call.feeds)
    assert "v/Assign" in call.targets
    run = front.ends[1].run
    assert value_of(run, "text").shape == ()
    assert value_of(run, "text")[()] == b"dog"
    assert value_of(run, "texts").tolist() == [b"a", "ünï".encode()]
    assert texts.dtype == tf.string


def test_wrong_calls_fail_as_without_us(tf, debugged, model) -> None:
    x, y, _, _, init = model
    wrongs = [
        lambda s: s.run(None),
        lambda s: s.run("no such tensor:0"),
        lambda s: s.run(3),
        lambda s: s.run(y, {x: [1.0]}),
        lambda s: s.run(y, {"nothing:0": 1.0}),
        lambda s: s.run(y, 5),
        lambda s: s.run(y),
        lambda s: s.make_callable(y, x),
    ]
    with tf.Session() as raw:
        raw.run(init)
        for decision in (RUNTIME, PYTHON, Continue()):
            for wrong in wrongs:
                with pytest.raises(Exception) as plain:
                    wrong(raw)
                session, _ = debugged(raw, *[decision] * 3)
                with pytest.raises(type(plain.value)) as ours:
                    wrong(session)
                assert type(ours.value) is type(plain.value)
                assert str(ours.value).splitlines()[0] == str(plain.value).splitlines()[0]


def test_threads_share_one_session(tf, debugged, graph) -> None:
    """tensorpack#209: two threads could not run one debugged session."""
    y = tf.placeholder(tf.float32, [], name="n") * 2.0
    results: dict[int, float] = {}
    with tf.Session() as raw:
        session, front = debugged(raw, *[DebugRun()] * 50)

        def work(i: int) -> None:
            results[i] = session.run(y, {"n:0": float(i)})

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert results == {i: 2.0 * i for i in range(8)}
    assert len(front.ends) >= 1


def test_a_finalized_graph_is_no_obstacle(tf, debugged, model) -> None:
    x, y, _, _, init = model
    tf.get_default_graph().finalize()
    with tf.Session() as raw:
        session, front = debugged(raw, RUNTIME, PYTHON, PYTHON, Detach())
        session.run(init)
        session.run(y, {x: [[1.0, 2.0]]})
        session.run(y, {x: [[1.0, 2.0]]})
    assert len(front.ends) == 3


def test_no_op_is_added_to_the_graph(tf, debugged, model) -> None:
    x, _, loss, train, init = model
    graph = tf.get_default_graph()
    count = len(graph.get_operations())
    with tf.Session() as raw:
        session, _ = debugged(raw, RUNTIME, PYTHON, ProfileRun(), RUNTIME)
        session.run(init)
        for _ in range(3):
            session.run([loss, train], {x: [[1.0, 2.0]]})
    assert len(graph.get_operations()) == count


def test_a_bug_of_ours_costs_the_program_nothing(tf, debugged, graph, monkeypatch, capsys) -> None:
    from tfdbg_cli.capture.runs.session import session_run as interception

    counter = tf.get_variable("counter", initializer=0.0)
    step = tf.assign_add(counter, 1.0)

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a bug")

    with tf.Session() as raw:
        raw.run(counter.initializer)
        for name in ("program_graph", "choose_graph", "with_inputs", "RuntimeCapture"):
            with monkeypatch.context() as patch:
                session, _ = debugged(raw, RUNTIME, RUNTIME, RUNTIME)
                patch.setattr(interception, name, broken)
                before = raw.run(counter)
                assert session.run(step) == before + 1, name
                assert raw.run(counter) == before + 1, f"{name}: the step ran twice"
            assert "a bug" in capsys.readouterr().err


def test_ctrl_c_at_the_prompt_reaches_the_program(tf, debugged, graph) -> None:
    def interrupt(event):
        raise KeyboardInterrupt

    y = tf.constant(1.0)
    with tf.Session() as raw:
        session, _ = debugged(raw, interrupt)
        with pytest.raises(KeyboardInterrupt):
            session.run(y)
        session, front = debugged(raw, RUNTIME, interrupt)
        with pytest.raises(KeyboardInterrupt):
            session.run(y)
        assert isinstance(front, ScriptedFrontend)


def test_a_remote_session_shows_the_python_graph(tf, debugged, graph) -> None:
    server = tf.train.Server.create_local_server()
    y = tf.constant([1.0, 2.0], name="y") * 2.0
    with tf.Session(server.target) as raw:
        session, front = debugged(raw, RUNTIME, Detach())
        np.testing.assert_equal(session.run(y), [2.0, 4.0])
    run = front.ends[0].run
    assert run.graph.kind is GraphKind.PYTHON
    assert "runs elsewhere" in run.notes[0]
    np.testing.assert_equal(value_of(run, "y"), [1.0, 2.0])


def test_nothing_keeps_a_graph_or_a_run_alive(tf, debugged) -> None:
    """tensorflow#24513: memory grew with every run."""
    with tf.Graph().as_default() as graph, tf.Session() as raw:
        y = tf.identity(tf.zeros([1000]), name="y")
        session, front = debugged(raw, PYTHON, RUNTIME, ProfileRun(), Detach())
        for _ in range(4):
            session.run(y)
    seen = [weakref.ref(graph), *(weakref.ref(end.run.tensors) for end in front.ends)]
    front.stops.clear()
    del graph, raw, y, session
    gc.collect()
    assert [reference() for reference in seen] == [None] * 4


def test_run_takes_a_callable_as_the_wrappers_of_tensorflow_do(tf, debugged, model) -> None:
    x, y, *_ = model
    options = _callable_options([x.name], [y.name])
    with tf.Session() as raw:
        raw.run(model[-1])
        expected = raw.run(y, {x: [[1.0, 1.0]]})
        session, front = debugged(raw, *[DebugRun()] * 4, Detach())
        runner = session.make_callable(y, [x], accept_options=True)
        metadata = tf.RunMetadata()
        given = {"callable_runner": runner, "callable_runner_args": ([[1.0, 1.0]],)}
        np.testing.assert_array_equal(session.run(None, run_metadata=metadata, **given), expected)
        for _ in range(2):
            arguments = (np.array([[1.0, 1.0]], np.float32),)
            found = session.run(None, callable_options=options, callable_runner_args=arguments)
            np.testing.assert_array_equal(found[0], expected)
        made = raw.make_callable(y, [x])
        stops = len(front.stops)
        found = session.run(None, callable_runner=made, callable_runner_args=([[1.0, 1.0]],))
        np.testing.assert_array_equal(found, expected)
        assert len(front.stops) == stops, "what the session itself made tells of no fetches"
        with pytest.raises(ValueError, match="exclude each other"):
            session.run(None, callable_runner=runner, callable_options=options)
        with pytest.raises(ValueError, match="have to be None"):
            session.run(y, **given)
    ends = [stop for stop in front.stops if hasattr(stop, "run")]
    assert [value_of(stop.run, "y").tolist() for stop in ends] == [expected.tolist()] * 3


def _callable_options(feeds: list[str], fetches: list[str]):
    from tensorflow.core.protobuf import config_pb2

    return config_pb2.CallableOptions(feed=feeds, fetch=fetches)
