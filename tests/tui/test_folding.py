"""`x` folds and unfolds the scopes of `layers` and `tree` in the place of the page; Enter does so in `tree`."""

from __future__ import annotations

import pytest
from support import sample_run, sample_step
from support.golden import check_golden
from support.screen import Driven

from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.model.runs import RunEnd

REGISTRY = standard_registry()


def driven(keys: str, opening: str = "tree", size=(80, 24), event=None) -> Driven:
    return Driven(event or RunEnd(sample_step.step_run()), keys, size=size, opening=opening, registry=REGISTRY)


SCREENS = {"tree": ("tree", ""), "tree-unfolded": ("tree", "jxjx"), "layers-folded": ("layers", "jx")}


@pytest.mark.parametrize("size", [(40, 10), (80, 24), (120, 40), (200, 60)], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", SCREENS)
def test_screens(name: str, size: tuple[int, int]) -> None:
    opening, keys = SCREENS[name]
    screen = driven(keys, opening, size)
    check_golden(f"screens/folding/{name}-{size[0]}x{size[1]}", "\n".join(f"|{row}" for row in screen.rows))


def sample(keys: str, opening: str = "tree", size=(80, 24)) -> Driven:
    return driven(keys, opening, size, sample_run.run_end())


def chosen(screen: Driven) -> str:
    view = screen.state.page.view
    return view.line(view.selected).text.split()[-1]


TO_LOSS = "/loss<enter><esc>"


@pytest.mark.parametrize("key", ["x", "<enter>"])
def test_a_scope_unfolds_where_it_stands_and_folds_again(key: str) -> None:
    before = sample(TO_LOSS)
    assert chosen(before) == "loss" and "Log" not in before.text
    unfolded = sample(TO_LOSS + key)
    assert "Log" in unfolded.text and chosen(unfolded) == "loss"
    assert unfolded.state.page.view.selected == before.state.page.view.selected
    assert len(unfolded.state.pages.all) == 1  # in the place of the page
    folded = sample(TO_LOSS + key + key)
    assert folded.rows[2:] == before.rows[2:]


def test_in_a_row_that_is_no_scope_the_one_around_it_folds() -> None:
    screen = sample(TO_LOSS + "xjjx")
    assert chosen(screen) == "loss" and "Log" not in screen.text


def test_what_was_folded_is_remembered_when_one_comes_back() -> None:
    assert "Log" in sample(TO_LOSS + "x:ri<enter>:tree<enter>").text
    assert "Log" in sample(TO_LOSS + "x:ri<enter>O").text


def test_the_window_stays_where_it_was_on_a_small_screen() -> None:
    before, after = sample(TO_LOSS, size=(60, 12)), sample(TO_LOSS + "x", size=(60, 12))
    assert before.state.page.view.top == after.state.page.view.top


def test_layers_fold_and_their_links_stay() -> None:
    screen = driven("jx", "layers")
    assert "cell" not in screen.text
    assert screen.state.page.view.chosen.link == driven("j", "layers").state.page.view.chosen.link
    assert driven("jxx", "layers").rows[2:] == driven("j", "layers").rows[2:]


def test_where_nothing_folds_the_key_says_so() -> None:
    assert "Nothing folds here." in sample("x", "lt").status
