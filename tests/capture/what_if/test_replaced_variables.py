"""Variables that `set` replaces, and what was read from them: in the run made again each is shown as it was then."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.made_run import NAN, made_run, op
from support.prompt import Prompt

from tfdbg_cli.capture.what_if.whole_run import WholeWhatIf
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import CallArgument, RunKind
from tfdbg_cli.model.runs import Run, RunEnd
from tfdbg_cli.model.tensors import MemoryTensorStore, TensorStore

pytestmark = pytest.mark.tf

STEP = (
    op("w", "Placeholder"),
    op("x", "Placeholder", value=[2.0, 2.0]),
    op("read", "ReadVariableOp", "w", value=[1.0, NAN]),
    op("mul", "Mul", "read", "x", value=[2.0, NAN]),
    op("sub", "AssignSubVariableOp", "w", "x", control=("read",)),
    op("w/after_update", "UpdatedVariable", "w", "x", value=[-1.0, NAN], control=("sub",)),
)


class _Part:
    """No part of the run can be computed alone."""

    def require_replaceable(self, run, name):
        if name.node == "w":
            raise TfdbgError("w:0 is a handle: it holds no numbers to replace.")

    def kept_after(self, replaced):
        return {}

    def again(self, run, replaced):
        raise AssertionError


class _MadeAgain:
    """The step made again, in NumPy; the read runs also where its value is replaced, as the update waits for it."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def replay_spec(self):
        raise TfdbgError("It is not held.")

    def with_values(self, replaced) -> tuple[TensorStore, None]:
        given = {str(name): value for name, value in replaced.items()}
        held = given.get("w:0", np.float32([1, NAN]))
        read = [given["read:0"], held] if "read:0" in given else [held]
        made = made_run(
            op("x", "Placeholder", value=[2.0, 2.0]),
            op("read", "ReadVariableOp", "w", values=read),
            op("mul", "Mul", "read", "x", value=read[0] * 2),
            op("w/after_update", "UpdatedVariable", "w", "x", value=held - 2),
        )
        return made.tensors, None


def _prompt(*, is_held: bool = True, given: bool = False) -> Prompt:
    run = made_run(*STEP, feeds={"w": np.float32([1, NAN])} if given else None)
    arguments = (CallArgument("x", "float32", (2,)), CallArgument("w", "resource", (), captured=True))
    run = replace(run, call=replace(run.call, kind=RunKind.FUNCTION, fetches=("mul:0",), arguments=arguments))
    run = replace(run, what_if=WholeWhatIf(_Part()), replayable=_MadeAgain(run) if is_held else None)
    return Prompt(RunEnd(run))


def _shown(prompt: Prompt) -> list[tuple[str, list[float]]]:
    run = prompt.context.run
    return [(str(run.tensors[i].name), run.tensors.value(i).tolist()) for i in range(len(run.tensors))]


@pytest.mark.parametrize("text", ["w[1]", "w:0[1]"])
def test_the_variable_that_origin_names_can_be_set(text: str) -> None:
    """A blind test: it was said that no value of it was captured, and nothing said what to set."""
    prompt = _prompt(given=True)
    assert prompt.data("origin")["tensor"] == "w:0"
    prompt.show(f"set {text} 0.5")
    assert [one["name"] for one in prompt.data("set")["tensors"]] == ["w:0"]
    prompt.show("again")
    assert _shown(prompt) == [
        ("x:0", [2, 2]), ("read:0", [1, 0.5]), ("mul:0", [2, 1]), ("w/after_update:0", [-1, -1.5]),
    ]  # fmt: skip
    assert "No NaN or infinity" in prompt.show("origin")
    assert "`set` gave the variable w another value." in prompt.show("diff")
    prompt.show("unset w")
    assert prompt.data("set")["tensors"] == []


@pytest.mark.parametrize("given", [True, False])
def test_what_was_read_is_set_and_the_variable_still_is_what_it_was(given: bool) -> None:
    """A blind test: an update that overflows was made up, and both values of the read were listed as executions."""
    prompt = _prompt(given=given)
    prompt.show("set read[1] 0.5")
    prompt.show("again")
    assert [name for name, _ in _shown(prompt)] == ["x:0", "read:0", "mul:0", "w/after_update:0"]
    assert dict(_shown(prompt))["read:0"] == [1, 0.5]
    data = prompt.data("origin")
    assert data["tensor"] == ("w:0" if given else "w/after_update:0")
    assert data["cause"].startswith(
        "Variable w held it before this run, and still does: `set` replaced what was read"
    )
    assert "`set w EXPRESSION`" in data["suggestion"]


def test_where_the_run_cannot_be_made_again_it_is_said_what_to_set() -> None:
    refused = _prompt(is_held=False).error("set w[1] 0.5")
    assert refused.message == "w is a variable, and this run cannot be made again with another value in it."
    assert refused.hint == "Replace what was read from it: `set read:0 EXPRESSION`."


def test_where_making_it_again_fails_it_is_said_why_and_what_to_set() -> None:
    prompt = _prompt()
    prompt.show("set w 1")

    def fails(replaced):
        raise TfdbgError("Its session is closed.")

    prompt.context.run.replayable.with_values = fails
    refused = prompt.error("again")
    assert refused.message.endswith("with another value in it: Its session is closed.")
    assert "`set read:0 EXPRESSION`" in refused.hint


def test_what_ends_in_that_name_is_meant_and_a_tensor_comes_first() -> None:
    prompt = _prompt()
    assert "There is no tensor" in prompt.error("set nothing 1").message
    assert "shows what the run left in a variable" in prompt.error("set w/after_update:0 1").message


def test_an_expression_names_a_variable_for_what_it_held_before_the_run() -> None:
    """A blind test: `set w` took the name, and its expression did not."""
    prompt = _prompt()
    assert "w is what the variable held before the run." in prompt.show("ev `w`")
    assert prompt.data("ev `w`[0] * 3")["value"] == 3
    assert "Put the slice behind the closing backtick." in prompt.error("ev `w[0:1]`").hint
    prompt.show("set w `w`[::-1] * 2")
    prompt.show("again")
    assert dict(_shown(prompt))["read:0"][1] == 2
    assert prompt.data("ev `w`[1]")["value"] == 2, "of the run made again it is what that began with"
    prompt.show("original")
    assert prompt.data("ev `w`[0]")["value"] == 1


def test_where_nobody_knows_what_a_variable_held_an_expression_says_so() -> None:
    prompt = _prompt()
    run = prompt.context.run
    rows = [row for row in range(len(run.tensors)) if run.tensors[row].name.node != "read"]
    kept = MemoryTensorStore([run.tensors[row] for row in rows], [run.tensors.value(row) for row in rows])
    refused = Prompt(RunEnd(replace(run, tensors=kept))).error("ev `w`")
    assert refused.message == "w is a variable, and what it held before the run is not known."
    assert refused.hint == "`pt w` lists what was captured of it."
