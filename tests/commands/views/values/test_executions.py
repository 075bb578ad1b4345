"""`pt` of a tensor in a loop: listed, as a curve, one below another, `-n` in every form."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support import sample_step
from support.golden import check_golden
from support.made_run import made_run, op
from support.prompt import Prompt

from tfdbg_cli.model.runs import RunEnd
from tfdbg_cli.model.values import Lack, NoValue

MUL = f"{sample_step.BODY}/cell/Mul"
TOTAL = f"{sample_step.BODY}/cell/total"


@pytest.fixture
def prompt() -> Prompt:
    return Prompt(RunEnd(sample_step.step_run()))


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("pt_loop_scalars", f"pt {TOTAL}"),
        ("pt_loop_arrays", f"pt {MUL}"),
        ("pt_loop_stacked", f"pt {MUL} -n 1:"),
        ("pt_loop_slice", f"pt {MUL}[0,1]"),
    ],
)
def test_screens(prompt: Prompt, name: str, command: str) -> None:
    check_golden(f"commands/{name}", prompt.show(command))


@pytest.mark.parametrize(
    ("text", "places"),
    [("all", [0, 1, 2]), ("1:", [1, 2]), ("[:2]", [0, 1]), ("-1:", [2]), ("::2", [0, 2]), ("::-1", [2, 1, 0])],
)
def test_slices_of_executions(prompt: Prompt, text: str, places: list[int]) -> None:
    found = prompt.data(f"pt {MUL} -n={text}")["tensors"]
    assert [tensor["execution"] for tensor in found] == places
    assert [tensor["value"] for tensor in found] == [sample_step.SEEN[place].tolist() for place in places]


def test_one_execution_stays_one_tensor(prompt: Prompt) -> None:
    assert prompt.data(f"pt {MUL} -n -1")["value"] == sample_step.SEEN[2].tolist()
    assert prompt.data(f"pt {MUL} -n 0")["kind"] == "tensor"


def test_scalars_have_their_values_in_json_without_asking(prompt: Prompt) -> None:
    assert [tensor["value"] for tensor in prompt.data(f"pt {TOTAL}")["tensors"]] == [0.5, "nan", 2.5]
    assert "value" not in prompt.data(f"pt {MUL}")["tensors"][0]


def test_the_nan_of_a_loop_is_seen_in_the_curve(prompt: Prompt) -> None:
    assert "▁×█  0.5 to 2.5, × NaN" in prompt.show(f"pt {TOTAL}")


def test_one_element_along_the_iterations_is_a_curve(prompt: Prompt) -> None:
    data = prompt.data(f"pt {MUL}[0,1]")
    assert [tensor["value"] for tensor in data["tensors"]] == [2, 4, 8]
    assert [tensor["summary"]["size"] for tensor in data["tensors"]] == [1, 1, 1]


def test_flags_hold_for_each_value(prompt: Prompt) -> None:
    assert prompt.show(f"pt {MUL} -n all -r [4,8]").count("Highlighted") == 3
    assert prompt.show(f"pt {MUL} -n all -s").count("Numeric summary") == 3
    assert prompt.data(f"pt {MUL} -n all --threshold 1 --edgeitems 1")["tensors"][0]["elided"] is True


def test_links_lead_on(prompt: Prompt) -> None:
    for link in prompt.links(f"pt {MUL}") + prompt.links(f"pt {MUL} -n all") + prompt.links(f"pt {TOTAL}"):
        prompt.document(link)
    assert prompt.link(f"pt {MUL} -n all -s", "execution 1") == f"pt {MUL} -n 1 -s"


def test_written_as_one_array(prompt: Prompt, tmp_path: Path) -> None:
    path = tmp_path / "loop.npy"
    assert "Saved" in prompt.show(f"pt {MUL} -n all -w {path}")
    assert np.load(path).tolist() == sample_step.SEEN.tolist()
    assert not any("-w" in link for link in prompt.links(f"pt {MUL} -n all -w {path} --force"))


@pytest.mark.parametrize(
    ("number", "said"),
    [
        ("x", "no execution"),
        ("7", "no execution 7"),
        ("7:9", "takes none"),
        ("::0", "makes no steps"),
        ("1:2:3:4", "no"),
    ],
)
def test_what_cannot_be_meant(prompt: Prompt, number: str, said: str) -> None:
    assert said in prompt.error(f"pt {MUL} -n {number}").message


def test_shapes_that_change_and_values_that_lack() -> None:
    grown = op("loop", "Concat", values=(np.zeros(1), np.zeros(2), NoValue(Lack.GONE, "Over the budget.")))
    prompt = Prompt(RunEnd(made_run(grown)))
    assert "Over the budget." in prompt.show("pt loop -n all")
    assert [tensor["value"] for tensor in prompt.data("pt loop -n all")["tensors"]] == [[0], [0, 0], None]
    assert "do not fit" in prompt.error("pt loop -n all -w x.npy").message


def test_many_arrays_come_in_parts() -> None:
    prompt = Prompt(RunEnd(made_run(op("loop", "Add", values=tuple(np.full(2, i) for i in range(250))))))
    shown = prompt.show("pt loop -n all")
    assert "150 more" in shown and shown.count("execution ") == 100
    assert "50 more" in prompt.show(prompt.link("pt loop -n all", "pt"))
    assert len(prompt.data("pt loop -n all")["tensors"]) == 250


def test_texts_and_complex_numbers_need_no_curve() -> None:
    run = made_run(op("s", "Const", values=(np.array("a"), np.array("b"))), op("c", "Add", values=(1j, 2j)))
    prompt = Prompt(RunEnd(run))
    assert "'a'" in prompt.show("pt s") and "▁" not in prompt.show("pt s") + prompt.show("pt c")


def test_the_last_parts_of_a_name_are_enough(prompt: Prompt) -> None:
    assert prompt.data("pt cell/total -n 1")["name"] == f"{TOTAL}:0"
    assert prompt.data("pt …/cell/total:0 -n 1")["name"] == f"{TOTAL}:0", "as lt shows it"
    assert prompt.data("ni loss/Log")["name"].endswith("/loss/Log")
    several = prompt.error("pt MatMul")
    assert "fits 2 tensors" in several.message and "gradient_tape" in several.hint
    assert "fits" in prompt.error("ni MatMul").message
    assert "no tensor" in prompt.error("pt …/").message
