"""What a person does all day: sort, jump, search in large arrays, watch on, drop a line that was typed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support import sample_run
from support.made_run import made_run, op
from support.screen import Driven

from tfdbg_cli.commands.asked.watch_decision import watch_on
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.model.decision import CaptureRequest, GraphChoice, OnBenign, RunUntil, Values
from tfdbg_cli.model.runs import RunEnd


def _run(**values: Any) -> RunEnd:
    return RunEnd(made_run(*(op(name, "Placeholder", value=value) for name, value in values.items())))


def _drive(keys: str, event: RunEnd, **options: Any) -> Driven:
    return Driven(event, keys, registry=standard_registry(), **options)


def _large() -> np.ndarray:
    array = np.arange(64_000, dtype=np.float32).reshape(64, 1000)
    array[30, 500] = np.nan
    return array


def _selected(screen: Driven) -> str:
    return next(row for row in screen.rows if row.startswith("▸"))


def test_an_element_that_was_elided_is_gone_to() -> None:
    screen = _drive(":pt x<enter>@30, 777]<enter>", _run(x=_large()), settings=Settings(values="text"))
    view = screen.state.page.view
    element = view.line(view.selected).element
    assert element is not None
    assert element[0] == 30
    assert element[1] <= 777 < element[1] + 10
    assert "3.0777e+04" in _selected(screen)
    assert "Every element is shown now." in screen.status


def test_what_is_shown_already_is_not_shown_anew() -> None:
    screen = _drive(":pt x<enter>@0, 1]<enter>", _run(x=_large()), settings=Settings(values="text"))
    assert len(screen.state.page.view.lines) < 40
    assert "shown now" not in screen.status


def test_a_search_finds_what_was_elided_and_comes_back_from_it() -> None:
    screen = _drive(":pt x<enter>/nan", _run(x=_large()), settings=Settings(values="text"))
    seeker = screen.state.page.seeker
    while seeker.running:
        seeker.work(10_000)
    assert seeker.notice.startswith("/nan  1/1"), "an element, and not the line of facts"
    view = screen.state.page.view
    assert " nan " in view.line(view.selected).text
    element = view.line(view.selected).element
    assert element is not None
    assert element[0] == 30
    screen.app.key("esc")
    assert screen.state.page.view.selected < 3


def test_sorting_keeps_the_chosen_row_and_where_it_stands() -> None:
    sizes = {f"t{i:02}": np.zeros((i * 7) % 41 + 1, np.float32) for i in range(41)}
    down = "j" * 20
    screen = _drive(down, _run(**sizes), opening="lt")
    assert "t20:0" in _selected(screen)
    at = screen.rows.index(_selected(screen))
    for keys in ("s", "ss", "ssS", "ssS<click 3 2>", "<click 16 2>"):
        screen = _drive(down + keys, _run(**sizes), opening="lt")
        assert "t20:0" in _selected(screen)
        assert screen.rows.index(_selected(screen)) == at


def test_the_first_sort_by_size_puts_the_largest_on_top() -> None:
    run = _run(small=np.zeros(1, np.float32), large=np.zeros(99, np.float32), middle=np.zeros(9, np.float32))
    screen = _drive("ss", run, opening="lt")
    assert "-s dump_size -r" in screen.state.page.command
    assert "large:0" in _selected(screen)
    assert "small:0" in _selected(_drive("ssS", run, opening="lt"))


def test_g_goes_to_the_first_row() -> None:
    run = _run(**{f"t{i:02}": np.zeros(3, np.float32) for i in range(40)})
    screen = _drive("Gg", run, opening="lt")
    assert "t00:0" in _selected(screen)
    assert "40 dumped tensor(s)" in screen.text


@pytest.mark.parametrize("key", ["²", "٣", "½", "é", "中"])
def test_a_key_that_is_none_of_ours_does_nothing(key: str) -> None:
    screen = _drive(key, _run(x=np.zeros(3, np.float32)), opening="lt")
    assert "bug" not in screen.text
    assert "1 dumped tensor(s)" in screen.text


def test_escape_drops_what_was_typed() -> None:
    screen = _drive(":lt -n something<esc>", _run(x=np.zeros(3, np.float32)), opening="lt")
    assert "something" not in screen.text
    assert screen.state.prompt.editor.text == ""


EVERYTHING = RunUntil(
    "bad_result", "^grad ients", CaptureRequest("node", "op", "float", GraphChoice.PYTHON), True, Values.KEEP, 5,
    "", True,
)  # fmt: skip


@pytest.mark.parametrize(
    ("last", "then"),
    [
        (None, RunUntil("has_inf_or_nan")),
        (RunUntil("has_inf_or_nan", keep=3, exclude_node_names="x"), RunUntil("has_inf_or_nan", "x", keep=3)),
        (EVERYTHING, EVERYTHING),
        (
            RunUntil("has_inf_or_nan", benign=OnBenign.SKIP, values=Values.REPLAY),
            RunUntil("has_inf_or_nan", benign=OnBenign.SKIP, values=Values.REPLAY),
        ),
        (RunUntil("all_zero", keep=2), RunUntil("has_inf_or_nan", keep=2)),
    ],
)
def test_a_watch_goes_on_as_it_was(last: RunUntil | None, then: RunUntil) -> None:
    event = replace(sample_run.run_end(), watch=last)
    assert Driven(event, "F", registry=standard_registry()).decision == then


def test_a_bundle_that_is_there_is_not_written_again(tmp_path: Any) -> None:
    fresh = tmp_path / "fresh"
    assert f"--bundle {fresh}" in watch_on(RunUntil("has_nan", bundle=str(fresh)))
    fresh.mkdir()
    (fresh / "case.json").write_text("{}")
    assert "--bundle" not in watch_on(RunUntil("has_nan", bundle=str(fresh)))


def test_one_key_counts_the_values_of_a_column_and_links_lead_to_the_others() -> None:
    screen = _drive("#", sample_run.run_end(), opening="lt")
    assert screen.state.page.command == "frequencies"
    assert _selected(screen).split()[-1] == "Add", "the most frequent, not a link above the table"
    narrowed = _drive("floss<enter>#", sample_run.run_end(), opening="lt")
    assert narrowed.state.page.command == "frequencies -q loss"
    assert narrowed.rows[2].strip() == "3 values of op in 3 tensors"
    dtypes = _drive(["#", "up", "up", "up", "enter"], sample_run.run_end(), opening="lt")
    assert dtypes.state.page.command == "fq dtype"


def test_enter_gives_a_setting_its_next_value_where_it_stands() -> None:
    opened = _drive("", sample_run.run_end(), opening="config")
    assert opened.status.strip().startswith("Enter: config set theme light")
    light = _drive("<enter>", sample_run.run_end(), opening="config")
    assert _selected(light).split()[:2] == ["▸theme", "light"], "the page shows what holds now"
    assert light.state.service.settings.theme == "light"
    assert [page.command for page in light.state.pages.all] == ["config"]
    around = _drive("<enter>" * 5, sample_run.run_end(), opening="config")
    assert around.state.service.settings.theme == "dark"
    typed = _drive(":config set theme mono<enter><enter>", sample_run.run_end(), opening="config")
    assert typed.state.service.settings.theme == "ascii"
    assert typed.state.page.command == "config"
