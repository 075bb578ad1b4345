"""Stepping through the runs kept before a stop, on the screen."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.golden import check_golden
from support.kept_stop import kept, step_run
from support.looks import written
from support.screen import Driven

from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.tui.state.bars import title_part


def _drive(keys: str, opening: str = "lt", **options) -> Driven:
    return Driven(
        options.pop("event", None) or kept(), keys, opening=opening, registry=standard_registry(), **options
    )


def _run(screen: Driven) -> int:
    return int(screen.state.service.label.removeprefix("run #"))


@pytest.mark.parametrize("size", [(40, 10), (80, 24), (120, 40), (200, 60)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_the_screen_of_an_older_run(size) -> None:
    screen = _drive(":pt loss<enter>[[", size=size)
    check_golden(f"screens/kept-{size[0]}x{size[1]}", written(screen, 256))


def test_the_same_screen_of_other_runs() -> None:
    screen = _drive("[[")
    assert _run(screen) == 398
    assert screen.state.page.command == "lt"
    assert screen.rows[0].startswith(" run-end: run #398: train_step() kept from before run #400")
    assert screen.rows[1].strip() == "run #398 › lt"
    assert title_part(screen.state.service) == "title end"
    assert _run(_drive("[[[]")) == 398
    assert _run(_drive("[[{")) == 396
    assert _run(_drive("[[{}")) == 398


def test_going_back_leads_out_of_the_screen_and_to_the_run_of_the_one_before() -> None:
    """A blind test: each step was a page of its own, so that Esc went through the runs again, and back and forth."""
    screen = _drive(":pt loss<enter>[[][")
    assert [page.command for page in screen.state.pages.all] == ["lt", "pt loss"] and _run(screen) == 398
    screen = _drive(":pt loss<enter>[[][<esc>")
    assert (screen.state.page.command, _run(screen)) == ("lt", 400)
    screen = _drive(":pt loss<enter>[[][<esc><ctrl n>")
    assert (screen.state.page.command, _run(screen)) == ("pt loss", 398)
    other = _drive(":help<enter>[")
    assert [page.command for page in other.state.pages.all] == ["lt", "help", "lt"], "that is another screen"


def test_at_the_end_of_time_everything_stays() -> None:
    screen = _drive("]")
    assert "This is the last run that was kept." in screen.status
    assert len(screen.state.pages.all) == 1


def test_a_tensor_that_another_run_does_not_have() -> None:
    event = kept()
    event = replace(event, earlier=[step_run(399, 1.0, name="other")])
    screen = _drive("[", "pt loss", event=event)
    assert "There is no tensor" in screen.text
    assert _run(screen) == 400


def test_what_was_done_at_the_stop_is_said_when_it_opens() -> None:
    assert "Bundle: /data/case" in _drive("").status


def test_the_tensors_of_a_run_chosen_in_the_list_of_runs_are_a_list_as_any() -> None:
    screen = _drive([*":runs 2", "enter", "w"])
    assert screen.state.page.command == "lt -s worst"
    assert _run(screen) == 396
    filtered = _drive([*":runs 2", "enter", "f", *"nosuch", "enter"])
    assert filtered.state.page.command == "lt -q nosuch"
    assert _run(filtered) == 396
