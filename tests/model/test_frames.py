"""Python in a call of the program: expressions, and what statements assign."""

from __future__ import annotations

import pytest

from tfdbg_cli.model.frames import Assigned, LiveFrame
from tfdbg_cli.model.sources import Frame

PLACE = Frame("/home/me/train.py", 12, "train", "loss = log(prob)")


def test_an_expression_is_evaluated_in_the_call() -> None:
    frame = LiveFrame(PLACE, {"step": 3}, {"scale": 2})
    assert frame.evaluate("step * scale") == 6
    with pytest.raises(NameError):
        frame.evaluate("other")
    with pytest.raises(SyntaxError):
        frame.evaluate("if")


def test_what_is_assigned_in_a_module_is_the_programs() -> None:
    module = {"step": 3}
    frame = LiveFrame(PLACE, module, module)
    assert frame.is_module
    assert frame.evaluate("step = 4; rate = 0.5") == Assigned(("step", "rate"))
    assert (module["step"], module["rate"]) == (4, 0.5)
    assert frame.evaluate("step += 0") == Assigned(())


def test_what_is_assigned_in_a_function_is_there_for_the_next_words_alone() -> None:
    own, module = {"step": 3}, {"scale": 2}
    frame = LiveFrame(PLACE, dict(own), module)
    assert not frame.is_module
    assert frame.evaluate("step = 40") == Assigned(("step",))
    assert frame.evaluate("step * scale") == 80
    assert own == {"step": 3} and "step" not in module
    assert frame.evaluate("global scale; scale = 5") == Assigned(())
    assert module["scale"] == 5


def test_what_is_nested_in_words_sees_the_names_of_the_call() -> None:
    frame = LiveFrame(PLACE, {"rate": 2}, {"scale": 3})
    assert frame.evaluate("[rate * scale * a for a in range(3) if a < rate]") == [0, 6]
    assert frame.evaluate("(lambda z: z + rate)(1)") == 3
    assert frame.evaluate("kept = [a for a in range(5) if a > rate]") == Assigned(("kept",))
    assert frame.evaluate("def doubled(z): return z * rate") == Assigned(("doubled",))
    assert frame.evaluate("doubled(10), kept") == (20, [3, 4])
    assert "kept" not in frame.outer
