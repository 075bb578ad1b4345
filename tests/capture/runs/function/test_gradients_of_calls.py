"""What is said of a gradient that a tape outside of a function asks for, and that goes wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from support.gradient_programs import PROGRAMS, asked, bug_line, loop, nested, plain
from support.prompt import json_of, text_of

from tfdbg_cli.model.decision import DebugRun, RunUntil

pytestmark = pytest.mark.tf

FORWARD = {
    "plain": "plain/Sqrt",
    "nested": "nested/root_1/Sqrt",  # of the second call
    "two_outputs": "two_outputs/Sqrt",
    "loop": "loop/while/body/Sqrt",
    "branch": "branch/cond/false/Sqrt",
    "gradients": "function_gradients/Sqrt",
}


@pytest.mark.parametrize("until", ["has_inf_or_nan", "bad_result"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_line_of_the_forward_op_is_shown(watched: Callable[..., Any], name, until) -> None:
    with watched(RunUntil(until)) as front:
        asked(PROGRAMS[name])
    (end,) = front.ends
    assert end.run.call.function == f"gradient of {name}"
    found, screen = json_of("origin", end), text_of("origin", end, width=None)
    number, text = bug_line(PROGRAMS[name])
    assert found["op_type"] == "SqrtGrad"
    assert (found["line"], found["forward"]) == (number, FORWARD[name])
    assert text.strip() in screen
    assert f"{FORWARD[name]}, whose gradient this is" in screen
    assert "Gradient of a square root at 0" in found["cause"]


def test_what_was_handed_over_is_shown_under_its_name(watched: Callable[..., Any]) -> None:
    with watched(RunUntil("has_inf_or_nan")) as front:
        asked(plain)
    (end,) = front.ends
    run = end.run
    (row,) = run.tensors.named("plain/Sqrt")
    assert np.array_equal(run.tensors.value(row), [0, 2])
    assert "plain/Sqrt:0 is 0 at 1 element" in json_of("origin", end)["cause"]
    assert "plain/Sqrt" in text_of("run_info", end)
    assert "What is under `plain/` ran in the call of which this is the gradient" in " ".join(run.notes)
    assert "In       plain, called by forward" in text_of("node_info plain/Sqrt", end)
    layers = json_of("layers", end)["layers"]
    assert "plain" not in {layer["name"] for layer in layers}


def test_a_node_tells_of_which_op_it_computes_the_gradient(watched: Callable[..., Any]) -> None:
    with watched(RunUntil("has_inf_or_nan")) as front:
        asked(plain)
    (end,) = front.ends
    line = f"gradient_programs.py:{bug_line(plain)[0]} in plain: plain/mul, whose gradient this is"
    short, long = (text_of(f"node_info {more} gradients/mul_grad/Mul_1", end, width=None) for more in ("", "-t"))
    assert line in short.partition("Made at")[2].partition("\n")[0]
    assert line in long.partition("Forward")[2].partition("\n")[0]
    assert json_of("node_info gradients/mul_grad/Mul_1", end)["forward"] == "plain/mul"
    assert json_of("node_info plain/mul", end)["forward"] is None


def test_within_a_function_the_line_of_the_tape_and_that_of_the_op_are_both_told(watched) -> None:
    @tf.function
    def step(v: Any) -> Any:
        return asked(plain, v=v)

    variable = tf.Variable([0.0, 4.0])
    with watched(RunUntil("has_inf_or_nan")) as front:
        step(variable)
    (end,) = front.ends
    (name,) = [node.name for node in end.run.graph if node.op_type == "SqrtGrad"]
    said = text_of(f"node_info {name}", end, width=None)
    assert "in asked" in said.partition("Made at")[2].partition("\n")[0]
    assert "plain/Sqrt, whose gradient this is" in said.partition("Forward")[2].partition("\n")[0]


def test_the_chain_has_the_op_and_its_gradient_though_they_are_of_one_line(watched: Callable[..., Any]) -> None:
    with watched(RunUntil("has_inf_or_nan")) as front:
        asked(plain)
    chain = text_of("origin", front.ends[0], width=None).partition("Chain")[2].partition("\n")[0]
    number = bug_line(plain)[0]
    assert f"plain/Sqrt :{number} → gradients/Sqrt_grad/SqrtGrad :{number}" in chain, chain


@pytest.mark.parametrize("function", [plain, nested, loop], ids=["plain", "nested", "loop"])
def test_a_captured_gradient_shows_the_same(watched: Callable[..., Any], function) -> None:
    with watched(*[DebugRun()] * 4) as front:
        asked(function)
    end = next(end for end in front.ends if end.run.call.function.startswith("gradient of"))
    found = json_of("origin", end)
    assert found["line"] == bug_line(function)[0]


def test_the_line_stays_where_the_function_was_called_before_at_another(watched: Callable[..., Any]) -> None:
    asked(plain, v=tf.Variable([1.0, 4.0]))
    with watched(RunUntil("has_inf_or_nan")) as front:
        asked(plain)
    assert json_of("origin", front.ends[0])["line"] == bug_line(plain)[0]
