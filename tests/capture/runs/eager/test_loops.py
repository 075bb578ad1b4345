"""Loops found in the instructions of Python code."""

from __future__ import annotations

from types import CodeType
from typing import Any

from tfdbg_cli.capture.runs.eager.program.loops import loops_of, works_of
from tfdbg_cli.capture.runs.eager.program.stacks import line_at


def _lines(function: Any) -> list[int]:
    """On which lines of `function`, counted from its first, its loops begin."""
    code = function.__code__
    return [line_at(code, loop.start) - code.co_firstlineno for loop in loops_of(code)]


def test_for_and_while_and_what_is_within_them() -> None:
    def program(data: Any, step: Any) -> None:
        for _epoch in range(3):
            for x in data:
                step(x)
        while data:
            data.pop()

    assert _lines(program) == [1, 2, 5]


def test_a_comprehension_is_no_loop_of_the_program() -> None:
    def program(data: Any, step: Any) -> None:
        for x in data:
            step([each + 1 for each in x], {each for each in x}, {each: 1 for each in x})

    assert _lines(program) == [1]


def test_a_star_among_arguments_makes_no_comprehension_of_a_loop() -> None:
    """Python appends to a list for `loss(*model(x), y)`, too: the loop was none, and all of training one run."""

    def program(data: Any, step: Any) -> None:
        for x, y in data:
            step(*x, y)
        for x, y in data:
            step([*x, y], {*x, y}, {**x, "y": y})

    assert _lines(program) == [1, 3]


def test_what_trains_is_known_by_its_names() -> None:
    def program(tf: Any, data: Any, model: Any, update: Any) -> None:
        for _epoch in range(3):
            for x in data:
                with tf.GradientTape() as tape:
                    for layer in model:
                        x = layer(x)
                update(tape)
        for x in data:
            model(x)
        for x in data:
            update(x)

    assert [loop.trains for loop in loops_of(program.__code__)] == [2, 2, 0, 0, 1]


def test_a_loop_over_epochs_has_no_evidence_of_its_own_and_one_over_weights_little() -> None:
    def program(tf: Any, data: Any, total: Any, weights: Any) -> None:
        for _epoch in range(3):
            total = tf.zeros([])
            for x in data:
                with tf.GradientTape() as tape:
                    total += x
                for weight in weights:
                    weight.assign_sub(tape.gradient(total, weight))

    epochs, batches, over_weights = loops_of(program.__code__)
    assert (epochs.evidence, epochs.own_evidence) == (3, 0)
    assert (batches.evidence, batches.own_evidence) == (3, 3)
    assert over_weights.own_evidence == 3


def test_a_learning_rate_that_is_set_does_not_make_an_epoch_a_step() -> None:
    """A blind test: with `opt.learning_rate.assign(…)` at the end of each epoch the epochs were the runs."""

    def program(opt, schedule, train_step, weight):
        for epoch in range(3):
            for batch in range(3):
                train_step(batch)
            opt.learning_rate.assign(schedule(epoch))
        for lr in (1.0, 2.0):
            opt.lr.assign(lr)
        for _ in range(3):
            weight.assign(0.0)

    loops = loops_of(program.__code__)
    assert [(loop.evidence, loop.own_evidence) for loop in loops] == [(1, 0), (1, 1), (0, 0), (2, 2)]


def test_a_comprehension_that_trains_is_a_loop_of_the_program() -> None:
    def program(train_step: Any, data: Any, weights: Any) -> Any:
        [weight.assign(0.0) for weight in weights]
        return [train_step(x) for x in data]

    assert len(_all_loops(program)) == 1


def test_neither_an_epoch_nor_the_step_of_an_environment_trains() -> None:
    def program(train_epoch: Any, env: Any, act: Any, agent: Any) -> None:
        for _epoch in range(3):
            train_epoch()
        for _ in range(3):
            env.step(act())
        for _ in range(3):
            env.step(act())
            agent.learn()
        for _ in range(3):
            agent.step()

    assert [loop.trains for loop in loops_of(program.__code__)] == [0, 0, 1, 1]


def test_a_loop_that_is_left_early_and_one_without_end() -> None:
    def program(data: Any) -> Any:
        while True:
            for x in data:
                if x:
                    break
                try:
                    data.pop()
                except IndexError:
                    return x

    assert _lines(program) in ([1, 2], [2, 2])  # a `while True` begins with what is in it


def test_calls_that_may_run_ops() -> None:
    def program(tf: Any, x: Any, losses: Any, step: Any) -> None:
        print(f"loss {float(x.numpy()):.3f}", len(losses) / 2)
        losses.append(x.numpy() * 2.0)
        losses.append(step(x))
        tf.nn.relu(x)
        print(step(x))
        x @ x
        step(*losses)

    code = program.__code__
    assert [line_at(code, offset) - code.co_firstlineno for offset in works_of(code)] == [3, 4, 5, 6, 7]


def _all_loops(program: Any) -> list[Any]:
    """The loops of a function and of the code in it: before Python 3.12 a comprehension is a function of its own."""
    inner = [code for code in program.__code__.co_consts if isinstance(code, CodeType)]
    return [loop for code in (program.__code__, *inner) for loop in loops_of(code)]


def test_a_loop_over_variables_is_no_loop_of_steps() -> None:
    def over_variables(variables: Any, slopes: Any, rate: float) -> None:
        for one, slope in zip(variables, slopes, strict=True):
            one.assign_sub(rate * slope)

    def steps(weight: Any, slopes: Any) -> None:
        for slope in slopes:
            weight.assign_sub(slope)

    def both(weight: Any, variables: Any) -> None:
        for one in variables:
            one.assign(0)
            weight.assign_add(1)

    def trains(variables: Any, loss: Any) -> None:
        for one in variables:
            one.assign(0)
            one.assign_sub(loss.gradient(one))

    assert [len(loops_of(function.__code__)) for function in (over_variables, steps, both, trains)] == [0, 1, 1, 1]
