"""Walking from match to match, however far the search has got when the next one is asked for."""

from __future__ import annotations

import pytest

from tfdbg_cli.document.document import Document, text_document
from tfdbg_cli.document.table import Column, Table
from tfdbg_cli.document.text import Line, Span, Style, line
from tfdbg_cli.tui.reading import match_walk as module
from tfdbg_cli.tui.reading.match_walk import MatchWalk
from tfdbg_cli.tui.reading.viewport import Viewport


def _walk(monkeypatch: pytest.MonkeyPatch) -> tuple[MatchWalk, Viewport]:
    """A seeker that looks at one line at once, in a text where every third line matches."""
    monkeypatch.setattr(module, "_AT_ONCE_SECONDS", -1.0)
    view = Viewport(text_document("text", *(line("hit" if i % 3 == 2 else "miss") for i in range(30))))
    view.resize(40, 10)
    return MatchWalk(view), view


def _finish(seeker: MatchWalk) -> None:
    while seeker.running:
        seeker.work(1)


@pytest.mark.parametrize(
    ("steps", "line_at"), [("", 2), ("n", 5), ("nn", 8), ("nnnN", 8), ("N", 29), ("NN", 26), ("n" * 10, 2)]
)
def test_steps_asked_for_before_the_first_match_is_known_all_count(monkeypatch, steps, line_at):
    seeker, view = _walk(monkeypatch)
    seeker.begin()
    seeker.look_for("hit")
    for step in steps:
        seeker.next() if step == "n" else seeker.previous()
    assert seeker.running
    _finish(seeker)
    assert view.selected == line_at


def test_a_search_that_was_ended_takes_no_more_steps(monkeypatch):
    seeker, view = _walk(monkeypatch)
    seeker.begin()
    seeker.look_for("hit")
    seeker.next()
    seeker.halt()
    seeker.work(100)
    assert view.selected == 0
    seeker.look_for("hit")
    _finish(seeker)
    assert view.selected == 2


def _chosen_after(search: str, *lines: Line, table: Table | None = None) -> str | None:
    document = text_document("text", *lines) if table is None else Document("text", (table,))
    view = Viewport(document)
    view.resize(60, 10)
    seeker = MatchWalk(view)
    seeker.begin()
    seeker.look_for(search)
    _finish(seeker)
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
