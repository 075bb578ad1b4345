import pytest
from support import sample_run
from support.screen import Driven

from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.config.settings import Settings, changed
from tfdbg_cli.config.settings_file import load_settings
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.tui.keys.keymap import BINDINGS
from tfdbg_cli.tui.keys.own_keys import own_binding

_ACTIONS = frozenset({"search", "top", "bottom"})


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("x", "x"), ("X", "X"), ("Ctrl-O", "ctrl o"), ("ctrl o", "ctrl o"),
        ("alt x", "meta x"), ("PgDn", "page down"),
        ("F5", "f5"), ("space", " "), ("shift up", "shift up"), ("ctrl left", "ctrl left"), ("-", "-"), ("[", "["),
    ],
)  # fmt: skip
def test_keys_are_named_as_people_write_them(name, key):
    assert own_binding(name, "lt", standard_registry(), _ACTIONS).keys == (key,)


@pytest.mark.parametrize(
    ("name", "action", "words"),
    [
        ("ctrl c", "lt", "keeps its meaning"),
        ("esc", "lt", "keeps its meaning"),
        ("Ctrl-Z", "", "keeps its meaning"),
        ("spaec", "lt", "space"),
        ("ctrl", "lt", "no key"),
        ("", "lt", "no key"),
        ("x", "orgin", "origin"),
        ("x", "ui:botom", "bottom"),
        ("x", "pt 'a", "no command"),
    ],
)
def test_what_is_wrong_is_said_with_what_would_be_right(name, action, words):
    with pytest.raises(TfdbgError) as caught:
        own_binding(name, action, standard_registry(), _ACTIONS)
    assert words in f"{caught.value} {caught.value.hint}"


def _screen(keys, **entries):
    settings = Settings(keys=tuple((name.replace("_", " "), action) for name, action in entries.items()))
    return Driven(sample_run.run_end(), keys, settings=settings)


def test_a_key_runs_the_command_it_was_given():
    assert _screen("x", x="ri").state.page.command == "ri"


def test_a_key_does_what_the_screen_can_do():
    assert _screen("x", x="ui:bottom").state.front.selected == len(_screen("").state.front.lines) - 1


def test_a_meaning_can_be_taken_away():
    start = _screen("").state.front.selected
    assert _screen("j").state.front.selected == start + 1
    assert _screen("j", j="").state.front.selected == start


def test_the_list_of_keys_shows_them_and_not_what_they_replaced():
    shown = _screen("?", o="ri", j="")
    text = "\n".join(item.text for item in shown.state.dialog.view.lines)
    assert "`ri`, by your settings" in text
    assert not any(binding.help in text for binding in BINDINGS if binding.keys == ("o",))


def test_typing_is_not_touched():
    assert _screen(":x", x="ri").state.prompt.editor.text == "x"


def test_a_wrong_entry_of_the_file_is_said_and_left_aside():
    screen = _screen("", x="orgin")
    assert "The setting keys.x was left aside: There is no command 'orgin'" in screen.text
    assert "j" in {key for binding in screen.state.own_bindings or BINDINGS for key in binding.keys}


def test_a_wrong_entry_at_the_prompt_is_refused_and_not_kept():
    screen = Driven(sample_run.run_end(), ":config set keys.x orgin<enter>", registry=standard_registry())
    assert "no command 'orgin'" in screen.text
    assert screen.state.service.settings == Settings()
    assert load_settings()[0] == Settings()


def test_set_at_the_prompt_it_holds_at_once_and_is_kept():
    screen = Driven(sample_run.run_end(), [*":config set keys.x ri", "enter", "x"], registry=standard_registry())
    assert screen.state.page.command == "ri"
    assert load_settings()[0] == changed(Settings(), "keys.x", "ri")


def test_unset_gives_the_old_meaning_back():
    keys = [*":config set keys.j ''", "enter", *":config unset keys.j", "enter", *":lt", "enter", "j"]
    screen = Driven(sample_run.run_end(), keys, registry=standard_registry())
    assert screen.state.front.selected > 0
    assert load_settings()[0] == Settings()
