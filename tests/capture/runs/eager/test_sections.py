"""What of a loop was in no run, told at the end of a recording."""

from __future__ import annotations

from typing import Any

import pytest

from tfdbg_cli.capture.runs.eager.program.loops import loops_of
from tfdbg_cli.capture.runs.eager.program.turn import Turn
from tfdbg_cli.capture.runs.eager.section import Section
from tfdbg_cli.capture.runs.eager.sections import Here, Sections

pytestmark = pytest.mark.tf


class _Noting(Sections):
    """Begins runs, and asks nobody about them."""

    def _start(self, here: Here, section: Section) -> None: ...

    @staticmethod
    def _computes(*given: Any) -> bool:
        return True


def train_steps() -> None:
    for _ in range(3):
        train_steps()


def nested_steps() -> None:
    for _ in range(3):
        for _ in range(3):
            train_steps()


def test_one_whose_first_turn_was_in_a_run_of_the_loop_around_it_is_not() -> None:
    sections, here, code = _Noting(None, lambda here: None), Here(), nested_steps.__code__
    outer, inner = loops_of(code)
    for turn in (Turn(code, outer, 1, 1), Turn(code, inner, 1, 2)):
        sections.start_run(here, Section("", None, turn), "Mul", (), [code, inner.start])
    assert not sections.left_out


@pytest.mark.parametrize(("first", "told"), [(1, False), (2, True), (3, False)])
def test_a_loop_whose_first_turn_was_no_run_is_told(first: int, told: bool) -> None:
    """A blind test: of a training with plain tensors for weights nine of ten steps were recorded, without a word."""
    sections, here = _Noting(None, lambda here: None), Here()
    code = train_steps.__code__
    for number in range(first, 4):
        turn = Turn(code, loops_of(code)[0], 1, number)
        sections.start_run(here, Section("", None, turn), "Mul", (), [code, turn.loop.start])
    sentences = sections.left_out
    assert len(sentences) == told
    assert all("The first turn of test_sections.py:" in one and "tfdbg_cli.run()" in one for one in sentences)
