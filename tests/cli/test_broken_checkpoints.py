"""`tfdbg checkpoint` of what is damaged, incomplete or old: one sentence, and exit code 2 for what cannot be told."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.checkpoint_maker import checkpoint, table

from tfdbg_cli.cli import main as cli
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


def test_what_differs_for_sure_is_told_though_an_index_is_damaged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = checkpoint(tmp_path / "b", {**_ARRAYS, "b": np.zeros(2, np.float32)})
    code, told = _asked(capsys, _of_half_an_index(tmp_path / "a"), other)
    assert (code, [one["a"] for one in told["different"]]) == (1, ["b"])


@pytest.mark.tf
def test_what_a_damaged_index_would_fill_cannot_be_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "train.py"
    script.write_text("import tensorflow as tf\nb, w = (tf.Variable(tf.ones(2), name=name) for name in 'bw')\n")
    code, told = _asked(capsys, _of_half_an_index(tmp_path / "a"), "--against", script)
    assert (code, told["not_filled"], told["misfits"]) == (2, ["w"], [])
    wide = {**_ARRAYS, "b": np.ones(3, np.float32)}
    code, told = _asked(capsys, _of_half_an_index(tmp_path / "c", wide), "--against", script)
    assert (code, told["misfits"]) == (1, ["b"])
