"""`x` folds and unfolds the scopes of `layers` and `tree` in the place of the page; Enter does so in `tree`."""

from __future__ import annotations

import pytest
from support import sample_run, sample_step
from support.golden import check_golden
from support.looks import written
from support.screen import Driven

from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.model.runs import RunEnd

REGISTRY = standard_registry()


def driven(keys: str, opening: str = "tree", size=(80, 24), event=None) -> Driven:
    return Driven(event or RunEnd(sample_step.step_run()), keys, size=size, opening=opening, registry=REGISTRY)


SCREENS = {
    "tree": ("tree", ""),
    "tree-unfolded": ("tree", "jxjx"),
    "tree-all": ("tree", "E"),
    "layers-folded": ("layers", "jx"),
    "layers-none": ("layers", "C"),
}


@pytest.mark.parametrize("size", [(40, 10), (80, 24), (120, 40), (200, 60)], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", SCREENS)
def test_screens(name: str, size: tuple[int, int]) -> None:
    opening, keys = SCREENS[name]
    screen = driven(keys, opening, size)
    check_golden(f"screens/folding/{name}-{size[0]}x{size[1]}", written(screen, 256))


def sample(keys: str, opening: str = "tree", size=(80, 24)) -> Driven:
    return driven(keys, opening, size, sample_run.run_end())


def chosen(screen: Driven) -> str:
    view = screen.state.page.view
    return view.line(view.selected).text.split()[-1]


def names(screen: Driven) -> set[str]:
    """The last words of all rows."""
    view = screen.state.page.view
    return {words[-1] for at in range(len(view.lines)) if (words := view.line(at).text.split())}


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


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
def test_enter_follows_the_layer_and_not_a_number_of_its_row(size: tuple[int, int]) -> None:
    for keys, layer in (("", "model"), ("j", "model/lstm"), ("jj", "model/lstm/cell"), ("jjj", "model/head")):
        screen = driven(keys, "layers", size)
        assert screen.state.page.view.chosen.link == f"lt -l {layer}"
        assert driven(keys + "<enter>", "layers", size).state.page.command == f"lt -l {layer}"
    assert "--role" in driven("<left>" * 2, "layers", size).state.page.view.chosen.link


@pytest.mark.parametrize(("opening", "key"), [("tree", "O"), ("layers", "A")])
def test_all_fold_and_unfold_and_stay_so(opening: str, key: str) -> None:
    unfolded, folded = driven("E", opening), driven("EC", opening)
    assert "+ " not in unfolded.text and "- " not in folded.text
    assert len(unfolded.state.page.view.lines) > len(folded.state.page.view.lines)
    assert len(folded.state.pages.all) == 1  # in the place of the page
    later = driven(f"E:ri<enter>{key}", opening)
    assert later.rows[3:12] == unfolded.rows[3:12]


def test_what_is_chosen_stays_so_or_what_it_is_folded_into() -> None:
    assert chosen(driven("GE")) == chosen(driven("G")) == "y"
    assert chosen(driven("jjE")) == "one_step_on_data"
    assert chosen(driven("jjE3j")) == "Mul"
    assert chosen(driven("jjE3jC")) == "one_step_on_data"


def test_a_count_unfolds_so_many_levels_and_folds_the_scope_so_many_further_out() -> None:
    one, two, nine = (names(driven(f"jj{count}x")) for count in ("", "2", "9"))
    assert "rate" not in one and "rate" in two and "body" not in two and "body" in nine
    inner = "jj9x4j"
    assert chosen(driven(inner)) == "rate"
    assert chosen(driven(inner + "x")) == "adam"
    assert chosen(driven(inner + "2x")) == chosen(driven(inner + "9x")) == "one_step_on_data"


@pytest.mark.parametrize("key", ["C", "E"])
def test_where_no_scopes_are_there_is_nothing_to_fold(key: str) -> None:
    assert "Nothing folds here." in sample(key, "lt").status


def test_of_a_row_in_no_scope_the_key_says_so() -> None:
    assert "This row has nothing within it" in driven("Gx").status


def test_where_nothing_folds_the_key_says_so() -> None:
    assert "Nothing folds here." in sample("x", "lt").status
