"""An op that a thread made, with no line of the program in its stack, was asked for where that thread was begun."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tfdbg_cli.analysis.graph.nodes.annotation import made_at
from tfdbg_cli.capture.tf.tracebacks import GraphTracebacks, tracebacks_of

pytestmark = pytest.mark.tf


def _in_thread(graph: Any, function: Any, *given: Any, **named: Any) -> None:
    """Call `function` in a thread whose stack holds no line but those of libraries, as those of replicas do."""
    thread = threading.Thread(target=graph.as_default()(function), args=given, kwargs=named)
    thread.start()
    thread.join()


def test_the_line_is_that_of_the_thread_that_waited(tf, graph) -> None:
    before = tf.constant(1.0, name="before")
    _in_thread(graph, tf.negative, before, name="in_thread")
    tracebacks = tracebacks_of(graph)
    frame, reference = made_at(tracebacks, "in_thread"), made_at(tracebacks, "before")
    assert frame is not None and reference is not None
    assert (frame.file, frame.line) == (reference.file, reference.line) == (__file__, reference.line)
    files = [each.file for each in tracebacks["in_thread"]]
    assert any(file.endswith("threading.py") for file in files), "the frames of the thread are kept"


def test_a_thread_of_the_program_has_a_line_of_its_own(tf, graph) -> None:
    before = tf.constant(1.0, name="before")

    def program() -> None:
        tf.negative(before, name="own_line")  # its own line

    _in_thread(graph, program)
    frame = made_at(tracebacks_of(graph), "own_line")
    assert frame is not None and frame.function == "program"
    assert not any(each.function.startswith("test_") for each in tracebacks_of(graph)["own_line"])


def test_without_an_op_before_the_stack_is_what_it_is(tf, graph) -> None:
    _in_thread(graph, tf.constant, 1.0, name="alone")
    stack = tracebacks_of(graph)["alone"]
    assert stack and stack[0].file.endswith("threading.py")


def test_the_stack_of_each_op_is_read_a_few_times_however_many_a_thread_made(tf, graph, monkeypatch) -> None:
    """Each op of a replica looked back through all before it: a recording of MirroredStrategy came to no end."""
    before = tf.constant(1.0, name="before")

    def program() -> None:
        for number in range(40):
            _in_thread(graph, tf.negative, before, name=f"in_thread_{number}")

    program()
    read: list[str] = []
    plain = GraphTracebacks._stack_of
    monkeypatch.setattr(GraphTracebacks, "_stack_of", lambda self, op: read.append(op.name) or plain(self, op))
    tracebacks = GraphTracebacks(graph)
    assert len({tracebacks[f"in_thread_{number}"][0] for number in range(40)}) == 1
    assert len(read) <= 3 * 41


def test_the_ops_of_a_graph_are_counted_again_only_when_there_are_more(tf, graph, monkeypatch) -> None:
    """With each run that was recorded all ops of the graph were listed, 100 000 of them for a run that needs 50."""
    tf.constant(1.0)
    tracebacks = GraphTracebacks(graph)
    assert len(tracebacks) == 1
    with monkeypatch.context() as patch:
        patch.setattr(graph, "get_operations", pytest.fail)
        assert len(tracebacks) == 1
    tf.constant(2.0)
    assert len(tracebacks) == 2
