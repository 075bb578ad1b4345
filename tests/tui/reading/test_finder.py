"""Walking from match to match, however far the search has got when the next one is asked for."""

from __future__ import annotations

import pytest

from tfdbg_cli.document.document import Document, text_document
from tfdbg_cli.document.table import Column, Table
from tfdbg_cli.document.text import Line, Span, Style, line
from tfdbg_cli.tui.reading import finder as module
from tfdbg_cli.tui.reading.finder import Finder
from tfdbg_cli.tui.reading.viewport import Viewport


def _finder(monkeypatch: pytest.MonkeyPatch) -> tuple[Finder, Viewport]:
    """A finder that looks at one line at once, in a text where every third line matches."""
    monkeypatch.setattr(module, "_AT_ONCE_SECONDS", -1.0)
    view = Viewport(text_document("text", *(line("hit" if i % 3 == 2 else "miss") for i in range(30))))
    view.resize(40, 10)
    return Finder(view), view


def _finish(finder: Finder) -> None:
    while finder.running:
        finder.work(1)


@pytest.mark.parametrize(
    ("steps", "line_at"), [("", 2), ("n", 5), ("nn", 8), ("nnnN", 8), ("N", 29), ("NN", 26), ("n" * 10, 2)]
)
def test_steps_asked_for_before_the_first_match_is_known_all_count(monkeypatch, steps, line_at):
    finder, view = _finder(monkeypatch)
    finder.begin()
    finder.look_for("hit")
    for step in steps:
        finder.next() if step == "n" else finder.previous()
    assert finder.running
    _finish(finder)
    assert view.selected == line_at


def test_a_search_that_was_ended_takes_no_more_steps(monkeypatch):
    finder, view = _finder(monkeypatch)
    finder.begin()
    finder.look_for("hit")
    finder.next()
    finder.halt()
    finder.work(100)
    assert view.selected == 0
    finder.look_for("hit")
    _finish(finder)
    assert view.selected == 2


def _chosen_after(search: str, *lines: Line, table: Table | None = None) -> str | None:
    document = text_document("text", *lines) if table is None else Document("text", (table,))
    view = Viewport(document)
    view.resize(60, 10)
    finder = Finder(view)
    finder.begin()
    finder.look_for(search)
    _finish(finder)
    return view.chosen and view.chosen.link


def test_enter_follows_the_link_that_was_found_and_not_the_first_of_its_line() -> None:
    said = line("über ", Span("the loop", Style.NAME, "ni loop"), "  6 of: ", Span("all turns", Style.NAME, "pt all"))
    assert _chosen_after("all tu", said) == "pt all"
    assert _chosen_after("loop", said) == "ni loop"
    assert _chosen_after("6 of", said) == "ni loop"  # no link: the first


def test_a_row_that_was_found_by_another_cell_keeps_the_link_of_what_it_is_about() -> None:
    cells = (Span("MatMul", Style.OP, "ni a"), Span("a:0", Style.NAME, "pt a:0"))
    table = Table((Column("Op"), Column("Tensor", subject=True)), 1, lambda _: cells)
    assert _chosen_after("MatMul", table=table) == "pt a:0"
