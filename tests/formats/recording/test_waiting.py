"""Waiting for a file system: as long as somebody likes, and no longer."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tfdbg_cli.cli import waiting as told_waiting
from tfdbg_cli.cli.main import main
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats import examining, opening
from tfdbg_cli.formats.recording.format import NamedPath
from tfdbg_cli.formats.recording.waiting import answer, give_up
from tfdbg_cli.process.own_threads import all_threads

_LONG = 60.0  # seconds, of which none passes where all is well


@pytest.fixture
def server() -> Iterator[threading.Event]:
    """Answers when it is set."""
    made = threading.Event()
    yield made
    made.set()


def test_what_comes_in_time_is_given_and_errors_are_raised() -> None:
    assert answer(lambda: 42, pytest.fail, _LONG) == 42

    def fail() -> int:
        raise TfdbgError("There is nothing.")

    with pytest.raises(TfdbgError, match="There is nothing"):
        answer(fail, pytest.fail, _LONG)


def test_who_only_says_something_waits_on(server: threading.Event) -> None:
    said: list[str] = []

    def say() -> None:
        said.append("still waiting")
        server.set()

    assert answer(lambda: server.wait(_LONG), say, 0.0)
    assert said == ["still waiting"]


def test_what_comes_too_late_is_handed_over(server: threading.Event) -> None:
    late: list[int] = []
    came = threading.Event()

    def keep(found: int) -> None:
        late.append(found)
        came.set()

    with pytest.raises(TfdbgError, match=r"The file system of /far has not answered for 0 s\. Is its server there"):
        answer(lambda: 42 if server.wait(_LONG) else 0, lambda: give_up(Path("/far"), 0), 0.0, keep)
    assert late == []
    server.set()
    assert came.wait(_LONG)
    assert late == [42]


def test_what_comes_while_it_is_given_up_is_handed_over(server: threading.Event) -> None:
    late: list[int] = []

    def stop() -> None:
        server.set()
        for thread in all_threads():
            if thread.name == "tfdbg-asked":
                thread.join(_LONG)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        answer(lambda: 42 if server.wait(_LONG) else 0, stop, 0.0, late.append)
    assert late == [42]


@pytest.mark.parametrize("words", [["open"], ["doctor"], ["diff", "other"]])
def test_a_path_that_does_not_answer_is_named_and_left_by_ctrl_c(
    words: list[str], server: threading.Event, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    said: list[str] = []

    def hang(path: Path | str) -> NamedPath:
        server.wait(_LONG)
        return NamedPath(Path(path))

    def interrupt(sentence: str) -> None:
        said.append(sentence)
        raise KeyboardInterrupt

    monkeypatch.setattr(told_waiting, "_SILENT", 0.0)
    monkeypatch.setattr(told_waiting, "to_stderr", interrupt)
    for module in (opening, examining):
        monkeypatch.setattr(module, "named_place", hang)
    path = str(tmp_path / "hung")
    assert main([words[0], path, *words[1:]]) == 130
    assert said == [f"Still reading {path}. Ctrl-C ends."]
