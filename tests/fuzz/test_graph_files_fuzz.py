"""A file with a graph may hold anything. It is refused in a sentence, or no command fails on what was read of it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from support.asked import ask
from support.fuzzing import Turns
from support.graph_file_maker import TEXT, graph_def, meta_graph_def, run_metadata, saved_model

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.examining import examined
from tfdbg_cli.formats.opening import open_path

_REGISTRY = standard_registry()
_COMMANDS = (
    "runs", "ri", "ln", "ln -s op_type", "lt", "lp", "layers", "placement", "ni -a -d -t net/out", "li -r net/out",
    "lo -r x", "path x net/out", "find net", "pt x", "origin", "history x", "ls",
)  # fmt: skip
_ODD = (0, 1, 0x7F, 0x80, 0xFF, 0x0A, 0x12, 0x1B)
_ODD_TEXT = (b"{", b"}", b'"', b"'", b"\\", b"#", b"\xff", b"\x1b", b"DT_X", b":", b"<", b"9" * 30)


def _answered(path: Path, label: str) -> None:
    examined(path)
    try:
        stop = open_path(path)
        runs = len(stop.runs)
    except TfdbgError as error:
        assert error.message.strip()
        return
    context = Context(stop, width=80)
    for number in range(min(runs, 4)):
        context.current = number
        for command in _COMMANDS:
            ask(command, context, label)


def _contents(folder: Path) -> dict[str, bytes]:
    return {
        "graph.pb": graph_def().SerializeToString(),
        "model.meta": meta_graph_def().SerializeToString(),
        "saved_model.pb": saved_model(folder / "model").read_bytes(),
        "metadata": run_metadata().SerializeToString(),
    }


@pytest.mark.parametrize("name", ["graph.pb", "model.meta", "saved_model.pb", "metadata"])
def test_whatever_bytes_a_graph_file_holds_no_command_fails(tmp_path: Path, name: str, turns: Turns) -> None:
    original = _contents(tmp_path)[name]
    chance = random.Random(name)
    for turn in turns(15):
        content = bytearray(original)
        for _ in range(chance.randrange(0, 4)):
            content[chance.randrange(len(content))] = chance.choice(_ODD)
        (tmp_path / name).write_bytes(content[: chance.choice((len(content), len(content), chance.randrange(200)))])
        _answered(tmp_path / name, f"{name}, turn {turn}")


def test_whatever_a_text_says_no_command_fails(tmp_path: Path, turns: Turns) -> None:
    chance = random.Random(7)
    original = f'meta_info_def {{ tags: "serve" }} graph_def {{ {TEXT} }}'.encode()
    for turn in turns(15):
        content = bytearray(chance.choice((original, TEXT.encode())))
        for _ in range(chance.randrange(0, 4)):
            at = chance.randrange(len(content))
            content[at : at + chance.randrange(3)] = chance.choice(_ODD_TEXT)
        (tmp_path / "graph.pbtxt").write_bytes(content[: chance.choice((len(content), chance.randrange(400)))])
        _answered(tmp_path / "graph.pbtxt", f"turn {turn}")
