"""The history of commands."""

from __future__ import annotations

import stat

from tfdbg_cli.commands.typed_commands import History
from tfdbg_cli.paths import history_file


def test_commands_come_back_in_the_next_program() -> None:
    first = History.load()
    first.add("lt -f has_inf_or_nan")
    first.add("pt x:0")
    assert History.load().entries == ["lt -f has_inf_or_nan", "pt x:0"]
    assert stat.S_IMODE(history_file().stat().st_mode) == 0o600


def test_nothing_is_written_before_something_is_typed() -> None:
    history = History.load()
    history.add("   ")
    assert not history_file().parent.exists()


def test_the_same_command_twice_in_a_row_is_kept_once() -> None:
    history = History(["lt", "lt", "ni x", "lt"])
    history.add("lt")
    assert history.entries == ["lt", "ni x", "lt"]
    assert history.matching("l") == ["lt"]
    assert history.matching("") == ["lt", "ni x"]


def test_an_entry_is_one_line() -> None:
    history = History.load()
    history.add("eval 1\n+ 2")
    assert History.load().entries == ["eval 1 + 2"]


def test_the_file_is_cut_to_the_length_that_is_set() -> None:
    history = History.load(length=3)
    for i in range(10):
        history.add(f"pt x:{i}")
    assert History.load(length=3).entries == ["pt x:7", "pt x:8", "pt x:9"]
    assert len(history_file().read_text().splitlines()) == 3


def test_two_programs_share_the_file() -> None:
    one, two = History.load(), History.load()
    one.add("lt")
    two.add("ri")
    one.add("ni x")
    assert History.load().entries == ["lt", "ri", "ni x"]


def test_a_file_that_cannot_be_used_is_named_and_nothing_is_lost(tmp_path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    history = History.load(folder)
    assert str(folder) in history.problem
    (tmp_path / "file").write_text("")
    blocked = History.load(tmp_path / "file" / "history")
    blocked.add("lt")
    assert blocked.entries == ["lt"]
    assert "history" in blocked.problem


def test_bytes_that_are_no_text_do_no_harm(tmp_path) -> None:
    (tmp_path / "history").write_bytes(b"lt\n\xff\xfe\nri\n")
    assert History.load(tmp_path / "history").entries[0] == "lt"


def test_no_history_can_be_asked_for() -> None:
    history = History.load(length=0)
    history.add("lt")
    assert list(history.entries) == []
    assert not history_file().exists()
