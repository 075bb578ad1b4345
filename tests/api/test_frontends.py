"""Which front end is chosen, and why the full screen is not."""

from __future__ import annotations

import io
import sys

import pytest
from support import sample_run

from tfdbg_cli.api import attendance, frontends
from tfdbg_cli.api.frontends import NoFrontend, choose_frontend
from tfdbg_cli.api.launch_options import LaunchOptions, set_launch_options
from tfdbg_cli.config.settings import Settings, changed
from tfdbg_cli.config.settings_file import save_setting
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.line.frontend import LineFrontend
from tfdbg_cli.line.script import Script
from tfdbg_cli.model.decision import Detach, OnHit, RunUntil
from tfdbg_cli.terminal_facts import TerminalFacts, terminal_facts

GOOD = dict(
    stdin_tty=True, stdout_tty=True, controlling=True, foreground=True, termios=True, term="xterm",
    notebook=False, ide="",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _fresh(monkeypatch):
    monkeypatch.delenv("TFDBG_UI", raising=False)
    monkeypatch.setattr(frontends, "_said", set())
    before = set_launch_options(LaunchOptions())
    yield
    set_launch_options(before)


def _terminal(monkeypatch, **changes) -> None:
    for module in (attendance, frontends):
        monkeypatch.setattr(module, "terminal_facts", lambda: TerminalFacts(**(GOOD | changes)))
    monkeypatch.setattr(frontends, "_full_screen", lambda filters, settings: "full screen")


@pytest.mark.parametrize(
    ("changes", "chosen", "reason"),
    [
        ({}, False, ""),
        ({"stdin_tty": False}, False, "standard input is not a terminal"),
        ({"stdin_tty": False}, True, ""),
        ({"controlling": False, "stdin_tty": False}, False, "there is no terminal"),
        ({"term": "dumb"}, True, "TERM is dumb"),
        ({"term": ""}, True, "TERM is not set"),
        ({"ide": "PyCharm"}, False, "the console of PyCharm is no full terminal"),
        ({"ide": "PyCharm"}, True, ""),
        ({"notebook": True}, True, "a notebook has no terminal"),
        ({"termios": False}, True, "this system has no POSIX terminals"),
        ({"foreground": False}, True, "the program runs in the background"),
    ],
)
def test_the_obstacle_is_named(changes, chosen, reason) -> None:
    assert TerminalFacts(**(GOOD | changes)).obstacle(chosen=chosen) == reason


def test_the_environment_and_loaded_modules_are_looked_at(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    facts = terminal_facts({"TERM": "vt100", "PYCHARM_HOSTED": "1"})
    assert (facts.notebook, facts.term, facts.ide) == (True, "vt100", "PyCharm")


def test_a_good_terminal_gets_the_full_screen(monkeypatch) -> None:
    _terminal(monkeypatch)
    assert choose_frontend() == "full screen"
    assert choose_frontend("curses") == "full screen"
    assert isinstance(choose_frontend("readline"), LineFrontend)
    assert isinstance(choose_frontend("line"), LineFrontend)
    assert isinstance(choose_frontend("none"), NoFrontend)


def test_the_variable_counts_more_than_the_program_and_the_command_line_more_than_both(monkeypatch) -> None:
    _terminal(monkeypatch)
    monkeypatch.setenv("TFDBG_UI", "line")
    assert isinstance(choose_frontend("curses"), LineFrontend)
    set_launch_options(LaunchOptions(ui="tui"))
    assert choose_frontend("readline") == "full screen"


def test_an_unknown_front_end_is_refused() -> None:
    with pytest.raises(TfdbgError, match="no front end 'cursed'"):
        choose_frontend("cursed")


def test_commands_and_json_need_no_screen(monkeypatch) -> None:
    _terminal(monkeypatch)
    assert isinstance(choose_frontend(commands=["lt"]), LineFrontend)
    assert isinstance(choose_frontend(json=True), LineFrontend)
    set_launch_options(LaunchOptions(ui="none", script=Script(["lt"])))
    assert isinstance(choose_frontend("curses"), LineFrontend)


def test_one_sentence_says_why_there_is_no_full_screen(monkeypatch, capsys) -> None:
    _terminal(monkeypatch, term="dumb", stdin_tty=False)
    monkeypatch.setattr(sys, "stdin", io.StringIO("version\nrun\nversion\n"))
    choose_frontend("curses").stop(sample_run.run_end())
    choose_frontend("curses").stop(sample_run.run_end())
    assert capsys.readouterr().err == "tfdbg: The line prompt is used, since TERM is dumb.\n"


def test_all_front_ends_share_the_commands_of_the_command_line() -> None:
    output = io.StringIO()
    set_launch_options(LaunchOptions(script=Script(["run", "version"]), output=output))
    first, second = choose_frontend(), choose_frontend()
    first.stop(sample_run.run_start())
    assert second.stop(sample_run.run_start()) == Detach()
    assert [row for row in output.getvalue().splitlines() if row.startswith("tfdbg>")] == [
        "tfdbg> run", "tfdbg> version",
    ]  # fmt: skip


def test_until_watches_before_the_first_stop() -> None:
    output = io.StringIO()
    set_launch_options(LaunchOptions(script=Script(["version"]), until=RunUntil("has_inf_or_nan"), output=output))
    front = choose_frontend()
    assert front.stop(sample_run.run_start()) == RunUntil("has_inf_or_nan")
    assert output.getvalue() == ""
    assert front.stop(sample_run.run_hit()) == Detach()
    assert "tfdbg> version" in output.getvalue()


@pytest.mark.parametrize(
    ("facts", "options", "wanted", "expected"),
    [
        ({}, {}, None, True),
        ({"stdin_tty": False}, {}, None, False),
        ({"stdin_tty": False}, {}, "tui", True),
        ({"stdin_tty": False, "controlling": False}, {}, "tui", False),
        ({}, {"script": Script(["run"])}, None, False),
        ({}, {"ui": "none"}, None, False),
        ({}, {"on_hit": OnHit.NONE}, None, False),
        ({"notebook": True}, {}, None, False),
        ({"ide": "Spyder"}, {}, None, False),
        ({"foreground": False}, {}, None, False),
    ],
)
def test_ctrl_c_is_taken_only_where_somebody_can_be_asked(monkeypatch, facts, options, wanted, expected) -> None:
    _terminal(monkeypatch, **facts)
    set_launch_options(LaunchOptions(**options))
    assert attendance.attended(wanted) is expected


def test_no_front_end_asks_nobody(capsys) -> None:
    front = NoFrontend(Settings())
    assert front.stop(sample_run.run_start()) == Detach()
    front.notify("The budget is reached.")
    assert capsys.readouterr().err == "tfdbg: The budget is reached.\n"


def test_damaged_settings_are_named_once(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "tfdbg_cli").mkdir()
    (tmp_path / "tfdbg_cli" / "config.toml").write_text("= damaged")
    choose_frontend("line")
    choose_frontend("line")
    assert capsys.readouterr().err.count("are damaged") == 1


def test_the_line_prompt_takes_no_key_and_no_colour_that_the_screen_could_not_follow(capsys):
    save_setting(changed(Settings(), "keys.x", "orgin"), "keys.x")
    front = choose_frontend("line", commands=["config set colours.nan purple", "config set keys.y lt"])
    said = capsys.readouterr()
    assert "The setting keys.x was left aside" in said.err
    front.stop(sample_run.run_end())
    said = capsys.readouterr()
    assert "There is no colour 'purple'." in said.out
    assert front.settings.keys == (("x", "orgin"), ("y", "lt"))
    assert front.settings.colours == ()
