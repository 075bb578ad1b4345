"""Preparing a watch does as much for each op of a big graph as of a small one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from tfdbg_cli.analysis.watch.filters import has_inf_or_nan
from tfdbg_cli.capture.controller import WatchRequest
from tfdbg_cli.capture.questions.known import question_of
from tfdbg_cli.capture.sessions import reach as reaching
from tfdbg_cli.capture.sessions.extended.call_checks import call_checks
from tfdbg_cli.capture.sessions.hidden_ops import PREFIX, hidden_ops
from tfdbg_cli.capture.sessions.invocation import RunCall
from tfdbg_cli.model.decision import CaptureRequest, Detach, RunUntil

pytestmark = pytest.mark.tf


def prepared(tf: Any, ops: int) -> tuple[Any, Any]:
    """The graph of a chain, and what is known of a watched run of it."""
    with tf.Graph().as_default() as graph:
        x = y = tf.placeholder(tf.float32, [4], name="x")
        for at in range(ops):
            y = tf.exp(y) if at % 2 else tf.nn.relu(y)
        with tf.Session() as raw:
            call = RunCall(raw, raw.run, y, {x: np.zeros(4)}, None, None)
            question = question_of(has_inf_or_nan)
            assert question is not None
            return graph, call_checks(
                call, question, WatchRequest("has_inf_or_nan", has_inf_or_nan), CaptureRequest()
            )


@contextmanager
def counted() -> Iterator[list[int]]:
    """How many calls of functions are made, of Python and of C."""
    calls = [0]

    def count(_: Any, event: str, __: Any) -> None:
        calls[0] += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        yield calls
    finally:
        sys.setprofile(None)


def test_the_calls_made_grow_with_the_ops(tf) -> None:
    prepared(tf, 20)
    took = []
    for ops in (200, 800):
        with counted() as calls:
            prepared(tf, ops)
        took.append(calls[0])
    assert took[1] < 4.5 * took[0]


def test_no_op_of_ours_has_inputs_without_bound(tf) -> None:
    graph, call = prepared(tf, 400)
    assert call.checked > 200
    hidden = hidden_ops(graph)
    ops = [graph.get_operation_by_name(f"{PREFIX}{at}") for at in range(hidden.count)]
    assert max(len(op.inputs) for op in ops) <= 16
    assert call.health.op in ops


def test_the_order_of_the_ops_is_found_once(tf, monkeypatch) -> None:
    seen: list[int] = []
    original = reaching.ancestors
    monkeypatch.setattr(reaching, "ancestors", lambda *given: seen.append(1) or original(*given))
    prepared(tf, 50)
    assert len(seen) == 1


def test_ops_between_those_of_the_program_are_left_out_of_what_it_exports(tf, debugged, graph) -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    first = tf.exp(x, name="first")
    with tf.Session() as raw:
        session, _ = debugged(raw, RunUntil("has_inf_or_nan"), Detach())
        session.run(first, {x: [0, 0]})
        second = tf.exp(first, name="second")
        session.run(second, {x: [0, 0]})
        tf.exp(second, name="third")
    assert [node.name for node in graph.as_graph_def().node] == ["x", "first", "second", "third"]
