"""A checkpoint may hold anything. It is refused in a sentence, or no command fails on what was read of it."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from support.asked import ask
from support.checkpoint_maker import checkpoint, table
from support.ending import ends
from support.fuzzing import Turns

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.checkpoints.sorted_table import SortedTable
from tfdbg_cli.formats.examining import examined
from tfdbg_cli.formats.messages import schema
from tfdbg_cli.formats.opening import open_path

_REGISTRY = standard_registry()
_COMMANDS = (
    "runs", "ri", "lt", "lt --stats", "lt -s dump_size", "pt w", "pt words", "ni -a w", "layers", "origin",
    "history w", "trends", "ln", "lt -f has_inf_or_nan",
)  # fmt: skip
_ODD_SHAPES = ([2**62], [-1], [2**40, 2**40], [0, 2**62], [1] * 300, [2**63 - 1, 2], [7])
_ARRAYS = {"w": np.arange(6.0).reshape(2, 3), "words": np.array([b"a", b"bc"], object), "step": np.array(3)}


def _answered(path: Path, label: str) -> None:
    try:
        with ends(f"{label}: doctor"):
            examined(path)
        context = Context(open_path(path), width=80)
        _ = context.run
    except TfdbgError as error:
        assert error.message.strip()
        return
    for command in _COMMANDS:
        ask(command, context, label)


def test_whatever_bytes_its_files_hold_no_command_fails(tmp_path: Path, turns: Turns) -> None:
    index = checkpoint(tmp_path / "c", _ARRAYS, b"\x0a\x00")
    chance = random.Random(11)
    for turn in turns(20):
        path = chance.choice((index, index.with_name("c.data-00000-of-00001")))
        original = path.read_bytes()
        content = bytearray(original)
        for _ in range(chance.randrange(1, 4)):
            content[chance.randrange(len(content))] = chance.choice((0, 1, 0x7F, 0x80, 0xFF))
        path.write_bytes(content[: chance.choice((len(content), len(content), chance.randrange(100)))])
        _answered(index, f"turn {turn}: {path.name}")
        path.write_bytes(original)


@pytest.mark.parametrize("shape", _ODD_SHAPES)
@pytest.mark.parametrize("dtype", [1, 7, 20, 29, 99, 101])
def test_whatever_an_entry_claims_no_command_fails(tmp_path: Path, shape: list[int], dtype: int) -> None:
    index = checkpoint(tmp_path / "c", _ARRAYS)
    values = dict(SortedTable(index.read_bytes()).entries())
    for field, number in (("size", 2**62), ("offset", -5), ("shard_id", 99_999_999), ("offset", 2**62), ("size", 28)):
        entry = schema.CLASSES["BundleEntryProto"].FromString(values[b"w"])
        del entry.shape.dim[:]
        for size in shape:
            entry.shape.dim.add(size=size)
        entry.dtype = dtype
        setattr(entry, field, number)
        entry.slices.extend([schema.CLASSES["TensorSliceProto"]()] * (number == 28))
        index.write_bytes(table({**values, b"w": entry.SerializeToString(), b"\x1b[2J": values[b"step"]}))
        _answered(index, f"{field} = {number}")
