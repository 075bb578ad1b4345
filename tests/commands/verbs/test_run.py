"""`run` and the ways to leave: what the person decided."""

from __future__ import annotations

import pytest
from support import sample_run
from support.prompt import Prompt

from tfdbg_cli.commands.registry import UiAction
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.model.decision import (
    Abort,
    CaptureRequest,
    Continue,
    DebugRun,
    Decision,
    Detach,
    GraphChoice,
    PlainRun,
    ProfileRun,
    RunUntil,
)


@pytest.fixture
def prompt() -> Prompt:
    return Prompt(sample_run.run_start(), {"mine": lambda datum, tensor: True})


@pytest.mark.parametrize(
    ("command", "decision"),
    [
        ("run", DebugRun()),
        ("r -t 10", DebugRun(times=10)),
        ("run -n", PlainRun()),
        ("run --no_debug", PlainRun()),
        ("run -p", ProfileRun()),
        ("run -f has_inf_or_nan", RunUntil("has_inf_or_nan")),
        ("run -f mine -fenn '^grad|/b'", RunUntil("mine", "^grad|/b")),
        ("run --force", DebugRun(force=True)),
        (
            "run -f mine --force --graph runtime",
            RunUntil("mine", "", CaptureRequest(graph=GraphChoice.RUNTIME), True),
        ),
        (
            "run --node_name_filter a --op_type_filter b --tensor_dtype_filter c",
            DebugRun(CaptureRequest("a", "b", "c")),
        ),
        ("run --graph python", DebugRun(CaptureRequest(graph=GraphChoice.PYTHON))),
        ("continue", Continue()),
        ("c", Continue()),
        ("detach", Detach()),
        ("exit --detach", Detach()),
        ("quit --abort", Abort()),
        ("abort", Abort()),
    ],
)
def test_decisions(prompt: Prompt, command: str, decision: Decision) -> None:
    assert prompt.run(command) == decision


def test_leaving_asks_and_never_ends_the_program_by_itself(prompt: Prompt) -> None:
    """TensorFlow's tfdbg: `exit` kills with code 1."""
    assert prompt.run("exit") is UiAction.LEAVE
    assert prompt.run("q") is UiAction.LEAVE
    opened = Prompt(sample_run.opened())
    assert opened.run("exit") is opened.run("exit --abort") is UiAction.LEAVE


def test_the_setting_chooses_the_graph_where_the_flag_does_not() -> None:
    prompt = Prompt(sample_run.run_end(), settings=Settings(graph="python"))
    assert prompt.run("run") == DebugRun(CaptureRequest(graph=GraphChoice.PYTHON))
    assert prompt.run("run --graph auto") == DebugRun(CaptureRequest(graph=GraphChoice.AUTO))


@pytest.mark.parametrize(
    ("command", "cause"),
    [
        ("run -f nope", "no filter 'nope'"),
        ("run -fenn x", "-fenn narrows a filter"),
        ("run -f mine -fenn '['", "not a regular expression"),
        ("run --node_name_filter '('", "not a regular expression"),
        ("run -t 0", "-t counts runs from 1"),
        ("run -t x", "invalid int"),
        ("run -n -p", "-n and -p exclude each other"),
        ("run -f mine -t 3", "-f and -t exclude each other"),
        ("run -p --node_name_filter x", "captures no tensors"),
        ("run --graph other", "invalid choice"),
        ("run now", "unrecognized"),
        ("exit --detach --abort", "exclude each other"),
        ("run > out.txt", "prints nothing"),
    ],
)
def test_mistakes_are_said_before_the_run(prompt: Prompt, command: str, cause: str) -> None:
    assert cause in prompt.error(command).message


@pytest.mark.parametrize("command", ["run", "continue", "detach", "abort"])
def test_a_recording_cannot_run(command: str) -> None:
    assert "this is a recording" in Prompt(sample_run.opened()).error(command).message
