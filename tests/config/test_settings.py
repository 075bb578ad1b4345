import dataclasses
import json
from pathlib import Path

import pytest
from support import sample_run
from support.screen import Driven

from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.config.settings import Settings, changed, settable, setting_names, value_of
from tfdbg_cli.config.settings_file import load_settings, save_setting
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.paths import config_file, history_file
from tfdbg_cli.tui.keys.preferences import preferences


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
        ("precision", "3", 3),
        ("precision", "program", None),
        ("suppress", "on", True),
        ("linewidth", "Program", None),
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
        ("precision", "many", "a number of digits, or `program`"),
        ("precision", "21", "precision is not 21"),
        ("edgeitems", "-1", "edgeitems is not -1"),
        ("array_threshold", "1e999", "whole number"),
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


WRITTEN = """\
# mine
theme = "light"  # for the beamer

[keys]
"ctrl o" = "origin"  # as in the other tool
x = ""

[colours]
nan = "white on dark red"
"""


@pytest.fixture
def written(tmp_path):
    path = tmp_path / "config.toml"
    path.write_text(WRITTEN)
    return path


def test_tables_of_a_persons_own_are_read(written):
    settings, warnings = load_settings(written)
    assert settings == Settings(
        theme="light", keys=(("ctrl o", "origin"), ("x", "")), colours=(("nan", "white on dark red"),)
    )
    assert warnings == ()


def test_a_changed_setting_leaves_comments_and_the_rest_as_they_stand(written):
    settings = changed(changed(load_settings(written)[0], "precision", "4"), "keys.f5", "lt -q nan>0")
    save_setting(settings, "precision")
    save_setting(settings, "keys.f5")
    text = written.read_text()
    assert [line for line in WRITTEN.splitlines() if line not in text] == []
    assert "precision = 4" in text
    assert load_settings(written) == (settings, ())


def test_a_default_put_back_leaves_the_file(written):
    settings = load_settings(written)[0]
    for name in ("theme", "keys.ctrl o", "keys.x"):
        settings = changed(settings, name, None)
        save_setting(settings, name)
    assert settings == Settings(colours=(("nan", "white on dark red"),))
    assert load_settings(written) == (settings, ())
    assert written.read_text().startswith("# mine\n")


def test_a_file_of_tensorflows_tfdbg_stays_one_that_it_reads(tmp_path):
    path = tmp_path / "tfdbg_config"
    path.write_text('{"graph_recursion_depth": 3, "mouse_mode": true}')
    settings = changed(load_settings(path)[0], "mouse_mode", "off")
    save_setting(settings, "mouse_mode")
    assert json.loads(path.read_text()) == {"graph_recursion_depth": 3, "mouse_mode": False}
    assert load_settings(path)[0] == Settings(graph_recursion_depth=3, mouse_mode=False)
    assert not config_file().exists()


def test_a_damaged_file_is_not_written_over(tmp_path):
    path = tmp_path / "config.toml"
    path.write_text("mouse_mode = \ntheme = 'light'\n")
    with pytest.raises(TfdbgError, match="damaged"):
        save_setting(Settings(mouse_mode=False, file=str(path)), "mouse_mode")
    assert path.read_text() == "mouse_mode = \ntheme = 'light'\n"


def test_a_file_that_is_no_text_is_a_warning(tmp_path):
    path = tmp_path / "config.toml"
    path.write_bytes(b"\xff\xfe\x00")
    assert load_settings(path)[0] == Settings()
    assert "damaged" in load_settings(path)[1][0]


def test_the_nearest_right_entry_is_named(tmp_path):
    path = tmp_path / "config.toml"
    path.write_text("[colors]\nnan = 'white'\n")
    assert "colours" in load_settings(path)[1][0]


def test_columns_may_be_a_list(tmp_path):
    path = tmp_path / "config.toml"
    path.write_text("columns = ['op', 'nan']\n")
    assert load_settings(path)[0].columns == "op,nan"


def test_a_table_is_no_value():
    with pytest.raises(TfdbgError, match="is a table"):
        changed(Settings(), "keys", "x")


def test_an_entry_of_a_table_is_asked_by_its_name():
    settings = changed(Settings(), "keys.x", "origin")
    assert value_of(settings, "keys.x") == "origin"
    assert value_of(settings, "keys.y") is None
    assert value_of(changed(settings, "keys.x", None), "keys.x") is None


def test_the_example_of_the_page_of_settings_is_right(tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "settings.md").read_text(encoding="utf-8")
    path = tmp_path / "config.toml"
    path.write_text(page.split("```toml\n")[1].split("```")[0])
    settings, warnings = load_settings(path)
    assert warnings == ()
    assert (settings.disk_budget, settings.precision, settings.linewidth) == (4 << 30, 4, None)
    found = preferences(settings, standard_registry(), Driven(sample_run.run_end()).app.actions.names())
    assert found.faults == {}
    shown = page.split("```")[1]
    assert [name for name in setting_names() if name not in shown] == []
