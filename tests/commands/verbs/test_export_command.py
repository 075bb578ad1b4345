from __future__ import annotations

import csv
import json
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from support.made_run import made_run, op
from support.prompt import Prompt
from support.sample_run import LOG, LOGITS, sample_run

from tfdbg_cli.commands.views.values import exported
from tfdbg_cli.document.jsonlines import standard


@pytest.fixture
def prompt() -> Prompt:
    return Prompt(sample_run())


def test_one_tensor_as_npy(prompt: Prompt, tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    assert "Saved value to" in prompt.show(f"export {path} 'loss/Log:0[0]'", 200)
    np.testing.assert_array_equal(np.load(path), LOG[0])
    prompt.run(f"export --force {path} step/while/Add:0 -n 1")
    assert np.load(path) == 2
    assert "exists" in prompt.error(f"export {path} prob:0").message
    assert "one array" in prompt.error(f"export {tmp_path}/b.npy prob:0 x:0").message


def test_many_as_npz_whose_members_lead_nowhere_else(tmp_path: Path) -> None:
    run = made_run(
        op("../../out", "Const", value=1.0), op("/etc/passwd", "Const", value=2.0), op("a\\b", "Neg", value=3.0)
    )
    prompt = Prompt(run)
    data = prompt.data(f"export {tmp_path}/a.npz")
    assert (data["kind"], data["path"], data["tensors"], data["notes"]) == ("export", f"{tmp_path}/a.npz", 3, [])
    assert zipfile.ZipFile(tmp_path / "a.npz").namelist() == ["_/_/out:0.npy", "_/etc/passwd:0.npy", "a_b:0.npy"]


def test_what_a_query_admits(prompt: Prompt, tmp_path: Path) -> None:
    prompt.run(f"export {tmp_path}/a.npz -q 'loss nan>0'")
    assert list(np.load(tmp_path / "a.npz")) == ["loss/mul:0", "loss/Mean:0"]


def test_csv_of_one_array_and_of_several(prompt: Prompt, tmp_path: Path) -> None:
    prompt.run(f"export {tmp_path}/a.csv dense/MatMul:0")
    rows = list(csv.reader((tmp_path / "a.csv").open()))
    np.testing.assert_array_equal(np.array(rows, np.float32), LOGITS)
    prompt.run(f"export {tmp_path}/b.csv names:0 loss/Mean:0")
    rows = list(csv.reader((tmp_path / "b.csv").open()))
    assert rows[:3] == [["tensor", "index", "value"], ["names:0", "0", "cat"], ["names:0", "1", "dog\x1b[2J"]]
    assert rows[-1][:2] == ["loss/Mean:0", ""]


def test_json(prompt: Prompt, tmp_path: Path) -> None:
    prompt.run(f"export {tmp_path}/a.json loss/Log:0")
    told = json.loads((tmp_path / "a.json").read_text())
    assert (told["name"], told["dtype"], told["shape"]) == ("loss/Log:0", "float32", list(LOG.shape))
    assert told["value"][2] == ["-inf", "-inf"]
    prompt.run(f"export {tmp_path}/b.json x:0 half/Cast:0")
    assert [one["dtype"] for one in json.loads((tmp_path / "b.json").read_text())["tensors"]] == [
        "float32",
        "bfloat16",
    ]


@pytest.mark.parametrize("shape", [(), (0, 3), (5,), (7, 3), (2, 3, 4), (1, 9), (9, 1), (3, 0, 2), (2, 1, 11)])
@pytest.mark.parametrize("piece", [1, 4, 1000])
def test_pieces_make_the_same_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shape: tuple[int, ...], piece: int
) -> None:
    monkeypatch.setattr(exported, "_PIECE", piece)
    array = np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)
    array.reshape(-1)[:1] = np.nan
    prompt = Prompt(made_run(op("a", "Const", value=array), op("b", "Const", value=array.astype(ml_dtypes.bfloat16))))
    prompt.run(f"export {tmp_path}/a.json a:0")
    told = json.loads((tmp_path / "a.json").read_text())
    assert told == {"name": "a:0", "dtype": "float32", "shape": list(shape), "value": standard(array)}
    prompt.run(f"export {tmp_path}/b.json a:0 b:0")
    assert [one["value"] for one in json.loads((tmp_path / "b.json").read_text())["tensors"]] == [standard(array)] * 2
    if len(shape) < 3:
        prompt.run(f"export {tmp_path}/a.csv b:0")
        rows = list(csv.reader((tmp_path / "a.csv").open()))
        whole = array.reshape(-1, 1) if len(shape) < 2 else array
        assert [[str(float(cell)) for cell in row] for row in rows] == [list(map(str, row)) for row in whole.tolist()]


@pytest.mark.parametrize(("suffix", "count"), [("csv", 1 << 19), ("json", 1 << 16)])
def test_many_elements_take_little_memory(tmp_path: Path, suffix: str, count: int) -> None:
    """A splat of a few bytes may claim 67 million of them."""
    run = made_run(op("a", "Const", value=np.broadcast_to(np.float32(1.5), (count,))))
    prompt = Prompt(run)
    tracemalloc.start()
    try:
        prompt.run(f"export {tmp_path}/a.{suffix} a:0")
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < count * 28, "as many floats in a list take 32 bytes each"


def test_safetensors(prompt: Prompt, tmp_path: Path) -> None:
    said = prompt.show(f"export {tmp_path}/a.safetensors half/Cast:0 spectrum:0 loss/Log:0", 300)
    assert "complex64 as F32 with a last axis of the real and the imaginary part" in said
    content = (tmp_path / "a.safetensors").read_bytes()
    room = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + room])
    assert {name: (entry["dtype"], entry["shape"]) for name, entry in header.items()} == {
        "half/Cast:0": ("BF16", list(LOG.shape)),
        "spectrum:0": ("F32", [3, 2]),
        "loss/Log:0": ("F32", list(LOG.shape)),
    }
    start, end = header["loss/Log:0"]["data_offsets"]
    assert content[8 + room + start : 8 + room + end] == LOG.tobytes() and end == len(content) - 8 - room
    assert "texts" in prompt.error(f"export {tmp_path}/b.safetensors names:0").message


@pytest.mark.parametrize(
    ("kind", "values", "tag", "kept"),
    [
        (ml_dtypes.int4, [-8, -4, 7], "I8", np.int8),
        (ml_dtypes.uint4, [0, 9, 15], "U8", np.uint8),
        (ml_dtypes.float8_e4m3fnuz, [0.5, -2.0, 8.0], "F32", np.float32),
    ],
)
def test_safetensors_of_types_that_it_does_not_have(
    tmp_path: Path, kind: Any, values: list[float], tag: str, kept: Any
) -> None:
    """A blind test: int4 stood there as the bits of four, -4 as 12, and nothing was said."""
    name, path = np.dtype(kind).name, tmp_path / "a.safetensors"
    tensors = [exported.Exported("x:0", name, np.array(values, kind)), exported.Exported("y:0", "float32", LOG)]
    said = exported.export_tensors(tensors, str(path), force=False).text
    assert f", {name} as {np.dtype(kept).name})" in said
    content = path.read_bytes()
    room = int.from_bytes(content[:8], "little")
    assert json.loads(content[8 : 8 + room])["x:0"]["dtype"] == tag
    assert np.frombuffer(content, kept, 3, 8 + room).tolist() == values


@pytest.mark.parametrize(("dtype", "kept"), [("qint8", "int8"), ("quint8", "uint8"), ("qint32", "int32")])
def test_quantized_numbers_are_said_to_stand_there_as_plain_ones(tmp_path: Path, dtype: str, kept: str) -> None:
    """A blind test: nothing was said."""
    tensors = [exported.Exported("x:0", dtype, np.array([1, 2], kept)), exported.Exported("y:0", "float32", LOG)]
    for name in ("a.safetensors", "a.npz"):
        said = exported.export_tensors(tensors, str(tmp_path / name), force=False).text
        assert f", {dtype} as {kept})" in said
    assert f", as {kept})" in exported.export_tensors(tensors[:1], str(tmp_path / "a.npy"), force=False).text
    said = exported.export_tensors(tensors[1:], str(tmp_path / "b.npz"), force=False).text
    assert said.endswith(", with y:0)")


def test_what_has_no_value_is_left_out_and_said(prompt: Prompt, tmp_path: Path) -> None:
    shown = prompt.show(f"export {tmp_path}/a.json", 300)
    assert "2 tensors without a value left out. The first: cold:0: The variable was read" in shown
    assert "has no value" in prompt.error(f"export {tmp_path}/b.json table:0").message


def test_tables(prompt: Prompt, tmp_path: Path) -> None:
    prompt.run(f"export {tmp_path}/a.csv --table 'lt -s tensor_name'")
    rows = list(csv.DictReader((tmp_path / "a.csv").open()))
    assert len(rows) == 20 and not any("…" in row["name"] for row in rows)
    assert rows[0]["nbytes"].isdecimal(), "as for scripts"
    prompt.run(f"export {tmp_path}/a.json --table 'lt --stats'")
    told = json.loads((tmp_path / "a.json").read_text())
    assert len(told["tensors"]) == 20
    assert "There is no table in `pt x:0`" in prompt.error(f"export {tmp_path}/b.csv --table 'pt x:0'").message
    assert "End it with .csv, .json." in prompt.error(f"export {tmp_path}/b.npy --table lt").hint


@pytest.mark.parametrize("name", ["a", "a.txt", "npy"])
def test_a_name_that_says_no_format_is_refused(prompt: Prompt, tmp_path: Path, name: str) -> None:
    assert "does not say which format" in prompt.error(f"export {tmp_path}/{name} x:0").message
    assert list(tmp_path.iterdir()) == []
