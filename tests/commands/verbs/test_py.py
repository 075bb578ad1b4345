"""`py`: Python as it was written, and what it prints."""

from __future__ import annotations

import signal
import sys
import threading
from dataclasses import replace
from io import StringIO
from types import FrameType

import pytest
from support.made_run import made_run, op
from support.prompt import Prompt

from tfdbg_cli.commands.printed import printed
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.frames import LiveFrame
from tfdbg_cli.model.runs import RunEnd
from tfdbg_cli.model.sources import Frame


@pytest.fixture
def prompt() -> Prompt:
    frames = (LiveFrame(Frame("/home/me/train.py", 12, "main", "loss = log(prob)"), {"w": 3}, {}),)
    return Prompt(RunEnd(replace(made_run(op("x", "Log", value=1.0)), frames=frames)))


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("'w'", "'w'"),
        ("'a' * 3", "'aaa'"),
        ("""'a  b' + "c" """, "'a  bc'"),
        ('''"it's"''', '''"it's"'''),
        ("w > 2", "True"),
        ("  w  ", "3"),
        ("print('one', w); print('two')", "one 3\ntwo"),
        ("len(f'{w}')", "1"),
        ("-w", "-3"),
        ("a = 1; b = 2; a + b", "3"),
        ("a = 1; None", "a is set for what you write here; the function that is running keeps its own value."),
        ("print('one'); w", "one\n3"),
    ],
)
def test_it_is_python_as_it_stands_there(prompt: Prompt, written: str, shown: str) -> None:
    assert prompt.data(f"py {written}")["value"] == shown


def test_what_was_printed_before_an_error_is_shown(prompt: Prompt) -> None:
    with pytest.raises(TfdbgError, match="so far\nZeroDivisionError"):
        prompt.data("py print('so far') or 1 / 0")


@pytest.mark.parametrize("written", ["exit()", "quit(3)", "import sys; sys.exit()", "print('last') or exit()"])
def test_what_would_end_the_program_does_not(prompt: Prompt, monkeypatch: pytest.MonkeyPatch, written: str) -> None:
    given = StringIO()
    monkeypatch.setattr("sys.stdin", given)
    with pytest.raises(TfdbgError, match="asks to end the program; it stands as before") as caught:
        prompt.data(f"py {written}")
    assert "`abort` ends it" in caught.value.hint and str(caught.value).startswith("last\n") == ("last" in written)
    assert sys.stdin is given and not given.closed


def test_what_raises_as_ctrl_c_does_ends_nothing(prompt: Prompt) -> None:
    with pytest.raises(TfdbgError, match=r"last\nKeyboardInterrupt$"):
        prompt.data("py print('last'); raise KeyboardInterrupt")
    with pytest.raises(TfdbgError, match=r"KeyboardInterrupt: enough$"):
        prompt.data("py exec('def f(): raise KeyboardInterrupt(\\'enough\\')', globals()); f()")


def test_ctrl_c_itself_is_for_the_prompt(prompt: Prompt) -> None:
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(KeyboardInterrupt):
        prompt.data("py import signal; signal.raise_signal(signal.SIGINT)")


@pytest.mark.parametrize("written", ["for k in range(2):", "x = [1,", "def f():"])
def test_a_block_of_several_lines_is_told_the_way(prompt: Prompt, written: str) -> None:
    error = prompt.error(f"py {written}")
    assert "takes one line" in error.hint and "`interact`" in error.hint
    assert not prompt.error("py 1 +* 2").hint


def test_what_a_signal_handler_of_the_program_raises_ends_it(prompt: Prompt, monkeypatch: pytest.MonkeyPatch) -> None:
    def ended(number: int, frame: FrameType | None) -> None:
        sys.exit(4)

    before = signal.signal(signal.SIGUSR1, ended)
    try:
        with pytest.raises(SystemExit):
            prompt.data("py import signal; signal.raise_signal(signal.SIGUSR1)")
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_what_other_threads_print_goes_where_it_always_does(capsys: pytest.CaptureFixture[str]) -> None:
    before = sys.stdout
    with printed() as caught:
        print("here")
        other = threading.Thread(target=print, args=("there",))
        other.start()
        other.join()
        assert sys.stdout.isatty() is before.isatty()
    assert caught.getvalue() == "here\n" and sys.stdout is before
    assert capsys.readouterr().out == "there\n"
