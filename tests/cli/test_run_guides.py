"""`tfdbg run` on programs in the manner of TensorFlow's guides: sound ones, and those with a bad value planted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.guide_programs import PROGRAMS, Plant
from support.launched import launched

pytestmark = pytest.mark.tf

_FORMS = {"eager": False, "functions": True}
_SOUND = [(name, form) for name in PROGRAMS for form in _FORMS]
_PLANTED = [(name, plant, form) for name, program in PROGRAMS.items() for plant in program.plants for form in _FORMS]
# The others are run with `-m slow`; that TensorFlow traces takes most of the time.
_SOUND_ALWAYS = {("basic", "eager")}
_PLANTED_ALWAYS = {("debugger_v2", "log_of_0", "eager"), ("debugger_v2", "root_at_0", "functions")}


def _often(cases: list[tuple[str, ...]], always: set[tuple[str, ...]]) -> list[Any]:
    return [
        pytest.param(*case, id="-".join(case), marks=() if case in always else pytest.mark.slow) for case in cases
    ]


def _script(tmp_path: Path, name: str, form: str, plant: str | None = None) -> Path:
    script = tmp_path / "train.py"
    script.write_text(PROGRAMS[name].script(functions=_FORMS[form], plant=plant))
    return script


@pytest.mark.parametrize(("name", "form"), _often(_SOUND, _SOUND_ALWAYS))  # type: ignore[arg-type]
def test_a_sound_program_is_not_stopped_and_prints_the_same(tmp_path, name, form) -> None:
    script = _script(tmp_path, name, form)
    plain = launched(script)
    assert plain.returncode == 0, plain.stderr
    watched = launched(script, "--until", "has_inf_or_nan")
    assert (watched.returncode, watched.stdout) == (0, plain.stdout), watched.stderr
    assert "tfdbg: Nothing passed has_inf_or_nan in " in watched.stderr
    undebugged = launched(script, "-c", "continue")
    lines = undebugged.stdout.splitlines(keepends=True)
    start = next(at for at, line in enumerate(lines) if line.startswith("--- run-start: run #1: "))
    assert lines[start - 1 : start + 2 : 2] == ["\n", "tfdbg> continue\n"]
    assert "".join(lines[: start - 1] + lines[start + 2 :]) == plain.stdout
    assert undebugged.returncode == 0


@pytest.mark.parametrize(("name", "plant", "form"), _often(_PLANTED, _PLANTED_ALWAYS))  # type: ignore[arg-type]
def test_what_was_planted_is_found(tmp_path, name, plant, form) -> None:
    planted: Plant = PROGRAMS[name].plants[plant]
    script = _script(tmp_path, name, form, plant)
    plain = launched(script)
    words = [word for command in ("origin", "frames", "locals") for word in ("-c", command)]
    done = launched(script, "--json", "--until", "has_inf_or_nan", *words)
    said = done.stdout.splitlines(keepends=True)
    assert "".join(line for line in said if not line.startswith("{")) == plain.stdout
    assert done.returncode == plain.returncode, done.stderr
    answers = [json.loads(line) for line in said if line.startswith("{")]
    origin = answers[0]
    assert origin["op_type"] == planted.origin
    assert planted.line in script.read_text().splitlines()[origin["line"] - 1]
    assert planted.cause in origin["cause"]
    if planted.rows is not None:
        assert origin["batch_rows"] == list(planted.rows)
    if form == "eager" or "frames" in answers[1]:  # else the op is in a function, of which the run is over
        frames = answers[1]["frames"]
        assert frames[answers[1]["current"]]["line"] == origin["line"]
        assert set(planted.names) <= set(answers[2]["locals"])
