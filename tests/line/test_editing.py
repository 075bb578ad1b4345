"""readline belongs to the program: it is lent to the prompt and given back."""

from __future__ import annotations

import readline

import pytest

from tfdbg_cli.commands.completion import Completions
from tfdbg_cli.commands.typed_commands import History
from tfdbg_cli.line.editing import Editing, replacements


def _theirs(text: str, state: int) -> str | None:
    return None


@pytest.fixture
def their_readline():
    before = (readline.get_completer(), readline.get_completer_delims())
    readline.clear_history()
    readline.add_history("their line")
    readline.set_completer(_theirs)
    readline.set_completer_delims("|")
    yield
    readline.clear_history()
    readline.set_completer(before[0])
    readline.set_completer_delims(before[1])


def _history() -> list[str]:
    return [readline.get_history_item(i + 1) for i in range(readline.get_current_history_length())]


def test_commands_that_this_terminal_cannot_show_are_left_out(their_readline, monkeypatch) -> None:
    """A blind test: with LC_ALL=C and a history from elsewhere the prompt ended by an error of ours."""

    def add(entry: str) -> None:
        entry.encode("ascii")
        their_own(entry)

    their_own = readline.add_history
    monkeypatch.setattr(readline, "add_history", add)
    with Editing(History(["lt", "pt 模型:0", "nul\0", "ri"]), lambda text: Completions(0)):
        assert _history() == ["lt", "ri"]


@pytest.mark.parametrize("leave", [None, KeyboardInterrupt, RuntimeError])
def test_completer_delimiters_and_history_of_the_program_come_back(their_readline, leave) -> None:
    try:
        with Editing(History(["lt", "ri"]), lambda text: Completions(0)):
            assert _history() == ["lt", "ri"]
            assert readline.get_completer() is not _theirs
            readline.add_history("pt x")
            if leave:
                raise leave
    except (KeyboardInterrupt, RuntimeError):
        pass
    assert _history() == ["their line"]
    assert readline.get_completer() is _theirs
    assert readline.get_completer_delims() == "|"


def test_the_completer_serves_one_candidate_after_another(their_readline) -> None:
    with Editing(History(), lambda text: Completions(0, ("lt", "lp"), "l", 2)):
        complete = readline.get_completer()
        assert [complete("l", 0), complete("l", 1), complete("l", 2)] == ["lt", "lp", None]


def test_without_readline_the_prompt_still_works(monkeypatch) -> None:
    monkeypatch.setattr("tfdbg_cli.line.editing._readline", lambda: None)
    with Editing(History(), lambda text: Completions(0)):
        pass


@pytest.mark.parametrize(
    ("text", "begin", "found", "expected"),
    [
        ("l", 0, Completions(0, ("lt", "lp")), ["lt", "lp"]),
        ("ni Mat", 3, Completions(3, ("dense/MatMul",)), ["dense/MatMul "]),
        ("lt --sort_by=d", 3, Completions(13, ("dump_size",)), ["--sort_by=dump_size "]),
        ("ev `lo", 4, Completions(4, ("loss:0",)), ["loss:0`"]),
        ("pt x -w da", 8, Completions(8, ("data/",)), ["data/"]),
        ('lt > "my d', 9, Completions(6, ("my data.txt",)), ["data.txt\""]),
    ],
)  # fmt: skip
def test_candidates_become_replacements_of_the_word_that_readline_sees(text, begin, found, expected) -> None:
    assert replacements(text, begin, found) == expected
