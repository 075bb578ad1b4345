"""`row`: one row of the batch in all its components."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support import sample_run
from support.golden import check_golden
from support.made_run import NAN, made_run, op
from support.prompt import Prompt
from support.screen import Driven

from tfdbg_cli.analysis.batch.components import looks_like_image
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.model.runs import Run, RunEnd
from tfdbg_cli.tui.array.viewer import Mode

REGISTRY = standard_registry()


def _images() -> Run:
    """A batch of six pictures with labels and names, of which rows 1 and 4 make NaN."""
    pictures = np.arange(6 * 8 * 8, dtype=np.float32).reshape(6, 8, 8)
    pictures[1], pictures[4] = -1.0, -2.0
    roots = np.sqrt(np.abs(pictures))
    roots[[1, 4]] = NAN
    feeds = {"x:0": pictures, "y:0": np.arange(6), "name:0": np.array([b"a", b"b", b"c", b"d", b"e", b"f"], object)}
    return made_run(
        op("x", "Placeholder", value=pictures), op("y", "Placeholder", value=feeds["y:0"]),
        op("root", "Sqrt", "x", value=roots), feeds=feeds,
    )  # fmt: skip


def test_the_screen() -> None:
    prompt = Prompt(_images(), width=100)
    check_golden("commands/row", "\n\n".join(prompt.show(text, 100) for text in ("row", "row --next", "row 2")))


def test_the_components_and_the_steps() -> None:
    prompt = Prompt(_images())
    found = prompt.data("row")
    assert (found["kind"], found["row"], found["bad"], found["size"], found["bad_rows"]) == (
        "row",
        1,
        True,
        6,
        [1, 4],
    )
    by_name = {one["name"]: one for one in found["components"]}
    assert list(by_name) == ["x:0", "y:0", "name:0"]
    assert by_name["x:0"]["image"] and by_name["x:0"]["shape"] == [8, 8]
    assert by_name["y:0"]["value"] == 1 and by_name["name:0"]["value"] == "b"
    assert prompt.data("row --next")["row"] == 4
    assert "last one" in prompt.error("row --next").message
    assert prompt.data("row --previous")["row"] == 1
    assert "first one" in prompt.error("row --previous").message
    assert not prompt.data("row 3")["bad"]


def test_mistakes() -> None:
    prompt = Prompt(_images())
    assert "has 6" in prompt.error("row 6").message
    assert "exclude" in prompt.error("row 1 --next").message
    assert "exclude" in prompt.error("row --next --previous").message
    fine = made_run(op("x", "Placeholder", value=[1.0]))
    assert "no row is bad" in Prompt(fine).error("row").message
    alone = made_run(op("x", "Const", value=[1.0, NAN]))
    assert "No row" in Prompt(alone).error("row").message


def test_what_is_ignored_has_no_rows() -> None:
    prompt = Prompt(_images())
    prompt.run("row")
    prompt.run("ignore")
    assert "no row is bad" in prompt.error("row").message


def test_the_outputs_of_a_pipeline_are_components_too() -> None:
    run = made_run(
        op("next", "IteratorGetNext", value=[4.0, -1.0]), op("root", "Sqrt", "next", value=[2.0, NAN]),
    )  # fmt: skip
    found = Prompt(replace(run, call=replace(run.call, feeds={}))).data("row")
    assert found["row"] == 1 and [one["name"] for one in found["components"]] == ["next:0"]


@pytest.mark.parametrize(
    ("shape", "is_one"), [((8, 8), True), ((8, 8, 3), True), ((3, 8), False), ((8, 8, 16), False), ((64,), False)]
)
def test_what_looks_like_an_image(shape: tuple[int, ...], is_one: bool) -> None:
    assert looks_like_image(np.zeros(shape, np.float32)) == is_one
    assert not looks_like_image(np.zeros(shape, np.bool_))


def driven(keys: str, size: tuple[int, int] = (80, 24)) -> Driven:
    return Driven(RunEnd(_images()), keys, size=size, opening="origin", registry=REGISTRY)


@pytest.mark.parametrize("size", [(40, 10), (80, 24), (120, 40), (200, 60)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_screens(size: tuple[int, int]) -> None:
    screen = driven(":row<enter>]", size)
    check_golden(f"screens/row-{size[0]}x{size[1]}", "\n".join(f"|{row}" for row in screen.rows))


def test_enter_on_the_batch_line_leads_there_and_brackets_step() -> None:
    screen = driven("/rows 1<enter><enter>")
    assert screen.state.page.command == "row 1"
    screen = driven(":row<enter>]")
    assert "Row 4 of 6" in screen.text and [page.command for page in screen.state.pages.all] == [
        "origin",
        "row --next",
    ]
    assert "Row 1 of 6" in driven(":row<enter>][").text
    assert "last one that is bad" in driven(":row<enter>]]").status


def test_a_picture_is_looked_at_as_one() -> None:
    screen = driven(":row<enter>v")
    assert screen.state.viewer is not None and screen.state.viewer.mode is Mode.PICTURE
    assert "Row 2" in Driven(sample_run.run_end(), "", opening="row", registry=REGISTRY).text
