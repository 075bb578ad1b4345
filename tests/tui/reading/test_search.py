import math

import pytest

from tfdbg_cli.document.document import Document, Text
from tfdbg_cli.document.text import Span, Style, line
from tfdbg_cli.tui.reading import match_walk as module
from tfdbg_cli.tui.reading.match_walk import MatchWalk
from tfdbg_cli.tui.reading.paint import links_of
from tfdbg_cli.tui.reading.search import Search
from tfdbg_cli.tui.reading.viewport import Viewport

LINES = [line(f"line {i}" + (" NaN" if i % 10 == 3 else "")) for i in range(100)]


@pytest.fixture(autouse=True)
def _what_is_searched_at_once_depends_on_lines_and_not_on_a_clock(monkeypatch):
    monkeypatch.setattr(module, "_AT_ONCE_SECONDS", math.inf)


def seeker(lines=LINES, rows=10):
    view = Viewport(Document("t", (Text(tuple(lines)),)))
    view.resize(40, rows)
    return view, MatchWalk(view)


def test_matches_are_found_from_the_start_line_round_to_it():
    search = Search("nan", LINES, 50)
    search.scan(10)
    assert search.after(50, here=True) == (53, False)
    assert search.before(50) is None
    assert search.ordinal(53) is None
    search.scan(1000)
    assert search.done
    assert search.count == 10
    assert search.after(93) == (3, True)
    assert search.before(3) == (93, True)
    assert search.before(50) == (43, False)
    assert search.ordinal(43) == 5


def test_walking_wraps_round_with_a_notice():
    """TensorFlow's tfdbg: no wrap-around, no backwards."""
    view, found = seeker()
    found.begin()
    found.look_for("nan")
    assert view.selected == 3
    assert found.notice == "/nan  1/10"
    found.previous()
    assert view.selected == 93
    assert found.notice == "/nan  10/10, past the top, from the end"
    found.next()
    assert view.selected == 3
    assert "past the end" in found.notice


def test_a_look_at_the_clock_after_each_line_ends_a_slice():
    looked = []
    search = Search("nan", LINES, 0)
    search.scan(1000, lambda: looked.append(1) or len(looked) == 7)
    assert search.share == 0.07
    _, found = seeker()
    found.begin()
    found.look_for("zzz")
    assert found.failed


def test_what_is_typed_is_drawn_after_a_hundred_lines():
    _, found = seeker([line(f"line {i}") for i in range(5000)])
    found.begin()
    found.look_for("zzz")
    assert found.running
    assert "2% searched" in found.notice
    found.work(10**6)
    assert found.failed


def test_typing_on_starts_again_from_where_the_search_began():
    view, found = seeker()
    view.go(40)
    found.begin()
    found.look_for("nan")
    assert view.selected == 43
    found.look_for("line 9")
    assert view.selected == 90
    found.look_for("line 99 zzz")
    assert found.failed
    assert "no match" in found.notice
    found.cancel()
    assert view.selected == 40
    assert not found.active


def test_a_long_document_is_searched_in_slices_and_can_be_halted():
    read = []

    class Lazy(tuple):
        def __getitem__(self, index):
            if isinstance(index, int):
                read.append(index)
            return super().__getitem__(index)

    view = Viewport(Document("t", (Text(Lazy([line("x")] * 100_000 + [line("needle")])),)))
    view.resize(40, 10)
    found = MatchWalk(view)
    found.begin()
    found.look_for("needle")
    assert found.running
    assert len(read) < 5000
    assert "searched" in found.notice
    while found.running:
        found.work(20_000)
    assert view.selected == 100_000
    found.look_for("nothing")
    found.halt()
    assert not found.running
    assert "stopped" in found.notice


def test_a_name_cut_short_is_found_and_copied_whole():
    name = "train/gradients/loss/mul_grad/Sum:0"
    for cut in ("…loss/mul_grad/Sum:0", "train/gradients/lo…", "train/…/Sum:0"):
        row = line(Span("8  "), Span(cut, Style.NAME, f"pt {name} -n 1"))
        assert links_of(row)[0].name == name
        search = Search("gradients/loss", [row], 0)
        search.scan(1)
        assert search.count == 1
    assert links_of(line(Span("other…", Style.NAME, "pt x:0")))[0].name == "other…"
