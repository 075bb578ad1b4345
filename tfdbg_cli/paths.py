"""Where tfdbg keeps what a user asked it to keep (XDG base directories). Nothing is made until it is written."""

from __future__ import annotations

import os
from pathlib import Path


def _base(variable: str, default: str) -> Path:
    value = os.environ.get(variable, "")
    return (Path(value) if value else _home() / default) / "tfdbg_cli"


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:
        # A user id without an entry in the list of users, as in many containers. This is what such a list would say.
        return Path("/nonexistent")


def config_file() -> Path:
    """The settings, `$XDG_CONFIG_HOME/tfdbg_cli/config.toml`."""
    return _base("XDG_CONFIG_HOME", ".config") / "config.toml"


def queries_file() -> Path:
    """The queries that were given names, `$XDG_CONFIG_HOME/tfdbg_cli/queries.json`."""
    return _base("XDG_CONFIG_HOME", ".config") / "queries.json"


def scans_folder() -> Path:
    """What filters said of recordings, `$XDG_CACHE_HOME/tfdbg_cli/scans`: all of it may be deleted."""
    return _base("XDG_CACHE_HOME", ".cache") / "scans"


def history_file() -> Path:
    """The commands typed, `$XDG_STATE_HOME/tfdbg_cli/history`."""
    return _base("XDG_STATE_HOME", ".local/state") / "history"
