"""Sessions of programs that know nothing of tfdbg."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from support.libraries import library
from support.scripted import ScriptedFrontend

from tfdbg_cli.capture import failures
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.decision import CaptureRequest, DebugRun, Detach, GraphChoice

pytestmark = pytest.mark.tf

EITHER = [DebugRun(CaptureRequest(graph=GraphChoice.PYTHON)), DebugRun(CaptureRequest(graph=GraphChoice.RUNTIME))] * 9


@pytest.fixture
def everywhere(tf, temporary_files) -> Iterator[ScriptedFrontend]:
    from tfdbg_cli.capture.intercept.all_sessions import intercept_all_sessions

    front = ScriptedFrontend(*EITHER)
    undo = intercept_all_sessions(Debugger(lambda: front))
    yield front
    undo()
    assert not list(temporary_files.iterdir())


def test_any_session_is_debugged(tf, graph, everywhere) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.add(x, 1.0, name="y")
    with tf.Session() as session:
        assert session.run(y, {x: 1.0}) == 2.0
        assert y.eval({x: 2.0}) == 3.0
        assert session.make_callable(y, [x])(4.0) == 5.0
    interactive = tf.InteractiveSession()
    assert y.eval({x: 2.0}) == 3.0
    interactive.close()
    assert everywhere.path == ["start 1", "end 1", "end 2", "end 3", "end 4"]


def test_a_run_made_in_parts_is_left_alone_and_that_is_said(tf, graph, everywhere, capsys) -> None:
    failures._REMARKED.clear()
    x, y = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    more = x + 1.0
    product = more * y
    with tf.Session() as session:
        for _ in range(2):
            handle = session.partial_run_setup([more, product], [x, y])
            assert session.partial_run(handle, more, {x: 1.0}) == 2.0
            assert session.partial_run(handle, product, feed_dict={y: 3.0}) == 6.0
    assert everywhere.path == []
    assert capsys.readouterr().err.count("Session.partial_run, are left alone") == 1


def test_the_warning_of_what_is_deprecated_names_the_line_of_the_program(tf, graph, everywhere, caplog) -> None:
    """A blind test: of partial_run it named a file of tfdbg."""
    x = tf.placeholder(tf.float32, [])
    more = x + 1.0
    logger = tf.get_logger()
    logger.addHandler(caplog.handler)
    try:
        with tf.Session() as session:
            handle = session.partial_run_setup([more], [x])
            assert session.partial_run(handle, more, {x: 1.0}) == 2.0
    finally:
        logger.removeHandler(caplog.handler)
    (told,) = {text for text in caplog.messages if "BaseSession.partial_run (from" in text}  # it may come twice here
    assert told.startswith(f"From {__file__}:")


def test_a_wrapped_session_is_debugged_once(tf, graph, everywhere, debugged) -> None:
    y = tf.constant(1.0)
    with tf.Session() as raw:
        session, front = debugged(raw, DebugRun(), Detach())
        assert session.run(y) == 1.0
        assert session.make_callable(y)() == 1.0
        assert session.run([]) == []
    assert front.path == ["start 1", "end 1"]
    assert everywhere.path == []


def test_of_a_monitored_session_only_the_programs_own_runs_count(tf, graph, everywhere, tmp_path) -> None:
    step = tf.train.get_or_create_global_step()
    train = step.assign_add(1)
    with tf.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path), save_checkpoint_steps=1) as session:
        for expected in (1, 2):
            assert session.run(train) == expected
    assert everywhere.path == ["start 1", "end 1", "end 2"]


def test_undo_leaves_the_classes_as_they_were(tf, graph) -> None:
    from tfdbg_cli.capture.intercept.all_sessions import intercept_all_sessions
    from tfdbg_cli.capture.tf import base_classes

    before = [dict(vars(kind)) for kind in (base_classes.plain_base(), base_classes.monitored_base())]
    undo = intercept_all_sessions(Debugger(ScriptedFrontend))
    assert vars(base_classes.plain_base())["run"].__doc__ == before[0]["run"].__doc__
    undo()
    after = [dict(vars(kind)) for kind in (base_classes.plain_base(), base_classes.monitored_base())]
    for old, new in zip(before, after, strict=True):
        assert {name for name in old if old[name] is not new.get(name)} == set()


def test_keras_2_trains_alike(tf, debugged, tmp_path) -> None:
    tf_keras = library("tf_keras")
    from tfdbg_cli.capture.intercept.all_sessions import intercept_all_sessions

    def weights(script) -> list:
        front = ScriptedFrontend(*script)
        undo = intercept_all_sessions(Debugger(lambda: front))
        try:
            with tf.Graph().as_default():
                tf.set_random_seed(1)
                with tf.Session().as_default():
                    net = tf_keras.Sequential([tf_keras.layers.Dense(3, "relu"), tf_keras.layers.Dense(1)])
                    net.build((None, 2))
                    net.set_weights([np.full(w.shape, 0.5, np.float32) for w in net.get_weights()])
                    net.compile("sgd", "mse")
                    x = np.arange(8, dtype=np.float32).reshape(4, 2)
                    net.fit(x, x.sum(axis=1), batch_size=2, epochs=2, shuffle=False, verbose=0)
                    return [net.get_weights(), len(front.ends)]
        finally:
            undo()

    plain, none = weights([Detach()])
    debugged_, stops = weights(EITHER)
    np.testing.assert_equal(debugged_, plain)
    assert none == 0
    assert stops >= 4
