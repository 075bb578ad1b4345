"""What a person keeps from program to program lies in files; what lies in their place makes no program wait."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from support.ending import ends
from support.prompt import Prompt
from support.sample_run import run_end

from tfdbg_cli.commands.typed_commands import History
from tfdbg_cli.commands.whole_file import write_whole
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.config.settings_file import load_settings, save_setting
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.paths import config_file, history_file, queries_file
from tfdbg_cli.plain_files import kept_text, replace_kept


def _holes(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


_ODD: dict[str, Callable[[Path], None]] = {
    "pipe": os.mkfifo,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "folder": Path.mkdir,
    "holes": _holes,
}


@pytest.fixture(params=list(_ODD.values()), ids=list(_ODD))
def odd(request: pytest.FixtureRequest) -> Callable[[Path], None]:
    def made(path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        request.param(path)

    return made


def test_settings_that_are_no_file_are_left_aside(odd: Callable[[Path], None]) -> None:
    odd(config_file())
    with ends("settings"):
        settings, (warning,) = load_settings()
        with pytest.raises(TfdbgError, match="Cannot read the settings"):
            save_setting(Settings(theme="light"), "theme")
    assert settings == Settings()
    assert warning.startswith(f"Cannot read the settings in {config_file()}: ")
    assert "None" not in warning


def test_a_history_that_is_no_file_holds_for_this_program(odd: Callable[[Path], None]) -> None:
    odd(history_file())
    with ends("history"):
        history = History.load()
        history.add("lt")
    assert history.entries == ["lt"]
    assert history.problem.startswith(f"Cannot read the history in {history_file()}: ")


def test_a_history_that_becomes_a_pipe_is_not_waited_for() -> None:
    history = History.load()
    history_file().parent.mkdir(parents=True)
    os.mkfifo(history_file())
    with ends("history"):
        history.add("lt")
    assert history.problem.startswith("Cannot write the history")


def test_named_queries_that_are_no_file_are_an_error(odd: Callable[[Path], None]) -> None:
    odd(queries_file())
    with ends("queries"):
        said = Prompt(run_end()).error("lt -q @small")
    assert said.message.startswith("Cannot read the named queries")


def test_a_file_is_replaced_whole_private_and_where_its_link_leads(tmp_path: Path) -> None:
    path, link = tmp_path / "new" / "file", tmp_path / "link"
    replace_kept(path, "one")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o644)
    link.symlink_to(path)
    replace_kept(link, "two")
    assert link.is_symlink() and kept_text(path) == "two"
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert [file.name for file in path.parent.iterdir()] == ["file"]


def test_what_a_command_writes_has_the_mode_of_what_was_there_or_that_of_the_process(tmp_path: Path) -> None:
    path, link, fresh = tmp_path / "private", tmp_path / "link", tmp_path / "fresh"
    path.write_text("mine")
    path.chmod(0o600)
    link.symlink_to(path)
    write_whole(link, lambda file: file.write(b"two") and None)
    assert link.is_symlink() and path.read_text() == "two"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    mask = os.umask(0o027)
    try:
        write_whole(fresh, lambda file: file.write(b"one") and None)
    finally:
        os.umask(mask)
    assert stat.S_IMODE(fresh.stat().st_mode) == 0o640


def test_what_is_nested_without_end_is_damaged() -> None:
    config_file().parent.mkdir(parents=True)
    config_file().write_text('{"theme": ' + "[" * 100_000)
    settings, (warning,) = load_settings()
    assert settings == Settings() and "damaged" in warning
    queries_file().write_text("[" * 100_000)
    assert "Cannot read the named queries" in Prompt(run_end()).error("lt -q @small").message


def test_the_null_device_keeps_nothing() -> None:
    for path in (config_file(), history_file(), queries_file()):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(os.devnull)
    assert load_settings() == (Settings(), ())
    history = History.load()
    history.add("lt")
    assert not history.problem and History.load().entries == []
    assert "no query called 'small'" in Prompt(run_end()).error("lt -q @small").message
