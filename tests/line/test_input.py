"""Where commands come from, and that nothing waits for a person who is not there."""

from __future__ import annotations

import io
import os
import sys

import pytest

from tfdbg_cli.commands.typed_commands import History
from tfdbg_cli.line import input as line_input
from tfdbg_cli.line.input import NoInput, PipeInput, ScriptInput, TerminalInput, choose_input
from tfdbg_cli.line.script import Script
from tfdbg_cli.terminal_facts import TerminalFacts


def _facts(**changes) -> TerminalFacts:
    values = dict(
        stdin_tty=True, stdout_tty=True, controlling=True, foreground=True, termios=True, term="xterm",
        notebook=False, ide="",
    )  # fmt: skip
    return TerminalFacts(**(values | changes))


@pytest.mark.parametrize(
    ("script", "changes", "expected"),
    [
        (Script(["lt"]), {}, ScriptInput),
        (None, {}, TerminalInput),
        (None, {"stdin_tty": False}, PipeInput),
        (None, {"stdin_tty": False, "notebook": True}, TerminalInput),
        (None, {"foreground": False}, NoInput),
        (None, {"controlling": False, "foreground": False}, TerminalInput),
    ],
)
def test_the_input_fits_what_there_is(script, changes, expected) -> None:
    assert type(choose_input(script, _facts(**changes), History(), aside=False)) is expected


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch):
    reading, writing = os.pipe()
    monkeypatch.setattr(sys, "stdin", os.fdopen(reading, "r"))
    with os.fdopen(writing, "w") as writer:
        yield writer
    sys.stdin.close()


def test_a_pipe_that_stays_silent_is_given_up(pipe) -> None:
    source = PipeInput(patience=0.05)
    assert source.silent()
    assert "within 0.05 seconds" in source.ending


def test_a_pipe_that_gave_a_command_may_take_its_time(pipe) -> None:
    pipe.write("lt\nri\n")
    pipe.flush()
    source = PipeInput(patience=5)
    assert not source.silent()
    assert [source.read(), source.read()] == ["lt", "ri"]
    pipe.close()
    assert source.read() is None
    assert source.ending == "Standard input holds no more commands"
    assert not source.silent()


def test_lines_that_the_program_left_in_its_reader_are_not_lost(pipe) -> None:
    pipe.write("for the program\nlt\n")
    pipe.close()
    assert sys.stdin.readline() == "for the program\n"
    source = PipeInput(patience=5)
    assert source.read() == "lt"


def test_bytes_that_are_no_text_end_the_input(monkeypatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff\xfe\n"), encoding="utf-8"))
    source = PipeInput()
    assert source.silent()
    assert "no text" in source.ending


def test_a_standard_input_that_must_not_be_read_ends_the_input(monkeypatch) -> None:
    class Forbidden(io.StringIO):
        def readline(self, size: int = -1) -> str:
            raise OSError("reading from stdin while output is captured")

    monkeypatch.setattr(sys, "stdin", Forbidden())
    assert PipeInput().silent()


def _typed(monkeypatch: pytest.MonkeyPatch, *answers) -> None:
    left = list(answers)

    def typed(prompt: str = "") -> str:
        answer = left.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    monkeypatch.setattr("builtins.input", typed)


def test_a_notebook_asks_by_its_own_input(monkeypatch) -> None:
    _typed(monkeypatch, "lt", NotImplementedError("raw_input was called, but this frontend does not support it"))
    source = TerminalInput(History(), editing=False, aside=False)
    assert source.read() == "lt"
    assert source.read() is None
    assert "Nobody can type" in source.ending


def test_ctrl_d_and_a_lost_terminal_end_the_input(monkeypatch) -> None:
    _typed(monkeypatch, EOFError(), OSError(5, "Input/output error"))
    source = TerminalInput(History(), editing=False, aside=False)
    assert source.read() is None
    assert source.read() is None


def test_commands_go_to_the_history_and_answers_to_questions_do_not(monkeypatch) -> None:
    _typed(monkeypatch, "lt", "y")
    history = History()
    source = TerminalInput(history, editing=False, aside=False)
    source.read()
    source.read("Sure? ")
    assert history.entries == ["lt"]


def test_pasted_lines_are_commands_one_after_another(monkeypatch, capsys) -> None:
    _typed(monkeypatch, "lt\norigin\n", "y", "")
    history = History()
    source = TerminalInput(history, editing=True, aside=False)
    assert source.read() == "lt"
    assert source.read("Sure? ") == "y", "a question is not answered by what was pasted behind the command"
    assert source.read() == "origin"
    assert source.read() == ""
    assert history.entries == ["lt", "origin"]
    assert capsys.readouterr().out == f"{line_input.PROMPT}origin\n", "the first line is on the screen by its typing"


def test_the_prompt_stays_out_of_a_redirected_output(monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("lt\n"))
    source = TerminalInput(History(), editing=True, aside=True)
    assert (source.read(), source.read()) == ("lt", None)
    streams = capsys.readouterr()
    assert (streams.out, streams.err) == ("", line_input.PROMPT * 2)
