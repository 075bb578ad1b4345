"""Which functions of installed packages are runs: those that the program's own code was traced into."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import tensorflow as tf
from support.scripted import ScriptedFrontend

from tfdbg_cli.capture.intercept.all_functions import intercept_all_functions
from tfdbg_cli.capture.intercept.worthwhile import calls_program_back
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.decision import DebugRun

pytestmark = pytest.mark.tf

_PACKAGE = """\
import tensorflow as tf


def minimize(loss, variable, turns):
    @tf.function(autograph=False)
    def optimizer_step(rate):
        with tf.GradientTape() as tape:
            found = loss()
        variable.assign_sub(rate * tape.gradient(found, variable))
        return found

    return [optimizer_step(tf.constant(0.1)) for _ in range(turns)]


@tf.function
def seed(number):
    return number * 2


def draw(number):
    return seed(number)
"""


@pytest.fixture
def package(tmp_path: Path) -> ModuleType:
    """A module that stands where installed packages do."""
    file = tmp_path / "site-packages" / "minimizer.py"
    file.parent.mkdir()
    file.write_text(_PACKAGE)
    spec = importlib.util.spec_from_file_location("minimizer", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def front() -> Iterator[ScriptedFrontend]:
    """Captures every run there is."""
    front = ScriptedFrontend(*[DebugRun()] * 20)
    undo = intercept_all_functions(Debugger(lambda: front))
    yield front
    undo()


def _called(front: ScriptedFrontend) -> list[str]:
    return [end.run.call.title.partition(": ")[2].partition("(")[0] for end in front.ends]


def test_a_step_of_a_package_that_computes_a_loss_of_the_program_is_a_run(
    package: Any, front: ScriptedFrontend
) -> None:
    """A blind test: tfp.math.minimize diverged, and all that was known is that its step gave an infinity."""
    weight = tf.Variable(3.0)
    losses = package.minimize(lambda: tf.square(weight), weight, 2)
    assert _called(front) == ["optimizer_step", "optimizer_step"]
    assert float(losses[0]) == 9.0
    assert any(tensor.op_type == "Square" for tensor in front.ends[0].run.tensors)


def test_a_function_of_a_package_alone_is_none_unless_the_program_calls_it(
    package: Any, front: ScriptedFrontend
) -> None:
    package.draw(tf.constant(2))
    assert not _called(front)
    package.seed(tf.constant(3))
    assert _called(front) == ["seed"]


def _graph_of(function: Any, *given: Any) -> Any:
    return function.get_concrete_function(*given).graph


def test_lines_of_the_program_around_the_call_make_no_part_of_it(package: Any) -> None:
    graph = _graph_of(package.seed, tf.constant(2))  # traced from here
    assert not calls_program_back(package.seed.python_function, graph)


def test_what_has_no_code_calls_nothing_back(package: Any) -> None:
    class Called:
        def __call__(self, number: tf.Tensor) -> tf.Tensor:
            return number + 1

    nobody: Callable[..., Any] = Called()
    assert not calls_program_back(nobody, _graph_of(package.seed, tf.constant(2)))
