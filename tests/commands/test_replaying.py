"""What to type where only a bundle made again can go on."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pytest
from support.prompt import Prompt
from support.sample_run import opened, sample_run

from tfdbg_cli.formats.bundles.writer import write_bundle
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.replay import InputRole, ReplayInput, ReplaySpec

_INPUT = ReplayInput("x", InputRole.GIVEN, "float32", np.ones(3, np.float32))


@pytest.mark.parametrize("command", ["set prob:0 1", "again", "compare", "invoke_stepper"])
def test_the_hint_names_the_bundle_as_a_shell_takes_it(tmp_path: Path, command: str) -> None:
    path = tmp_path / "my case"
    write_bundle(sample_run(), ReplaySpec(RunKind.FUNCTION, b"graph", "step", inputs=(_INPUT,)), path)
    prompt = Prompt(open_path(path))
    expected = f"`tfdbg replay {shlex.quote(str(path))}` makes the run again"
    assert expected in prompt.error(command).hint
    assert expected in prompt.show("runs", 400)


def test_of_another_recording_nothing_can_be_promised() -> None:
    assert Prompt(opened()).error("again").hint == "`tfdbg replay BUNDLE` can, of a bundle."
