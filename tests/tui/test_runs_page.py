"""The lists of runs begin at the run looked at, and a page that is asked for by its key again is no second page."""

from __future__ import annotations

import pytest
from support import sample_run
from support.prompt import Prompt
from support.screen import Driven

from tfdbg_cli.commands.standard import standard_registry


def _driven(keys: str, count: int = 60) -> Driven:
    event = sample_run.opened(count)
    return Driven(event, keys, (80, 24), opening="lt", registry=standard_registry())


def test_the_cursor_stands_on_the_run_looked_at() -> None:
    screen = _driven(":runs 40<enter>R")
    view = screen.state.page.view
    assert view.chosen is not None and view.chosen.link == "runs 40"
    assert any("●" in row and " 40 " in row for row in screen.rows), screen.rows
    assert _driven("R").state.page.view.top == 0


@pytest.mark.parametrize(("count", "here"), [(5, 1), (5, 4), (60, 1), (60, 40), (60, 60)])
def test_the_history_of_a_tensor_begins_at_the_run_looked_at_below_its_curve(count: int, here: int) -> None:
    screen = _driven(f":runs {here}<enter>:history x<enter>", count)
    view = screen.state.page.view
    assert view.chosen is not None and view.chosen.link == f"runs {here}"
    (chosen,) = [row for row in screen.rows if row.startswith("▸")]
    assert "●" in chosen
    curve = [row[:78] for row in screen.rows if " │" in row]  # the scroll bar is behind it
    assert len(curve) == 6, "all of it"
    last = _driven(f":runs {here}<enter>:history x<enter>G", count)
    assert [row[:78] for row in last.rows if " │" in row] == curve, "it stays as one walks"


def test_paging_below_a_curve_that_stays_leaves_no_run_out() -> None:
    screen = _driven(":history x<enter>g", 60)
    view = screen.state.page.view
    seen = set(view.visible())
    while view.top + view.rows < len(view.lines):
        view.page(1)
        assert len(view.visible()) == len(set(view.visible())) == view.rows
        assert view.selected in view.visible()
        seen |= set(view.visible())
    assert seen == set(range(len(view.lines)))


def test_a_stream_has_the_history_from_its_first_run_on() -> None:
    prompt = Prompt(sample_run.opened(60))
    prompt.show("runs 40")
    assert prompt.document("history x").focus is None


def test_a_key_for_the_page_on_show_makes_no_second_one() -> None:
    assert [page.command for page in _driven("oo", 1).state.pages.all] == ["lt", "origin"]
    assert [page.command for page in _driven(":runs 2<enter>oR:runs 3<enter>o", 3).state.pages.all][-2:] == [
        "runs 3",
        "origin",
    ]


def test_keys_on_the_row_of_another_run_are_about_that_run() -> None:
    """A blind test: `o` there told of the run that happened to be on show."""
    screen = _driven("Rjo", 3)
    assert [page.command for page in screen.state.pages.all] == ["lt", "runs", "runs 2", "origin"]
    assert [page.run for page in screen.state.pages.all][-1] == 1
    assert _driven("Ro", 3).state.pages.all[-1].run == 0
    assert _driven("RjA", 3).state.pages.current.run == 1
    assert _driven(":timeline<enter>jjo", 3).state.pages.current.run > 0


def test_keys_that_need_a_tensor_say_where_the_row_of_another_run_leads() -> None:
    screen = _driven("RjK", 3)
    assert "This row is of another run." in screen.status
    assert "`runs 2`" in screen.status


@pytest.mark.parametrize("key", ["o", "K"])
def test_such_a_key_before_there_is_a_page_harms_nothing(key: str) -> None:
    event = sample_run.opened(3)
    screen = Driven(event, key, (80, 24), opening="runs", registry=standard_registry())
    assert "made a mistake" not in "\n".join(screen.rows)
