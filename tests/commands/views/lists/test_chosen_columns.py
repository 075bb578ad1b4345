"""The columns of lists on the screen: chosen, remembered, and those of before elsewhere."""

from __future__ import annotations

from support import sample_run
from support.prompt import Prompt
from support.screen import Driven

from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.config.settings import COLUMNS, Settings
from tfdbg_cli.config.settings_file import load_settings
from tfdbg_cli.errors import TfdbgError


def _head(screen: Driven) -> list[str]:
    return next(row for row in screen.rows if "Tensor name" in row).split("  ")


def test_columns_are_chosen_for_now_and_later(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    keys = ":config set columns absmax,nan,dtype<enter>:lt<enter>"
    screen = Driven(sample_run.run_end(), keys, (120, 30), registry=standard_registry())
    assert [part.strip() for part in _head(screen) if part.strip()] == ["|x| max", "NaN", "dtype", "Tensor name"]
    settings, warnings = load_settings()
    assert settings.columns == "absmax,nan,dtype" and not warnings
    narrow = Driven(sample_run.run_end(), "", (40, 12), settings=settings, registry=standard_registry())
    assert [part.strip() for part in _head(narrow) if part.strip()] == ["|x| max", "NaN", "Tensor name"]
    assert Prompt(sample_run.run_end(), settings=settings).show("lt") == Prompt(sample_run.run_end()).show("lt")


def test_every_column_can_be_chosen() -> None:
    settings = Settings(columns=",".join(COLUMNS), preview="off")
    screen = Driven(sample_run.run_end(), "", (240, 30), settings=settings, registry=standard_registry())
    heads = [part.strip() for part in _head(screen) if part.strip()]
    assert len(heads) == len(COLUMNS)  # the name, and all but the role, which these nodes do not have


def test_what_is_no_column_is_refused(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    error = Prompt(sample_run.run_end()).error("config set columns nam,size")
    assert isinstance(error, TfdbgError)
    assert error.message == "There is no column 'nam'." and "nan" in error.hint
