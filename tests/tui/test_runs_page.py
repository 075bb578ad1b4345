"""The list of runs begins at the run looked at, and a page that is asked for by its key again is no second page."""

from __future__ import annotations

from support import sample_run
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


def test_a_key_for_the_page_on_show_makes_no_second_one() -> None:
    assert [page.command for page in _driven("oo", 1).state.pages.all] == ["lt", "origin"]
    assert [page.command for page in _driven(":runs 2<enter>oR:runs 3<enter>o", 3).state.pages.all][-2:] == [
        "runs 3",
        "origin",
    ]
