"""`eval` at the prompt: tensors in backticks, files, flags."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support import sample_run
from support.golden import check_golden
from support.prompt import Prompt

from tfdbg_cli.analysis.expression.process import MOST_MEMORY, MOST_SECONDS


@pytest.fixture
def prompt() -> Prompt:
    return Prompt(sample_run.run_end())


def value(prompt: Prompt, expression: str) -> object:
    return prompt.data(f"ev {expression}")["value"]


@pytest.mark.parametrize(("name", "command"), [("eval", "ev '`prob:0` > 1'"), ("eval_dict", "ev {'a': 1}")])
def test_screens(prompt: Prompt, name: str, command: str) -> None:
    check_golden(f"commands/{name}", prompt.show(command))


def test_tensors(prompt: Prompt) -> None:
    assert value(prompt, "`x:0`[0]") == [1, 2, 3]
    assert value(prompt, "`x`[0, -1]") == 3
    assert value(prompt, "`x:0:DebugIdentity`.sum()") == sample_run.X.sum()
    assert value(prompt, f"`{sample_run.CPU0}:x:0`.sum()") == sample_run.X.sum()
    assert value(prompt, "`step/while/Add:0[2]` - `step/while/Add:0[0]`") == 2
    assert value(prompt, "`step/while/Add:0[-1]`") == 3
    assert value(prompt, "-`x:0`[0]") == [-1, -2, -3]
    assert value(prompt, "np.isnan(`loss/mul:0`).sum(axis=0)") == [1, 0]
    assert value(prompt, "`names:0`[0]") == "b'cat'"


def test_an_expression_needs_no_quotes_but_may_have_them(prompt: Prompt) -> None:
    assert value(prompt, "`x:0`[0] + 1 - 1") == value(prompt, "'`x:0`[0] + 1 - 1'") == [1, 2, 3]
    assert value(prompt, "'`x:0` > 100'") == [[False] * 3] * 4
    assert value(prompt, "`x:0` >= 100") == [[False] * 3] * 4


def test_flags_and_files(prompt: Prompt, tmp_path: Path) -> None:
    assert prompt.data("ev `big:0` * 2")["elided"] and not prompt.data("ev `big:0` * 2 -a")["elided"]
    prompt.run(f"ev `x:0` + 1 -w {tmp_path}/x.npy")
    assert np.load(tmp_path / "x.npy").tolist() == (sample_run.X + 1).tolist()
    assert prompt.error(f"ev `x:0` -w {tmp_path}/x.npy").hint == "Add --force to replace it."
    assert "does not go into a .npy" in prompt.error(f"ev {{1: 2}} -w {tmp_path}/y.npy").message
    assert "Highlighted: 3 of 12" in prompt.show("ev `x:0` -r [4,6]")


def test_there_is_always_a_summary(prompt: Prompt) -> None:
    assert "Numeric summary" in prompt.show("ev `x:0`") and prompt.data("ev `x:0`")["summary"]["size"] == 12


@pytest.mark.parametrize(
    ("expression", "cause"),
    [
        ("`nope:0`", "no tensor"),
        ("`step/while/Add:0`", "produced 3 times"),
        ("`step/while/Add:0[7]`", "no execution 7"),
        ("`x:0[0, 1]`", "brackets name an execution"),
        ("`cold:0` + 1", "has no value"),
        ("`x:0` + `y:0`", "could not be broadcast"),
        ("`x:0`.nope()", ".nope is not available"),
        ("", "required"),
    ],
)
def test_mistakes(prompt: Prompt, expression: str, cause: str) -> None:
    assert cause in prompt.error(f"ev {expression}").message


def test_the_captured_values_stay_as_they_are(prompt: Prompt) -> None:
    before = sample_run.X.copy()
    assert "read-only" in prompt.error("ev np.add(`x:0`, 1, out=`x:0`)").message
    assert np.array_equal(sample_run.X, before)


def test_numbers_longer_than_those_of_tensors_are_shown_as_the_longest_of_theirs(prompt: Prompt) -> None:
    assert value(prompt, "np.longdouble(10)**4000") == "inf"
    assert prompt.data("ev [np.longdouble(3), 2]")["dtype"] == "float64"
    assert value(prompt, "np.ones(2, np.clongdouble)") == [[1, 0], [1, 0]]


def test_the_page_tells_the_limits(prompt: Prompt) -> None:
    assert f"{MOST_MEMORY >> 30} GB of memory beside them and {MOST_SECONDS} seconds" in " ".join(
        prompt.show("help eval").split()
    )
