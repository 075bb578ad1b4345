"""The traces of tf.functions are noted as they are called: for what, by which line, how often."""

from __future__ import annotations

import enum
import gc
import inspect
import re
import threading
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import tensorflow as tf
from support.scripted import ScriptedFrontend

from tfdbg_cli.analysis.retracing.advice import advice
from tfdbg_cli.analysis.retracing.retracing import ITSELF, explained
from tfdbg_cli.capture.intercept import all_functions
from tfdbg_cli.capture.intercept.all_functions import intercept_all_functions
from tfdbg_cli.capture.intercept.debugged_function import DebuggedFunction
from tfdbg_cli.capture.intercept.tracing_log import TracingLog
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.decision import Continue, DebugRun
from tfdbg_cli.model.traces import Trace, TracedCode, signature_text

pytestmark = pytest.mark.tf
THIS = __file__


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Iterator[TracingLog]:
    """A log of its own that sees all calls."""
    yield from seeing(TracingLog(), monkeypatch)


def seeing(log: TracingLog, monkeypatch: pytest.MonkeyPatch) -> Iterator[TracingLog]:
    monkeypatch.setattr(all_functions, "TRACES", log)
    debugger = Debugger(lambda: ScriptedFrontend())
    debugger.set_watch(None)
    assert isinstance(debugger._state, Continue)
    undo = intercept_all_functions(debugger)
    try:
        yield log
    finally:
        undo()


def only(log: TracingLog, name: str) -> TracedCode:
    (found,) = (code for code in log.functions() if code.name == name)
    return found


def signatures(code: TracedCode) -> list[str]:
    return [signature_text(trace.signature) for trace in code.traces]


def causes(code: TracedCode) -> list[tuple[str, str, str]]:
    found = [one.cause for one in explained(code)]
    assert found[0] is None
    return [(one.argument, one.old, one.new) for one in found if one is not None]


def line_of(trace: Trace) -> str:
    assert trace.place is not None
    assert trace.place.file == THIS
    return trace.place.text


def test_a_python_number_and_a_shape(log: TracingLog) -> None:
    @tf.function
    def step(x, i):
        return x * tf.cast(i, tf.float32)

    for i in range(3):
        step(tf.ones([8, 3]), i)
    step(tf.ones([7, 3]), 2)
    step(tf.ones([8, 3]), 0)
    code = only(log, "step")
    assert signatures(code)[0] == "x: float32[8, 3], i: 0"
    assert causes(code) == [("i", "0", "1"), ("i", "1", "2"), ("x", "float32[8, 3]", "float32[7, 3]")]
    assert [trace.count for trace in code.traces] == [2, 1, 1, 1]
    assert all(trace.seconds is not None and trace.seconds > 0 for trace in code.traces)
    assert line_of(code.traces[0]) == "step(tf.ones([8, 3]), i)"
    assert line_of(code.traces[3]) == "step(tf.ones([7, 3]), 2)"
    assert code.file == THIS


class Pair(NamedTuple):
    a: Any
    b: Any


class Masked(tf.experimental.ExtensionType):
    values: tf.Tensor
    mask: tf.Tensor


class Thing:
    pass


def test_arguments_are_written_in_the_names_of_the_program(log: TracingLog) -> None:
    @tf.function
    def kinds(batch, pair, *args, thing, flag=False, **more):
        return None

    given = {"image": tf.ones([2]), "n": [1, None]}
    kinds(given, Pair(1.5, "a"), tf.ones([]), np.float32(1), thing=Thing(), extra=tf.Variable(1.0))
    assert signatures(only(log, "kinds")) == [
        "batch: {'image': float32[2], 'n': [1, None]}, pair: Pair(a=1.5, b='a'), args[0]: float32[],"
        " args[1]: float32[], thing: <Thing at …>, flag: False, extra: variable float32[]"
    ]


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (lambda: tf.sparse.from_dense([[1.0]]), "sparse float32[1, 1]"),
        (lambda: tf.ragged.constant([[1]]), "ragged int32[1, None]"),
        (lambda: iter(tf.data.Dataset.range(4).batch(2)), "iterator of int64[None]"),
        (lambda: tf.data.Dataset.from_tensors((1.0, 2)), "dataset of (float32[], int32[])"),
        (lambda: tf.experimental.Optional.from_value(1.0), "Optional of float32[]"),
        (lambda: Masked(tf.ones([2]), tf.constant([True])), "Masked(float32[2], bool[1])"),
        (lambda: (1, True), "(1, True)"),
        (lambda: tf.float32, "tf.float32"),
        (lambda: Thing, "<class Thing>"),
        (lambda: signatures, "<function signatures at …>"),
        (lambda: b"ab", "b'ab'"),
        (lambda: enum.Enum("Mode", "TRAIN TEST").TRAIN, "Mode.TRAIN"),
        (lambda: enum.IntEnum("Level", "LOW HIGH").HIGH, "Level.HIGH"),
        (lambda: "a" * 200, "'" + "a" * 58 + "…"),
    ],
)
def test_what_else_an_argument_can_be(log: TracingLog, made: Callable[[], Any], text: str) -> None:
    @tf.function
    def taking(x):
        return None

    given = made()
    taking(given)
    assert signatures(only(log, "taking")) == [f"x: {text}"]


def test_objects_are_told_apart_also_at_one_address(log: TracingLog) -> None:
    @tf.function
    def using(thing):
        return tf.constant(1)

    for _ in range(3):
        using(Thing())
    assert causes(only(log, "using")) == [("thing", "<Thing at …>", "another Thing object")] * 2


def test_members_of_an_enum_are_equal_each_time(log: TracingLog) -> None:
    mode = enum.Enum("Mode", "TRAIN TEST")

    @tf.function
    def using(x):
        return tf.constant(1)

    for _ in range(2):
        using(mode.TRAIN)
        using(mode.TEST)
    code = only(log, "using")
    assert [trace.count for trace in code.traces] == [2, 2]
    assert causes(code) == [("x", "Mode.TRAIN", "Mode.TEST")]
    assert "as it should be" in advice(code, explained(code))[0].text


def test_no_object_of_the_program_is_kept_alive(log: TracingLog) -> None:
    @tf.function
    def using(thing, x):
        return x

    thing, x = Thing(), tf.ones([2])
    using([thing], {"x": x})
    ends = weakref.ref(thing), weakref.ref(x), weakref.ref(using)
    del thing, x, using
    gc.collect()
    assert [end() for end in ends] == [None] * 3
    assert signatures(only(log, "using")) == ["thing: [<Thing at …>], x: {'x': float32[2]}"]


def test_a_tf_function_made_in_a_loop_is_one_function(log: TracingLog) -> None:
    for _ in range(3):

        @tf.function
        def made(x):
            return x

        made(tf.ones([]))
    assert causes(only(log, "made")) == [(ITSELF, "one tf.function", "another tf.function of the same code")] * 2


class Model:
    @tf.function
    def step(self, x):
        return x


def test_a_method_of_objects_made_anew(log: TracingLog) -> None:
    models = [Model(), Model()]
    for model in models * 2:
        model.step(tf.ones([2]))
    code = only(log, "step")
    assert signatures(code) == ["x: float32[2]"] * 2
    assert [trace.count for trace in code.traces] == [2, 2]
    assert causes(code) == [(ITSELF, "the method of one object", "the method of another object")]


def test_functions_of_one_maker_are_told_apart_by_what_they_call(log: TracingLog) -> None:
    def compiled(function):
        @tf.function
        def wrapper(x):
            return function(x)

        return wrapper

    compiled(lambda x: x + 1)(tf.ones([]))
    compiled(lambda x: x + 2)(tf.ones([]))
    assert [len(code.traces) for code in log.functions()] == [1, 1]


def test_a_partial_is_known_by_its_function(log: TracingLog) -> None:
    def added(x, y):
        return x + y

    tf.function(partial(added, y=1.0))(tf.ones([]))
    assert only(log, "added").line == inspect.getsourcelines(added)[1]


def test_a_function_that_creates_variables_is_traced_twice_and_that_is_no_retrace(log: TracingLog) -> None:
    made: list[Any] = []

    @tf.function
    def first(x):
        if not made:
            made.append(tf.Variable(1.0))
        return made[0] * x

    first(tf.ones([]))
    first(tf.ones([]))
    code = only(log, "first")
    assert [(trace.creates_variables, trace.count) for trace in code.traces] == [(True, 0), (False, 2)]
    assert all(trace.seconds is not None for trace in code.traces)
    assert not any(one.is_retrace for one in explained(code))


def test_functions_called_by_one_that_is_traced_are_told_with_their_own_lines(log: TracingLog) -> None:
    @tf.function
    def inner(x):
        return x + 1

    @tf.function
    def outer(x):
        if x.shape[0] > 2:
            return inner(x) * 2
        return inner(x)

    outer(tf.ones([2]))
    outer(tf.ones([3]))
    outer(tf.ones([3]))
    code = only(log, "inner")
    assert [(trace.nested, trace.count) for trace in code.traces] == [(True, 1), (True, 1)]
    assert [line_of(trace) for trace in code.traces] == ["return inner(x)", "return inner(x) * 2"]
    assert [trace.count for trace in only(log, "outer").traces] == [1, 2]


def test_calls_under_tapes_count_for_the_same_trace(log: TracingLog) -> None:
    @tf.function
    def squared(x):
        return x * x

    x = tf.constant(2.0)
    squared(x)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = squared(x)
        slope = tape.gradient(y, x)
    assert outer.gradient(slope, x).numpy() == 2
    assert [trace.count for trace in only(log, "squared").traces] == [2]
    assert [code.name for code in log.functions()] == ["squared"]


def test_traces_that_nobody_saw_have_neither_line_nor_time(log: TracingLog) -> None:
    @tf.function
    def known(x):
        return x

    concrete = known.get_concrete_function(tf.ones([2]))
    known(tf.ones([3]))
    known(tf.ones([2]))
    concrete(tf.ones([2]))
    code = only(log, "known")
    assert [(trace.seconds is None, trace.place is None, trace.count) for trace in code.traces] == [
        (True, True, 2),
        (False, False, 1),
    ]
    assert causes(code) == [("x", "float32[2]", "float32[3]")]


def test_a_concrete_function_called_while_another_is_traced_stays_a_trace_of_its_own(log: TracingLog) -> None:
    @tf.function
    def known(x):
        return x * 2.0

    concrete = known.get_concrete_function(tf.ones([2]))

    @tf.function
    def outer(x):
        return concrete(x)

    outer(tf.ones([2]))
    known(tf.ones([2]))
    assert [trace.count for trace in only(log, "known").traces] == [1]


def test_an_input_signature_and_reduced_retracing(log: TracingLog) -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, 3])])
    def fixed(x):
        return x

    @tf.function(reduce_retracing=True)
    def reduced(x):
        return x

    for size in (2, 4, 6):
        fixed(tf.ones([size, 3]))
        reduced(tf.ones([size, 3]))
    assert signatures(only(log, "fixed")) == ["x: float32[None, 3]"]
    assert only(log, "fixed").traces[0].count == 3
    assert causes(only(log, "reduced")) == [("x", "float32[2, 3]", "float32[None, 3]")]


def test_functions_of_a_saved_model_have_their_names(log: TracingLog, tmp_path: Path) -> None:
    class Saved(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None])])
        def apply(self, x):
            return x * 2.0

        @tf.function(input_signature=[tf.TensorSpec([None])])
        def other(self, x):
            return x * 3.0

    tf.saved_model.save(Saved(), str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    for size in (2, 3):
        loaded.apply(tf.ones([size]))
        loaded.other(tf.ones([size]))
    found = {code.name: [trace.count for trace in code.traces] for code in log.functions()}
    assert set(found) == {"apply", "other"}
    assert all(sum(counts) == 2 for counts in found.values())


def test_what_is_kept_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    for log in seeing(TracingLog(most_of_a_function=3, most=4), monkeypatch):

        @tf.function
        def often(i):
            return tf.constant(i)

        @tf.function
        def too(i):
            return tf.constant(i)

        for i in range(5):
            often(i)
            often(i)
        too(0)
        too(1)
        assert [(len(code.traces), code.left_out) for code in log.functions()] == [(3, 2), (1, 1)]


def test_threads_call_functions_at_once(log: TracingLog) -> None:
    @tf.function
    def shared(x, i):
        return x + i

    def work(at: int) -> None:
        for _ in range(20):
            shared(tf.ones([]), at % 4)

    threads = [threading.Thread(target=work, args=(at,)) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    code = only(log, "shared")
    assert sorted(signatures(code)) == [f"x: float32[], i: {i}" for i in range(4)]
    assert sum(trace.count for trace in code.traces) == 160


def test_a_function_that_fails_to_be_traced_is_no_trace(log: TracingLog) -> None:
    @tf.function
    def wrong(x):
        raise ValueError("never")

    with pytest.raises(ValueError, match="never"):
        wrong(tf.ones([]))
    assert log.functions() == ()


def test_functions_that_a_wrapped_callable_calls_are_told_and_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    log = TracingLog()
    monkeypatch.setattr(all_functions, "TRACES", log)

    @tf.function
    def within(x, n):
        return x + n

    @tf.function
    def other(x):
        return x

    def plain(x, n):
        return within(x * 2.0, n)

    front = ScriptedFrontend(DebugRun(), Continue(), Continue())
    debugged = DebuggedFunction(plain, Debugger(lambda: front))
    for n in range(3):
        debugged(tf.ones([]), n)
    other(tf.ones([]))
    assert front.path == ["start 1", "end 1"]
    assert [(code.name, [trace.count for trace in code.traces]) for code in log.functions()] == [
        ("within", [1, 1, 1])
    ]


def test_nothing_is_noted_while_nobody_sees_the_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    log = TracingLog()
    for _ in seeing(log, monkeypatch):
        pass
    tf.function(lambda x: x)(tf.ones([]))
    assert log.functions() == ()


def advised(code: TracedCode) -> str:
    return " ".join(one.text for one in advice(code, explained(code)))


def test_the_advice_against_numbers_is_followed(log: TracingLog) -> None:
    @tf.function
    def before(x, i):
        total = x
        for _ in range(i):
            total += 1.0
        return total

    @tf.function
    def after(x, i):
        total = x
        for _ in range(i):
            total += 1.0
        return total

    plain = [before(tf.zeros([]), i).numpy() for i in range(4)]
    assert "Pass tf.constant(i) in place of i" in advised(only(log, "before"))
    assert [after(tf.zeros([]), tf.constant(i)).numpy() for i in range(4)] == plain
    assert len(only(log, "after").traces) == 1


def test_the_advice_against_shapes_is_followed(log: TracingLog) -> None:
    def doubled(x, n):
        return x * 2.0, n

    def calls(function: Any) -> None:
        for size in (8, 7, 6, 5):
            function(tf.ones([size, 3]), tf.constant(size))

    calls(tf.function(doubled))
    found = re.search(r"@(tf\.function\(input_signature=.*\)) one from", advised(only(log, "doubled")))
    assert found is not None
    assert found[1] == (
        "tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32), tf.TensorSpec([], tf.int32)])"
    )
    fixed = eval(found[1])(doubled)
    reduced = tf.function(doubled, reduce_retracing=True)
    calls(fixed)
    calls(reduced)
    assert fixed.experimental_get_tracing_count() == 1
    assert reduced.experimental_get_tracing_count() == 2
