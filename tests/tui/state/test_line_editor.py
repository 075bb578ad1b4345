import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfdbg_cli.tui.state.line_editor import LineEditor


def edited(before, name):
    """`before` with `|` for the cursor, after the edit called `name`, written the same way."""
    editor = LineEditor()
    editor.put(before.replace("|", ""))
    editor.cursor = before.index("|")
    editor.edit(name)
    return editor.text[: editor.cursor] + "|" + editor.text[editor.cursor :]


@pytest.mark.parametrize(
    ("before", "name", "after"),
    [
        ("pt x|", "left", "pt |x"),
        ("|pt", "left", "|pt"),
        ("pt|", "right", "pt|"),
        ("e\u0301|", "left", "|e\u0301"),
        ("中|文", "erase", "|文"),
        ("pt loss/Log:0|", "erase-word", "pt |"),
        ("pt  |", "erase-word", "|"),
        ("pt loss/Log|", "erase-part", "pt loss/|"),
        ("pt |loss/Log", "erase-word-ahead", "pt |/Log"),
        ("pt lo|ss", "erase-start", "|ss"),
        ("pt lo|ss", "erase-end", "pt lo|"),
        ("pt loss|", "word-left", "pt |loss"),
        ("|pt loss", "word-right", "pt| loss"),
        ("p|t", "start", "|pt"),
        ("p|t", "end", "pt|"),
        ("p|t", "erase-ahead", "p|"),
    ],
)
def test_readline_keys(before, name, after):
    assert edited(before, name) == after


def test_what_was_erased_comes_back():
    editor = LineEditor()
    editor.put("pt loss/Log:0")
    editor.edit("erase-word")
    editor.edit("start")
    editor.edit("yank")
    assert editor.text == "loss/Log:0pt "


@given(
    st.lists(st.one_of(st.sampled_from(sorted(LineEditor().actions())), st.text(max_size=4).map(lambda t: "+" + t)))
)
def test_the_cursor_stays_in_the_text_and_no_line_end_gets_in(steps):
    editor = LineEditor()
    for step in steps:
        if step.startswith("+"):
            editor.insert(step[1:])
        else:
            editor.edit(step)
        assert 0 <= editor.cursor <= len(editor.text)
        assert "\n" not in editor.text
