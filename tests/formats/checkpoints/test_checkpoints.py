"""Checkpoints as runs: their variables, what damage costs, two of them and one beside a recording."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support.checkpoint_maker import checkpoint, table
from support.prompt import Prompt

from tfdbg_cli.cli.main import main
from tfdbg_cli.commands.query import unread
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.examining import examined
from tfdbg_cli.formats.messages import schema
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.calls import Call, CallArgument, RunKind
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import MemoryTensorStore, describe, release
from tfdbg_cli.model.values import NoValue

_KEY = "model/w/.ATTRIBUTES/VARIABLE_VALUE"
_ARRAYS = {
    _KEY: np.arange(12, dtype=np.float32).reshape(3, 4),
    "model/w/.OPTIMIZER_SLOT/opt/m/.ATTRIBUTES/VARIABLE_VALUE": np.zeros((3, 4), np.float32),
    "step": np.array(7, np.int64),
    "words": np.array([b"one", b"", b"three"], object),
}


def _objects() -> bytes:
    graph = schema.CLASSES["TrackableObjectGraph"]()
    graph.nodes.add().children.add(node_id=1, local_name="model")
    graph.nodes.add().attributes.add(name="VARIABLE_VALUE", full_name="dense/kernel", checkpoint_key=_KEY)
    graph.nodes[0].slot_variables.add(original_variable_node_id=1, slot_name="m", slot_variable_node_id=2)
    slot = "model/w/.OPTIMIZER_SLOT/opt/m/.ATTRIBUTES/VARIABLE_VALUE"
    graph.nodes.add().attributes.add(name="VARIABLE_VALUE", full_name="opt/m", checkpoint_key=slot)
    return bytes(graph.SerializeToString())


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    return checkpoint(tmp_path / "c-1", _ARRAYS, _objects())


def test_its_variables_are_the_tensors_of_a_run(saved: Path) -> None:
    for path in (saved, saved.with_name("c-1"), saved.parent):
        opened = open_path(path)
        (run,) = opened.runs
        assert (run.call.title, opened.noun) == ("checkpoint c-1", "checkpoint")
    prompt = Prompt(opened)
    rows = {row["name"]: (row["dtype"], row["shape"], row["nbytes"]) for row in prompt.data("lt")["tensors"]}
    assert rows == {
        "model/w:0": ("float32", [3, 4], 48), "model/w/opt/m:0": ("float32", [3, 4], 48),
        "step:0": ("int64", [], 8), "words:0": ("string", [3], None),
    }  # fmt: skip
    assert prompt.data("pt model/w")["value"] == _ARRAYS[_KEY].tolist()
    assert prompt.data("pt step")["value"] == 7
    assert prompt.data("pt words")["value"] == ["one", "", "three"]
    assert prompt.data("ni model/w/opt/m")["attributes"]["slot_of"] == "model/w"
    assert prompt.data("ni model/w")["attributes"]["full_name"] == "dense/kernel"
    assert "4 variables" in prompt.show("ri")


def test_elements_are_read_when_somebody_looks(saved: Path) -> None:
    data = saved.with_name("c-1.data-00000-of-00001")
    run = open_path(saved).runs[0]
    data.unlink()
    assert len(run.tensors) == 4
    value = run.tensors.value(0)
    assert isinstance(value, NoValue) and "c-1.data-00000-of-00001 cannot be read" in value.text


def test_checksums_are_compared(saved: Path) -> None:
    data = saved.with_name("c-1.data-00000-of-00001")
    content = bytearray(data.read_bytes())
    at = content.index(_ARRAYS[_KEY].tobytes())
    content[at + 5] ^= 1
    data.write_bytes(content)
    prompt = Prompt(open_path(saved))
    assert "checksum of its 48 bytes" in prompt.show("pt model/w")
    assert prompt.data("pt step")["value"] == 7
    found = examined(saved)
    assert found.what == "a checkpoint" and [text for text, _ in found.troubles] == [
        f"c-1.index: model/w: The checksum of its 48 bytes at {at:,} does not fit."
    ]


def test_data_that_was_cut_off_costs_what_is_missing(saved: Path) -> None:
    data = saved.with_name("c-1.data-00000-of-00001")
    data.write_bytes(data.read_bytes()[:-12])
    troubles = examined(saved).troubles
    assert len(troubles) == 1 and "words" in troubles[0][0] and "It ends at byte" in troubles[0][0]


def test_an_index_that_is_damaged_says_where(saved: Path) -> None:
    content = saved.read_bytes()
    saved.write_bytes(content[:-20])
    with pytest.raises(TfdbgError, match=r"c-1.index cannot be read at byte \d+: the mark at its end is missing"):
        open_path(saved).runs[0]
    damaged = bytearray(content)
    damaged[30] ^= 0xFF
    saved.write_bytes(damaged)
    notes = examined(saved).troubles
    assert notes and "the checksum of a block does not fit" in notes[0][0]


def test_an_index_of_which_nothing_can_be_read_is_no_empty_run(saved: Path) -> None:
    damaged = bytearray(saved.read_bytes())
    damaged[30] ^= 0xFF
    saved.write_bytes(damaged)
    for command in ("lt", "lt --stats", "lt -f has_inf_or_nan"):
        shown = " ".join(Prompt(open_path(saved)).show(command).split())
        assert "No variable of this checkpoint can be read:" in shown and "checksum of a block" in shown
        assert "captured" not in shown
    assert "captured" not in Prompt(open_path(saved)).show("layers")
    empty = checkpoint(saved.with_name("c-0"), {})
    assert "This checkpoint holds no variable." in Prompt(open_path(empty)).show("lt")


def test_statistics_of_what_cannot_be_read_say_so(saved: Path) -> None:
    data = saved.with_name("c-1.data-00000-of-00001")
    content = bytearray(data.read_bytes())
    content[content.index(_ARRAYS[_KEY].tobytes()) + 5] ^= 1
    data.write_bytes(content)
    prompt = Prompt(open_path(saved))
    head, *rows = [row for row in prompt.show("lt --stats").splitlines() if row]
    assert head == "4 dumped tensor(s) of 4"
    assert rows[0] == "1 tensor could not be read, and so was not counted."
    (row,) = [row for row in rows if row.endswith("model/w:0")]
    assert row.split()[-4:] == ["?", "?", "damaged", "model/w:0"]
    told = prompt.data("lt --stats")
    (lost,) = [tensor for tensor in told["tensors"] if "lack" in tensor]
    assert (told["unread"], lost["node"], lost["summary"], lost["lack"]) == (1, "model/w", None, "damaged")
    layer = next(row for row in prompt.data("layers --stats")["layers"] if row["name"] == "model")
    assert layer["nonfinite"] is None


def test_statistics_look_at_no_more_than_the_beginning_for_their_head(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved.with_name("c-1.data-00000-of-00001").unlink()
    shown = Prompt(open_path(saved)).show("lt --stats")
    assert "4 tensors could not be read, and so were not counted." in shown
    monkeypatch.setattr(unread, "_MOST_ROWS", 2)
    assert "2 tensors of the first 2 could not be read" in Prompt(open_path(saved)).show("lt --stats")
    monkeypatch.setattr(unread, "_MOST_BYTES", 60)
    assert "1 tensor of the first 1 could not be read" in Prompt(open_path(saved)).show("lt --stats")


def test_a_compressed_index_is_refused_in_a_sentence(saved: Path) -> None:
    saved.write_bytes(table({b"": b""}, compression=1))
    assert "compressed with snappy" in examined(saved).troubles[0][0]


def test_parts_of_a_checkpoint_lead_to_it(saved: Path) -> None:
    with pytest.raises(TfdbgError) as caught:
        open_path(saved.with_name("c-1.data-00000-of-00001"))
    assert "c-1.index" in caught.value.hint
    with pytest.raises(TfdbgError, match="There is no"):
        open_path(saved.with_name("c-2"))


def test_checkpoints_of_a_folder_stand_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for number in (10, 9, 1):
        checkpoint(tmp_path / f"c-{number}", {"step": np.array(number)})
    prompt = Prompt(open_path(tmp_path))
    assert [row["title"] for row in prompt.data("runs")["runs"]] == [f"checkpoint c-{n}" for n in (1, 9, 10)]
    assert [point["value"] for point in prompt.data("history step")["points"]] == [1, 9, 10]


def test_two_checkpoints_beside_each_other(saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = _ARRAYS[_KEY].copy()
    other[1, 2] += 0.5
    checkpoint(tmp_path / "d-1", {**_ARRAYS, _KEY: other}, _objects())
    assert main(["diff", str(saved), str(tmp_path / "d-1"), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["first"]["a"], told["different"], told["equal"]) == ("model/w:0", 1, 3)
    assert main(["diff", str(saved), str(saved)]) == 0
    assert "Nothing differs" in capsys.readouterr().out


def _run() -> Run:
    """A run that was given dense/kernel, wrote it, and read `step`."""
    values = {
        "dense/kernel/after_update": ("UpdatedVariable", _ARRAYS[_KEY]),
        "read": ("ReadVariableOp", np.array(7, np.int64)),
    }
    tensors = [
        describe(TensorName(name, 0), array, device="", op_type=op, dtype=str(array.dtype))
        for name, (op, array) in values.items()
    ]
    graph = Graph([Node("step", "VarHandleOp", ""), Node("read", "ReadVariableOp", "", (TensorName("step", 0),))])
    call = Call(
        3, RunKind.FUNCTION, (), {"dense/kernel": np.zeros((3, 4), np.float32), "x": np.ones(2)},
        function="train",
        arguments=(CallArgument("dense/kernel", "float32", (3, 4), True), CallArgument("x", "float32", (2,))),
    )  # fmt: skip
    return Run(call, MemoryTensorStore(tensors, [array for _, array in values.values()]), graph)


def test_a_checkpoint_beside_the_variables_of_a_run(saved: Path) -> None:
    told = Prompt(_run()).data(f"diff {saved}")
    assert (told["first"], told["equal"], told["only_a"]) == (None, 2, [])
    assert told["only_b"] == ["model/w/opt/m:0", "words:0"]
    assert "the variables of run #3: train(x)" in Prompt(_run()).show(f"diff {saved}", 120)


def test_damage_is_no_agreement(saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What cannot be read was not compared: it is named, and the exit code is not that of two that agree."""
    sound = tmp_path / "sound"
    sound.mkdir()
    for path in saved.parent.glob("c-1.*"):
        (sound / path.name).write_bytes(path.read_bytes())
    data = saved.with_name("c-1.data-00000-of-00001")
    content = bytearray(data.read_bytes())
    content[content.index(_ARRAYS[_KEY].tobytes()) + 5] ^= 1
    data.write_bytes(content)
    assert main(["diff", str(saved), str(sound / saved.name)]) == 2
    shown = capsys.readouterr()
    assert "Nothing differs of what could be compared." in shown.out
    assert "Damaged" in shown.out and "checksum of its 48 bytes" in shown.out
    assert "1 tensor cannot be read, model/w" in shown.err
    assert main(["diff", "--json", str(saved), str(sound / saved.name)]) == 2
    assert json.loads(capsys.readouterr().out)["damaged"] == ["model/w:0"]


def test_an_index_without_elements_is_told_in_its_folder(saved: Path) -> None:
    (saved.parent / "c-2.index").write_bytes(saved.read_bytes())
    opened = open_path(saved.parent)
    assert len(opened.runs) == 1
    told = "c-2.index is not listed: no file of its elements lies beside it."
    assert told in opened.notes and told in Prompt(opened).show("runs")
    assert told in [text for text, _ in examined(saved.parent).troubles]


def test_memory_that_was_given_back_is_read_again(tmp_path: Path) -> None:
    (run,) = open_path(checkpoint(tmp_path / "c", {"w": np.arange(5000.0), "none": np.zeros(0)})).runs
    value = run.tensors.value(1)
    assert isinstance(value, np.ndarray) and value.sum() == 12497500
    release(run.tensors)
    assert value.sum() == 12497500
    release(MemoryTensorStore([], []))  # which maps nothing
