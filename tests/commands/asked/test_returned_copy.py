"""`set` by the program's name of a result: what it is a copy of is replaced."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.made_run import made_run, op
from support.prompt import Prompt

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.runs import Change, RunEnd
from tfdbg_cli.model.tensors import MemoryTensorStore

_VALUES = {"x": 1.0, "Mean": 2.0, "Exp": 3.0, "Identity": 2.0, "Identity_1": 3.0, "Identity_2": 2.0}


class _OfNumbers:
    """Has every tensor be one more than it was but those that are replaced; `refused` are not."""

    def __init__(self, *refused: str) -> None:
        self._refused = refused

    def require_replaceable(self, run, name):
        if name.node in self._refused:
            raise TfdbgError(f"{name} is made within a branch.")

    def again(self, run, replaced):
        given = {name.node: value for name, value in replaced.items()}
        values = [given.get(one.node, run.tensors.value(row) + 1) for row, one in enumerate(run.tensors)]
        return replace(run, tensors=MemoryTensorStore(list(run.tensors), values), change=Change(run, replaced, 1))


def _prompt(*refused: str, results: int = 3, kind: RunKind = RunKind.FUNCTION) -> Prompt:
    """The end of a function that returns `loss` twice, and its exponential."""
    names = [name for name in _VALUES if name.startswith("Identity")]
    copied = ("Mean", "Exp", "Mean")
    copies = [op(name, "Identity", copied[at], value=_VALUES[name]) for at, name in enumerate(names)]
    more = [op(f"Identity_{at}", "Identity", "Exp", value=3.0) for at in range(3, results)]
    run = made_run(
        op("x", "Placeholder", value=1.0),
        op("Mean", "Mean", "x", value=2.0),
        op("Exp", "Exp", "Mean", value=3.0),
        *copies,
        *more,
    )
    fetches = tuple(f"{name}:0" for name in (*names, *(one.name for one in more)))
    called = ("loss", "out[1]", "also", *(f"more[{at}]" for at in range(3, results)))
    call = replace(run.call, kind=kind, function="step", fetches=fetches, result_names=called)
    return Prompt(RunEnd(replace(run, call=call, what_if=_OfNumbers(*refused))))


def _replaced(prompt: Prompt) -> list[str]:
    return [one["name"] for one in prompt.data("set")["tensors"]]


def test_what_is_computed_from_a_result_follows_it() -> None:
    """A blind test: `set loss 5` replaced a copy that nothing reads, and exp(loss) stayed without a word."""
    prompt = _prompt()
    said = prompt.show("set loss 5")
    assert _replaced(prompt) == ["Mean:0"]
    assert "The program is given it by Identity:0 (loss) and Identity_2:0 (also), a copy of it that follows." in said
    prompt.show("unset loss")
    assert not _replaced(prompt)
    prompt.show("set Mean 5")
    prompt.show("again")
    prompt.show("set also 6")
    assert _replaced(prompt) == ["Mean:0"], "asked of the run that `again` made"


def test_a_copy_that_is_replaced_is_said_to_be_one() -> None:
    told = "It is the copy that is returned: what else is computed reads Mean:0, which stays as it was."
    prompt = _prompt()
    assert told in prompt.show("set Identity 5")
    assert _replaced(prompt) == ["Identity:0"]
    within = _prompt("Mean")
    assert told in within.show("set loss 5")
    assert _replaced(within) == ["Identity:0"]


@pytest.mark.parametrize("kind", [RunKind.SESSION, RunKind.CALLABLE])
def test_what_a_session_fetches_is_itself_what_is_computed_with(kind: RunKind) -> None:
    prompt = _prompt(kind=kind)
    assert "copy" not in prompt.show("set loss 5")
    assert _replaced(prompt) == ["Identity:0"]


def test_again_names_results_as_the_program_does_and_says_that_there_are_more() -> None:
    """A blind test: five were shown as Identity_N, and of a sixth that differed nothing was said."""
    prompt = _prompt(results=7)
    prompt.show("set x 5")
    said = prompt.show("again").split("\n")
    assert "loss  Identity:0" in said and "more[4]  Identity_4:0" in said
    assert "2 other results differ, too: more[5], more[6]" in said
    few = _prompt()
    few.show("set x 5")
    assert "other" not in few.show("again")
