"""What ops drew is read behind all others, and the runtime's graph of the run keeps the order of its nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tfdbg_cli.capture.sessions.exact.reads_at_the_end import last_of, late_reads
from tfdbg_cli.capture.sessions.hidden_ops import hidden_ops, is_hidden
from tfdbg_cli.capture.sessions.reach import ancestors
from tfdbg_cli.capture.tf.types import SymbolicTensor

pytestmark = pytest.mark.tf


def beside_assign(tf: Any) -> list[Any]:
    w = tf.get_variable("w", initializer=1.0, use_resource=False)
    return [w * tf.random.uniform([], seed=1), tf.assign(w, w * 1.5)]


def beside_scatter(tf: Any) -> list[Any]:
    w = tf.get_variable("w", initializer=np.ones(4, np.float32), use_resource=False)
    return [tf.reduce_sum(w * tf.random.uniform([4], seed=1)), tf.scatter_add(w, [0], [1.0])]


def beside_descent(tf: Any) -> list[Any]:
    w = tf.get_variable("w", initializer=np.ones((4, 4), np.float32), use_resource=True)
    loss = tf.reduce_mean(tf.square(tf.matmul(tf.nn.dropout(tf.ones([2, 4]), rate=0.5, seed=2), w)))
    return [loss, tf.train.GradientDescentOptimizer(0.1).minimize(loss), w]


def beside_python(tf: Any) -> list[Any]:
    w = tf.get_variable("w", initializer=1.0, use_resource=False)
    return [w * tf.py_func(lambda: np.float32(2), [], tf.float32), tf.assign(w, w * 1.5)]


def beside_queue(tf: Any) -> list[Any]:
    queue = tf.FIFOQueue(100, tf.float32, shapes=[()])
    w = tf.get_variable("w", initializer=1.0, use_resource=False)
    with tf.control_dependencies([queue.enqueue(tf.ones([]))]):
        return [queue.dequeue() * w, tf.assign(w, w * 1.5)]


DRAWS = {"RandomUniform", "PyFunc", "QueueDequeueV2"}


def _drawn(order: list[Any]) -> list[SymbolicTensor]:
    return [op.outputs[0] for op in order if op.type in DRAWS]


@pytest.mark.parametrize("make", [beside_assign, beside_scatter, beside_descent, beside_python, beside_queue])
def test_the_graph_that_runs_has_the_order_that_it_has_alone(tf, make: Callable[[Any], list[Any]]) -> None:
    def nodes(reading: bool) -> list[tuple[str, tuple[str, ...]]]:
        with tf.Graph().as_default() as graph, tf.Session() as session:
            fetches = make(tf)
            order = ancestors([getattr(one, "op", one) for one in fetches], ())
            drawn = _drawn(order)
            assert drawn
            beside = late_reads(hidden_ops(graph), drawn, order, frozenset(), ()) if reading else []
            session.run(tf.global_variables_initializer())
            metadata = tf.RunMetadata()
            session.run((fetches, beside), options=tf.RunOptions(output_partition_graphs=True), run_metadata=metadata)
            found = [node for part in metadata.partition_graphs for node in part.node]
        return [(one.name, tuple(one.input)) for one in found if one.op != "_Retval" and not is_hidden(one.name)]

    assert nodes(reading=True) == nodes(reading=False)


def test_what_is_read_is_what_was_drawn_though_a_branch_was_not_taken(tf, graph, loops_of_v1) -> None:
    w = tf.get_variable("w", initializer=1.0, use_resource=False)
    draw = tf.random.uniform([], seed=1)
    chosen = tf.cond(tf.constant(False) & tf.less(draw, 0.0), lambda: tf.assign(w, 7.0) * 1.0, lambda: w * 1.0)
    fetches = [draw, chosen, tf.assign_add(w, draw)]
    order = ancestors([one.op for one in fetches], ())
    assert {op.name for op in last_of(order, frozenset())} == {chosen.op.name, fetches[2].op.name}
    (late,) = late_reads(hidden_ops(graph), [draw], order, frozenset(), ())
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        (first, _, _), again = session.run((fetches, late))
    assert first == again


def test_what_the_program_fetches_stands_for_itself(tf, graph) -> None:
    draws = [tf.random.uniform([], seed=seed) for seed in (1, 2)]
    order = ancestors([one.op for one in draws], ())
    first, second = late_reads(hidden_ops(graph), draws, order, frozenset(), {draws[0].name})
    assert first is draws[0]
    assert is_hidden(second.op.name)
    assert hidden_ops(graph).count == 2
    assert late_reads(hidden_ops(graph), draws, order, frozenset(), {one.name for one in draws}) == draws
    assert hidden_ops(graph).count == 2
