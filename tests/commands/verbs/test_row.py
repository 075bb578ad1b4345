"""`row`: one row of the batch in all its components."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support import sample_run
from support.golden import check_golden
from support.looks import written
from support.made_run import NAN, made_run, op
from support.prompt import Prompt
from support.screen import Driven

from tfdbg_cli.analysis.batch.components import looks_like_image
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.model.batch_place import BatchPlace, Order
from tfdbg_cli.model.runs import Run, RunEnd
from tfdbg_cli.tui.array.viewer import ViewMode

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


def test_where_every_row_is_bad_nobody_has_to_count() -> None:
    x = np.ones((128, 2), np.float32)
    run = made_run(
        op("x", "Placeholder", value=x), op("root", "Sqrt", "x", value=x * NAN), feeds={"x:0": x}
    )  # fmt: skip
    prompt = Prompt(run, width=100)
    assert "Batch     all 128 rows; fed as x:0" in prompt.show("origin", 100)
    assert "Bad rows  all 128: 0 1 2" in prompt.show("row", 100)


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


def test_what_leads_to_the_origin_comes_first_of_what_was_fed() -> None:
    names = [f"part{at}" for at in range(5)]
    made = [op(name, "Placeholder", value=np.ones((4, 2), np.float32)) for name in names]
    bad = np.ones((4, 2), np.float32)
    bad[1] = NAN
    run = made_run(
        *made, op("log", "Log", "part3", value=bad), feeds={f"{name}:0": np.ones((4, 2)) for name in names}
    )
    assert "row 1 of 4; fed as part3:0, part0:0, part1:0 and 2 more" in Prompt(run, width=120).show("origin", 120)


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("bad", [0, 1])
def test_a_row_of_one_replica_is_not_shown_beside_those_of_others(bad: int, inside: bool) -> None:
    """The batches of all are arguments of the step; what all get is shown with each.

    `inside` says that the run shows the pipelines that gave them, and the step as what reads these.
    """
    whole = np.arange(8, dtype=np.float32).reshape(4, 2)
    spoiled = whole.copy()
    spoiled[2] = NAN
    given = {name: whole + number for number, name in enumerate(("a", "a_1", "b", "b_1", "weights"))}
    made = [op(name, "Placeholder", value=value, device="") for name, value in given.items()]
    if inside:
        made += [op(f"eager/{name}", "OptionalGetValue", value=value, device="") for name, value in given.items()]
    for number, scope in enumerate(("", "replica_1/")):
        x, y = (f"{'eager/' * inside}{name}{'_1' * number}" for name in "ab")
        made.append(op(f"{scope}log", "Log", x, value=spoiled if number == bad else whole))
        made.append(op(f"{scope}sub", "Sub", f"{scope}log", y, value=spoiled if number == bad else whole))
        made.append(op(f"{scope}mul", "Mul", f"{scope}sub", "weights", value=spoiled if number == bad else whole))
    prompt = Prompt(made_run(*made, feeds={f"{name}:0": value for name, value in given.items()}), width=120)
    own = ["a_1:0", "b_1:0", "weights:0"] if bad else ["a:0", "b:0", "weights:0"]
    assert [one["name"] for one in prompt.data("row")["components"]] == own
    assert f"row 2 of the 4 that replica {bad} was given; fed as {', '.join(own)}" in prompt.show("origin", 120)


@pytest.mark.parametrize("bad", [0, 1])
def test_of_equal_batches_of_replicas_the_place_tells(bad: int) -> None:
    """The arguments of a step stand in the order of the replicas."""
    whole = np.array([[1.0], [-1.0]], np.float32)
    spoiled = np.array([[0.0], [NAN]], np.float32)
    names = ("x", "x_1")
    made = [op(name, "Placeholder", value=whole, device="") for name in names]
    made += [op(f"eager/IteratorGetNext_{number}", "IteratorGetNext", value=whole) for number in (0, 1)]
    for number, scope in enumerate(("", "replica_1/")):
        value = spoiled if number == bad else np.zeros_like(whole)
        made.append(op(f"{scope}log", "Log", f"eager/IteratorGetNext_{number}", value=value))
    prompt = Prompt(made_run(*made, feeds={f"{name}:0": whole for name in names}), width=120)
    assert [one["name"] for one in prompt.data("row")["components"]] == [f"{names[bad]}:0"]


def test_of_infinities_that_leave_all_finite_no_row_is_bad() -> None:
    """A blind test: of a what-if that mended the run `row` called the one bad that had been mended."""
    kept, scores = np.array([[1.0, 0.0], [1.0, 1.0]], np.float32), np.array([[0.0, -np.inf], [0.0, 0.0]], np.float32)
    run = made_run(
        op("kept", "Placeholder", value=kept), op("log", "Log", "kept", value=scores),
        op("by", "Const", value=np.float32(0.5)), op("half", "Mul", "log", "by", value=scores),
        op("soft", "Softmax", "half", value=np.array([[1.0, 0.0], [0.5, 0.5]], np.float32)), feeds={"kept:0": kept},
    )  # fmt: skip
    prompt = Prompt(run)
    told = prompt.error("row")
    assert told.message == "What is infinite here leaves results and variables finite, so no row is bad."
    assert prompt.error("row").message == told.message
    assert not prompt.data("row 0")["bad"] and prompt.data("row 0")["size"] == 2


def test_mistakes() -> None:
    prompt = Prompt(_images())
    assert "has 6" in prompt.error("row 6").message
    assert "exclude" in prompt.error("row 1 --next").message
    assert "exclude" in prompt.error("row --next --previous").message
    fine = made_run(op("x", "Placeholder", value=[1.0]))
    assert "no row is bad" in Prompt(fine).error("row").message
    alone = made_run(op("x", "Const", value=[1.0, NAN]))
    assert "No row" in Prompt(alone).error("row").message


@pytest.mark.parametrize(
    ("op_type", "shape", "where"),
    [
        ("RandomShuffle", (4, 3), "the way back ends at made (RandomShuffle), which does not keep rows apart"),
        ("Mean", (), "the way back ends at made (Mean), which does not keep rows apart"),
        ("Sum", (3,), "the way back leads along axis 1 of x:0, not its rows"),
    ],
)
def test_where_no_row_is_found_it_says_where_the_way_ends(op_type: str, shape: tuple[int, ...], where: str) -> None:
    x = np.ones((4, 3), np.float32)
    run = made_run(
        op("x", "Placeholder", value=x), op("axis", "Const", value=np.array(0)),
        op("made", op_type, "x", "axis", value=np.zeros(shape, np.float32)),
        op("log", "Log", "made", value=np.full(shape, -np.inf, np.float32)), feeds={"x:0": x},
    )  # fmt: skip
    assert f"could be found behind the origin: {where}" in Prompt(run).error("row").message


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


PLACES = {
    "arrays": BatchPlace(6, Order.ARRAYS, 36, 0, "fit"),
    "shuffled": BatchPlace(6, Order.SHUFFLED, 36, 1, "fit"),
    "dataset": BatchPlace(6, Order.PIPELINE, 36, 0, "fit"),
    "uneven": BatchPlace(6, Order.PIPELINE, None, 0, "fit"),
    "second": BatchPlace(1, Order.PIPELINE, None, None, "predict"),
    "first": BatchPlace(0, Order.PIPELINE, None, 0, "fit"),
    "iterator": BatchPlace(6, Order.PIPELINE, 1000),
    "generator": BatchPlace(6, Order.PIPELINE, None, 0, "fit", by_python=True),
}


def _placed(name: str, source: str = "x:0") -> Run:
    run = _images()
    return replace(run, call=replace(run.call, came={source: PLACES[name]}))


def test_which_sample_it_is_in_words() -> None:
    lines = []
    for name in PLACES:
        text = Prompt(_placed(name), width=400).show("row", 400)
        lines.append(f"{name}: {next(one for one in text.splitlines() if one.startswith('Sample'))}")
    check_golden("commands/row_samples", "\n".join(lines))


def test_which_sample_it_is_for_scripts() -> None:
    prompt = Prompt(_placed("arrays"))
    assert prompt.data("row")["sample"] == {
        "number": 37, "certain": True, "order": "arrays", "step": 6, "epoch": 0, "loop": "fit",
    }  # fmt: skip
    assert prompt.data("row 4")["sample"]["number"] == 40
    assert Prompt(_placed("shuffled")).data("row")["sample"]["number"] is None
    uneven = Prompt(_placed("uneven")).data("row")["sample"]
    assert (uneven["number"], uneven["certain"]) == (37, False)
    assert Prompt(_images()).data("row")["sample"] is None
    assert Prompt(_placed("arrays", "other:0")).data("row")["sample"] is None


def test_of_a_run_that_took_several_batches_it_is_the_one_of_its_turn() -> None:
    run = made_run(
        op("next", "IteratorGetNext", values=([4.0, -1.0], [9.0, 16.0])),
        op("root", "Sqrt", "next", values=([2.0, NAN], [3.0, 4.0])),
        order=("next", "root", "next", "root"),
    )
    found = Prompt(replace(run, call=replace(run.call, feeds={}))).data("row")
    assert found["row"] == 1 and found["components"][0]["value"] == -1.0


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
    check_golden(f"screens/row-{size[0]}x{size[1]}", written(screen, 256))


def test_enter_on_the_batch_line_leads_there_and_brackets_step() -> None:
    screen = driven("/rows 1<enter><enter>")
    assert screen.state.page.command == "row 1"
    screen = driven(":row<enter>]")
    assert "Row 4 of 6" in screen.text
    assert [page.command for page in screen.state.pages.all] == ["origin", "row 4"], "whatever row is shown next"
    assert "Row 1 of 6" in driven(":row<enter>][").text
    assert "last one that is bad" in driven(":row<enter>]]").status


def test_the_picture_beside_is_of_the_row_that_is_chosen() -> None:
    """A blind test: the first row of the batch was drawn beside the bad one, and nothing beside the page itself."""
    screen = driven(":row<enter>", (200, 60))
    assert "│ row 1 of 6  bad" in screen.text and "│ y:0[1]" in screen.text
    screen = driven(":row<enter>]", (200, 60))
    assert "│ row 4 of 6  bad" in screen.text and "│ x:0[4]" in screen.text
    screen = driven(":row 2<enter>", (200, 60))
    assert "│ row 2 of 6\n" in screen.text, "also where no link of the page leads to it"
    screen = driven(":row 2<enter>/x:0<enter>", (200, 60))
    assert "│ x:0[2]" in screen.text and "-1.0" not in screen.text


def test_a_picture_is_looked_at_as_one() -> None:
    screen = driven(":row<enter>v")
    assert screen.state.viewer is not None and screen.state.viewer.mode is ViewMode.PICTURE
    assert "Row 2" in Driven(sample_run.run_end(), "", opening="row", registry=REGISTRY).text


def test_a_row_without_text_is_no_empty_line() -> None:
    run = _images()
    texts = np.array([b"a", b"", b"c", b"d", b" ", b"f"], object)
    told = Prompt(replace(run, call=replace(run.call, feeds={**run.call.feeds, "name:0": texts})))
    assert "name:0[1]\n  ''  no text" in told.show("row")
    assert "name:0[4]\n  ' '  no text" in told.show("row --next")
    assert "no text" not in told.show("row 2")


def test_a_row_by_its_number_needs_no_bad_one() -> None:
    x, y = np.arange(8, dtype=np.float32).reshape(4, 2), np.arange(4)
    fed = made_run(
        op("x", "Placeholder", value=x), op("tanh", "Tanh", "x", value=x), feeds={"x:0": x, "y:0": y, "n:0": 3}
    )
    prompt = Prompt(fed, width=100)
    found = prompt.data("row 2")
    assert (found["row"], found["bad"], found["size"], found["bad_rows"]) == (2, False, 4, [])
    assert [one["value"] for one in found["components"]] == [[4.0, 5.0], 2]
    assert prompt.show("row 2", 100).startswith("Row 2 of 4\n")
    assert "from 0" in prompt.error("row 4").message
    assert "no row is bad" in prompt.error("row").message
    drawn = made_run(op("next", "IteratorGetNext", value=x), op("tanh", "Tanh", "next", value=x))
    assert Prompt(drawn).data("row 1")["components"][0]["value"] == [2.0, 3.0]
    assert "no row is bad" in Prompt(made_run(op("c", "Const", value=x))).error("row 1").message


def test_a_row_by_its_number_of_what_is_not_held() -> None:
    """A blind test: who typed `row 1` was told to type `row N`, where no value of what was given is held."""
    prompt = Prompt(made_run(op("x", "Placeholder", value=None), op("one", "Const", value=1.0)))
    error = prompt.error("row 1")
    assert "nothing that the run was given is held with two rows or more" in error.message
    assert error.hint == "`ri` shows what it was given."
    assert prompt.error("row").hint == ""
    shown = Prompt(made_run(op("next", "IteratorGetNext", value=np.arange(4.0))))
    assert shown.error("row").hint == "`row N` shows a row."


def test_what_the_runtime_shows_of_a_feed_is_a_component_where_only_its_name_was_kept() -> None:
    """As in a dump that TensorFlow wrote: its argument of the runtime goes by another name."""
    x, labels = np.array([[1.0, 2.0], [0.0, 3.0]], np.float32), np.array([7, 8])
    run = made_run(
        op("_arg_deep/x_0_1", "_Arg", value=x), op("_arg_y_0_0", "_Arg", value=labels),
        op("log", "Log", "_arg_deep/x_0_1", value=np.array([[0.0, 0.7], [-np.inf, 1.1]], np.float32)),
        feeds={"deep/x:0": None, "y:0": None},
    )  # fmt: skip
    prompt = Prompt(run)
    assert "fed as deep/x:0" in prompt.show("origin", 100)
    found = prompt.data("row")
    assert (found["row"], found["bad"]) == (1, True)
    assert [(one["name"], one["value"]) for one in found["components"]] == [("deep/x:0", [0.0, 3.0]), ("y:0", 8)]
    assert prompt.data("pf y:0")["value"] == [7, 8]
    assert prompt.data("row 0")["components"][1]["value"] == 7
