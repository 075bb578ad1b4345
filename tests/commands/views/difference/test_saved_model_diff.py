"""A SavedModel beside a checkpoint, a run and another SavedModel: what is compared are its variables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.checkpoint_maker import checkpoint
from support.graph_file_maker import graph_def, saved_model
from support.made_run import made_run, op
from support.prompt import Prompt

from tfdbg_cli.cli.main import main
from tfdbg_cli.formats.messages import schema

Arrays = Mapping[str, np.ndarray[Any, Any]]
_END = "/.ATTRIBUTES/VARIABLE_VALUE"


def _square(number: float) -> np.ndarray[Any, Any]:
    return np.full((2, 2), number, np.float32)


def _arrays(root: str = "", **changed: float) -> dict[str, np.ndarray[Any, Any]]:
    """Three variables of one shape."""
    numbers = {"a/w": 1.0, "b/w": 2.0, "c/w": 3.0} | {f"{name}/w": number for name, number in changed.items()}
    return {f"{root}{name}{_END}": _square(number) for name, number in numbers.items()}


def _model(folder: Path, arrays: Arrays, objects: bytes = b"", *, functions: bool = True) -> Path:
    path = saved_model(folder)
    if not functions:
        model = schema.CLASSES["SavedModel"].FromString(path.read_bytes())
        meta = schema.CLASSES["MetaGraphDef"].FromString(model.meta_graphs[0])
        graph = graph_def()
        graph.library = b""
        meta.graph_def = graph.SerializeToString()
        model.meta_graphs[0] = meta.SerializeToString()
        path.write_bytes(model.SerializeToString())
    checkpoint(folder / "variables" / "variables", arrays, objects)
    return folder


def _diff(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, dict[str, Any]]:
    code = main(["diff", "--json", *map(str, words)])
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return code, told


def test_beside_a_checkpoint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = _model(tmp_path / "model", _arrays())
    same = checkpoint(tmp_path / "c-1", {**_arrays("net/"), "step": np.array(1)})
    other = checkpoint(tmp_path / "c-2", _arrays("net/", b=2.5))
    code, told = _diff(capsys, model, same)
    assert (code, told["equal"], told["only_a"], told["only_b"]) == (0, 3, [], ["step:0"])
    code, told = _diff(capsys, model, other)
    assert (code, told["first"]["a"], told["first"]["b"], told["equal"]) == (1, "b/w:0", "net/b/w:0", 2)
    code, told = _diff(capsys, other, model)
    assert (code, told["first"]["a"], told["first"]["b"]) == (1, "net/b/w:0", "b/w:0")


def test_beside_a_folder_of_checkpoints_it_is_the_last_or_the_one_that_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = _model(tmp_path / "model", _arrays())
    checkpoint(tmp_path / "saved" / "c-1", _arrays())
    checkpoint(tmp_path / "saved" / "c-2", _arrays(c=0.0))
    assert _diff(capsys, model, tmp_path / "saved")[0] == 1
    assert _diff(capsys, model, tmp_path / "saved", "--run", 1)[0] == 0
    assert main(["diff", str(model), str(tmp_path / "saved"), "--run", "9"]) == 2
    assert "There is no run #9" in capsys.readouterr().err


def test_beside_another_with_other_functions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = _model(tmp_path / "first", _arrays())
    second = _model(tmp_path / "second", _arrays(a=7.0), functions=False)
    code, told = _diff(capsys, first, second)
    assert (code, told["first"]["a"], told["equal"]) == (1, "a/w:0", 2)


def test_beside_a_run(tmp_path: Path) -> None:
    model = _model(tmp_path / "model", _arrays())
    run = made_run(op("a/w", "VarHandleOp"), op("read", "ReadVariableOp", "a/w", value=_square(1.5)))
    assert Prompt(run).data(f"diff {model}")["first"]["a"] == "a/w:0"


def test_variables_whose_ways_differ_are_known_by_what_the_program_calls_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As Keras exports a model: every variable twice, by its number, and in a checkpoint under its layer."""

    def objects(names: Mapping[str, str]) -> bytes:
        graph = schema.CLASSES["TrackableObjectGraph"]()
        for key, name in names.items():
            graph.nodes.add().attributes.add(name="VARIABLE_VALUE", full_name=name, checkpoint_key=key + _END)
        return bytes(graph.SerializeToString())

    called = ["x/kernel", "y/kernel", "z/kernel"]
    twice = {f"{way}/{at}": name for way in ("all", "variables") for at, name in enumerate(called)}
    exported = {key + _END: _square(called.index(name)) for key, name in twice.items()}
    model = _model(tmp_path / "model", exported, objects(twice))
    ways = {"layers/2/k": "x/kernel", "layers/0/k": "y/kernel", "layers/1/k": "z/kernel"}
    saved = {key + _END: _square({"x": 0, "y": 5, "z": 6}[name[0]]) for key, name in ways.items()}
    code, told = _diff(capsys, model, checkpoint(tmp_path / "c-1", saved, objects(ways)))
    assert (code, told["equal"], told["different"]) == (1, 1, 2)
    assert (told["first"]["a"], told["first"]["b"]) == ("all/1:0", "layers/0/k:0")
