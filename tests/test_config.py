import dataclasses

import pytest

from tfdbg_cli.config import Settings, load_settings, save_setting, settable
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.paths import config_file, history_file


def test_defaults_without_a_file_and_nothing_is_written():
    """TensorFlow's tfdbg: the old tool wrote ~/.tfdbg_config on its first start."""
    assert load_settings() == (Settings(), ())
    assert not config_file().parent.exists()


def test_a_setting_is_kept_and_the_others_stay():
    save_setting(Settings(mouse_mode=False), "mouse_mode")
    save_setting(Settings(theme="light"), "theme")
    assert load_settings()[0] == Settings(mouse_mode=False, theme="light")
    assert config_file().read_text() == 'mouse_mode = false\ntheme = "light"\n'


def test_the_environment_stands_above_the_file(monkeypatch):
    save_setting(Settings(theme="light"), "theme")
    monkeypatch.setenv("TFDBG_THEME", "mono")
    assert load_settings()[0].theme == "mono"


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("mouse_mode", "Yes", True),
        ("mouse_mode", "0", False),
        ("graph_recursion_depth", "7", 7),
        ("disk_budget", "1.5G", 3 << 29),
        ("memory_budget", "512m", 512 << 20),
        ("theme", "Mono", "mono"),
    ],
)
def test_values_are_read_as_their_type(name, text, value):
    assert settable(name, text) == value


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("mouse_mod", "on", "mouse_mode"),
        ("mouse_mode", "perhaps", "on or off"),
        ("graph_recursion_depth", "deep", "whole number"),
        ("theme", "pink", "dark, light"),
    ],
)
def test_a_wrong_setting_says_what_would_be_right(name, text, words):
    with pytest.raises(TfdbgError) as caught:
        settable(name, text)
    assert words in str(caught.value)


def test_a_damaged_file_is_a_warning(tmp_path):
    path = tmp_path / "config.toml"
    path.write_text("mouse_mode = ")
    settings, warnings = load_settings(path)
    assert settings == Settings()
    assert "damaged" in warnings[0]


def test_an_unknown_entry_is_a_warning_and_the_rest_counts(tmp_path):
    path = tmp_path / "config.toml"
    path.write_text('colour = "red"\nmouse_mode = false\n')
    settings, warnings = load_settings(path)
    assert settings.mouse_mode is False
    assert "colour" in warnings[0]


def test_the_old_tools_json_file_is_understood(tmp_path):
    path = tmp_path / ".tfdbg_config"
    path.write_text('{"graph_recursion_depth": 5, "mouse_mode": false}')
    assert load_settings(path)[0] == dataclasses.replace(Settings(), graph_recursion_depth=5, mouse_mode=False)


def test_places_follow_xdg(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "c"))
    monkeypatch.setenv("XDG_STATE_HOME", "")
    assert config_file() == tmp_path / "c" / "tfdbg_cli" / "config.toml"
    assert history_file().parts[-4:] == (".local", "state", "tfdbg_cli", "history")
