from pathlib import Path

import pytest
from support import sample_run
from support.screen import Driven

from tfdbg_cli.commands.registry import EVERYWHERE, LIVE, Moment
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.tui.keys.dialogs import key_list
from tfdbg_cli.tui.keys.keymap import BINDINGS, CHAINS, KeyContext, action_of, bindings, key_name
from tfdbg_cli.tui.keys_page import keys_page
from tfdbg_cli.tui.state.line_editor import LineEditor


@pytest.mark.parametrize("moment", Moment)
@pytest.mark.parametrize("place", CHAINS)
def test_no_key_has_two_meanings(place, moment):
    keys = [key for binding in bindings(place, moment) for key in binding.keys]
    assert len(keys) == len(set(keys)), sorted(key for key in keys if keys.count(key) > 1)


def test_every_action_exists():
    ui = Driven(sample_run.run_end()).app.actions.names()
    edits = LineEditor().actions()
    registry = standard_registry()
    for binding in BINDINGS:
        kind, _, name = binding.action.partition(":")
        if kind == "ui":
            assert name in ui, binding
        elif kind == "edit":
            assert name in edits, binding
        else:
            command = registry.find(binding.action.split()[0])
            command.parse(binding.action.split()[1:])
            assert binding.moments <= command.moments, f"{binding.action} is offered where it is refused"
    used = {binding.action.partition(":")[2] for binding in BINDINGS}
    assert ui - used == {"save-report"}


def test_every_binding_is_explained_and_every_place_can_be_left():
    for binding in BINDINGS:
        assert binding.help
        assert binding.help[0].islower()
        assert not binding.help.endswith(".")
    for place in CHAINS:
        if place is not KeyContext.DOCUMENT:
            assert action_of("esc", place, Moment.RUN_END)
        assert action_of("ctrl c", place, Moment.RUN_START) == "ui:interrupt"


def test_every_document_key_is_in_the_list():
    shown = "\n".join(item.text for item in key_list(Moment.RUN_END).lines(None))
    for binding in BINDINGS:
        if binding.place in {KeyContext.DOCUMENT, KeyContext.PROMPT} and binding.moments == EVERYWHERE:
            assert binding.help in shown


def test_the_page_tells_of_each_key_that_does_nothing_in_a_recording():
    """A blind test: Alt-F, which needs eager code that runs, did not say so; and q was said to ask how to leave."""
    rows = keys_page().splitlines()
    for binding in BINDINGS:
        if binding.place is KeyContext.DOCUMENT and binding.moments <= LIVE:
            assert any(f" {binding.help} (" in row and "not in a recording)" in row for row in rows), binding
    assert "| `q` | close the recording (in a recording) | `exit` |" in rows
    shown = "\n".join(item.text for item in key_list(Moment.OPENED).lines(None))
    assert "close the recording" in shown
    assert "ask how to leave the debugger" not in shown


def test_reserved_keys_are_not_bound():
    keys = {key for binding in BINDINGS for key in binding.keys}
    assert not keys & {"ctrl s", "ctrl q", "ctrl z", "ctrl \\"}


@pytest.mark.parametrize(
    ("key", "name"),
    [("ctrl f", "Ctrl-F"), ("page down", "PgDn"), (" ", "Space"), ("G", "G"), ("meta b", "Alt-B"), ("down", "↓"),
     ("f1", "F1"), ("shift tab", "Shift-Tab"), ("enter", "Enter"), ("ctrl left", "Ctrl-←"), ("?", "?")],
)  # fmt: skip
def test_keys_are_written_as_people_write_them(key, name):
    assert key_name(key) == name


def test_the_page_of_keys_is_up_to_date():
    page = Path(__file__).parents[3] / "docs" / "keys.md"
    assert page.read_text(encoding="utf-8") == keys_page(), "run python -m tfdbg_cli.tui.keys_page > docs/keys.md"
