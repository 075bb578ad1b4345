"""`tfdbg checkpoint`: what is in a checkpoint, what two hold apart, and the pages that tell of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from support.checkpoint_maker import checkpoint
from support.golden import check_golden
from support.graph_file_maker import saved_model

from tfdbg_cli.analysis.variable_differences import compared
from tfdbg_cli.analysis.variables.filling import filled
from tfdbg_cli.cli import main as cli
from tfdbg_cli.commands.views.variables.checkpoint_page import checkpoint_document, findings
from tfdbg_cli.commands.views.variables.compared import compared_document
from tfdbg_cli.commands.views.variables.filling_page import filling_document
from tfdbg_cli.commands.views.variables.saved import objects_behind, saved_checkpoint, saved_variables
from tfdbg_cli.document.document import Document
from tfdbg_cli.document.text import plain_row
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.messages import schema
from tfdbg_cli.model.restoring import ProgramObject, ProgramVariable, ProgramVariables

Told = tuple[int, dict[str, Any]]
_W = np.arange(6, dtype=np.float32).reshape(2, 3)
_ODD = "bad\x1b[31m\nname"


def _first() -> Mapping[str, np.ndarray[Any, Any]]:
    return {
        "dense/kernel": _W, "dense/bias": np.zeros(3, np.float32), "gone/scale": np.ones(4), "step": np.array(3),
        _ODD: _W, "a_scope_with_a_long_name/another_one_in_there/and_one_more/multi_head_attention/query/kernel": _W,
    }  # fmt: skip


def _second() -> Mapping[str, np.ndarray[Any, Any]]:
    spoiled = _W.copy()
    spoiled[0, 1] = np.nan
    arrays = {**_first(), "dense/kernel": spoiled, "new/scale": np.ones(4), "step": np.array(4), "extra": _W[0]}
    del arrays["gone/scale"]
    return arrays


def _asked(capsys: pytest.CaptureFixture[str], *words: object) -> Told:
    code = cli.main(["checkpoint", "--json", *map(str, words)])
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return code, told


def _screen(document: Document) -> str:
    rows = [plain_row(line) for line in document.lines(80)]
    assert max(map(len, rows)) <= 80
    return "\n".join(rows)


def test_a_sound_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = checkpoint(tmp_path / "c-1", _first())
    code, told = _asked(capsys, path)
    assert (code, told["kind"], told["nonfinite"], told["lost"]) == (0, "checkpoint", [], [])
    assert told["all_zero"] == ["dense/bias"] and told["total"] == 6
    kernel = next(one for one in told["variables"] if one["name"] == "dense/kernel")
    assert (kernel["shape"], kernel["dtype"], kernel["nbytes"]) == ([2, 3], "float32", 24)
    assert kernel["summary"]["max"] == 5 and kernel["lost"] is None
    assert cli.main(["checkpoint", str(tmp_path / "c-1")]) == 0
    shown = capsys.readouterr().out
    assert "\x1b" not in shown and "No NaN, no infinities" in shown


def test_nan_and_infinities_are_an_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = checkpoint(tmp_path / "c", {"w": np.array([1, np.inf]), "b": np.array([np.nan], ml_dtypes.bfloat16)})
    code, told = _asked(capsys, path)
    assert (code, told["nonfinite"]) == (1, ["b", "w"])


def test_every_kind_of_elements(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arrays = {
        "i4": np.array([1, -2], ml_dtypes.int4), "t": np.array([b"x", b"\x1b[2J"], object), "f": np.array([True]),
        "c": np.array([3 + 4j], np.complex64), "none": np.zeros((0, 3)), "b": np.array([1.5], ml_dtypes.bfloat16),
    }  # fmt: skip
    path = checkpoint(tmp_path / "c", arrays)
    code, told = _asked(capsys, path)
    found = {one["name"]: one for one in told["variables"]}
    assert code == 0 and found["i4"]["summary"]["min"] == -2 and found["b"]["dtype"] == "bfloat16"
    assert found["t"]["nbytes"] is None and found["c"]["summary"]["max"] == 5 and told["all_zero"] == []
    assert _asked(capsys, path, path)[0] == 0


def test_no_variables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = checkpoint(tmp_path / "c", {})
    code, told = _asked(capsys, path)
    assert (code, told["variables"], told["total"]) == (0, [], 0)
    assert _asked(capsys, path, path)[1]["same"]


def test_a_missing_file_of_elements(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = checkpoint(tmp_path / "c", {"w": _W, "b": _W})
    sound = checkpoint(tmp_path / "sound", {"w": _W, "b": _W})
    (tmp_path / "c.data-00000-of-00001").unlink()
    code, told = _asked(capsys, path)
    assert code == 1 and [one["name"] for one in told["lost"]] == ["b", "w"]
    assert "No such file" in told["lost"][0]["text"] and told["variables"][0]["shape"] == [2, 3]
    code, told = _asked(capsys, path, sound)
    assert (code, told["unread"], told["same"]) == (2, ["b", "w"], True)
    assert [one["equal"] for one in told["variables"]] == [False, False]


def test_damage_within(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = checkpoint(tmp_path / "c", {"b": _W, "w": _W})
    data = tmp_path / "c.data-00000-of-00001"
    content = bytearray(data.read_bytes())
    content[30] ^= 1
    data.write_bytes(content)
    code, told = _asked(capsys, path)
    assert code == 1 and [one["name"] for one in told["lost"]] == ["w"] and "checksum" in told["lost"][0]["text"]


def test_an_index_that_is_cut_off_cannot_be_told_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = checkpoint(tmp_path / "c", {"w": _W})
    path.write_bytes(path.read_bytes()[:60])
    code, told = _asked(capsys, path)
    assert code == 2 and "cut off" in told["error"]


def test_the_last_one_of_a_folder_and_the_variables_of_a_saved_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in (2, 10):
        checkpoint(tmp_path / "run" / f"c-{number}", {"w": _W * number})
    code, told = _asked(capsys, tmp_path / "run")
    assert code == 0 and told["checkpoint"] == "checkpoint c-10" and "The last of 2" in told["notes"][-1]
    saved_model(tmp_path / "model")
    checkpoint(tmp_path / "model" / "variables" / "variables", {"w": _W * 2})
    assert _asked(capsys, tmp_path / "model")[0] == 0
    assert _asked(capsys, tmp_path / "run" / "c-2", tmp_path / "model")[1]["same"]
    code, told = _asked(capsys, tmp_path / "run" / "c-10", tmp_path / "model")
    assert code == 1 and told["different"][0]["differing"] == 5


def test_two_of_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = checkpoint(tmp_path / "a", _first()), checkpoint(tmp_path / "b", _second())
    code, told = _asked(capsys, first, second)
    assert (code, told["same"], told["equal"]) == (1, False, 3)
    found = {one["a"]: one for one in told["different"]}
    assert set(found) == {"dense/kernel", "step"}
    assert (found["dense/kernel"]["nan_a"], found["dense/kernel"]["nan_b"]) == (0, 1)
    assert (found["step"]["max_abs"], found["step"]["max_ulp"]) == (1, None)
    (gone,) = told["only_a"]
    assert (gone["name"], gone["suggestion"], gone["same_values"]) == ("gone/scale", "new/scale", True)
    assert {one["name"]: one["suggestion"] for one in told["only_b"]} == {"extra": None, "new/scale": "gone/scale"}
    assert _asked(capsys, first, first)[0] == 0


def test_the_sign_of_a_zero_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    zeros = {"a": 0.0, "b": -0.0}
    first, second = (checkpoint(tmp_path / name, {"w": np.array([zero, 1])}) for name, zero in zeros.items())
    assert cli.main(["checkpoint", str(first), str(second)]) == 1
    assert "sign of zero    1 of 2" in capsys.readouterr().out
    told = _asked(capsys, first, second)[1]
    assert (told["different"][0]["zeros"], told["different"][0]["differing"]) == (1, 1)


@pytest.mark.parametrize(
    ("valued", "expected"),
    [(2, ", with the same values."), (1, "; 1 with the same values.\nOf the others shapes"), (0, "no values are")],
)
def test_the_same_values_are_those_that_were_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, valued: int, expected: str
) -> None:
    monkeypatch.chdir(tmp_path)
    checkpoint(tmp_path / "c", {"w": _W, "b": _W})
    side = saved_checkpoint("c")
    found = compared(side.variables, side.variables)
    assert found.valued == 2
    assert expected in _screen(compared_document(side, side, replace(found, valued=valued)))


def test_screens_of_80_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint(tmp_path / "a", _first())
    checkpoint(tmp_path / "b", _second())
    monkeypatch.chdir(tmp_path)
    one, other = saved_checkpoint("a"), saved_variables("b")
    check_golden("commands/checkpoint", _screen(checkpoint_document(other, findings(other))))
    document = compared_document(one, other, compared(one.variables, other.variables))
    check_golden("commands/checkpoint_compared", _screen(document))


def test_the_screen_about_a_program_in_80_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    end = "/.ATTRIBUTES/VARIABLE_VALUE"
    graph = schema.CLASSES["TrackableObjectGraph"]()
    called = {
        "model/w": "model/embedding/table", "optimizer/_variables/2": "adam/model_decoder_attention_kernel_momentum",
    }  # fmt: skip
    graph.nodes.add()
    for at, (name, full_name) in enumerate(called.items(), 1):
        graph.nodes[0].children.add(node_id=at, local_name=name.replace("/", "."))
        graph.nodes.add().attributes.add(full_name=full_name, checkpoint_key=name + end)
    arrays = {name + end: _W for name in called}
    checkpoint(tmp_path / "c-1", arrays, graph.SerializeToString())
    monkeypatch.chdir(tmp_path)
    side = saved_checkpoint("c-1")
    objects = objects_behind(side)
    assert [one.keys for one in objects] == [(), *((key,) for key in arrays)]
    variables = [
        ProgramVariable("model/embedding/table", "float32", (2, 4)),
        ProgramVariable("model/head/bias", "float32", (3,)),
        ProgramVariable("adam/model_decoder_attention_kernel_velocity", "float32", (2, 3)),
    ]
    root = [ProgramObject({"model.w": 1, "head": 2}), ProgramObject({}, 0), ProgramObject({}, 1)]
    program = ProgramVariables("before run #1: train_step(images, labels)", variables, [root])
    found = filled(program, side.variables.rows, objects)
    check_golden("commands/checkpoint_against", _screen(filling_document(side, "train.py", program.moment, found)))


def test_objects_that_cannot_be_read_are_not_taken_for_none(tmp_path: Path) -> None:
    side = saved_checkpoint(str(checkpoint(tmp_path / "c", {"w": _W}, b"\xff")))
    with pytest.raises(TfdbgError, match="cannot be read"):
        objects_behind(side)
    assert not objects_behind(saved_checkpoint(str(checkpoint(tmp_path / "d", {"w": _W}))))


@pytest.mark.parametrize("name", ["model.keras", "model.weights.h5"])
def test_files_of_keras_are_refused_with_what_helps(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_bytes(b"whatever")
    code, told = _asked(capsys, tmp_path / name)
    assert code == 2 and "HDF5" in told["error"] and "tf.train.Checkpoint" in told["hint"]


def test_what_is_no_checkpoint_cannot_be_told_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = checkpoint(tmp_path / "c", {"w": _W})
    script = tmp_path / "train.py"
    script.write_text("")
    for words in (
        [tmp_path / "nothing"],
        [saved_model(tmp_path / "model")],
        [path, tmp_path / "nothing"],
        [path, path, "--against", script],
        [path, "--against", tmp_path / "no.py"],
        [path, "--against", "'"],
        [path, "--against", script],  # which imports no TensorFlow
    ):
        code, told = _asked(capsys, *words)
        assert code == 2 and told["error"], words
    assert cli.main(["checkpoint"]) == 2
