"""Answers that take their time: keys are answered meanwhile, and another wish takes their place."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.slow_screen import Slow

from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.tui.keys.keymap import KeyContext
from tfdbg_cli.tui.state.pending import PendingAnswer, working

REGISTRY = standard_registry()


def test_keys_move_while_a_list_is_sorted() -> None:
    screen = Slow()
    screen.press("w")
    assert screen.state.pending is not None and screen.state.page.command == "lt"
    screen.press("j", "j")
    assert screen.state.page.view.selected == 5
    assert "lt -s worst: working, " in screen.status and "Esc stops it." in screen.status
    assert screen.finish() > 1
    assert screen.state.page.command == "lt -s worst"


def test_esc_and_ctrl_c_stop_it() -> None:
    for key in ("esc", "ctrl c"):
        screen = Slow()
        screen.press("w", key)
        assert screen.state.pending is None
        assert screen.state.page.command == "lt"
        assert len(screen.state.pages.all) == 1


def test_another_command_takes_its_place() -> None:
    screen = Slow()
    screen.press("w", "i")
    screen.finish()
    assert [page.command for page in screen.state.pages.all] == ["lt", "run_info"]


def test_what_is_typed_meanwhile_is_not_taken_away() -> None:
    screen = Slow()
    screen.press("w", ":", "n", "i")
    for _ in range(200):
        screen.step()
    assert screen.state.place is KeyContext.PROMPT and screen.state.prompt.editor.text == "ni"
    assert screen.state.page.command == "lt"
    screen.press("esc")
    screen.finish()
    assert screen.state.page.command == "lt -s worst"


def test_enter_in_a_filter_before_it_is_done() -> None:
    screen = Slow()
    screen.press("f", *"nan>0", "enter")
    assert screen.state.place is KeyContext.DOCUMENT and screen.state.pending is not None
    screen.press("j")
    assert screen.finish() > 1
    assert [page.command for page in screen.state.pages.all] == ["lt", "lt -q 'nan>0'"]
    dropped = Slow()
    dropped.press("f", *"nan>0", "enter", "esc")
    assert dropped.state.pending is None
    assert [page.command for page in dropped.state.pages.all] == ["lt"]


def test_a_filter_is_put_to_tensors_one_by_one() -> None:
    screen = Slow()
    screen.press(":", *"lt -f has_inf_or_nan", "enter")
    assert screen.finish() > 10
    assert screen.state.page.document.title == "tensors[has_inf_or_nan]"


def test_a_mistake_in_it_is_said_and_nothing_is_pending() -> None:
    screen = Slow()
    screen.press(":", *"lt -f no_such_filter", "enter")
    while screen.state.pending is not None:
        screen.app._guarded("looking", screen.step)
    assert screen.state.message is not None and screen.state.message.error
    assert screen.state.page.command == "lt"


def _first_page_awaited(*keys: str, opening: str = "lt -f has_inf_or_nan") -> Slow:
    """The screen whose first page is being made, with `keys` typed already."""
    screen = Slow("")
    screen.state.pages.all.clear()
    screen.app.perform(opening)
    assert screen.state.pending is not None
    screen.press(*keys)
    return screen


def test_keys_typed_before_the_first_page_act_on_it() -> None:
    screen = _first_page_awaited("w", "j")
    assert screen.state.message is None and screen.state.pending is not None
    screen.rest()
    assert screen.state.page.command == "lt -f has_inf_or_nan -s worst"
    assert screen.state.page.view.selected is not None and screen.state.message is None


def test_keys_behind_one_that_waits_keep_their_order() -> None:
    screen = _first_page_awaited("w", *":run_info", "enter")
    assert screen.state.place is KeyContext.DOCUMENT and screen.state.pending is not None
    screen.rest()
    assert [page.command for page in screen.state.pages.all][-1] == "run_info"
    assert _first_page_awaited("w", "q").state.place is KeyContext.LEAVE


def test_what_needs_no_page_does_not_wait_for_the_first() -> None:
    assert _first_page_awaited(":").state.place is KeyContext.PROMPT
    assert _first_page_awaited("?").state.place is KeyContext.KEYS
    other = _first_page_awaited("t")
    other.rest()
    assert [page.command for page in other.state.pages.all] == ["lt"]


def test_esc_ends_the_wait_for_the_first_page_and_forgets_the_keys_before_it() -> None:
    screen = _first_page_awaited("w", "esc")
    assert screen.state.pending is None and screen.state.message is not None
    assert screen.state.message.text == "Stopped: lt -f has_inf_or_nan."
    screen.rest()
    assert screen.state.message.text == "Stopped: lt -f has_inf_or_nan."


def test_after_a_first_page_that_failed_the_keys_before_it_are_forgotten() -> None:
    def failing() -> Iterator[float | None]:
        yield None
        raise TfdbgError("It cannot be read.")

    screen = _first_page_awaited("w")
    screen.app.begin(PendingAnswer("lt", failing(), lambda: None))
    screen.press("j")
    screen.rest()
    assert screen.state.message is not None and screen.state.message.text == "It cannot be read."


@pytest.mark.parametrize(
    ("key", "wide", "narrow"),
    [
        ("Esc", "sort: working, 3 s. Esc stops it.", "3 s, Esc stops it: sort"),
        ("", "sort: working, 3 s.", "3 s: sort"),
    ],
)
def test_what_is_being_done_is_said_with_the_key_that_stops_it(key: str, wide: str, narrow: str) -> None:
    assert working("sort", "3 s", key, 80) == wide
    assert working("sort", "3 s", key, 10) == narrow
