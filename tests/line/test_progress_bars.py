"""Half a line on standard output, told from the call stack."""

from __future__ import annotations

import io
import json
from collections.abc import Callable

import pytest
from support import sample_run

from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.line.frontend import LineFrontend
from tfdbg_cli.line.progress_bars import bar_is_drawn
from tfdbg_cli.line.script import Script
from tfdbg_cli.model.runs import Stop

_KERAS = "/venv/lib/python3.11/site-packages/keras/src/backend/tensorflow/trainer.py"


def _loop(name: str, file: str) -> Callable[..., object]:
    """A function called `name` that seems to stand in `file`, and calls what it is given."""
    space: dict[str, Callable[..., object]] = {}
    exec(compile(f"def {name}(step, verbose):\n    return step()", file, "exec"), space)
    return space[name]


@pytest.mark.parametrize(
    ("name", "file", "verbose", "drawn"),
    [
        ("fit", _KERAS, 1, True),
        ("evaluate", _KERAS, "auto", True),
        ("predict", "C:\\lib\\tf_keras\\src\\engine\\training.py", 1, True),
        ("fit", _KERAS, 2, False),
        ("fit", _KERAS, 0, False),
        ("fit", _KERAS, [1], False),
        ("fit", "/home/ada/train.py", 1, False),
        ("build", _KERAS, 1, False),
    ],
)
def test_a_loop_of_keras_says_whether_it_draws_a_bar(name: str, file: str, verbose: object, drawn: bool) -> None:
    assert _loop(name, file)(bar_is_drawn, verbose) is drawn
    assert _loop(name, file)(lambda: (lambda: bar_is_drawn())(), verbose) is drawn


def _json(event: Stop) -> str:
    output = io.StringIO()
    script = Script(["version"])
    LineFrontend(standard_registry(), Settings(), script=script, json=True, output=output).stop(event)
    return output.getvalue()


def test_behind_a_bar_json_begins_a_line() -> None:
    """`… --json | grep '^{'` found nothing in a `fit` with its default `verbose`."""
    fit = _loop("fit", _KERAS)
    behind = str(fit(lambda: _json(sample_run.run_end()), "auto"))
    assert behind.startswith("\n{")
    assert json.loads(behind)["kind"] == "version"
    assert str(fit(lambda: _json(sample_run.run_end()), 2)).startswith("{")
