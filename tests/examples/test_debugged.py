"""The examples under the debugger: each bug is found, and the program goes on as it would without us."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest
from support.example_process import run_example
from support.launched import python
from support.libraries import require
from support.package_source import PROJECT

pytestmark = pytest.mark.tf

LINE = ("--debug", "--ui_type", "readline")


def _tfdbg(*words: str, anew: bool = False) -> subprocess.CompletedProcess[str]:
    return python("-m", "tfdbg_cli", *words, anew=anew)


def _line_of(example: str, text: str) -> int:
    lines = (PROJECT / "tfdbg_cli" / "examples" / f"{example}.py").read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


@pytest.fixture(scope="module")
def demo() -> subprocess.CompletedProcess[str]:
    """What `make demo` does without a terminal."""
    words = ("run", "--until", "has_inf_or_nan", "-c", "origin", "-m", "tfdbg_cli.examples.classifier")
    return _tfdbg(*words, anew=True)


def test_the_demo_prints_the_origin_and_ends_with_0(demo: subprocess.CompletedProcess[str]) -> None:
    assert demo.returncode == 0, demo.stderr
    assert "tfdbg> origin" in demo.stdout
    assert "cross_entropy/Log" in demo.stdout
    assert f"classifier.py:{_line_of('classifier', 'tf.log(')}" in demo.stdout
    assert "cross_entropy/probabilities:0" in demo.stdout


def test_the_demo_trains_to_its_end(demo: subprocess.CompletedProcess[str]) -> None:
    assert "step  60: loss nan" in demo.stdout


def test_the_origin_of_the_classifier_as_json() -> None:
    done = _tfdbg("run", "--until", "has_inf_or_nan", "--json", "-c", "origin", "-m", "tfdbg_cli.examples.classifier")
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    origin: dict[str, Any] = next(answer for answer in answers if answer["kind"] == "origin")
    assert origin["tensor"] == "cross_entropy/Log:0"
    assert origin["op_type"] == "Log"
    assert origin["line"] == _line_of("classifier", "tf.log(")
    assert [element["value"] for element in origin["elements"]] == ["-inf"] * len(origin["elements"])
    assert origin["batch_rows"] == sorted({element["index"][0] for element in origin["elements"]})


def test_the_loop_is_stopped_by_a_filter_of_ones_own() -> None:
    done = run_example("fibonacci", *LINE, stdin="run -f has_negative\nlt -f has_negative -n next\n")
    assert done.returncode == 0, done.stderr
    assert "fibonacci/next:0" in done.stdout
    assert done.stdout.rstrip().endswith("Fibonacci number at position 50: [-298632863]")


@pytest.mark.parametrize(
    ("error", "type_name", "node"),
    [
        ("shape_mismatch", "InvalidArgumentError", "of_column"),
        ("uninitialized_variable", "FailedPreconditionError", "ReadVariableOp"),
    ],
)
def test_an_op_error_is_shown_and_then_raised(error: str, type_name: str, node: str) -> None:
    plain = run_example("errors", "--error", error)
    done = run_example("errors", "--error", error, *LINE, stdin="continue\nerror_info\n")
    assert done.returncode == plain.returncode == 1
    assert type_name in done.stdout
    assert node in done.stdout
    assert type_name in done.stderr


def test_tfdbg_comes_before_the_hook_that_ends_the_training() -> None:
    done = run_example("monitored", *LINE, stdin="run -f has_inf_or_nan\norigin\n")
    assert done.returncode == 1
    assert "NanLossDuringTrainingError" in done.stderr
    assert "SquaredDifference" in done.stdout
    assert "monitored.py" in done.stdout


def test_the_session_of_keras_is_debugged() -> None:
    require("tf_keras")
    done = run_example("keras_v1", *LINE, stdin="run -f has_inf_or_nan\norigin\n")
    assert done.returncode == 0, done.stderr
    assert "normal/batchnorm/Rsqrt:0" in done.stdout
    assert f"keras_v1.py:{_line_of('keras_v1', 'BatchNormalization(')}" in done.stdout
    assert "loss: nan" in done.stdout


def test_the_launch_program_gives_the_same_slope() -> None:
    plain = run_example("linear_regression")
    done = run_example("linear_regression", *LINE, stdin="run\npt y_hat:0 -s\nrun -t 3\nlt\ncontinue\n")
    assert done.returncode == 0, done.stderr
    assert plain.stdout.strip() in done.stdout
    assert "y_hat:0" in done.stdout
