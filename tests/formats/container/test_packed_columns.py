"""The columns of a run with very many tensors are packed beside its rows, and say the same."""

from __future__ import annotations

import hashlib
import random
import sqlite3
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.prompt import Prompt
from support.sample_run import sample_run

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.container import run_rows
from tfdbg_cli.formats.container import store as store_module
from tfdbg_cli.formats.container.columns import Columns
from tfdbg_cli.formats.container.index import Index
from tfdbg_cli.formats.container.packed_columns import FACTS, PLACES
from tfdbg_cli.formats.container.writer import RecordingWriter
from tfdbg_cli.formats.opening import open_path

_ASKED = ("lt", "lt -s op_type", "lt -s shape", "lt -s tensor_name", "lt -f has_inf_or_nan", "lt -q 'size>1 loss'",
          "lt -t Log --dtype f --shape '*' -n o")  # fmt: skip


@pytest.fixture(autouse=True)
def every_run_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_rows, "WORTH", 2)
    monkeypatch.setattr(store_module, "_AT_ONCE", 2)


def _recorded(path: Path, runs: int = 1, *, stats_only: bool = False, budget: int = 0) -> sqlite3.Connection:
    """The index of the sample run, recorded so many times."""
    selection = (lambda run: lambda tensor: False) if stats_only else None
    writer = RecordingWriter(path, selection=selection, budget=budget)
    run = sample_run()
    for number in range(runs):
        writer.write(replace(run, call=replace(run.call, number=number + 1)))
    writer.close()
    return sqlite3.connect(path / "index.sqlite", isolation_level=None)


def _contents(index: sqlite3.Connection) -> list[list[int]]:
    """By run the numbers of the contents that hold its columns."""
    found = index.execute("SELECT json_extract(description, '$.columns') FROM runs ORDER BY id").fetchall()
    return [[int(number) for number in text.strip("[]").split(",")] for (text,) in found]


def _store(index: sqlite3.Connection, content: int, octets: bytes) -> None:
    """Have `octets` in the place of a content, as a whole one."""
    row = (hashlib.sha256(octets).hexdigest(), len(octets), zlib.compress(octets), content)
    index.execute("UPDATE contents SET sha256 = ?, size = ?, zlib = ? WHERE id = ?", row)


@pytest.mark.parametrize("stats_only", [False, True])
def test_they_say_what_the_rows_say(tmp_path: Path, stats_only: bool) -> None:
    database = _recorded(tmp_path / "r", 2, stats_only=stats_only)
    count = len(sample_run().tensors)
    found = _contents(database)
    assert len(found) == 2 and all(found)
    for run, contents in enumerate(found, 1):
        packed = Columns(Index(tmp_path / "r"), run, count, contents)
        from_rows = Columns(Index(tmp_path / "r"), run, count)
        for name in (*FACTS, *PLACES):
            (told,), (expected,) = packed.numbers(name), from_rows.numbers(name)
            assert told.tolist() == expected.tolist(), name


def test_numbers_of_any_size_come_back(tmp_path: Path) -> None:
    """The columns stand in the rows in the order of the table, and each takes the bytes that its steps need."""
    database = _recorded(tmp_path / "r")
    (contents,) = _contents(database)
    count = len(sample_run().tensors)
    numbers = [0, 127, 128, 0, 32_768, 2**31, 5, 2**61, None, 2**61][:count]
    rows = [(0, place, *[numbers[place % len(numbers)]] * 14) for place in range(count)]
    _store(database, contents[1], run_rows.packed(rows, PLACES, 1))
    told = Columns(Index(tmp_path / "r"), 1, count, contents).numbers(*PLACES)
    expected = [-1 if row[2] is None else row[2] for row in rows]
    assert [column.tolist() for column in told] == [expected] * len(PLACES)


def test_runs_of_one_program_share_the_facts(tmp_path: Path) -> None:
    facts, places = zip(*_contents(_recorded(tmp_path / "r", 3)), strict=True)
    assert len(set(facts)) == 1
    assert len(set(places)) == 3


def test_a_run_of_few_tensors_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_rows, "WORTH", 10_000)
    assert "columns" not in _recorded(tmp_path / "r").execute("SELECT description FROM runs").fetchone()[0]


def test_what_belongs_to_a_run_goes_with_it(tmp_path: Path) -> None:
    database = _recorded(tmp_path / "r", 30, budget=400_000)
    (first,) = database.execute("SELECT min(id) FROM runs").fetchone()
    assert first > 1, "the oldest gave way"
    held = {number for (number,) in database.execute("SELECT id FROM contents")}
    assert {number for numbers in _contents(database) for number in numbers} <= held
    (described,) = database.execute("SELECT count(*) FROM runs").fetchone()
    beside = sqlite3.connect(tmp_path / "r" / "index.sqlite").execute("SELECT zlib FROM contents").fetchall()
    of_places = [packed for (packed,) in beside if zlib.decompress(packed)[8:16] == _length_of_the_sample()]
    assert len(of_places) == described + 1, "those of each run, and the facts"


def _length_of_the_sample() -> bytes:
    return len(sample_run().tensors).to_bytes(8, "little")


@pytest.mark.parametrize("which", [0, 1])
def test_where_they_are_damaged_the_rows_answer(tmp_path: Path, which: int) -> None:
    database = _recorded(tmp_path / "r")
    expected = [Prompt(open_path(tmp_path / "r")).show(command) for command in _ASKED]
    (contents,) = _contents(database)
    (packed,) = database.execute("SELECT zlib FROM contents WHERE id = ?", (contents[which],)).fetchone()
    whole = zlib.decompress(packed)
    for octets in (b"", whole[:-1], whole[:7], b"\1" + whole[1:], whole[:16] + b"\3" + whole[17:]):
        _store(database, contents[which], octets)
        assert [Prompt(open_path(tmp_path / "r")).show(command) for command in _ASKED] == expected
    database.execute("DELETE FROM contents WHERE id = ?", (contents[which],))
    assert [Prompt(open_path(tmp_path / "r")).show(command) for command in _ASKED] == expected


def test_whatever_they_say_no_command_fails(tmp_path: Path) -> None:
    database = _recorded(tmp_path / "r")
    (contents,) = _contents(database)
    whole = [zlib.decompress(database.execute("SELECT zlib FROM contents WHERE id = ?", (number,)).fetchone()[0])
             for number in contents]  # fmt: skip
    chance = random.Random(7)
    for _ in range(60):
        for number, octets in zip(contents, whole, strict=True):
            changed = np.frombuffer(octets, np.uint8).copy()
            for _ in range(chance.randrange(4)):
                changed[chance.randrange(16, len(changed))] = chance.randrange(256)
            _store(database, number, changed.tobytes())
        prompt = Prompt(open_path(tmp_path / "r"))
        for command in _ASKED:
            try:
                prompt.show(command)
            except TfdbgError as error:
                assert error.message
