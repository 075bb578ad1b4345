"""A second pane beside the page: its place, its focus, its keys and its mouse."""

from __future__ import annotations

import pytest
from support import sample_run
from support.screen import Driven

from tfdbg_cli.commands.service.pages import Page
from tfdbg_cli.document.document import text_document
from tfdbg_cli.document.text import Span, line
from tfdbg_cli.tui.keys.keymap import Binding, KeyContext
from tfdbg_cli.tui.panes import workspace
from tfdbg_cli.tui.panes.document_pane import DocumentPane
from tfdbg_cli.tui.panes.page_pane import PagePane
from tfdbg_cli.tui.panes.workspace import PaneKind
from tfdbg_cli.tui.reading.paint import paint
from tfdbg_cli.tui.reading.reading import Reading
from tfdbg_cli.tui.state.pane import Drawing, Pane

_WIDE = (200, 60)
_BESIDE = "<click 150 5>"  # a place of the second pane


class Notes(DocumentPane):
    """A hundred lines beside the page, and a key that counts."""

    bindings = (
        Binding(KeyContext.DOCUMENT, ("b",), "pane:count", "count", "count"),
        Binding(KeyContext.DOCUMENT, ("g",), "ri", "about the run, here"),
    )

    def __init__(self, state, actions):
        super().__init__(state, actions)
        self.count = 0
        rows = (line(f"note {i} ", Span("more", link="text")) for i in range(100))
        self._page = Page("notes", text_document("notes", *rows, title="some notes"))
        self._reading = Reading(self._page)

    @property
    def reading(self):
        return self._reading

    def perform(self, name):
        assert name == "count"
        self.count += 1


class Clock(Pane):
    """No document: two rows, and it hears of clicks."""

    def __init__(self, state, actions):
        super().__init__()
        self.pressed: list[tuple[int, int]] = []

    @property
    def title(self):
        return "a clock"

    def draw(self, cols, rows):
        return Drawing([paint(line("tick"), cols), paint(line("x" * 300), cols)], (3, 1))

    def press(self, col, row):
        self.pressed.append((col, row))


@pytest.fixture
def beside(monkeypatch):
    def put(kind):
        page, second = PaneKind(PagePane, share=3), PaneKind(kind, share=2, from_cols=140)
        monkeypatch.setattr(workspace, "KINDS", (page, second))

    return put


def _drive(keys="", size=_WIDE, **options):
    return Driven(sample_run.run_end(), keys, size=size, **options)


def test_a_pane_stands_beside_the_page_where_there_is_room(beside) -> None:
    beside(Notes)
    screen = _drive()
    heads = screen.rows[2].split("│")
    assert [head.strip() for head in heads] == ["tensors of this run", "some notes"]
    assert screen.rows[3].index("│") == screen.rows[40].index("│") == len(heads[0]) == 119
    assert screen.rows[3].split("│")[1].startswith("▸note 0")
    assert screen.rows[-1].startswith(" Enter follow"), "the bars are as wide as the screen"
    assert _drive(size=(139, 60)).rows == [*_alone(size=(139, 60)).rows]


def _alone(**options):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workspace, "KINDS", (PaneKind(PagePane),))
        return _drive(**options)


def test_commands_are_laid_out_for_the_width_of_the_page(beside) -> None:
    beside(Notes)
    screen = _drive(":text<enter>")
    assert screen.state.service.width == screen.state.page.view.cols == 119 - 2
    assert _drive(size=(100, 60)).state.service.width == 98


def test_a_click_gives_the_focus_and_keys_move_there(beside) -> None:
    beside(Notes)
    screen = _drive(f"{_BESIDE}jj")
    assert isinstance(screen.state.focus, Notes)
    assert screen.state.read.view.selected == 4
    assert screen.state.page.view.selected == 3, "the page stays where it was"
    assert screen.screen.canvases[-1].cursor == (120, 3 + 4)
    assert "5/100" in screen.status
    screen = _drive(f"{_BESIDE}j<click 5 10>j")
    assert isinstance(screen.state.focus, PagePane)
    assert screen.state.page.view.selected == 8


def test_search_and_links_are_those_of_the_pane_with_the_focus(beside) -> None:
    beside(Notes)
    screen = _drive(f"{_BESIDE}/note 77<enter>")
    assert "/note 77  1/1" in screen.status
    assert screen.state.focus.reading.view.selected == 77
    assert not screen.state.page.seeker.active
    assert _drive(f"{_BESIDE}/note 77<enter><enter>").state.page.command == "text"
    assert _drive("<click 130 5>").state.page.command == "text", "a link is clicked as in any document"


def test_its_own_keys_come_first_and_are_told(beside) -> None:
    beside(Notes)
    screen = _drive(f"{_BESIDE}bb")
    assert screen.state.focus.count == 2
    assert screen.rows[-1].startswith(" b count")
    assert _drive(f"{_BESIDE}g").state.page.command == "ri"
    at_top = _drive(f"{_BESIDE}jj<home>")
    assert at_top.state.read.view.selected == 0, "its other key goes on to mean the same"
    listed = _drive(f"{_BESIDE}?").text
    assert "about the run, here" in listed
    assert "b does nothing here" in _drive("b").status, "without the focus they are nobody's"
    assert _drive(f"{_BESIDE}:b<enter>").state.focus.count == 0, "at the prompt they are letters"


def test_the_wheel_scrolls_what_it_is_over(beside) -> None:
    beside(Notes)
    screen = _drive([("mouse press", 5, 150, 20), ("mouse press", 5, 150, 20), ("mouse press", 4, 150, 20)])
    pane = screen.app.view._workspace._panes[1]
    assert pane.reading.view.top == 3
    assert isinstance(screen.state.focus, PagePane), "the focus stays"
    above = _drive([("mouse press", 1, 150, 5), ("mouse press", 5, 3, 0)])
    assert above.state.read.view.top == 3, "over the title it scrolls the pane with the focus"


def test_a_pane_without_room_gives_the_focus_back(beside) -> None:
    beside(Notes)
    screen = _drive(f"{_BESIDE}<resize 100x30>j")
    assert isinstance(screen.state.focus, PagePane)
    assert screen.state.page.view.selected == 4
    assert "some notes" in _drive(f"{_BESIDE}<resize 100x30><resize 200x60>").text


def test_a_pane_need_not_show_a_document(beside) -> None:
    beside(Clock)
    screen = _drive(f"{_BESIDE}j")
    assert screen.rows[3].split("│")[1] == "tick"
    assert screen.rows[4].split("│")[1] == "x" * 79 + "›", "cut to its own width"
    assert screen.rows[5].split("│")[1] == "", "rows that it leaves out are blank"
    assert screen.state.focus.pressed == [(150 - 120, 5 - 3)]
    assert screen.screen.canvases[-1].cursor == (123, 4)
    assert screen.state.page.view.selected == 4, "movement keys that it does not have are the page's"
    assert "a clock" in screen.rows[2]


@pytest.mark.parametrize("part", ["fit", "draw", "title"])
def test_a_mistake_in_a_pane_takes_its_place_only(beside, part, tmp_path, monkeypatch) -> None:
    def fails(self, *arguments):
        raise ZeroDivisionError("a bug of the pane")

    class Faulty(Notes):
        pass

    setattr(Faulty, part, property(fails) if part == "title" else fails)
    beside(Faulty)
    screen = _drive("jj")
    assert screen.state.page.command == "lt"
    assert screen.state.page.view.selected == 5
    assert any("tfdbg made a mistake here." in row.split("│")[-1] for row in screen.rows)
    assert "a bug of the pane" in screen.state.report
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    saved = _drive("<click 125 6>")
    assert "Saved to" in saved.state.message.text
    (report,) = tmp_path.iterdir()
    assert "a bug of the pane" in report.read_text()


def test_a_mistake_in_the_page_is_shown_in_its_place_beside_a_pane(beside) -> None:
    beside(Notes)
    screen = _drive(":late<enter>G")
    assert "tfdbg made a mistake here." in screen.text
    assert screen.rows[1] == " run #3 › lt › late"
    assert "some notes" in screen.rows[2]


def test_a_dialog_and_a_message_stand_over_and_under_both(beside) -> None:
    beside(Notes)
    assert "How do you want to leave?" in _drive(f"{_BESIDE}q").text
    assert _drive(f"{_BESIDE}q<click 1 1>").state.dialog is None
    assert "There is no command" in _drive(f"{_BESIDE}:lst<enter>").status
    assert _drive(f"{_BESIDE}:pt loss/<tab>").state.prompt.candidates
