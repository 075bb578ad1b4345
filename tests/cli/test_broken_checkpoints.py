"""`tfdbg checkpoint` of what is damaged, incomplete or old: one sentence, and exit code 2 for what cannot be told."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.checkpoint_maker import checkpoint, table
from support.launched import python

from tfdbg_cli.cli import main as cli
from tfdbg_cli.cli import program_variables
from tfdbg_cli.formats.checkpoints.sorted_table import SortedTable

Arrays = Mapping[str, np.ndarray[Any, Any]]
_ARRAYS: Arrays = {"b": np.ones(2, np.float32), "w": np.ones(3, np.float32)}


def _asked(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, dict[str, Any]]:
    """The exit code, and the one object that is written."""
    code = cli.main(["checkpoint", "--json", *map(str, words)])
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return code, told


def _of_no_block(path: Path) -> Path:
    """A checkpoint with an index of which no block can be read."""
    index = checkpoint(path, _ARRAYS)
    content = bytearray(index.read_bytes())
    content[5] ^= 4
    index.write_bytes(content)
    return index


def _of_half_an_index(path: Path, arrays: Arrays = _ARRAYS) -> Path:
    """A checkpoint whose index has what cannot be read in the place of what it says of `w`."""
    index = checkpoint(path, arrays)
    index.write_bytes(table({**dict(SortedTable(index.read_bytes()).entries()), b"w": b"\xff"}))
    return index


def test_an_index_of_which_nothing_can_be_read_is_not_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A blind test: the other checkpoint was said to have all its variables alone."""
    damaged, sound = _of_no_block(tmp_path / "a"), checkpoint(tmp_path / "b", _ARRAYS)
    for words in ((damaged,), (damaged, sound), (sound, damaged), (damaged, "--against", __file__)):
        code, told = _asked(capsys, *words)
        assert code == 2 and "No variable of" in told["error"] and "checksum of a block" in told["error"], words


def test_what_an_index_may_have_beside_what_can_be_read_is_not_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged, sound = _of_half_an_index(tmp_path / "a"), checkpoint(tmp_path / "b", _ARRAYS)
    code, told = _asked(capsys, damaged, sound)
    assert (code, [one["name"] for one in told["only_b"]]) == (2, ["w"])
    assert cli.main(["checkpoint", str(sound), str(damaged)]) == 2
    shown = capsys.readouterr()
    assert "B may have more variables than can be read." in shown.out and "Both have" not in shown.out
    assert "Could not compare all: a.index: what it says of w cannot be read." in shown.err
    assert _asked(capsys, damaged, damaged)[0] == 2
    code, told = _asked(capsys, damaged)
    assert (code, told["damages"], told["total"]) == (1, ["a.index: what it says of w cannot be read."], 1)


def test_what_the_objects_call_variables_counts_where_they_are_no_pairs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nameless = checkpoint(tmp_path / "a", _ARRAYS, b"\xff")
    assert _asked(capsys, nameless, checkpoint(tmp_path / "b", _ARRAYS))[0] == 0
    code, told = _asked(capsys, nameless, checkpoint(tmp_path / "c", {**_ARRAYS, "more": np.ones(1)}))
    assert (code, [one["name"] for one in told["only_b"]]) == (2, ["more"])


def test_what_differs_for_sure_is_told_though_an_index_is_damaged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = checkpoint(tmp_path / "b", {**_ARRAYS, "b": np.zeros(2, np.float32)})
    code, told = _asked(capsys, _of_half_an_index(tmp_path / "a"), other)
    assert (code, [one["a"] for one in told["different"]]) == (1, ["b"])
    less = checkpoint(tmp_path / "less", {"w": _ARRAYS["w"]})
    assert [_asked(capsys, *pair)[0] for pair in ((tmp_path / "a", less), (less, tmp_path / "a"))] == [1, 1]


@pytest.mark.tf
def test_what_a_damaged_index_would_fill_cannot_be_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The program is a fork of what has TensorFlow; that it gets a new interpreter: `test_checkpoint_against.py`.
    monkeypatch.setattr(program_variables, "_exit_code", lambda asked: python(*asked, folder=tmp_path).returncode)
    script = tmp_path / "train.py"
    script.write_text("import tensorflow as tf\nb, w = (tf.Variable(tf.ones(2), name=name) for name in 'bw')\n")
    code, told = _asked(capsys, _of_half_an_index(tmp_path / "a"), "--against", script)
    assert (code, told["not_filled"], told["misfits"]) == (2, ["w"], [])
    wide = {**_ARRAYS, "b": np.ones(3, np.float32)}
    code, told = _asked(capsys, _of_half_an_index(tmp_path / "c", wide), "--against", script)
    assert (code, told["misfits"]) == (1, ["b"])


def _error(capsys: pytest.CaptureFixture[str], path: Path) -> tuple[str, str]:
    """What is said of a path that is no checkpoint, and what helps."""
    code, told = _asked(capsys, path)
    assert code == 2
    return told["error"], told["hint"]


def _old(path: Path) -> Path:
    """A checkpoint of the first format, or what looks like one: its first value says which slices there are."""
    path.write_bytes(table({b"": b"\x0a\x02\x0a\x00", b"\0w": b"\x12\x00"}))
    return path


def test_a_checkpoint_of_the_first_format_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A blind test: all that was said were the formats that tfdbg opens."""
    old = _old(tmp_path / "model.ckpt")
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "model.ckpt"\n')
    for path in (old, tmp_path, tmp_path / "checkpoint"):
        text, hint = _error(capsys, path)
        assert f"{old} is a checkpoint of TensorFlow's first format (V1)" in text
        assert "tf.compat.v1.train.Saver" in hint and "write_version" in hint
    _old(tmp_path / "parts-00000-of-00002")
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "parts"\n')
    assert f"{tmp_path / 'parts'} is a checkpoint" in _error(capsys, tmp_path)[0]
    assert "first format" in _error(capsys, tmp_path / "parts")[0]
    assert "first format" in _error(capsys, tmp_path / "parts-00000-of-00002")[0]


def test_an_index_of_another_name_is_not_of_the_first_format(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    index = checkpoint(tmp_path / "c", _ARRAYS)
    assert "no format that tfdbg knows" in _error(capsys, index.rename(tmp_path / "c.index.bak"))[0]
    for content in (b"", b"\0\0", index.name.encode() * 9):
        (tmp_path / "other").write_bytes(content)
        assert "no format that tfdbg knows" in _error(capsys, tmp_path / "other")[0]


@pytest.mark.parametrize("named", ["gone-7", "/no/such/folder/gone-7"])
def test_a_checkpoint_that_is_gone_is_named_with_the_file_that_names_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], named: str
) -> None:
    state = tmp_path / "checkpoint"
    state.write_text(f'model_checkpoint_path: "{named}"\nall_model_checkpoint_paths: "gone-6"\n')
    for path in (tmp_path, state):
        text, hint = _error(capsys, path)
        assert text == f"{state} names the checkpoint {named}, and there is none." and "gone-7.index" in hint


def test_a_file_that_names_a_checkpoint_leads_to_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    index, folder = checkpoint(tmp_path / "far" / "c-1", _ARRAYS), tmp_path / "here"
    folder.mkdir()
    (folder / "checkpoint").write_text(f'model_checkpoint_path: "{index.with_suffix("")}"\n')
    for path in (folder, folder / "checkpoint"):
        assert _error(capsys, path)[1] == f"Open {index}."


@pytest.mark.parametrize(
    "content",
    [b"", b'\xff\xfe\0garbage"', b"}", b'model_checkpoint_path: ""', b'model_checkpoint_path: "\\000"'],
)
def test_a_file_that_names_nothing_is_of_no_format(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes
) -> None:
    (tmp_path / "checkpoint").write_bytes(content)
    assert "no format that tfdbg knows" in _error(capsys, tmp_path / "checkpoint")[0]
    assert "holds no runs" in _error(capsys, tmp_path)[0]


def test_an_index_that_is_missing_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A blind test: of a checkpoint that was half written it was said to check the path."""
    checkpoint(tmp_path / "c-1", _ARRAYS).unlink()
    expected = f"The checkpoint {tmp_path / 'c-1'} has no index: c-1.index is missing beside its elements."
    assert [_error(capsys, path)[0] for path in (tmp_path / "c-1", tmp_path)] == [expected] * 2
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "c-1"\n')
    assert _error(capsys, tmp_path)[0] == expected
    assert "There is no" in _error(capsys, tmp_path / "c-2")[0]
    checkpoint(tmp_path / "c-0", _ARRAYS)
    code, told = _asked(capsys, tmp_path)
    assert (code, told["checkpoint"]) == (0, "checkpoint c-0")
    assert told["notes"] == ["c-1 is not listed: its index, c-1.index, is missing."]
