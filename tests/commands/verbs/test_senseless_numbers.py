"""Numbers that make no sense behind an option: a sentence says so, and nothing is shown."""

from __future__ import annotations

import pytest
from support.made_run import made_run, op
from support.prompt import Prompt

from tfdbg_cli.model.runs import Opened, Run


def _run() -> Run:
    return made_run(op("x", "Placeholder", value=[1.0]), op("y", "Log", "x", value=[0.0]))


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("alerts -m -1", "-m counts alerts; -1 is none."),
        ("alerts -m 100000000000000000000", "-m counts alerts; 100000000000000000000 is none."),
        ("history y --above nan", "Nothing is above NaN."),
        ("diff 1 2 --rtol nan", "A tolerance is a number from 0 on, not infinite."),
        ("diff 1 2 --atol inf", "A tolerance is a number from 0 on, not infinite."),
    ],
)
def test_a_number_without_a_meaning_is_refused(command: str, said: str) -> None:
    """A blind test: `alerts -m -1` looked at no tensor and said that none is known to be bad."""
    assert Prompt(Opened("/data", [_run(), _run()])).error(command).message == said
