"""The terminal under the screen is lent while the loop draws nothing; a screen that is no terminal says so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.tui.terminal.lending import Lending


class Terminal:
    def __init__(self) -> None:
        self.drawn = True
        self.seen: list[tuple[str, bool]] = []

    def run(self, command: Sequence[str]) -> None:
        self.seen.append((" ".join(command), self.drawn))
        if command[0] == "missing":
            raise FileNotFoundError(2, "No such file or directory")

    def talk(self, work: Any) -> None:
        self.seen.append((work, self.drawn))

    def show_terminal(self) -> None:
        self.seen.append(("shown", self.drawn))

    def copy(self, text: str) -> bool:
        return len(text) < 5


def lending(screen: Any) -> Lending:
    @contextmanager
    def paused() -> Iterator[None]:
        screen.drawn = False
        yield
        screen.drawn = True

    loop: Any = SimpleNamespace(screen=screen, paused=paused)
    return Lending(lambda: loop)


def test_what_has_the_terminal_has_it_while_the_screen_is_not_drawn() -> None:
    terminal = Terminal()
    lent = lending(terminal)
    lent.run(["vi", "+3"])
    lent.talk("pdb")  # type: ignore[arg-type]
    lent.show()
    assert terminal.seen == [("vi +3", False), ("pdb", False), ("shown", False)]
    assert terminal.drawn


def test_a_program_that_cannot_be_run_is_named() -> None:
    with pytest.raises(TfdbgError, match=r"Cannot run missing: No such file or directory\."):
        lending(Terminal()).run(["missing"])


def test_the_clipboard_takes_so_much() -> None:
    assert lending(Terminal()).copy("1234")
    assert not lending(Terminal()).copy("12345")


@pytest.mark.parametrize("lent", [lending(object()), Lending(lambda: None)], ids=["no terminal", "no loop"])
def test_a_screen_that_is_no_terminal_has_nothing_to_lend(lent: Lending) -> None:
    with pytest.raises(TfdbgError, match="no terminal to lend"):
        lent.run(["vi"])
    with pytest.raises(TfdbgError, match="no terminal to lend"):
        lent.talk(lambda given, shown: None)
    with pytest.raises(TfdbgError, match="no terminal to show"):
        lent.show()
    with pytest.raises(TfdbgError, match="no clipboard"):
        lent.copy("x")
