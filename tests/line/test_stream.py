"""Sentences on standard error: a path in them may hold anything, and the terminal obeys none of it."""

from __future__ import annotations

import pytest

from tfdbg_cli.cli.main import main
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.line.stream import to_stderr
from tfdbg_cli.tui.frontend import TuiFrontend

ODD = "a\x1b]0;title\x07\x9b31m\u202ecod.exe"


def test_a_sentence_is_made_harmless_and_keeps_its_lines(capsys: pytest.CaptureFixture[str]) -> None:
    to_stderr(f"There is no {ODD}.\nCheck\tit.")
    assert capsys.readouterr().err == "tfdbg: There is no a\\x1b]0;title\\x07\\x9b31m\\u202ecod.exe.\nCheck\tit.\n"


@pytest.mark.parametrize("words", [["open", ODD], ["replay", ODD], ["run", ODD], [ODD], ["open", "--ui", ODD]])
def test_a_path_of_the_command_line_does_not_reach_the_terminal_raw(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words)
    told = capsys.readouterr().err
    assert told.startswith("tfdbg: ")
    assert all(line.isprintable() for line in told.split("\n"))


def test_the_full_screen_says_it_so_too(capsys: pytest.CaptureFixture[str]) -> None:
    TuiFrontend(standard_registry(), Settings(), {}).notify(ODD)
    assert capsys.readouterr().err.strip().isprintable()
