"""What pdb, gdb and IPython take, typed here: the answer names what to type."""

from __future__ import annotations

import re

import pytest
from support import sample_run
from support.prompt import Prompt

from tfdbg_cli.commands.debugger_habits import _BEHIND, _HABITS, _INFO, _SHOWING, debugger_habit
from tfdbg_cli.commands.standard import VERBS
from tfdbg_cli.model.runs import Opened

_NAMES = {name for verb in VERBS for name in verb.names.split()}
_ASKED = "asks Python where the program stands."


@pytest.mark.parametrize(
    ("command", "way_out"),
    [
        ("p loss", f"`pt loss` prints a tensor, `py loss` {_ASKED}"),
        ("pp loss", f"`pt loss` prints a tensor, `py loss` {_ASKED}"),
        ("p/x loss", f"`pt loss` prints a tensor, `py loss` {_ASKED}"),
        ("p loss + 1", f"`py loss + 1` {_ASKED}"),
        ("print(loss)", f"`pt loss` prints a tensor, `py loss` {_ASKED}"),
        ("whatis loss", f"`pt loss` prints a tensor, `py type(loss)` {_ASKED}"),
        ("x", f"`pt x` prints a tensor, `py x` {_ASKED} `help` lists the commands."),
        ("x.shape", f"`pt x` prints a tensor, `py x.shape` {_ASKED}"),
        ("len(x)", f"`py len(x)` {_ASKED}"),
        ("x = 3", f"`py x = 3` {_ASKED}"),
        ("exit()", "`exit` asks which"),
        ("quit()", "`abort` ends the program"),
        ("l 20", "`locals` shows the line that runs"),
        ("w", "`where` lists the calls"),
        ("u", "`up` and `down` go"),
        ("d", "`up` and `down` go"),
        ("a", "`locals` shows the names"),
        ("info locals", "`locals` shows the names"),
        ("info break", "`break` lists them"),
        ("o", "`origin` goes back"),
        ("F", "`run -f has_inf_or_nan` runs on"),
        ("dense/MatMul:0", "`pt dense/MatMul:0` prints a tensor"),
        ("cd", "`!` opens a shell"),
    ],
)
def test_the_answer_names_what_to_type(command: str, way_out: str) -> None:
    error = Prompt(sample_run.run_end()).error(command)
    assert error.message == f"There is no command {command.split()[0]!r}."
    assert way_out in error.hint and "screen" not in error.hint


@pytest.mark.parametrize(
    ("command", "way_out"),
    [
        ("p loss", "`pt loss` prints a tensor."),
        ("print(x + 1)", "`ev EXPRESSION` computes with tensors in backticks."),
        ("w", "`ni -t NODE` lists the calls that made a node."),
        ("F", "`runs` lists the runs, `origin` tells where a NaN of one came from."),
    ],
)
def test_in_a_recording_no_python_is_named(command: str, way_out: str) -> None:
    error = Prompt(Opened("/data/x", (sample_run.run_end().run,))).error(command)
    assert error.hint == way_out


def test_what_is_named_is_there_and_what_is_there_is_no_habit() -> None:
    hints = [*(text for both in _HABITS.values() for text in both), *_INFO.values(), *_BEHIND.values()]
    named = {told.split()[0] for text in hints for told in re.findall(r"`(.*?)`", text)}
    assert named <= _NAMES | {"interact"}
    assert not _NAMES.intersection([*_HABITS, *_SHOWING]) and _NAMES.issuperset(_BEHIND)


def test_a_word_like_any_other_is_none() -> None:
    assert not debugger_habit("foo", (), live=True)
    assert not debugger_habit("lts", ("-q", "nan"), live=True)
