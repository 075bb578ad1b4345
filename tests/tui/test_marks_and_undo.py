"""`m` and a letter mark a place, `'` goes there and `''` back; `U` takes back the last filter or sort."""

from __future__ import annotations

import pytest
from support import sample_run
from support.golden import check_golden
from support.looks import written
from support.screen import Driven

from tfdbg_cli.commands.standard import standard_registry

REGISTRY = standard_registry()


def driven(keys: str, size=(80, 24), opening="lt") -> Driven:
    return Driven(sample_run.run_end(), keys, size=size, opening=opening, registry=REGISTRY)


SCREENS = {
    "marked": "jjma",
    "asked": "jjmat<enter>mb'",
    "unknown": "jjma'x",
    "undone": "floss<enter>ssUU",
    "nothing-undone": "U",
}


@pytest.mark.parametrize("size", [(40, 10), (80, 24), (120, 40), (200, 60)], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", SCREENS)
def test_screens(name: str, size: tuple[int, int]) -> None:
    screen = driven(SCREENS[name], size)
    check_golden(f"screens/marks/{name}-{size[0]}x{size[1]}", written(screen, 256))


def where(screen: Driven) -> tuple[str, int, int, int]:
    view = screen.state.page.view
    return screen.state.page.command, view.selected, view.top, view.left


def test_a_mark_is_a_page_with_its_row_and_column() -> None:
    small = (60, 12)
    there = where(driven("8jllma", small))
    assert where(driven("8jllmaghh'a", small)) == there
    assert where(driven("8jllma:ri<enter>jj'a", small)) == there
    assert where(driven("8jllma:ri<enter>jjmb'a'b", small))[0] == "ri"


def test_twice_the_quote_goes_back_to_before_the_last_jump_and_there_again() -> None:
    assert where(driven("5jma:ri<enter>j'a''")) == where(driven("5jma:ri<enter>j"))
    assert where(driven("5jma:ri<enter>j'a''''")) == where(driven("5j"))
    assert where(driven("5jG''")) == where(driven("5j"))
    assert where(driven("5j/Mean<enter>''")) == where(driven("5j"))


def test_a_mark_on_a_page_that_is_forgotten_opens_it_again() -> None:
    screen = driven("5jma:ri<enter>:help<enter>:ri<enter>'a")
    assert [page.command for page in screen.state.pages.all] == ["lt", "ri", "help", "ri"]
    assert screen.state.pages.at == 0
    ahead = driven("<enter>ma<ctrl o>:ri<enter>'a")  # what was ahead of the list is forgotten
    assert ahead.state.page.command == driven("<enter>").state.page.command
    assert [page.command for page in ahead.state.pages.all] == ["lt", "ri", "pt x:0"]


def test_a_mark_in_an_array_keeps_the_element() -> None:
    screen = driven("ma:pt x<enter>jlmb'a'b")
    assert screen.state.viewer is not None and screen.state.viewer.here == (1, 1)


def test_esc_and_keys_without_a_letter_ask_no_further() -> None:
    assert where(driven("5jm<esc>k")) == where(driven("4j"))
    assert where(driven("5jm<up>")) == where(driven("4j"))
    assert "marks nothing" in driven("m1").status
    assert "Nothing is marked '." in driven("''").status


def test_undo_takes_back_sorts_and_filters_one_after_another() -> None:
    commands = ["lt", "lt -q loss"]
    assert driven("floss<enter>").state.page.command == commands[1]
    assert driven("floss<enter>U").state.page.command == commands[0]
    sorted_once = driven("floss<enter>ss").state.page.command
    assert sorted_once.startswith("lt -q loss -s ")
    assert driven("floss<enter>ssw").state.page.command == "lt -q loss -s worst"
    assert driven("floss<enter>sswU").state.page.command == sorted_once
    assert driven("floss<enter>ssw3U").state.page.command == commands[1]
    assert driven("floss<enter>ssw9U").state.page.command == commands[0]
    assert where(driven("8jsU")) == where(driven("8j"))


def test_undo_is_about_the_list_on_show() -> None:
    other = driven("s:ri<enter>U")
    assert "No filter or sort of this page is left to undo." in other.status
    assert driven("s:ri<enter><ctrl o>U").state.page.command == "lt"


def test_undo_of_a_filter_leaves_the_way_forward() -> None:
    screen = driven("floss<enter>U<ctrl n>")
    assert screen.state.page.command == "lt -q loss"
