"""The lines that stay in the scrollback when the screen is left."""

from dataclasses import replace

import pytest
from support import sample_run
from support.sample_what_if import changeable
from support.screen import Driven

from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.model.decision import Abort, Continue, DebugRun, Detach, ProfileRun
from tfdbg_cli.tui.parting import last_words

_PROGRAM = ["python", "train.py", "--name", "my run"]


def _words(event, keys="", opening="lt"):
    screen = Driven(event, keys, opening=opening, registry=standard_registry())
    return last_words(screen.state.service, Detach(), _PROGRAM).split("\n")


def test_a_run_with_an_origin_leaves_three_lines():
    assert _words(sample_run.run_hit(), ":lt<enter>", opening="origin") == [
        "tfdbg: run #3: loss/Log:0 (Log) at train.py:8 is the first that is not finite.",
        "tfdbg: row 2 of the batch: Log of 0: prob:0, a relu, is 0 at 2 elements.",
        "tfdbg: run #3, left at `lt`; running on without the debugger. Back there: python train.py --name 'my run'",
    ]


@pytest.mark.parametrize(
    ("decision", "words"),
    [
        (Continue(), "going past all runs; Ctrl-C opens the debugger at the next one"),
        (Detach(), "the program is answered, and nothing of it is kept"),
        (Abort(), "no longer listening"),
        (ProfileRun(), "the debugger opens at the next run"),
        (DebugRun(), "the next run is captured"),
    ],
)
def test_of_a_run_that_was_sent_it_says_what_listening_does(decision, words):
    screen = Driven(replace(sample_run.run_end(), sent=True), opening="lt", registry=standard_registry())
    said = last_words(screen.state.service, decision, _PROGRAM)
    assert said == f"tfdbg: run #3, left at `lt`; {words}."


def test_without_an_origin_one_line_is_enough():
    assert _words(sample_run.run_end()) == ["tfdbg: run #3, left at `lt`; running on without the debugger."]


def test_a_recording_says_how_to_open_it_again():
    words = _words(sample_run.opened(), "", opening="origin")
    assert words[-1].startswith("tfdbg: closed ")
    assert "Back there: tfdbg open " in words[-1]


def test_a_replay_says_how_to_make_the_run_again():
    stop = replace(sample_run.opened(), opened_by=("replay", "--trust"))
    assert "Back there: tfdbg replay --trust " in _words(stop, "", opening="origin")[-1]


def test_what_another_value_would_have_given_is_no_finding():
    asked = ":set prob:0 0<enter>:again<enter>:origin<enter>"
    words = _words(changeable(), asked)
    assert words == ["tfdbg: run #3, what if, left at `origin`; running on without the debugger."]
    assert _words(changeable(), f"{asked}:original<enter>:origin<enter>")[0].startswith("tfdbg: run #3: loss/Log:0")


def test_a_later_look_that_finds_nothing_counts():
    words = _words(sample_run.run_hit(), ":origin -fenn .<enter>", opening="origin")
    assert words == ["tfdbg: run #3, left at `origin -fenn .`; running on without the debugger."]


@pytest.mark.parametrize("name", ["a\nb", "\x1b[31m"])
def test_no_name_reaches_the_terminal_raw(name):
    screen = Driven(sample_run.run_hit(), "", opening="origin", registry=standard_registry())
    for line in last_words(screen.state.service, Detach(), ["python", name]).split("\n"):
        assert line.startswith("tfdbg: ")
        assert line.isprintable()
