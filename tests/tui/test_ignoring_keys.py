"""`I`: what is looked at counts as fine, said in the title, and the watch goes on with one key more, or at once."""

from __future__ import annotations

import pytest
from support import sample_run
from support.golden import check_golden
from support.looks import written
from support.made_run import INF, NAN, made_run, op
from support.screen import Driven

from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.model.decision import RunUntil
from tfdbg_cli.model.runs import Hit, RunEnd

REGISTRY = standard_registry()
WATCH = RunUntil("has_inf_or_nan", "^skip")


def driven(keys: str, size: tuple[int, int] = (80, 24), opening: str = "origin") -> Driven:
    run = made_run(
        op("x", "Placeholder", value=[1.0, 0.0]),
        op("attention/mask", "Log", "x", value=[0.0, -INF]),
        op("attention/scores", "Add", "attention/mask", "x", value=[1.0, -INF]),
        op("root", "Sqrt", "x", value=[1.0, NAN]),
        op("y", "Neg", "attention/scores", value=[-1.0, INF]),
    )
    event = RunEnd(run, Hit("has_inf_or_nan", "", 3), watch=WATCH)
    return Driven(event, keys, size=size, opening=opening, registry=REGISTRY)


@pytest.mark.parametrize("size", [(40, 10), (80, 24), (120, 40), (200, 60)], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize(("name", "keys"), [("said", "I"), ("listed", "I:ignored<enter>")])
def test_screens(name: str, keys: str, size: tuple[int, int]) -> None:
    screen = driven(keys, size)
    check_golden(f"screens/ignore-{name}-{size[0]}x{size[1]}", written(screen, 256))


def test_at_an_origin_it_is_the_node_and_one_key_goes_on() -> None:
    screen = driven("I")
    assert screen.state.page.command == "ignore attention/mask:0"
    assert "· 1 ignored" in screen.rows[0]
    assert driven("IF").decision == WATCH
    assert driven("I<enter>").decision == WATCH, "or the link of the page"


def test_at_once() -> None:
    screen = driven("<meta i>")
    assert screen.decision == WATCH
    assert [place.name for place in screen.state.service._context.ignored] == ["attention/mask"]


def test_at_the_line_of_the_cause_it_is_the_cause() -> None:
    screen = driven("jI")
    assert screen.state.page.command == "ignore --cause"


@pytest.mark.parametrize(
    ("opening", "keys", "command"),
    [
        ("lt", "jI", "ignore attention/mask:0"),
        ("layers", "<tab>I", "ignore --layer attention"),
        ("ni root", "I", "ignore root"),
        ("li -r y", "<tab>I", "ignore attention/scores"),
    ],
)
def test_in_lists_it_is_the_chosen_row(opening: str, keys: str, command: str) -> None:
    assert driven(keys, opening=opening).state.page.command == command


def test_what_is_nothing_of_the_kind_says_so() -> None:
    assert "no node, layer or cause" in driven("I", opening="help").text


def test_it_is_taken_back_by_its_link() -> None:
    screen = driven("I:ignored<enter><tab><enter>")
    assert screen.state.page.command == "ignored --withdraw 1"
    assert "ignored" not in screen.rows[0].partition("after")[2]


def test_before_a_run_a_node_can_be_ignored() -> None:
    screen = Driven(sample_run.run_start(), "I", opening="ni loss/Log", registry=REGISTRY)
    assert screen.state.page.command == "ignore loss/Log"
    assert "1 ignored" in screen.rows[0]
