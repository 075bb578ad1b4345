"""Python's debugger at a call of the program, which runs on afterwards as before."""

from __future__ import annotations

import inspect
from io import StringIO
from types import FrameType

import pytest
from support import sample_run
from support.prompt import Prompt

from tfdbg_cli.commands.python_prompt import open_pdb
from tfdbg_cli.commands.registry import UiAction
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.frames import LiveFrame
from tfdbg_cli.model.sources import Frame


def _live(frame: FrameType) -> LiveFrame:
    place = Frame(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name, "")
    return LiveFrame(place, dict(frame.f_locals), frame.f_globals)


def _calls() -> list[LiveFrame]:
    """The calls of this file, outermost first, each at its line of now."""
    found = []
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_code.co_filename == __file__ and frame.f_code.co_name != "_calls":
            found.append(_live(frame))
        frame = frame.f_back
    return found[::-1]


def _talk(at: int, said: str) -> str:
    shown = StringIO()
    frames = _calls()[:-1]
    open_pdb(frames, at, StringIO(said), shown)
    return shown.getvalue()


def test_it_stands_at_the_call_and_comes_back() -> None:
    def forward(hidden: int) -> str:
        return _talk(1, "p hidden + 1\nup\np outer\nq\n")

    outer = "of the step"
    answer = forward(41)
    assert "42" in answer and repr(outer) in answer
    assert "forward()" in answer and answer.startswith("pdb at the program's own call")


def test_interact_talks_where_pdb_does(capsys) -> None:
    """And not where the process writes to, which a full screen has taken over."""
    answer = _talk(0, "interact\n'>' + str(20 + 22)\n1 / 0\nexit()\np 'back'\n")
    assert "'back'" in answer
    assert ">42" in answer and "ZeroDivisionError" in answer
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("leaves", ["q", "c", "n", "s", ""])
def test_whatever_leaves_it_comes_back_to_the_stop(leaves) -> None:
    assert "(Pdb)" in _talk(0, f"{leaves}\n" if leaves else "")


def test_a_call_of_another_thread_is_none_of_this_one() -> None:
    frames = [LiveFrame(Frame("train.py", 3, "step", ""), {}, {})]
    with pytest.raises(TfdbgError, match="not one of this thread"):
        open_pdb(frames, 0, StringIO(), StringIO())


def test_without_a_call_at_hand_the_command_says_so() -> None:
    with pytest.raises(TfdbgError, match="No Python of the program is at hand"):
        Prompt(sample_run.run_end()).run("pdb")


def test_a_shell_is_for_the_front_end() -> None:
    for text in ("shell", "!"):
        assert Prompt(sample_run.run_end()).run(text) is UiAction.SHELL
