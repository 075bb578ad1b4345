"""Runs that are prepared once give what `Session.run` gives."""

from __future__ import annotations

import numpy as np
import pytest

from tfdbg_cli.capture.replay.prepared_run import PreparedRun


@pytest.mark.tf
def test_it_gives_what_a_session_gives_in_the_order_that_is_asked_for(tf, graph) -> None:
    x = tf.placeholder(tf.float32, [2], name="zx")
    y = tf.placeholder(tf.string, [], name="ay")
    total = tf.add(x, x, name="b")
    joined = tf.strings.join([y, "!"], name="a")
    with tf.Session() as session:
        run = PreparedRun(session, [x, y], [total, y, joined, x, total], [])
        for start in (1, 3):
            given = [np.arange(start, start + 2, dtype=np.float32), np.array(b"text", object)]
            found = run.make(given)
            wanted = session.run([total, y, joined, x, total], dict(zip([x, y], given, strict=True)))
            assert all(map(np.array_equal, found, wanted))
            assert found[2] == b"text!"


@pytest.mark.tf
def test_its_targets_run_each_time(tf, graph) -> None:
    counter = tf.get_variable("counter", initializer=0.0, use_resource=True)
    more = tf.assign_add(counter, 1.0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        run = PreparedRun(session, [], [], [more.op])
        assert [run.make([]), run.make([])] == [[], []]
        assert session.run(counter) == 2


@pytest.mark.tf
def test_it_refuses_what_a_session_refuses(tf, graph) -> None:
    x = tf.placeholder(tf.float32, [2])
    graph.prevent_fetching(tf.exp(x, name="inner").op)
    with tf.Session() as session:
        with pytest.raises(ValueError, match="Cannot feed value of shape"):
            PreparedRun(session, [x], [x], []).make([np.zeros(3, np.float32)])
        with pytest.raises(ValueError, match="inner:0 may not be fetched"):
            PreparedRun(session, [x], [graph.get_tensor_by_name("inner:0")], [])


@pytest.mark.tf
@pytest.mark.parametrize("shape", [None, [], [None], [2, None], [2, 3]])
@pytest.mark.parametrize("given", [(), (2,), (2, 3), (3, 2)])
def test_it_takes_the_shapes_that_a_session_takes(tf, graph, shape, given) -> None:
    x = tf.placeholder(tf.float32, shape)
    value = np.ones(given, np.float32)
    with tf.Session() as session:
        run = PreparedRun(session, [x], [tf.shape(x)], [])
        try:
            wanted = session.run(tf.shape(x), {x: value}).tolist()
        except ValueError:
            with pytest.raises(ValueError, match="Cannot feed value of shape"):
                run.make([value])
        else:
            assert run.make([value])[0].tolist() == wanted
