"""What the runtime makes of a function is found while signal handlers of the program may raise."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest
import tensorflow as tf

from tfdbg_cli.capture.functions.optimized.compiled import compiled_copy
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.reentrancy import INSIDE
from tfdbg_cli.capture.tf.thread_alike import own_ops_apart
from tfdbg_cli.process.interruptions import our_errors

pytestmark = pytest.mark.tf


class OutOfTime(Exception):  # noqa: N818
    """What a handler raises."""


@contextmanager
def _handled(handler: Callable[..., Any]) -> Iterator[None]:
    before = signal.signal(signal.SIGUSR1, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGUSR1, before)


def _out_of_time(number: int, frame: FrameType | None) -> None:
    raise OutOfTime("10 s")


@tf.function(autograph=False)
def step(x: Any, y: Any) -> Any:
    """A sum that the optimizer makes one op, and an argument that nothing reads."""
    return x + tf.constant(1.0) + tf.tanh(x) + tf.sin(x)


def _apart(graphs: Any) -> list[Any]:
    """The message as TensorFlow hands it over where an op of another thread ended between its graphs."""
    before = type(graphs)()
    before.post_optimization_graph.CopyFrom(graphs.post_optimization_graph)
    after = type(graphs)()
    after.partition_graphs.extend(graphs.partition_graphs)
    return [before, after]


def _twice(graphs: Any) -> list[Any]:
    before, after = _apart(graphs)
    return [before, before, after]


def _lost(graphs: Any) -> list[Any]:
    return _apart(graphs)[1:]


def _mixed(graphs: Any) -> list[Any]:
    """The message where an op of another thread was compiled meanwhile, whose graphs TensorFlow adds to it."""
    foreign = [("read", "_Arg"), ("Sigmoid", "Sigmoid"), ("y_RetVal", "_Retval")]
    for field in ("pre_optimization_graph", "post_optimization_graph"):
        for name, op in foreign:
            getattr(graphs, field).node.add(name=name, op=op)
    for name, op in foreign:
        graphs.partition_graphs.add().node.add(name=name, op=op)
    return [graphs]


@pytest.mark.parametrize(
    ("told", "disturbed", "found"),
    [
        (_apart, 9, True),
        *((told, 2, True) for told in (_twice, _lost, _mixed)),  # asked again with copies
        *((told, 9, False) for told in (_twice, _lost, _mixed)),
    ],
)
def test_ops_of_other_threads_come_between(
    monkeypatch: pytest.MonkeyPatch, told: Callable[[Any], list[Any]], disturbed: int, found: bool
) -> None:
    """TensorFlow hands over what it has of all functions at the end of any op.

    The optimized function was taken for an empty one, and a recorded program got other last bits in its sums.
    """
    inputs = [tf.ones([4]), tf.ones([4])]
    name = step.get_concrete_function(*inputs).name
    plain = compiled_copy(name, inputs)
    assert plain is not None
    assert any("AddOpsRewrite" in node.name for node in plain.optimized)
    made_of = compat.graphs_made_of
    left = [True] * disturbed

    def parted(name: str, *given: Any, **how: Any) -> Any:
        made = made_of(name, *given, **how)
        return tuple(one for graphs in made for one in told(graphs)) if made and left and left.pop() else made

    monkeypatch.setattr(compat, "graphs_made_of", parted)
    again = compiled_copy(name, inputs)
    assert (again is not None) == found
    if again is not None:
        assert [node.op for node in again.optimized] == [node.op for node in plain.optimized]
        assert [node.op for node in again.nodes] == [node.op for node in plain.nodes]


@pytest.mark.parametrize(
    ("handler", "kind"), [(_out_of_time, OutOfTime), (signal.default_int_handler, KeyboardInterrupt)]
)
def test_what_a_signal_handler_raises_meanwhile_is_not_lost(
    monkeypatch: pytest.MonkeyPatch, handler: Callable[..., Any], kind: type[BaseException]
) -> None:
    """A blind test: of 120 KeyboardInterrupts in the first steps of functions a watch lost 31."""

    @tf.function(autograph=False)
    def step(x: Any) -> Any:
        return tf.tanh(x) * 2.0

    concrete = step.get_concrete_function(tf.ones([2]))
    name = compat.atomic_of(concrete).name.decode()
    assert compiled_copy(name, [tf.ones([2])]) is not None
    init = tf.errors.CancelledError.__init__

    def interrupted(*arguments: Any, **keywords: Any) -> None:
        signal.raise_signal(signal.SIGUSR1)  # as one that waited for the compiler
        init(*arguments, **keywords)

    with _handled(handler), monkeypatch.context() as patched:
        patched.setattr(tf.errors.CancelledError, "__init__", interrupted)
        with pytest.raises(kind):
            compiled_copy(name, [tf.ones([2])])
    assert compiled_copy(name, [tf.ones([2])]) is not None


def test_what_it_raises_where_an_op_of_ours_fails_is_the_programs() -> None:
    """The object of the error is made amid native code, where the handler runs: Python 3.11 loses what it raises."""

    def fail(x: Any) -> Any:
        signal.raise_signal(signal.SIGUSR1)  # in a thread of the runtime; the main one waits
        raise ValueError("no such thing")

    @tf.function(autograph=False)
    def step(x: Any) -> Any:
        return tf.py_function(fail, [x], tf.float32)

    name = compat.atomic_of(step.get_concrete_function(tf.ones([]))).name.decode()

    def work() -> str:
        try:
            compat.run_function(name, [tf.ones([])], 1)
        except our_errors() as error:
            return f"ours: {error}"
        return ""

    with _handled(_out_of_time), pytest.raises(OutOfTime, match="10 s"):
        work()


def test_ops_apart_run_as_those_of_the_thread_that_waits_for_them() -> None:
    def settings() -> tuple[Any, ...]:
        here = compat.thread_data(compat.eager_context())
        return here.device_name, here.is_eager, here.function_call_options, list(here.op_callbacks), INSIDE.holds()

    def callback(*arguments: Any, **keywords: Any) -> None: ...

    compat.eager_context().add_op_callback(callback)
    try:
        with tf.device("CPU:0"):
            compat.call_options(compat.eager_context())  # has the options of this thread made
            expected = settings()
            assert own_ops_apart(settings) == (*expected[:3], [], True)
            assert settings() == expected
        found: list[Any] = []
        thread = threading.Thread(target=lambda: found.extend((settings(), own_ops_apart(settings), settings())))
        thread.start()
        thread.join()
        assert found[0] == found[2]
        assert found[1] == (*found[0][:3], [], True)
    finally:
        compat.eager_context().remove_op_callback(callback)
