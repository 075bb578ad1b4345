"""Of a run without values no command says that nothing is wrong with it, or that it failed where it did not."""

from __future__ import annotations

from support.prompt import text_of

from tfdbg_cli.model.calls import Call, RunError, RunKind
from tfdbg_cli.model.runs import Run

AFTER = "The exception came after this run, of which no values were taken."
RUN = Run(Call(3, RunKind.EAGER, ()), error=RunError("KeyError", "'lost'"), notes=(AFTER,), lacks=AFTER)


def test_origin_says_that_the_values_are_missing() -> None:
    said = text_of("origin", RUN)
    assert "No NaN" not in said
    assert AFTER in said


def test_the_list_of_tensors_says_why_it_is_empty() -> None:
    said = text_of("lt", RUN)
    assert "The run failed" not in said
    assert AFTER in said


def test_a_run_that_failed_early_is_said_to_have() -> None:
    failed = Run(Call(3, RunKind.FUNCTION, ()), error=RunError("InvalidArgumentError", "bad"))
    assert "The run failed before a value was captured." in text_of("lt", failed)


def test_the_page_of_a_run_says_what_ended_the_program_behind_it() -> None:
    behind = Run(Call(3, RunKind.EAGER, (), function="after which the program"), error=RUN.error)
    assert "Done: run #3: after which the program failed with KeyError (eager)" in text_of("ri", behind)
