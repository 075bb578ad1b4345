"""Sparse and ragged tensors that are fed to a session: taken apart as TensorFlow does it, and their rows told."""

from __future__ import annotations

from typing import Any

import pytest

from tfdbg_cli.analysis.origin.origin_found import Origin
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.model.decision import Detach, RunUntil

pytestmark = pytest.mark.tf


def _origin(tf: Any, debugged: Any, fetch: Any, feeds: dict[Any, Any]) -> Origin:
    with tf.Session() as raw:
        session, front = debugged(raw, RunUntil("has_inf_or_nan"), Detach())
        session.run(fetch, feeds)
    assert front.ends, "nothing was stopped at"
    found = OriginSearch(front.ends[0].run).first()
    assert found is not None
    return found


@pytest.mark.parametrize("name", ["s", None])
def test_sparse(tf, debugged, graph, name) -> None:
    s = tf.sparse_placeholder(tf.float32, name=name)
    value = ([[0, 0], [0, 1], [1, 1]], [1.0, 2.0, -3.0], [2, 2])
    batch = _origin(tf, debugged, tf.reduce_sum(tf.log(s.values)), {s: value}).batch
    assert (batch.rows, batch.size) == ((1,), 2)


def test_sparse_whose_shape_is_known_to_the_graph(tf, debugged, graph) -> None:
    s = tf.sparse_placeholder(tf.float32, shape=[4, 3])  # its shape is another kind of placeholder
    product = tf.sparse_tensor_dense_matmul(s, tf.ones([3, 2]))
    value = ([[0, 0], [0, 2], [1, 0], [3, 2]], [1.0, float("inf"), 4.0, 5.0], [4, 3])
    batch = _origin(tf, debugged, tf.reduce_mean(product), {s: value}).batch
    assert (batch.rows, batch.size) == ((0,), 4)


@pytest.mark.parametrize(("rows", "bad"), [([[1.0, 2.0, 3.0], [-4.0]], (1,)), ([[1.0], [], [2.0, -4.0]], (2,))])
def test_ragged(tf, debugged, graph, rows, bad) -> None:
    r = tf.ragged.placeholder(tf.float32, 1)
    batch = _origin(tf, debugged, tf.reduce_sum(tf.log(r)), {r: tf.ragged.constant_value(rows)}).batch
    assert (batch.rows, batch.size) == (bad, len(rows))
