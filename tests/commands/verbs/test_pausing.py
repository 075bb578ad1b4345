"""Commands for code that runs eagerly, at a program that stands behind an op."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.golden import check_golden
from support.prompt import Prompt
from support.sample_run import opened, run_end

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.decision import RunTo, StepOn
from tfdbg_cli.model.frames import LiveFrame
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.pausing import Pace, Place
from tfdbg_cli.model.sources import Frame


class _Behind:
    """The program stands behind loss/Log, and knows the variable w."""

    node, why, variables = "loss/Log", "breakpoint 1 (Log)", ("w",)

    def __init__(self, value: Any) -> None:
        self.values = {"loss/Log:0": value, "w:0": np.ones(2, np.float32)}

    def value(self, name: TensorName) -> Any:
        if str(name) not in self.values:
            raise TfdbgError(f"The program holds {name} already.")
        return self.values[str(name)]

    def replace(self, name: TensorName, value: Any) -> None:
        self.value(name)
        self.values[str(name)] = value


def _prompt(**arguments: Any) -> tuple[Prompt, _Behind]:
    end = run_end()
    store = end.run.tensors
    behind = _Behind(store.value(store.named("loss/Log", 0)[0]))
    frames = (LiveFrame(Frame("/home/me/train.py", 12, "main", "loss = log(prob)"), {"step": 3}, {}),)
    run = replace(end.run, frames=frames, paused=behind)
    return Prompt(replace(end, run=run), **arguments), behind


def test_where_the_program_stands_opens_the_prompt() -> None:
    prompt, _ = _prompt()
    shown = prompt.show("here")
    check_golden("commands/here", shown)
    data = prompt.data("here")
    assert (data["node"], data["line"], data["why"]) == ("loss/Log", 12, "breakpoint 1 (Log)")
    assert data["outputs"][0]["name"] == "loss/Log:0"


@pytest.mark.parametrize(
    ("command", "decision"),
    [
        ("step", StepOn(Pace.OP)),
        ("s", StepOn(Pace.OP)),
        ("over", StepOn(Pace.LINE)),
        ("n", StepOn(Pace.LINE)),
        ("finish", StepOn(Pace.OUT)),
        ("until Log", RunTo(Place("Log"))),
        ("until 40", RunTo(Place(file="/home/me/train.py", line=40))),
        ("until dense_1 when nan > 0", RunTo(Place("dense_1", condition="nan > 0"))),
    ],
)
def test_ways_to_go_on(command, decision) -> None:
    prompt, _ = _prompt()
    assert prompt.run(command) == decision


def test_breakpoints_are_set_listed_and_dropped() -> None:
    prompt, _ = _prompt()
    assert "No breakpoint" in prompt.show("break")
    prompt.show("break Log when input.min <= 0")
    shown = prompt.show("b 41")
    assert "1  Log when input.min <= 0" in shown
    assert "2  /home/me/train.py:41" in shown
    assert prompt.data("delete 1")["breakpoints"] == [{"number": 2, "place": "/home/me/train.py:41"}]
    with pytest.raises(TfdbgError, match="no breakpoint 1"):
        prompt.show("delete 1")
    assert "No breakpoint" in prompt.show("delete")


def test_the_program_is_given_another_value() -> None:
    prompt, behind = _prompt()
    shown = prompt.show("set loss/Log 0")
    assert "is given it when it goes on" in shown
    assert not behind.values["loss/Log:0"].any()
    assert prompt.data("here")["outputs"][0]["summary"]["zero"] == behind.values["loss/Log:0"].size
    prompt.show("set loss/Log:0[0] 5")
    assert behind.values["loss/Log:0"][0].tolist() == np.full_like(behind.values["loss/Log:0"][0], 5).tolist()
    assert "holds it now" in prompt.show("set w[1] 4")
    assert behind.values["w:0"].tolist() == [1.0, 4.0]
    with pytest.raises(TfdbgError, match="shapes differ"):
        prompt.show("set w np.zeros(3)")
    with pytest.raises(TfdbgError, match="already"):
        prompt.show("set prob 0")


def test_elsewhere_steps_are_refused_with_what_leads_to_them() -> None:
    with pytest.raises(TfdbgError, match="middle of a run"):
        Prompt(run_end()).run("finish")
    with pytest.raises(TfdbgError, match="middle of a run"):
        Prompt(opened()).run("here")
    with pytest.raises(TfdbgError, match="needs a running program"):
        Prompt(opened()).run("break Log")


def test_what_makes_a_run_again_says_why_it_cannot_here() -> None:
    prompt, _ = _prompt()
    with pytest.raises(TfdbgError, match="not for the middle of a run") as refused:
        prompt.run("invoke_stepper")
    assert "step" in refused.value.hint
    end = run_end()
    eager = replace(end, run=replace(end.run, call=replace(end.run.call, kind=RunKind.EAGER)))
    for command, words in (("undo", "is not undone"), ("bundle case", "cannot be made again")):
        with pytest.raises(TfdbgError, match=words):
            Prompt(eager).run(command)
