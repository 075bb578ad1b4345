"""An origin behind a call whose inside is not among the values: why it is not, and what shows it."""

from __future__ import annotations

from dataclasses import replace

from support.made_run import NAN, made_run, op
from support.prompt import Prompt

_WHY = "What the functions that the run calls computed was not kept."


def _run(*, called: str = "StatelessIf", value=None):
    made = op("c", called, "x") if value is None else op("c", called, "x", value=value)
    return replace(
        made_run(op("x", "Const", value=[1.0]), made, op("y", "Identity", "c", value=[NAN])), inside_lacks=_WHY
    )


def test_it_says_why_the_inside_is_missing() -> None:
    assert f"Inside    {_WHY}" in Prompt(_run(), width=160).show("origin", 160)


def test_it_says_nothing_of_calls_that_were_seen_nor_of_other_ops() -> None:
    for run in (_run(value=[1.0]), _run(called="Mul")):
        assert _WHY not in Prompt(run, width=160).show("origin", 160)
