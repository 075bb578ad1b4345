"""The examples for TensorFlow 2 under `tfdbg run`: op, line, rows and turn are named, and the program goes on."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from typing import Any

import pytest
from support.example_process import run_example
from support.launched import python
from support.package_source import PACKAGE, PROJECT
from support.versions import SHOWS_TYPES

pytestmark = pytest.mark.tf


@dataclass(frozen=True)
class Bug:
    """What the origin in an example is, and what the program prints in the end all the same."""

    op_type: str
    text: str  # of the line that made it
    cause: str
    value: str
    prints: str
    flags: tuple[str, ...] = ()
    in_batch: bool = False


BUGS = {
    "mlp_v2": Bug("Log", "tf.math.log(probabilities)", "Log of 0", "-inf", r"step  60: loss nan", in_batch=True),
    "keras_fit": Bug("RealDiv", "weighted / total", "0 / 0", "nan", r"loss: nan[\s\S]*loss nan,", in_batch=True),
    "fibonacci_v2": Bug("AddV2", "last + current", "Overflow of a sum", "inf", r"position 200: \[inf\]"),
    "custom_loop": Bug(
        "SqrtGrad", "return tf.sqrt(", "Gradient of a square root", "inf", "step  8: loss nan", in_batch=True
    ),
    "custom_loop, eagerly": Bug(
        "SqrtGrad", "tape.gradient(", "Gradient of a square root", "inf", "step  8: loss nan", ("--eager",), True
    ),
    "loop_in_branch": Bug("RealDiv", "return shares / ", "0 / 0", "nan", "8 turns: .* share of nan", in_batch=True),
    "jit_compiled": Bug("RealDiv", "of_class / images_of_class", "0 / 0", "nan", "step 20: loss nan"),
}


def _debugged(example: str, *flags: str) -> subprocess.CompletedProcess[str]:
    ask = ("--json", "-c", "run -f has_inf_or_nan", "-c", "origin")
    return python("-m", "tfdbg_cli", "run", *ask, "-m", f"tfdbg_cli.examples.{example}", *flags)


def _origin(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    origins = [answer for answer in answers if answer.get("kind") == "origin"]
    assert len(origins) == 1, done.stdout + done.stderr
    return dict(origins[0])


def _line_of(example: str, text: str) -> int:
    lines = (PROJECT / "tfdbg_cli" / "examples" / f"{example}.py").read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


@pytest.mark.parametrize("name", BUGS)
def test_the_origin_is_named_and_the_program_goes_on(name: str) -> None:
    bug, example = BUGS[name], name.split(",")[0]
    done = _debugged(example, *bug.flags)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    origin = _origin(done)
    assert origin["op_type"] == bug.op_type
    assert origin["file"].endswith(f"{example}.py")
    assert origin["line"] == _line_of(example, bug.text)
    assert origin["cause"].startswith(bug.cause)
    assert {element["value"] for element in origin["elements"]} == {bug.value}
    if bug.in_batch:
        assert origin["batch_rows"]
        assert {element["index"][0] for element in origin["elements"]} <= set(origin["batch_rows"])
    assert re.search(bug.prints, done.stdout)
    if example == "loop_in_branch":
        assert origin["execution"] == 5  # the sixth turn


def test_the_eager_loop_is_as_the_tutorial_shows_it() -> None:
    page = (PROJECT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    page = page[page.index("## A first loop") : page.index("```python")]
    typed = re.findall(r"^    tfdbg> (.*)$", page, re.MULTILINE)
    commands = [word for command in ("origin", *typed) for word in ("-c", command)]
    watched = ("run", "--until", "has_inf_or_nan", *commands, "-m", "tfdbg_cli.examples.eager_loop")
    done = python("-m", "tfdbg_cli", *watched)
    assert done.returncode == 0, done.stderr
    said = {line.strip() for line in done.stdout.replace(f"{PACKAGE / 'examples'}/", "").splitlines()}
    if not SHOWS_TYPES:
        page = re.sub(r"np\.float32\((.*)\)", r"\1", page)
    shown = [line.strip() for line in page.splitlines() if line.startswith("    ") and "tfdbg run" not in line]
    assert [line for line in shown if line and line not in said] == []
    assert len(shown) > 12


@pytest.mark.parametrize("example", ["mlp_v2", "keras_fit"])
def test_the_mended_program_has_no_origin_and_learns(example: str) -> None:
    done = run_example(example, "--fixed")
    assert done.returncode == 0, done.stderr
    assert "nan" not in done.stdout
    assert float(re.findall(r"test images ([\d.]+)", done.stdout)[-1]) > 0.7


def test_a_filter_of_ones_own_finds_the_turn_in_which_a_number_is_negative() -> None:
    commands = "run -f has_negative\nlt -f has_negative\n"
    done = run_example(
        "fibonacci_v2", "--debug", "--ui_type", "readline", "--dtype", "int32", "--length", "50", stdin=commands
    )
    assert done.returncode == 0, done.stderr
    assert "passed has_negative" in done.stdout
    # The 47th number, 2971215073, is the first beyond 2**31. Turn 0 makes the second one, turn 45 that one.
    assert re.findall(r"AddV2 +int32 +\[1\] +(\d+) ", done.stdout)[0] == "45"
    assert done.stdout.rstrip().endswith("Fibonacci number at position 50: [-298632863]")
