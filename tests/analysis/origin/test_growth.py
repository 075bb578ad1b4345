"""How large the tensors on a chain are, and where they grew most."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.made_run import INF, NAN, Op, made_run, op
from support.prompt import Prompt, json_of, text_of

from tfdbg_cli.analysis.graph.ways.chain import Link
from tfdbg_cli.analysis.origin.growth import steepest
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Opened, Run, RunEnd


def _links(*sizes: float | None) -> list[Link]:
    return [Link(TensorName(f"n{at}", 0), ("Add",), None, largest=size) for at, size in enumerate(sizes)]


@pytest.mark.parametrize(
    ("sizes", "found"),
    [
        ((1.0, 100.0, 60_000.0, 60_000.0, None), (2, 600.0)),
        ((1.0, 9.0, 80.0), None),  # no step of these is steep
        ((None, 1e9), None),
        ((0.0, 5.0), None),
        ((2.0, None, 40.0, 800.0), (3, 20.0)),
    ],
)
def test_the_steepest_step(sizes: tuple[float | None, ...], found: tuple[int, float] | None) -> None:
    assert steepest(_links(*sizes)) == found


def _overflow(grown: int, count: int = 14, *, top: float = 6e4, last: float = INF, trains: bool = False) -> Run:
    """A chain of steps, of which that at `grown` makes values 400 times as large; the last one overflows."""
    update = [op("w", "VarHandleOp"), op("update", "AssignSubVariableOp", "w", "x")] if trains else []
    steps: list[Op] = []
    for at in range(count):
        size = top if at >= grown else top / 400
        steps.append(op(f"n{at}", "Neg", f"n{at - 1}" if at else "x", value=np.float16([size, 1.0])))
    return made_run(
        op("x", "Placeholder", value=np.float16([1.0, 1.0])), *steps,
        op("sum", "AddV2", f"n{count - 1}", f"n{count - 1}", value=np.float16([last, 2.0])),
        *update,
        feeds={"x:0": np.float16([1.0, 1.0])},
    )  # fmt: skip


@pytest.mark.parametrize("grown", [2, 6, 7, 12])
def test_of_a_long_chain_the_step_at_which_it_grew_most_is_never_left_out(grown: int) -> None:
    """A blind test: the steps at which an attention grew were the two that were left out."""
    text = " ".join(text_of("origin", _overflow(grown), width=200).split())
    assert f"n{grown} |x| 6e+04 (×400)" in text and f"n{grown - 1} |x| 150" in text
    assert "steps …" in text and "1 step …" not in text
    chain = json_of("origin", _overflow(grown))["chain"]
    assert [link["absmax"] for link in chain if link["tensor"] == f"n{grown}:0"] == [60_000.0]
    assert chain[-1]["absmax"] is None  # it is infinite


def test_sizes_are_told_of_an_overflow_alone() -> None:
    run = made_run(
        op("x", "Placeholder", value=[-1.0]), op("wide", "Neg", "x", value=[-1e6]),
        op("y", "Log", "wide", value=[NAN]),
        feeds={"x:0": np.float32([-1.0])},
    )  # fmt: skip
    assert "|x|" not in text_of("origin", run, width=200)


def _training(*tops: float, trains: bool = True) -> list[Run]:
    runs = [_overflow(2, 5, top=top, last=1.0, trains=trains) for top in tops[:-1]]
    return _numbered(*runs, _overflow(2, 5, top=tops[-1], trains=trains))


def _numbered(*runs: Run) -> list[Run]:
    return [replace(run, call=replace(run.call, number=at + 6)) for at, run in enumerate(runs)]


def test_what_grew_from_run_to_run_is_told_with_what_helps() -> None:
    """A blind test: attention overflowed, as it had grown in five runs that were kept, and no word of it was said."""
    *earlier, last = _training(1.2e4, 2e4, 2.8e4, 4.4e4, 6e4)
    grew = "|x| of n4:0 from run to run, runs #6 to #10: 1.2e+04, 2e+04, 2.8e+04, 4.4e+04, 6e+04. Lower the learning"
    for stop in (RunEnd(last, earlier=earlier), Opened("recording", [*earlier, last], current=4)):
        prompt = Prompt(stop)
        assert grew in " ".join(prompt.show("origin", 300).split())
        assert prompt.data("origin")["grew"].startswith("|x| of n4:0")


@pytest.mark.parametrize("tops", [(5.8e4, 5.9e4, 6e4), (2e4, 4e4, 3e4, 6e4), (3e4, 6e4)])
def test_what_did_not_grow_or_is_not_known_to_is_not_said_to(tops: tuple[float, ...]) -> None:
    *earlier, last = _training(*tops)
    prompt = Prompt(RunEnd(last, earlier=earlier))
    assert "Grew" not in prompt.show("origin", 300) and prompt.data("origin")["grew"] is None


def test_what_helps_a_training_is_said_of_a_run_that_writes_variables() -> None:
    """A blind test: of a function that trains nothing it said to lower the learning rate."""
    *earlier, last = _training(2e4, 4e4, 6e4, trains=False)
    grew = Prompt(RunEnd(last, earlier=earlier)).data("origin")["grew"]
    assert grew == "|x| of n4:0 from run to run, runs #6 to #8: 2e+04, 4e+04, 6e+04."


@pytest.mark.parametrize(
    ("op_type", "inputs", "given"),
    [
        ("Log", ("x",), [-INF, 1.0]),
        ("Reciprocal", ("x",), [INF, 1.0]),
        ("RealDiv", ("y", "x"), [INF, 1.0]),
        ("Pow", ("x", "y"), [INF, 1.0]),
    ],
)
def test_what_a_zero_made_infinite_did_not_grow(op_type: str, inputs: tuple[str, ...], given: list[float]) -> None:
    """A blind test: the other elements had grown, and the one that was 0 had not."""

    def run(least: float, most: float, result: list[float]) -> Run:
        fed = {"x:0": np.float32([least, most]), "y:0": np.float32([1.0, most])}
        values = [op(name[:-2], "Placeholder", value=value) for name, value in fed.items()]
        return made_run(*values, op("z", op_type, *inputs, value=np.float32(result)), feeds=fed)

    *earlier, last = _numbered(run(1, 3, [1, 1]), run(2, 40, [1, 1]), run(0, 400, given))
    prompt = Prompt(RunEnd(last, earlier=earlier))
    assert prompt.data("origin")["tensor"] == "z:0" and prompt.data("origin")["grew"] is None
    *earlier, last = _numbered(run(1, 3, [1, 1]), run(2, 40, [1, 1]), run(3, 400, given))
    grew = Prompt(RunEnd(last, earlier=earlier)).data("origin")["grew"]
    assert (grew is not None) == (op_type in {"RealDiv", "Pow"}), "a quotient overflows by what it divides, too"
