"""Places for what is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from tfdbg_cli.config.settings_file import load_settings
from tfdbg_cli.paths import config_file, history_file, queries_file


def test_a_user_without_a_home_gets_the_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a container the user id may have no entry in the list of users, and HOME may not be set."""

    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", no_home)
    assert str(config_file()).startswith("/nonexistent/")
    assert str(history_file()).startswith("/nonexistent/")
    assert str(queries_file()).startswith("/nonexistent/")
    assert not load_settings()[1]
    monkeypatch.setenv("XDG_STATE_HOME", "/var/state")
    assert str(history_file()) == "/var/state/tfdbg_cli/history"
