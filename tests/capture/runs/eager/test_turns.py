"""Turns of loops, told by stacks alone."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import pytest

from tfdbg_cli.capture.runs.eager.program import places
from tfdbg_cli.capture.runs.eager.program.loop_choice import prepares_training
from tfdbg_cli.capture.runs.eager.program.stacks import stack_here
from tfdbg_cli.capture.runs.eager.program.turns import EagerTurns


class Ops:
    """What stands for ops in the programs of these tests: each notes the turn that it is in."""

    def __init__(self) -> None:
        self.turns = EagerTurns()
        self.found: list[int | None] = []

    def function(self) -> None:
        """What stands for the call of a function, whose stack begins with the program's call."""
        self._note(stack_here()[2:], begun=True, calls=True)

    def __call__(self, *, begun: bool = True, writes: bool = False) -> None:
        stack = stack_here()
        self._note(stack, begun=begun, writes=writes)

    def _note(self, stack: Any, *, begun: bool, writes: bool = False, calls: bool = False) -> None:
        if writes and self.turns.in_doubt:
            self.turns.writes_variable(stack)
        turn = self.turns.of(stack, begun=begun, calls=calls)
        self.found.append(None if turn is None else turn.number)


@pytest.fixture
def op(monkeypatch) -> Iterator[Ops]:
    """Ops of which only the functions below are the program's."""
    known: dict[Any, bool] = {}

    def is_program(code: Any) -> bool:
        return known.setdefault(code, code.co_filename == __file__ and code.co_name not in {"__call__", "library"})

    for reader in ("turn", "passages"):
        monkeypatch.setattr(f"tfdbg_cli.capture.runs.eager.program.{reader}.is_program", is_program)
    assert places.is_program is not is_program
    yield Ops()


def library(call: Any, *given: Any) -> Any:
    """What stands for a package."""
    for each in given or (None,):
        call() if each is None else call(each)


def test_a_turn_is_one_pass_through_the_loop(op) -> None:
    op()
    for _ in range(3):
        op()
        op()
    op()
    assert op.found == [None, 1, 1, 2, 2, 3, 3, None]


def test_one_call_that_is_the_whole_loop(op) -> None:
    def step() -> None:
        op()
        op()

    for _ in range(3):
        step()
    assert op.found == [1, 1, 2, 2, 3, 3]


def test_one_op_that_is_the_whole_loop(op) -> None:
    for _ in range(3):
        op()
    assert op.found == [1, 2, 3]


def test_what_a_callee_does_in_its_first_call_alone_is_no_mark(op) -> None:
    made: list[int] = []

    def one() -> None:
        if not made:
            op()
            made.append(1)
        op.function()

    for _ in range(3):
        one()
    assert op.found == [1, 1, 2, 3]


@pytest.mark.parametrize("before", [1, 70])
def test_what_the_first_turn_alone_does_is_no_mark(op, before) -> None:
    """A function made its variables in its first call: no end of a turn was told, and all batches were kept."""
    for number in range(4):
        if number == 0:
            for _ in range(before):
                library(op)
            op()
        op.function()
    assert op.found == [1] * (before + 2) + [2, 3, 4]


def test_what_a_package_calls_again_and_again_is_one_turn_where_that_has_a_mark(op) -> None:
    for _ in range(2):
        op()
        list(map(lambda _: op.function(), range(3)))
        library(op.function)
    assert op.found == [1] * 5 + [2] * 5


def test_neither_does_it_begin_a_turn_where_the_mark_is_in_a_with(op) -> None:
    """As a tape calls the gradients of functions that were called under it, one behind the other."""
    for _ in range(3):
        with nullcontext():
            op()
            for _ in range(2):
                op.function()
        list(map(lambda _: op.function(), range(2)))
    assert op.found == [*[1] * 5, *[2] * 5, *[3] * 5]


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("kind", ["list", "set", "dict", "generator", "calls", "loop"])
def test_what_a_function_does_many_times_belongs_to_its_turn(op, kind, first) -> None:
    """In Python 3.11 a comprehension has code of its own, in which the same places come again."""

    def pair(_at: int) -> None:
        op()
        op()

    def passes() -> None:
        if kind == "list":
            [(op(), op()) for _ in range(3)]
        elif kind == "set":
            {(op(), op()) for _ in range(3)}
        elif kind == "dict":
            {at: (op(), op()) for at in range(3)}
        elif kind == "generator":
            list((op(), op()) for _ in range(3))
        elif kind == "calls":
            [pair(at) for at in range(3)]
        else:
            for at in range(3):
                pair(at)

    for _ in range(3):
        if not first:
            op()
        passes()
        op()
    ops = 7 if first else 8
    assert op.found == [1] * ops + [2] * ops + [3] * ops


def _parted(op: Ops, how: str, kind: int) -> None:
    """Two ops on each side of a condition, of which a call comes to one."""
    if how == "if":
        if kind:
            op()
            op()
        else:
            op()
            op()
    elif how == "match":
        match kind:
            case 0:
                op()
                op()
            case _:
                op()
                op()
    elif how == "return":
        if kind:
            op()
            op()
            return
        op()
        op()
    else:
        try:
            float("1" if kind else "one")
        except ValueError:
            op()
            op()
        else:
            op()
            op()


@pytest.mark.parametrize("how", ["if", "match", "return", "try"])
def test_the_other_side_of_a_condition_is_of_another_turn(op, how: str) -> None:
    """A blind test: an `else` behind the `if` of the turn before was taken for the same turn."""
    for kind in (1, 0, 0, 1, 0):
        _parted(op, how, kind)
    assert op.found == [turn for turn in range(1, 6) for _ in range(2)]


@pytest.mark.parametrize("end", ["else", "continue"])
def test_so_it_is_where_the_condition_is_in_the_loop_itself(op, end: str) -> None:
    for kind in (1, 0, 1, 1, 0):
        if end == "else":
            if kind:
                op()
                op()
            else:
                op()
                op()
        else:
            if kind:
                op()
                op()
                continue
            op()
            op()
    assert op.found == [turn for turn in range(1, 6) for _ in range(2)]


def test_both_sides_of_a_condition_in_an_inner_loop_belong_to_its_turn(op) -> None:
    for _ in range(3):
        for kind in (1, 0, 1):
            if kind:
                op()
            else:
                op()
        op()
    assert op.found == [turn for turn in range(1, 4) for _ in range(4)]


def test_what_handles_an_error_and_what_follows_belong_to_the_turn(op) -> None:
    for text in ("1", "one", "2"):
        op()
        try:
            float(text)
        except ValueError:
            op()
        op()
    assert op.found == [1, 1, 2, 2, 2, 3, 3]


def test_calls_in_a_loop_in_a_turn_belong_to_it(op) -> None:
    def layer() -> None:
        op()
        op()

    for _ in range(2):
        op()
        for _layer in range(3):
            layer()
        [layer() for _layer in range(2)]
    assert op.found == [1] * 11 + [2] * 11


def test_loops_in_a_turn_belong_to_it(op) -> None:
    def forward() -> None:
        for _ in range(3):
            op()

    for _ in range(2):
        forward()
        for _layer in range(2):
            op()
    assert op.found == [1] * 5 + [2] * 5


def test_a_package_that_loops_in_a_turn_begins_no_other(op) -> None:
    def call(_layer: Any) -> None:
        op()

    for _ in range(2):
        library(call, 1, 2, 3)
        library(op)
    assert op.found == [1] * 4 + [2] * 4


def test_the_step_is_the_turn_and_not_the_epoch(op) -> None:
    def train_step() -> None:
        op()
        op()

    for _epoch in range(2):
        for _batch in range(2):
            train_step()
    assert op.found == [1, 1, 2, 2, 3, 3, 4, 4]


def test_what_an_epoch_prepares_does_not_make_it_a_step(op) -> None:
    def train_step() -> None:
        op(begun=False)
        op()

    for _epoch in range(2):
        op(begun=False)
        op(begun=False)
        for _batch in range(3):
            train_step()
        op()
    first, second = [1, 1, 2, 2, 3, 3], [4, 4, 5, 5, 6, 6]
    assert op.found == [1, 1, *first, 1, 2, 2, *second, 2]


def test_steps_behind_the_end_of_an_epoch_are_turns_though_the_first_op_begins_a_run(op) -> None:
    """A blind test: from the second epoch on one that ended with a validation was one run as a whole."""

    def train_step() -> None:
        op()
        op()

    for _epoch in range(3):
        for _batch in range(2):
            train_step()
        for _batch in range(2):
            op()
    first, second, third = [1, 1, 2, 2], [3, 3, 4, 4], [5, 5, 6, 6]
    assert op.found == [*first, 1, 1, *second, 2, 2, *third, 3, 3]


def test_a_step_that_trains_one_network_more_often_is_one_turn(op) -> None:
    """A blind test: the first step of a GAN was three runs."""
    train_critic = train_generator = op
    for _epoch in range(2):
        for _batch in range(2):
            for _ in range(2):
                train_critic()
            train_generator()
    assert op.found == [turn for turn in range(1, 5) for _ in range(3)]


def test_a_loop_that_sets_sums_to_zero_before_the_gradients_is_a_part_of_the_step(op) -> None:
    def assign(_sum: int) -> None:
        op()

    def GradientTape() -> None:
        op()

    for _step in range(3):
        for one in range(2):
            assign(one)
        GradientTape()
    assert op.found == [turn for turn in range(1, 4) for _ in range(3)]


def test_what_a_run_does_in_a_loop_of_its_own_belongs_to_it(op) -> None:
    for _batch in range(2):
        op(begun=False)
        op()
        for _weight in range(2):
            train_weight = op
            train_weight()
    assert op.found == [1] * 4 + [2] * 4


def test_a_loop_in_a_function_that_is_called_twice_goes_on_counting(op) -> None:
    def run() -> None:
        for _ in range(2):
            op()

    run()
    op()
    run()
    run()
    assert op.found == [1, 2, None, 3, 4, 5, 6]


def test_a_turn_in_which_the_data_come_to_their_end_is_none(op) -> None:
    train_step = op
    for epoch in range(2):
        op(begun=epoch == 0)
        for batch in range(3):
            op(begun=False)  # asks for the data
            if batch == 2:
                break
            train_step()
    assert op.found == [1, 1, 1, 2, 2, 3, 2, 3, 3, 4, 4, 5]


def test_of_nested_loops_a_turn_is_of_the_outermost_that_runs_ops(op) -> None:
    """The turns of a loop that runs ops in a loop within it alone look all the same."""
    losses: list[float] = []
    for _epoch in range(2):
        total = 0.0
        for _batch in range(2):
            for _layer in range(2):
                op()
            op()
        print(f"{_epoch}: {total / 2:.3f}")
        losses.append(float(total))
    assert op.found == [1] * 3 + [2] * 3 + [3] * 3 + [4] * 3


def test_a_loop_whose_innermost_loop_alone_runs_ops_has_turns(op) -> None:
    def evaluate() -> None:
        for _ in range(3):
            op()
            op()

    for _epoch in range(2):
        for _batch in range(2):
            op()
    for _epoch in range(2):
        print(evaluate())
    assert op.found == [1, 2, 3, 4, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]


def test_a_loop_that_runs_ops_behind_the_one_in_it_is_known_after_its_first_turn(op) -> None:
    class Number:
        def __mul__(self, other: float) -> Number:
            op()
            return self

    x = Number()
    for _pass in range(3):
        for _layer in range(2):
            op()
        x = x * 2.0  # arithmetic is that of plain numbers most of the time
    assert op.found == [1, 2, 1, 2, 2, 2, 3, 3, 3]


def test_recursion_and_generators(op) -> None:
    def deeper(depth: int) -> None:
        op()
        if depth:
            deeper(depth - 1)

    def batches() -> Iterator[int]:
        for each in range(2):
            op()
            yield each

    for _ in batches():
        deeper(2)
    assert op.found == [1] * 4 + [2] * 4


def test_a_coroutine_that_awaits_its_steps(op) -> None:
    """A blind test: `await` is a loop to Python, so that the steps were all of one turn."""

    async def step() -> None:
        op()
        await asyncio.sleep(0)
        op()

    async def program() -> None:
        for _ in range(3):
            await step()

    asyncio.run(program())
    assert op.found == [1, 1, 2, 2, 3, 3]


def test_what_a_generator_hands_on_is_of_the_turn_that_asks_for_it(op) -> None:
    def inner() -> Iterator[int]:
        op()
        yield 1
        op()
        yield 2

    def outer() -> Iterator[int]:
        yield from inner()

    for _ in outer():
        op()
    assert op.found == [1, 1, 2, 2]


def test_the_words_name_file_and_line(op) -> None:
    turn = None
    for _ in range(2):
        turn = op.turns.of(stack_here())
    line = test_the_words_name_file_and_line.__code__.co_firstlineno + 2
    assert turn is not None
    assert turn.words == f"turn 2 of test_turns.py:{line}"


@pytest.mark.parametrize("asks", [True, False])
def test_a_while_is_named_by_its_own_line(op, *, asks: bool) -> None:
    """It was named by the line of the first statement in it, as was a loop that begins with it."""
    passes, turn = 0, None
    if asks:
        while passes < 4:
            passes += 1
            if passes == 2:
                continue
            turn = op.turns.of(stack_here())
    else:
        while True:
            passes += 1
            turn = op.turns.of(stack_here())
            if passes == 3:
                break
    line = test_a_while_is_named_by_its_own_line.__code__.co_firstlineno + (5 if asks else 11)
    assert turn is not None
    assert turn.words == f"turn 3 of test_turns.py:{line}"


def _fit(op: Ops) -> None:
    """A step of training by names that say nothing of it."""
    op()
    for _ in range(2):
        op(writes=True)


def _log(op: Ops, *, works: bool) -> None:
    if works:
        op()


def test_a_loop_that_writes_variables_is_the_one_although_something_is_called_behind_it(op) -> None:
    """A blind test: a row of a CSV file was written at the end of each epoch, and the whole training was one turn."""
    for _ in range(2):
        for _ in range(3):
            _fit(op)
        _log(op, works=False)
    assert op.found == [number for turn in range(1, 7) for number in [turn] * 3]


def test_a_loop_that_runs_ops_behind_it_is_the_one_all_the_same(op) -> None:
    for _ in range(3):
        for _ in range(2):
            _fit(op)
        _log(op, works=True)
    first, others = op.found[:7], op.found[7:]
    assert first == [1, 1, 1, 2, 2, 2, 1]
    assert others == [2] * 7 + [3] * 7


def test_a_loop_in_the_step_that_writes_variables_is_no_loop_of_steps(op) -> None:
    for _ in range(3):
        op()
        for _ in range(2):
            _fit(op)
        _log(op, works=False)
    assert op.found == [number for turn in range(1, 4) for number in [turn] * 7]


def _train_step(op: Ops) -> None:
    op(begun=False)
    op()


@pytest.mark.parametrize("evaluates", [True, False])
def test_turns_of_inner_loops_are_counted_on_behind_what_the_outer_one_does(op, *, evaluates: bool) -> None:
    """A blind test: two runs were `turn 4`, and where the outer loop began no run, a number was left out."""
    for _ in range(3):
        for _ in range(2):
            _train_step(op)
        op()  # the first op behind a run, which may begin none of its own
        op(begun=False)
        if evaluates:
            op()
    each = 4 + 2 + evaluates
    assert [number for at, number in enumerate(op.found) if at % each < 4] == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]


def test_what_computes_with_variables_before_a_loop_of_metrics_is_of_the_step_and_before_a_tape_is_not(op) -> None:
    def prepares(*, with_variables: bool) -> bool:
        stack = stack_here()
        turn = EagerTurns().of(stack)
        assert turn is not None
        return prepares_training(turn, stack, with_variables=with_variables)

    def update_state() -> None: ...

    def GradientTape() -> None: ...

    for _ in range(1):
        metrics = prepares(with_variables=True), prepares(with_variables=False)
        for _ in range(2):
            update_state()
    for _ in range(1):
        tape = prepares(with_variables=True), prepares(with_variables=False)
        for _ in range(2):
            GradientTape()
    assert (metrics, tape) == ((False, True), (True, True))


class Tape:
    """What stands for TensorFlow's: an op before the gradient, and the gradient itself."""

    def __init__(self, op: Ops) -> None:
        self._op = op

    def __enter__(self) -> Tape:
        return self

    def __exit__(self, *raised: object) -> None: ...

    def gradient(self) -> None:
        self._op()


@pytest.mark.parametrize("by", ["assign", "apply_gradients", "loop", "function"])
def test_a_step_that_adds_gradients_up_is_one_turn(op, by: str) -> None:
    """A blind test: each part of the batch was a run, and what was assigned behind them in none."""

    def GradientTape() -> Tape:
        return Tape(op)

    def assign_sub() -> None:
        op(writes=True)

    def apply_gradients() -> None:
        op()
        op(writes=True)

    def gradients() -> None:
        for _part in range(3):
            op()
            with GradientTape() as tape:
                op()
            tape.gradient()

    for _step in range(3):
        if by == "function":
            gradients()
        else:
            for _part in range(3):
                op()
                with GradientTape() as tape:
                    op()
                tape.gradient()
        if by == "assign":
            assign_sub()
        elif by == "loop":
            for _variable in range(2):
                op()
                assign_sub()
        else:
            apply_gradients()
    ops = len(op.found) // 3
    assert op.found == [1] * ops + [2] * ops + [3] * ops


def test_so_is_one_that_adds_them_up_in_variables(op) -> None:
    def GradientTape() -> Tape:
        return Tape(op)

    def assign_add() -> None:
        op(writes=True)

    def apply_gradients() -> None:
        op()
        op(writes=True)

    for _step in range(3):
        for _part in range(2):
            with GradientTape() as tape:
                op()
            tape.gradient()
            assign_add()
        apply_gradients()
    assert op.found == [1] * 8 + [2] * 8 + [3] * 8


def test_an_average_of_weights_behind_an_epoch_does_not_make_it_a_step(op) -> None:
    def GradientTape() -> Tape:
        return Tape(op)

    def assign_sub() -> None:
        op(writes=True)

    def assign() -> None:
        op(writes=True)

    for _epoch in range(2):
        for _step in range(2):
            with GradientTape() as tape:
                op()
            tape.gradient()
            assign_sub()
        assign()
    assert op.found[:6] == [1] * 3 + [2] * 3


def test_a_loop_of_gradients_that_writes_by_a_function_of_any_name_is_the_one_of_steps(op) -> None:
    """What the outer loop assigns is a count of epochs; known from the second epoch on."""

    def GradientTape() -> Tape:
        return Tape(op)

    def descend() -> None:
        op(writes=True)

    def assign_add() -> None:
        op(writes=True)

    for _epoch in range(2):
        for _step in range(3):
            with GradientTape() as tape:
                op()
            tape.gradient()
            descend()
        assign_add()
    assert op.found[:3] == [1, 1, 1]
    assert op.found[10:19] == [op.found[10]] * 3 + [op.found[10] + 1] * 3 + [op.found[10] + 2] * 3


def test_a_step_that_trains_itself_and_another_network_in_a_loop_is_one_turn(op) -> None:
    """As that of a WGAN: two runs of the critic and one of the rest were shown of each."""
    gradient = apply_gradients = op
    for _epoch in range(2):
        for _batch in range(3):
            for _critic in range(2):
                gradient()
                apply_gradients()
            gradient()
            apply_gradients()
    assert op.found == [turn for turn in range(1, 7) for _ in range(6)]


def test_an_epoch_that_takes_a_gradient_to_show_it_is_no_step(op) -> None:
    gradient = apply_gradients = op
    for _epoch in range(2):
        for _batch in range(2):
            gradient()
            apply_gradients()
        gradient()
    assert op.found == [1, 1, 2, 2, 1, 3, 3, 4, 4, 2]


def _minimize(function: Any, times: int, update: Any = None) -> None:
    """What stands for an optimizer of a package, which may run ops of its own."""
    for _ in range(times):
        function()
        if update is not None:
            update()


@pytest.fixture
def packaged(op: Ops, monkeypatch: pytest.MonkeyPatch) -> Ops:
    """`op`, with `_minimize` as a package's."""

    def is_program(code: Any) -> bool:
        return code.co_filename == __file__ and code.co_name not in {"__call__", "_minimize"}

    for reader in ("turn", "passages", "repeated_calls"):
        monkeypatch.setattr(f"tfdbg_cli.capture.runs.eager.program.{reader}.is_program", is_program)
    return op


@pytest.mark.parametrize("updates", [False, True], ids=["the function", "the package"])
def test_a_function_that_a_package_calls_again_and_again_has_a_turn_for_each_call(packaged, *, updates: bool) -> None:
    """A blind test: what SciPy minimized, and what `map` did, was one run, or three for each step."""
    op = gradient = packaged

    def loss() -> None:
        op()
        for _layer in range(2):
            op()
        gradient()

    _minimize(loss, 3, op if updates else None)
    each = 5 if updates else 4
    assert op.found[each:] == [2] * each + [3] * each, "that it is called again shows with the second call"
    op()
    assert op.found[-1] is None


def test_so_has_one_that_has_helpers_take_and_apply_gradients(packaged) -> None:
    op = packaged

    def grads() -> None:
        op()

    def apply() -> None:
        for _variable in range(2):
            assign_sub = op
            assign_sub(writes=True)

    def step(_batch: int) -> None:
        grads()
        apply()

    list(map(step, range(4)))
    assert op.found[3:] == [2, 2, 2, 3, 3, 3, 4, 4, 4]


def test_calls_at_different_places_of_the_program_are_no_turns(packaged) -> None:
    op = gradient = packaged

    def step() -> None:
        op()
        gradient()

    step()
    op()
    step()
    step()
    assert op.found == [None] * 7


def test_neither_is_a_function_that_takes_no_gradient(packaged) -> None:
    op = packaged

    def layer() -> None:
        op()

    _minimize(layer, 3)
    assert op.found == [None] * 3


def test_a_loop_around_the_package_goes_before_calls(packaged) -> None:
    op = gradient = packaged

    def loss() -> None:
        op()
        gradient()

    for _epoch in range(2):
        _minimize(loss, 2)
        op()
    assert op.found == [1] * 5 + [2] * 5
