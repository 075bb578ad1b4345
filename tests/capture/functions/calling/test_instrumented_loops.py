"""Values inside branches and loops: every turn in order, bounded memory, several threads, XLA."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import tensorflow as tf
from support.instrumented_calls import instrument, made, names, values

from tfdbg_cli.capture.functions.calling.frame_reports import FrameReports
from tfdbg_cli.capture.tf import compat

pytestmark = pytest.mark.tf


@tf.function
def halving(x, n):
    i = 0
    while i < n:
        if tf.reduce_sum(x) > 3:  # noqa: SIM108
            x = x * 0.5
        else:
            x = tf.nn.relu(x) + 1
        i += 1
    return x


def test_every_turn_is_an_execution() -> None:
    _, outcome = made(halving, tf.ones([3]), tf.constant(3))
    assert [float(v) for v in values(outcome, "while/body/Sum")] == [3, 6, 3]
    assert [v.tolist() for v in values(outcome, "while/body/cond/true/mul")] == [[1, 1, 1]]
    assert [v.tolist() for v in values(outcome, "while/body/cond/false/add")] == [[2, 2, 2], [2, 2, 2]]
    assert [bool(v) for v in values(outcome, "while/cond/Less")] == [True, True, True, False]
    indices = outcome.captured.named("while/body/Sum", 0)
    assert [outcome.captured[i].execution for i in indices] == [0, 1, 2]
    assert list(indices) == sorted(indices)


def test_values_stand_in_the_order_of_execution() -> None:
    _, outcome = made(halving, tf.ones([3]), tf.constant(2))
    wanted = [name for name in names(outcome) if name.split("/")[-1] in ("Less:0", "Sum:0", "mul:0", "add:0")]
    turn = ["while/cond/Less:0", "while/body/Sum:0"]
    first, second = ["while/body/cond/false/add:0"], ["while/body/cond/true/mul:0"]
    assert wanted == [
        *turn, *first, "while/body/add:0", *turn, *second, "while/body/add:0", "while/cond/Less:0",
    ]  # fmt: skip


def test_variables_of_a_loop_are_seen_at_the_start_of_each_turn() -> None:
    _, outcome = made(halving, tf.ones([3]), tf.constant(3))
    variables = [name for name in dict.fromkeys(names(outcome)) if "placeholder" in name]
    starts = [[np.sum(v) for v in values(outcome, name[:-2])] for name in variables]
    assert [3, 6, 3] in starts
    assert [0, 1, 2] in starts


def test_a_nan_in_the_sixth_turn_of_a_loop_in_a_branch() -> None:
    @tf.function
    def f(x, on):
        if on:
            for i in tf.range(10):
                if i > 4:  # noqa: SIM108
                    x = tf.math.log(x - 6.0)
                else:
                    x = x + 1.0
        return x

    _, outcome = made(f, tf.constant(0.0), tf.constant(True))
    log = next(i for i in range(len(outcome.captured)) if outcome.captured[i].op_type == "Log")
    assert np.isnan(outcome.captured.value(log))
    bodies = [name for name in dict.fromkeys(names(outcome)) if name.startswith("cond/true/while/body/cond:")]
    first = values(outcome, bodies[0][:-2])
    assert [bool(np.isnan(v)) for v in first] == [False] * 5 + [True] * 5


def test_a_loop_in_a_loop() -> None:
    @tf.function
    def f(x):
        for i in tf.range(3):
            for j in tf.range(2):
                x = x + tf.cast(10 * i + j, tf.float32)
        return x

    _, outcome = made(f, tf.constant(0.0))
    (inner,) = {n for n in names(outcome) if "while/body/while/body/Cast" in n}
    assert [float(v) for v in values(outcome, inner[:-2])] == [0, 1, 10, 11, 20, 21]


def test_the_branch_that_was_taken() -> None:
    @tf.function
    def f(i, x):
        return tf.switch_case(i, [lambda: x + 1, lambda: tf.sin(x), lambda: x * x])

    for index, op in enumerate(("add", "Sin", "mul")):
        _, outcome = made(f, tf.constant(index), tf.constant(2.0))
        inside = {name.split("/")[3] for name in names(outcome) if "/branch" in name}
        assert op + ":0" in inside or op in inside
        assert {name.split("/")[2] for name in names(outcome) if "/branch" in name} == {f"branch{index}"}


def test_a_function_with_loops_called_twice_and_in_a_loop() -> None:
    @tf.function
    def f(x):
        x = halving(x, tf.constant(2))
        for _ in tf.range(2):
            x = halving(x, tf.constant(1))
        return halving(x, tf.constant(2))

    x = tf.ones([3])
    _, outcome = made(f, x)
    np.testing.assert_array_equal(outcome.outputs[0], f(x))
    assert len(values(outcome, "halving/while/body/Sum")) == 2
    assert len(values(outcome, "while/body/halving/while/body/Sum")) == 2
    assert len(values(outcome, "halving_1/while/body/Sum")) == 2


def test_gradients_of_loops() -> None:
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = halving(x, tf.constant(4))
        return tape.gradient(y, x)

    x = tf.constant([1.0, 2.0, 0.5])
    _, outcome = made(f, x)
    np.testing.assert_array_equal(outcome.outputs[0], f(x))
    assert any("gradient" in name and "/body/" in name for name in names(outcome))


def test_a_loop_that_does_not_turn() -> None:
    _, outcome = made(halving, tf.ones([3]), tf.constant(0))
    assert values(outcome, "while/body/Sum") == []
    assert [bool(v) for v in values(outcome, "while/cond/Less")] == [False]


def test_an_error_in_a_turn_keeps_the_turns_before() -> None:
    @tf.function
    def f(x):
        for i in tf.range(10):
            tf.debugging.assert_less(i, 4, message="too big")
            x = x * 2.0
        return x

    with pytest.raises(tf.errors.InvalidArgumentError) as original:
        f(tf.ones(2))
    _, outcome = made(f, tf.ones(2))
    assert type(outcome.error) is type(original.value)
    assert outcome.error.message == original.value.message
    assert [v.tolist() for v in values(outcome, "while/body/mul")] == [[2, 2], [4, 4], [8, 8], [16, 16]]
    assert values(outcome, "x")[0].tolist() == [1, 1]


def test_turns_beyond_the_room_are_dropped_and_said() -> None:
    """Never hang: a queue with a limit would stop the program when it is full."""

    @tf.function
    def f(x):
        for _ in tf.range(50):
            x = x * 1.5
        return x

    concrete = f.get_concrete_function(tf.ones(1000))
    instrumented = instrument(concrete)
    bounded = instrumented.perform([tf.ones(1000)], room=50_000)
    assert 0 < len(values(bounded, "while/body/mul")) < 10
    assert values(bounded, "while/body/mul")[1][0] == 2.25
    assert "50000 bytes" in bounded.notes[0]
    np.testing.assert_array_equal(bounded.outputs[0], f(tf.ones(1000)))
    free = instrumented.perform([tf.ones(1000)])
    assert len(values(free, "while/body/mul")) == 50
    assert free.notes == ()


def test_a_mistake_of_ours_in_a_report_is_not_called_a_lack_of_memory(monkeypatch, capsys) -> None:
    def mistaken(reports, number, values):
        raise KeyError(number)

    monkeypatch.setattr(FrameReports, "_take", mistaken)
    _, outcome = made(halving, tf.ones([3]), tf.constant(3))
    assert outcome.outputs[0].numpy().tolist() == [2, 2, 2], "the program gets what it would have got"
    said = " ".join(outcome.notes)
    assert "Values of loops and branches could not be taken: KeyError" in said
    assert "are not kept" not in said
    assert "could not take the values of loops and branches" in capsys.readouterr().err


def test_calls_from_several_threads_do_not_mix() -> None:
    @tf.function
    def f(x):
        for _ in tf.range(20):
            x = tf.sin(x)
        return x

    instrumented = instrument(f.get_concrete_function(tf.ones(3)))
    wrong: list[float] = []

    def work(k: float) -> None:
        for _ in range(5):
            outcome = instrumented.perform([tf.ones(3) * k])
            found = values(outcome, "while/body/Sin")
            if len(found) != 20 or abs(found[0][0] - np.sin(k)) > 1e-6:
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(float(k),)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_functions_that_call_themselves_are_not_followed_without_end() -> None:
    from tfdbg_cli.capture.functions.definition.body import Body
    from tfdbg_cli.capture.functions.definition.call_tree import CallTree

    concrete = halving.get_concrete_function(tf.ones(3), tf.constant(3))
    definition = compat.function_definition(concrete.name.decode())
    body = next(n for n in definition.node_def if n.op == "StatelessWhile").attr["body"].func

    class Circle:
        def find(self, name: str) -> Body | None:
            found = compat.function_definition(name)
            for node in found.node_def:
                if "then_branch" in node.attr:
                    node.attr["then_branch"].func.name = body.name
            return Body(found)

    scope = CallTree(Circle()).grow(definition.signature.name)
    assert scope.cut
    assert sum(1 for _ in scope.all()) == 3


def test_a_compiled_function_stays_compiled() -> None:
    @tf.function(jit_compile=True)
    def f(x):
        return tf.nn.softmax(tf.sin(x) @ x)

    @tf.function
    def outer(x):
        return f(x) + 1

    x = tf.random.stateless_normal([8, 8], [1, 2])
    for function, name in ((f, "Sin"), (outer, "f/Sin")):
        concrete, outcome = made(function, x)
        np.testing.assert_allclose(outcome.outputs[0], concrete(x), rtol=1e-6)
        np.testing.assert_allclose(values(outcome, name)[0], np.sin(x), rtol=1e-5)
        assert len(outcome.notes) == 1
        assert "fewer" in outcome.notes[0]


def test_a_compiled_function_with_a_loop_runs_without_xla_and_says_so() -> None:
    @tf.function(jit_compile=True)
    def f(x):
        tf.debugging.assert_less(x, -100.0)  # XLA leaves it out, so it must not raise now
        for _ in tf.range(3):
            x = tf.debugging.check_numerics(tf.sin(x) / 0.0, "left out, too")
        return x

    x = tf.constant([1.0, 2.0])
    concrete, outcome = made(f, x)
    assert outcome.error is None
    np.testing.assert_array_equal(outcome.outputs[0], concrete(x))
    assert len(values(outcome, "while/body/Sin")) == 3
    assert any("without XLA" in note for note in outcome.notes)


def test_when_xla_cannot_give_the_values_the_original_is_called_once(monkeypatch) -> None:
    v = tf.Variable(0.0)

    @tf.function(jit_compile=True)
    def f(x):
        v.assign_add(1.0)
        return x * v

    concrete = f.get_concrete_function(tf.constant(2.0))
    instrumented = instrument(concrete)
    run = compat.run_function

    def refuse(name, inputs, outputs, **options):
        if "__tfdbg" in name:
            raise tf.errors.InvalidArgumentError(None, None, "XLA cannot compile it")
        return run(name, inputs, outputs, **options)

    monkeypatch.setattr(compat, "run_function", refuse)
    inputs = [tf.constant(2.0), *concrete.captured_inputs]
    outcome = instrumented.perform(inputs)
    assert float(outcome.outputs[0]) == 2.0
    assert len(outcome.captured) == 0
    assert "XLA cannot compile" in outcome.notes[-1]
    monkeypatch.undo()
    outcome = instrumented.perform(inputs)  # from now on without XLA
    assert float(outcome.outputs[0]) == 4.0
    assert float(values(outcome, "mul")[0]) == 4.0
    assert float(v) == 2.0


def test_an_error_of_a_compiled_function_is_its_own() -> None:
    @tf.function(jit_compile=True)
    def f(x):
        return tf.strings.as_string(x)

    with pytest.raises(tf.errors.OpError) as original:
        f(tf.constant(1.0))
    _, outcome = made(f, tf.constant(1.0))
    assert type(outcome.error) is type(original.value)
    assert outcome.error.message == original.value.message
