"""A failed run that waits until it is known whether its exception ends the program."""

from __future__ import annotations

import threading

import pytest
from support.sample_run import sample_run

from tfdbg_cli.analysis.watch.filters import BUILT_IN_FILTERS
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.debugger.active_watch import ActiveWatch
from tfdbg_cli.debugger.held_failure import HeldFailure
from tfdbg_cli.debugger.progress_line import ProgressLine
from tfdbg_cli.model.calls import Call, RunError, RunKind
from tfdbg_cli.model.decision import RunUntil
from tfdbg_cli.model.ignored import Ignored
from tfdbg_cli.model.runs import Run


def _failed(number: int = 3, message: str = "out of range") -> Run:
    call = Call(number, RunKind.FUNCTION, (), function="step(x)")
    return sample_run(call=call, error=RunError("InvalidArgumentError", message))


@pytest.fixture
def held() -> HeldFailure:
    asked = BUILT_IN_FILTERS["has_nan"]
    watch = ActiveWatch(RunUntil("has_nan"), asked, Settings(), ProgressLine(), lambda text: None, Ignored())
    made = HeldFailure(lambda: True)
    assert made.takes(watch, _failed())
    return made


def test_what_ends_the_program_is_shown_with_what_is_known_of_both(held: HeldFailure) -> None:
    end = held.end(_failed())
    assert end is not None and len(end.run.tensors)
    assert not held and held.end(None) is None


def test_another_exception_is_not_the_held_one(held: HeldFailure) -> None:
    assert held.end(_failed(message="no such file")) is None
    assert not held


def test_where_nobody_knows_better_it_is_shown(held: HeldFailure) -> None:
    end = held.end(None)
    assert end is not None and end.run.call.number == 3


def test_what_ends_another_thread_leaves_it_held(held: HeldFailure) -> None:
    ends: list[object] = []
    other = threading.Thread(target=lambda: ends.append(held.end_of_thread(_failed())))
    other.start()
    other.join()
    assert ends == [None] and held
    assert held.end_of_thread(_failed()) is not None and not held


def test_a_few_runs_on_the_way_out_are_allowed_for(held: HeldFailure) -> None:
    said: list[str] = []
    for _ in range(8):
        held.another_begins(said.append)
    assert held and not said
    held.another_begins(said.append)
    assert not held
    assert said == [
        "Run #3 failed with InvalidArgumentError, which the program caught: the watch goes on."
        " Of later ones nothing is said."
    ]


def test_of_the_second_nothing_is_said(held: HeldFailure) -> None:
    said: list[str] = []
    watch = held._held[0]  # type: ignore[index]
    for number in (3, 30):
        held.takes(watch, _failed(number))
        for _ in range(9):
            held.another_begins(said.append)
    assert len(said) == 1


def test_where_somebody_sits_at_a_prompt_nothing_is_held(held: HeldFailure) -> None:
    watch = held._held[0]  # type: ignore[index]
    assert not HeldFailure(lambda: False).takes(watch, _failed())


def test_runs_of_other_threads_tell_nothing(held: HeldFailure) -> None:
    thread = threading.Thread(target=lambda: [held.another_begins(print) for _ in range(50)])
    thread.start()
    thread.join()
    assert held


def test_who_forgets_it_says_so(held: HeldFailure) -> None:
    assert held.forget() == "Run #3 failed with InvalidArgumentError, which the program caught."
    assert held.forget() == ""
