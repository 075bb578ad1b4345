"""`set`, `again`, `compare`, `original`: at a run that says what depends on what, without TensorFlow."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.golden import check_golden
from support.made_run import made_run, op
from support.prompt import Prompt
from support.sample_run import LOG, PROB, opened, run_end, run_failed
from support.sample_what_if import Arithmetic, changeable

from tfdbg_cli.document.document import Document
from tfdbg_cli.model.decision import DebugRun
from tfdbg_cli.model.runs import RunEnd


def _prompt(**arguments) -> Prompt:
    return Prompt(changeable(), **arguments)


def test_a_value_is_set_whole_and_in_part_and_taken_back() -> None:
    prompt = _prompt()
    assert "No tensor is replaced" in prompt.show("set")
    prompt.show("set prob:0 np.clip(`prob:0`, 0.5, 9)")
    prompt.show("set prob:0[0, :] = 7")
    (value,) = prompt.context.replaced[0].values()
    expected = np.clip(PROB, 0.5, 9)
    expected[0] = 7
    np.testing.assert_array_equal(value, expected)
    assert value.dtype == np.float32
    check_golden("commands/set", prompt.show("set"))
    assert prompt.data("set")["tensors"][0]["name"] == "prob:0"
    prompt.show("set -d prob")
    assert not prompt.context.replaced[0]
    prompt.show("set loss/Log 1")
    prompt.show("unset Log")
    assert not prompt.context.replaced[0]
    prompt.show("set prob 1")
    prompt.show("unset")
    assert "not replaced" in prompt.error("unset prob").message
    np.testing.assert_array_equal(prompt.context.run.tensors.value(prompt.context.run.tensors.named("prob")[0]), PROB)


def test_a_part_is_taken_back_and_with_the_last_one_all() -> None:
    """A blind test: `unset X[0]` took back all of X."""
    prompt = _prompt()
    prompt.show("set loss/Log 1")
    prompt.show("unset Log[0, :]")
    (value,) = prompt.context.replaced[0].values()
    expected = np.ones_like(LOG)
    expected[0] = LOG[0]
    np.testing.assert_array_equal(value, expected)
    assert "does not fit" in prompt.error("unset Log[900]").message
    assert prompt.error("unset Log[0]").message == "loss/Log:0[0] is not replaced."
    assert "No tensor is replaced" in prompt.show("set -d loss/Log:0[1:]")
    assert not prompt.context.replaced[0]


def test_what_was_just_set_is_shown_where_a_pipe_has_no_room_for_all() -> None:
    """A blind test: what was set anew stood above the cut, the one that was set last for the first time below."""
    prompt = _prompt()
    for name in ("prob", "loss/Log", "loss/mul"):
        prompt.run(f"set {name} 1")
    told = prompt.run("set prob 2")
    assert isinstance(told, Document) and told.focus is not None
    assert told.lines()[told.focus].text == "prob:0"
    listed = prompt.run("set")
    assert isinstance(listed, Document) and listed.focus is None


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("set prob:0", "There is no value"),
        ("set prob:0 np.zeros(3)", "shapes differ"),
        ("set prob:0 [`prob:0`, 'a']", "no float32 array"),
        ("set prob:0 1j", "no float32 array"),
        ("set prob:0 1e300", "cannot hold all"),
        ("set step/while/Add:0 1.5", "produced 3 times"),
        ("set names 7", "no string array"),
        ("set w:0 1", "is a handle"),
        ("set nothing:0 1", "no tensor"),
        ("set prob:0[9] 1", "does not fit"),
        ("set prob:0 `prob:0", "A closing ` is missing"),
    ],
)
def test_what_cannot_be_set_says_why(command: str, words: str) -> None:
    assert words in _prompt().error(command).message


def test_again_shows_the_run_that_would_have_been() -> None:
    prompt = _prompt()
    assert prompt.error("again").hint.startswith("`set TENSOR")
    prompt.show("set prob:0 np.maximum(`prob:0`, 1)")
    check_golden("commands/again", prompt.show("again --diff"))
    expected = np.log(np.maximum(PROB, 1))
    assert prompt.data("pt loss/Log")["value"] == pytest.approx(expected)
    check_golden("commands/diff_again", prompt.show("diff"))
    data = prompt.data("compare")
    assert data["kind"] == "diff" and data["first"]["a"] == data["first"]["b"] == "prob:0"
    changes = {pair["a"]: pair["change"] for pair in data["pairs"]}
    assert changes["loss/Log:0"] == "became finite"
    prompt.show("original")
    assert prompt.data("pt loss/Log")["summary"]["neg_inf"] == int(np.isneginf(LOG).sum())
    assert prompt.error("original").message == "This is the program's own run."
    assert prompt.error("original").hint == "`again` makes another of it."
    assert Prompt(opened()).error("original").hint == "Under `tfdbg replay` `again` makes another of it."
    # From the program's run the last one made of it is meant; replacements add up on the program's run.
    assert prompt.data("compare")["first"]["a"] == "prob:0"
    prompt.show("set loss/Log:0 0")
    data = prompt.data("again")
    assert data["replaced"] == ["prob:0", "loss/Log:0"]
    assert "what if: prob:0, loss/Log:0 replaced" in prompt.show("again")
    assert prompt.context.runs[prompt.context.current].change.base is prompt.context.runs[0]


def test_a_single_tensor_differs() -> None:
    prompt = _prompt()
    prompt.show("set loss/Mean:0 1")
    assert "; 1 differs from the program's run, loss/Mean:0 first." in prompt.show("again")


def test_results_that_are_computed_again_and_equal_are_not_told_to_differ() -> None:
    prompt = _prompt()
    prompt.show("set loss/mul:0 `loss/mul:0`")
    said = prompt.show("again")
    assert "; 0 differ from the program's run." in said
    assert "  was  " not in said


def test_what_was_set_in_part_is_not_computed_from_what_was_set_too_and_says_so() -> None:
    prompt = _prompt()
    prompt.show("set loss/Log:0[0, 0] 5")
    assert "does not reach it" not in prompt.show("again")
    prompt.show("set prob:0 np.maximum(`prob:0`, 1)")
    said = prompt.show("again")
    assert "loss/Log:0 is what `set` made of it as a whole: that prob:0 changed does not reach it." in said
    prompt.show("set loss/Log:0 0")
    assert "does not reach it" not in prompt.show("again")


def test_the_origin_in_such_a_run_may_be_what_was_set() -> None:
    prompt = _prompt()
    prompt.show("set prob:0 np.nan")
    prompt.show("again")
    data = prompt.data("origin -fenn spectrum")
    assert (data["tensor"], data["cause"]) == ("prob:0", "`set` gave it this value.")


def test_what_was_bad_before_an_element_was_set_was_not_made_so_by_that() -> None:
    prompt = _prompt()
    cause = prompt.data("origin -fenn spectrum")["cause"]
    finite = np.argwhere(np.isfinite(LOG))[0].tolist()
    prompt.show(f"set loss/Log:0{finite} 5")
    prompt.show("again")
    data = prompt.data("origin -fenn spectrum")
    assert (data["tensor"], data["cause"]) == ("loss/Log:0", cause)


def test_a_run_that_cannot_be_computed_again_says_so() -> None:
    prompt = Prompt(run_end())
    assert "Nothing of this run can be computed again" in prompt.error("set prob:0 1").message
    assert "Of a recording" in Prompt(opened()).error("again").message
    assert "no other run" in prompt.error("compare").message
    assert "`set" not in Prompt(opened()).error("compare").hint, "nothing can be computed again there"
    assert isinstance(prompt.run("run"), DebugRun)


def test_a_replay_that_fails_is_not_told_to_be_replayed() -> None:
    """A blind test: in a replay it was said that of a recording nothing can be computed, and that a replay can."""
    failed = replace(opened(), runs=[run_failed().run], opened_by=("replay", "--trust"))
    for command in ("again", "set prob 1"):
        error = Prompt(failed).error(command)
        assert error.message == "This run failed, so nothing of it can be computed again."
        assert error.hint == "`error_info` tells why."
    assert "Of a recording" in Prompt(replace(failed, opened_by=("open",))).error("again").message


def test_a_run_with_other_values_is_not_called_by_the_number_of_the_programs() -> None:
    """A blind test: "No NaN or infinity in run #1. … Something is wrong in run #1.\""""
    prompt = _prompt()
    prompt.show("set prob:0 np.maximum(`prob:0`, 1)")
    prompt.show("again")
    shown = prompt.show("origin -fenn 'spectrum|half'")
    assert "in the run with other values." in shown and "in run #" not in shown.split("\n")[0]


def test_runs_lists_what_again_made_and_leads_to_it() -> None:
    prompt = _prompt()
    prompt.show("set prob:0 1")
    prompt.show("again")
    listed = prompt.show("runs")
    assert "what if: prob:0 replaced" in listed
    prompt.run("runs 1")
    assert prompt.context.run.change is None
    prompt.run("runs 2")
    assert prompt.context.run.change is not None
    assert prompt.data("compare 1 2")["first"]["a"] == "prob:0"
    assert "There is no run 7" in prompt.error("compare 7").message


def test_alerts_are_of_runs_that_happened() -> None:
    prompt = _prompt()
    for text in ("set prob:0 0", "again", "original"):
        prompt.run(text)
    assert {alert["place"] for alert in prompt.data("alerts")["alerts"]} == {1}
    assert "1 run with values of your own (`again`) left out." in prompt.show("alerts")


def test_what_a_run_left_in_a_variable_is_not_replaced_and_what_can_be_is_named() -> None:
    """It said that this was no value of the function, although the list shows it."""
    run = made_run(
        op("v", "Placeholder"),
        op("mul", "Mul", value=2.0),
        op("v/after_update", "UpdatedVariable", "v", "mul", value=3.0),
        op("slot/after_update", "UpdatedVariable", "v", value=3.0),
        op("v/before_update", "VariableBeforeUpdate", value=1.0),
    )
    prompt = Prompt(RunEnd(replace(run, what_if=Arithmetic())))
    error = prompt.error("set v/after_update:0 1")
    assert "shows what the run left in a variable" in error.message
    assert error.hint == "Replace what the update is given: set mul:0 EXPRESSION"
    assert "`ni slot/after_update` tells" in prompt.error("set slot/after_update 1").hint
    assert "before the run" in prompt.error("set v/before_update 1").message
    prompt.show("set mul 1")
