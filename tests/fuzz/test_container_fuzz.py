"""A recording may hold anything. What a reader accepts never makes a command fail."""

from __future__ import annotations

import os
import random
import sqlite3
from pathlib import Path

import pytest
from support.asked import ask
from support.ending import ends
from support.fuzzing import Turns
from support.sample_run import sample_run

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.container.writer import RecordingWriter
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.profile import NodeTime, Profile
from tfdbg_cli.model.tensors import TellsSummaries
from tfdbg_cli.model.values import NoValue

_REGISTRY = standard_registry()
_COMMANDS = (
    "runs", "run_info", "lt --stats", "lt -s dump_size", "lt -f has_inf_or_nan", "origin", "error_info", "ll", "lp",
    "placement", "ls", "ps train.py", "pf x:0", "pt loss/Log:0", "pt step/while/Add:0", "ni -a -d -t loss/Log",
    "history loss/Log:0", "timeline",
)  # fmt: skip
_WRONG = (
    None, 0, 1, -1, 3, 7, 2**31, 2**62, 2**63 - 1, -(2**63), 0.5, "", "x", "1,2", "\x1b[2J", "{}", "[]", "null", b"",
    b"\xff\xfe", "9" * 400, float("inf"),
)  # fmt: skip


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "r"
    run = sample_run(
        profile=Profile((NodeTime("x", "Placeholder", "", 0.0, 1.0, 2.0),)), python_graph=sample_run().graph
    )
    some = RecordingWriter(path, selection=lambda _: lambda tensor: not tensor.node.startswith("grad"))
    for _ in range(2):
        some.write(run)
    some.close()
    return path


def _answered(path: Path, label: str) -> str:
    """Every command gives a document or a sentence, as text and as JSON; what opening said when it refused."""
    try:
        stop = open_path(path)
    except TfdbgError as error:
        assert error.message.strip()
        return error.message
    context = Context(stop, width=80)
    for command in _COMMANDS:
        ask(command, context, label)
    return ""


def test_whatever_stands_in_the_index_no_command_fails(recording: Path, turns: Turns) -> None:
    whole = (recording / "index.sqlite").read_bytes()
    chance = random.Random(11)
    for turn in turns(19):
        (recording / "index.sqlite").write_bytes(whole)
        index = sqlite3.connect(recording / "index.sqlite")
        tables = [name for (name,) in index.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        table = chance.choice(tables)
        column = chance.choice([row[1] for row in index.execute(f"PRAGMA table_info({table})")])
        wrong = chance.choice(_WRONG)
        index.execute("PRAGMA ignore_check_constraints = ON")
        try:
            if chance.random() < 0.1:
                index.execute(f"DELETE FROM {table} WHERE random() % 2 = 0")
            elif chance.random() < 0.1:
                index.execute(f"UPDATE {table} SET {column} = CAST(x'ff80' AS TEXT)")
            else:
                index.execute(f"UPDATE {table} SET {column} = ? WHERE random() % 3 = 0", (wrong,))
            index.commit()
        except sqlite3.Error:
            continue  # it cannot stand there
        finally:
            index.close()
        _answered(recording, f"turn {turn}: {table}.{column} = {str(wrong)[:40]!r}")


def test_whatever_bytes_a_file_holds_no_command_fails(recording: Path, turns: Turns) -> None:
    chance = random.Random(3)
    files = [path for path in sorted(recording.rglob("*")) if path.is_file()]
    for turn in turns(19):
        path = chance.choice(files)
        original = path.read_bytes()
        content = bytearray(original)
        for _ in range(chance.randrange(1, 20)):
            content[chance.randrange(len(content))] = chance.choice((0, 1, 0x7F, 0x80, 0xFF))
        path.write_bytes(content[: chance.choice((len(content), len(content), len(content) // 2, 0))])
        _answered(recording, f"turn {turn}: {path.name}")
        path.write_bytes(original)


def test_a_file_that_is_cut_off_costs_what_lies_behind(recording: Path) -> None:
    (first,) = (recording / "data").iterdir()
    os.truncate(first, first.stat().st_size - 400)
    store = open_path(recording).runs[-1].tensors
    lost = [value for place in range(len(store)) if isinstance(value := store.value(place), NoValue)]
    lost = [value for value in lost if value.lack == "damaged"]
    assert lost and len(lost) < len(store) / 2
    assert (
        f"The file data/{first.name} ends at byte {first.stat().st_size}; this tensor lies at bytes" in lost[0].text
    )
    _answered(recording, "cut off")


def test_a_schema_that_is_no_text_is_damage(recording: Path) -> None:
    """Found by chance: SQLite hands its own tables' names over as they stand."""
    index = sqlite3.connect(recording / "index.sqlite")
    index.execute("PRAGMA writable_schema = ON")
    index.execute("UPDATE sqlite_master SET name = CAST(x'72ff' AS TEXT), type = 'index' WHERE name = 'runs'")
    index.commit()
    index.close()
    with pytest.raises(TfdbgError, match="damaged"):
        open_path(recording)


def test_a_file_that_is_gone_costs_its_tensors(recording: Path) -> None:
    for path in (recording / "data").iterdir():
        path.unlink()
    store = open_path(recording).runs[0].tensors
    (told,) = {value.text for place in range(len(store)) if isinstance(value := store.value(place), NoValue)
               and value.lack == "damaged"}  # fmt: skip
    assert told == "The file data/000001.safetensors cannot be read: No such file or directory."
    assert isinstance(store, TellsSummaries)
    _answered(recording, "gone")


def test_a_file_that_is_a_link_to_itself_costs_its_tensors(recording: Path) -> None:
    for path in (recording / "data").iterdir():
        path.unlink()
        path.symlink_to(path.name)
    _answered(recording, "link to itself")


@pytest.mark.parametrize("odd", ["pipe", "link", "folder", "text", "empty"])
def test_an_index_that_is_none_is_refused_by_name(recording: Path, tmp_path: Path, odd: str) -> None:
    path = recording / "index.sqlite"
    path.rename(tmp_path / "real")
    if odd == "pipe":
        os.mkfifo(path)
    elif odd == "link":
        path.symlink_to(tmp_path / "real")
    elif odd == "folder":
        path.mkdir()
    else:
        path.write_text("no database" * (odd == "text"))
    with ends(odd):
        said = _answered(recording, odd)
    assert str(path) in said or "links" in said


def test_tables_beside_ours_are_refused(recording: Path) -> None:
    index = sqlite3.connect(recording / "index.sqlite")
    index.execute("CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM runs; END")
    index.commit()
    assert "its tables are not those of a recording" in _answered(recording, "trigger")


@pytest.mark.parametrize(
    "shape",
    ["4611686018427387904," * 253 + "1", "1099511627776,1099511627776", "-1", "9223372036854775807,2", "0,-1"],
)
def test_whatever_shape_a_tensor_claims_no_command_fails(recording: Path, shape: str) -> None:
    index = sqlite3.connect(recording / "index.sqlite")
    index.execute("UPDATE texts SET text = ? WHERE text = '4,2'", (shape,))
    index.commit()
    index.close()
    _answered(recording, shape[:40])
