"""`diff` on the screen and in JSON: two runs, and recordings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support import sample_run
from support.dump_maker import dump_graph, dump_tensor, small_dump
from support.golden import check_golden
from support.looks import written
from support.made_run import made_run, op
from support.prompt import Prompt
from support.screen import Driven
from support.two_runs import after, before, both

from tfdbg_cli.commands.context import HOW_TO_KEEP_RUNS
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.runs import Opened, Run


@pytest.mark.parametrize("width", [40, 80, 200])
def test_the_page(width: int) -> None:
    check_golden(f"commands/diff-{width}", Prompt(both(), width=width).show("diff 1 2 --graphs", width))


@pytest.mark.parametrize("size", [(40, 10), (80, 24), (120, 40), (200, 60)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_on_the_screen(size) -> None:
    screen = Driven(both(), "", size=size, opening="diff 1 2", registry=standard_registry())
    check_golden(f"screens/diff-{size[0]}x{size[1]}", written(screen, 256))


def test_json() -> None:
    data = Prompt(both()).data("diff 1 2")
    assert data["kind"] == "diff"
    first = data["first"]
    assert (first["a"], first["b"], first["execution"]) == ("dense/act:0", "dense_1/act:0", 0)
    assert (first["file_a"], first["line_a"]) == ("/home/ada/old.py", 5)
    assert (first["file_b"], first["line_b"]) == ("/home/ada/new.py", 5)
    assert first["max_abs"] > 0.1 and first["max_rel"] > 0.1 and first["max_ulp"] > 1e5
    assert [item["is"] for item in first["inputs"]] == ["rounded"]
    assert (data["different"], data["only_a"], data["only_b"]) == (2, [], ["extra:0"])
    assert data["equal"] == 5 and data["rounding"] == 2
    assert [pair["a"] for pair in data["pairs"]] == ["dense/act:0", "loss:0"]
    assert "graphs" not in data and "graphs" in Prompt(both()).data("diff 1 2 --graphs")


def _bits_of(zero: float) -> Run:
    x = np.array([zero, 1.0], np.float32)
    made = op("x", "Const", value=x), op("same", "Identity", "x", value=x)
    return made_run(*made, op("bits", "Bitcast", "same", value=x.view(np.int32)))


def test_zeros_that_differ_by_their_sign_are_told_and_are_equal() -> None:
    """A blind test: 0 and -0 were equal to the last bit, also where an op read their bits."""
    prompt = Prompt(Opened("/data/runs", [_bits_of(0.0), _bits_of(-0.0)]), width=120)
    data = prompt.data("diff 1 2")
    assert (data["equal"], data["zeros"], data["different"], data["first"]["a"]) == (2, 2, 1, "bits:0")
    shown = prompt.show("diff 1 2", 120)
    assert "Its inputs are equal but for the sign of zeros." in shown
    assert "in 2 equal pairs elements are 0 in one and -0 in the other: x:0, same:0" in shown
    assert Prompt(both()).data("diff 1 2")["zeros"] == 0


def test_links_lead_into_the_run_that_is_looked_at() -> None:
    for run, scope in ((1, "dense"), (2, "dense_1")):
        prompt = Prompt(both())
        prompt.context.select_run(run - 1)
        links = prompt.links("diff 1 2")
        assert f"pt {scope}/act:0" in links
        for link in links:
            prompt.document(link)


def test_equal_runs_rounding_and_a_tolerance() -> None:
    same = Prompt(Opened("/data", [before(), before()]))
    assert "Nothing differs." in same.show("diff 1 2")
    shown = Prompt(both()).show("diff 1 2 --rtol 0 --atol 1e-9", None)
    assert "dense/MatMul:0 → dense_1/MatMul:0" in shown, "rounding counts where somebody says so"
    assert "loss" in Prompt(both()).show("diff 1 2 -n loss")
    assert Prompt(both()).data("diff 1 2 -n nothing")["pairs"] == []


def test_which_runs_are_meant() -> None:
    prompt = Prompt(both())
    error = prompt.error("diff")
    assert error.message == "There is no other run before this one to compare with."
    assert error.hint == "`diff 1 2` compares it with the one after it."
    assert prompt.data("diff 2")["first"]["a"] == "dense_1/act:0"
    prompt.context.select_run(1)
    assert prompt.data("diff")["first"]["a"] == "dense/act:0"
    assert "There is no run 3" in prompt.error("diff 1 3").message
    assert "no run" in prompt.error("diff 0").message


def test_runs_are_meant_by_their_numbers_too(tmp_path: Path) -> None:
    """A blind test: `runs #3` leads there, and `diff #1 #3` looked for a file."""
    runs = [replace(run, call=replace(run.call, number=n)) for n, run in enumerate([before(), after()], 50)]
    prompt = Prompt(Opened("/data", runs))
    assert prompt.data("diff #50 #51")["first"] == prompt.data("diff 1 2")["first"]
    assert "There is no run #52 here" in prompt.error("diff #50 #52").message
    small_dump(tmp_path / "root" / "run_1")
    small_dump(tmp_path / "root" / "run_2")
    opened = open_path(str(tmp_path / "root")).runs
    numbers = [run.call.number for run in opened]
    root = tmp_path / "root"
    data = prompt.data(f"diff {root}#{numbers[0]} {root}#{numbers[-1]}")
    assert data["different"] == 0
    assert f"There is no run #77 in {root}" in prompt.error(f"diff {root}#77 {root}").message
    (root.parent / "odd#1").symlink_to(root)
    assert prompt.data(f"diff {root.parent / 'odd#1'} {root}")["different"] == 0, "a name may hold a #"


def test_of_a_run_that_cannot_be_made_again_no_other_is_promised() -> None:
    error = Prompt(sample_run.run_end()).error("diff")
    assert error.message == "There is no other run to compare with."
    assert error.hint == HOW_TO_KEEP_RUNS


def test_recordings(tmp_path: Path) -> None:
    first, second = small_dump(tmp_path / "a"), small_dump(tmp_path / "b")
    prompt = Prompt(sample_run.opened())
    assert prompt.data(f"diff {first} {second}")["different"] == 0
    dump_tensor(tmp_path / "c", "double", 20, [2.0, 5.0])
    dump_graph(tmp_path / "c", [("x", "Placeholder", []), ("double", "Mul", ["x", "x"])])
    assert prompt.data(f"diff {first} {tmp_path / 'c'}")["first"]["a"] == "double:0"
    shown = prompt.show(f"diff {tmp_path / 'c'}")
    assert "Only in A" in shown and "Only in B" in shown
    assert "There is no" in prompt.error(f"diff {tmp_path / 'missing'}").message


def test_a_recording_of_many_runs_gives_the_one_with_the_number_looked_at(tmp_path: Path) -> None:
    runs = [before(), after()]
    many = Opened("/data", [replace(run, call=replace(run.call, number=n)) for n, run in enumerate(runs, 50)])
    small_dump(tmp_path / "root" / "run_1")
    small_dump(tmp_path / "root" / "run_2")
    prompt = Prompt(many)
    error = prompt.error(f"diff {tmp_path / 'root'}")
    assert "no run #50" in error.message


def test_shapes_values_without_numbers_and_turns() -> None:
    run = sample_run.sample_run()
    other = replace(run, tensors=sample_run.store())
    data = Prompt(Opened("/data", [run, other])).data("diff 1 2")
    assert data["different"] == 0 and data["unknown"] > 0 and data["equal"] > 10


def test_nothing_in_common() -> None:
    lonely = replace(before(), graph=sample_run.graph(), tensors=sample_run.store())
    shown = Prompt(Opened("/data", [before(), lonely])).show("diff 1 2")
    assert "Only in A" in shown and "Only in B" in shown
    empty = replace(before(), tensors=type(before().tensors)((), ()))
    assert "No tensor of one could be paired" in Prompt(Opened("/data", [before(), empty])).show("diff 1 2")
    assert np.isfinite(Prompt(both()).data("diff 1 2")["first"]["max_abs"])


@pytest.mark.parametrize(
    ("op_type", "said"), [("RandomUniform", "It draws random numbers"), ("IteratorGetNext", "It is another batch.")]
)
def test_what_is_drawn_is_told_as_such(op_type: str, said: str) -> None:
    def drawn(value: float) -> Run:
        return made_run(op("shape", "Const", value=np.int32(1)), op("drawn", op_type, "shape", value=value))

    shown = Prompt(Opened("/data", [drawn(0.25), drawn(0.75)])).show("diff 1 2")
    assert "0.25 in A, 0.75 in B" in shown and said in shown


def test_what_is_nan_on_one_side_alone_is_no_distance_of_0() -> None:
    def run(value: float) -> Run:
        return made_run(op("x", "Const", value=np.float32(1.0)), op("y", "Log", "x", value=np.float32(value)))

    first = Prompt(Opened("/data", [run(1.0), run(np.nan)])).data("diff 1 2")["first"]
    assert first["a"] == "y:0" and first["differing"] == 1
    assert first["max_abs"] is first["max_rel"] is first["max_ulp"] is None
