"""What `tfdbg doctor` says of a recording: nothing of a whole one, and what is missing of another."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from support.damaged_contents import damage_content
from support.sample_run import sample_run

from tfdbg_cli.formats.container.data_headers import is_of_another
from tfdbg_cli.formats.container.writer import RecordingWriter
from tfdbg_cli.formats.examining import examined
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.formats.recording.format import UNCHECKED
from tfdbg_cli.model.sources import LostTracebacks
from tfdbg_cli.model.values import NoValue

NOTE = "TensorFlow made the same ops as of the plain run."


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    writer = RecordingWriter(tmp_path / "runs")
    for _ in range(2):
        writer.write(replace(sample_run(), notes=(NOTE,)))
    writer.close()
    return tmp_path / "runs"


def _data_file(recording: Path) -> Path:
    return min((recording / "data").iterdir())


def test_what_was_noted_of_runs_is_no_damage_and_is_told_once(recording: Path) -> None:
    found = examined(recording)
    assert (found.facts, found.troubles) == (("2 runs.", NOTE, UNCHECKED), ())


def test_a_data_file_that_was_cut_or_emptied(recording: Path) -> None:
    path = _data_file(recording)
    size = path.stat().st_size
    path.write_bytes(path.read_bytes()[:100])
    [(text, advice)] = examined(recording).troubles
    assert text == f"The file data/{path.name} ends at byte 100 of {size:,}; values of 2 runs lie in it."
    assert "copied whole" in advice


def test_a_header_that_other_tools_cannot_read(recording: Path) -> None:
    path = _data_file(recording)
    content = bytearray(path.read_bytes())
    content[60:64] = b"\xff" * 4
    path.write_bytes(content)
    [(text, advice)] = examined(recording).troubles
    assert text == f"The header of the file data/{path.name} is damaged; values of 2 runs lie in it."
    assert "other tools cannot" in advice


@pytest.mark.parametrize(
    ("change", "there"),
    [
        ("offset = 1000000000", "which has {size:,} bytes"),
        ("stored = 1000000000", "which has {size:,} bytes"),
        ("offset = -8", "which has {size:,} bytes"),
        ("file = 77", "which the index does not have"),
    ],
)
@pytest.mark.parametrize("table", ["tensors", "feeds"])
def test_a_row_that_points_behind_its_file(recording: Path, table: str, change: str, there: str) -> None:
    size = _data_file(recording).stat().st_size
    index = sqlite3.connect(recording / "index.sqlite")
    index.execute(f"UPDATE {table} SET {change} WHERE run = 2 AND place = 0 AND stored > 0")
    changed = index.execute("SELECT changes()").fetchone()[0]
    index.commit()
    index.close()
    assert changed == 1
    told = [text for text, _ in examined(recording).troubles if "outside of data/0" in text]
    assert len(told) == 1 and there.format(size=size) in told[0]
    assert told[0].startswith(f"1 {table[:-1]} are to lie") and "of run 2" in told[0]


@pytest.mark.parametrize("part", ["data", "shorter data", "index.sqlite"])
def test_a_part_of_another_recording_is_told_apart(recording: Path, tmp_path: Path, part: str) -> None:
    """As long as the other, or longer: no size gives it away. Of one that is shorter no value is right either."""
    writer = RecordingWriter(tmp_path / "other", compressed=True)
    for _ in range(2):
        writer.write(sample_run())
    writer.close()
    assert not examined(tmp_path / "other").troubles
    whole, compressed = _data_file(recording), _data_file(tmp_path / "other")
    if part == "data":
        whole.write_bytes(compressed.read_bytes().ljust(whole.stat().st_size, b"\0"))
    elif part == "shorter data":
        assert compressed.stat().st_size < whole.stat().st_size
        shutil.copy(compressed, whole)
    else:
        shutil.copy(tmp_path / "other" / part, recording / part)
    [(text, advice)] = examined(recording).troubles
    assert f"data/{whole.name} is not the one that index.sqlite tells of" in text and "copy both again" in advice
    opened = open_path(recording)
    assert opened.notes == (f"{text} {advice}",)
    run = opened.runs[-1]
    assert f"data/{whole.name} is not the one" in run.lost[0]
    values = [run.tensors.value(place) for place in range(len(run.tensors))]
    assert all(isinstance(value, NoValue) for value in (*values, *run.call.feeds.values()))
    assert any("is not the one that index.sqlite tells of" in str(value) for value in values)


@pytest.mark.parametrize("part", ["data", "index.sqlite"])
def test_a_part_of_another_recording_that_is_laid_out_the_same_is_told_apart(
    recording: Path, tmp_path: Path, part: str
) -> None:
    """A blind test: values of the same program with another learning rate were shown, and nothing was wrong."""
    writer = RecordingWriter(tmp_path / "other")
    for _ in range(2):
        writer.write(sample_run())
    writer.close()
    own, other = _data_file(recording), _data_file(tmp_path / "other")
    assert own.stat().st_size == other.stat().st_size
    assert examined(recording).troubles == ()
    shutil.copy(other, own) if part == "data" else shutil.copy(tmp_path / "other" / part, recording / part)
    [(text, _)] = examined(recording).troubles
    assert f"data/{own.name} is not the one that index.sqlite tells of: it is of another recording" in text
    run = open_path(recording).runs[-1]
    assert all(isinstance(run.tensors.value(place), NoValue) for place in range(len(run.tensors)))


def test_a_recording_from_before_recordings_had_ids_is_as_it_was(recording: Path) -> None:
    index = sqlite3.connect(recording / "index.sqlite")
    for number, text in index.execute("SELECT id, description FROM runs").fetchall():
        fields = json.loads(text)
        assert len(fields.pop("recording")) == 32 and fields.pop("headers")
        index.execute("UPDATE runs SET description = ? WHERE id = ?", (json.dumps(fields), number))
    index.commit()
    index.close()
    path = _data_file(recording)
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    assert len(header.pop("__metadata__")["recording"]) == 32
    path.write_bytes(
        content[:8] + json.dumps(header, separators=(",", ":")).encode().ljust(length) + content[8 + length :]
    )
    assert examined(recording).troubles == () and open_path(recording).notes == ()
    tensors = open_path(recording).runs[0].tensors
    assert not isinstance(tensors.value(1), NoValue)


@pytest.mark.parametrize(("text", "at"), [(b'"recording":"', 14), (b"__metadata__", 3), (b"recording", 2)])
def test_a_damaged_id_makes_no_file_another(recording: Path, text: bytes, at: int) -> None:
    path = _data_file(recording)
    content = bytearray(path.read_bytes())
    content[content.index(text) + at] ^= 1
    path.write_bytes(content)
    assert not any("another recording" in text for text, _ in examined(recording).troubles)
    tensors = open_path(recording).runs[0].tensors
    assert not isinstance(tensors.value(0), NoValue)


def test_one_entry_or_row_that_is_damaged_makes_no_file_another(recording: Path) -> None:
    index = sqlite3.connect(recording / "index.sqlite")
    index.execute("UPDATE tensors SET offset = offset - 1 WHERE run = 1 AND place = 0")
    index.commit()
    index.close()
    tensors = open_path(recording).runs[0].tensors
    assert not isinstance(tensors.value(1), NoValue)


@pytest.mark.parametrize("most", [None, 300])
def test_a_header_is_compared_as_far_as_it_was_read(tmp_path: Path, most: int | None) -> None:
    entries = {
        "run 1/" + str(number) + '},"': {"dtype": "U8", "shape": [8], "data_offsets": [number * 8, number * 8 + 8]}
        for number in range(99)
    }
    header = json.dumps(entries, separators=(",", ":")).encode()
    path = tmp_path / "000001.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    first = 8 + len(header)
    spans = [(first + number * 8, first + number * 8 + 8) for number in range(99)]
    assert is_of_another(path, spans, most) is False
    assert is_of_another(path, [*spans[:5], (spans[5][0], spans[5][1] - 4), *spans[6:]], most) is False, "one"
    assert is_of_another(path, [(begin + 4, end + 4) for begin, end in spans], most)
    assert is_of_another(path, [(begin, end - 4) for begin, end in spans], most)
    behind = [(begin + 4, end + 4) for begin, end in spans[90:]]
    assert is_of_another(path, behind, most) is (most is None)


def test_a_data_file_that_is_gone(recording: Path) -> None:
    _data_file(recording).unlink()
    [(text, _)] = examined(recording).troubles
    assert text.startswith("The file data/000001.safetensors cannot be read: No such file")


def test_a_damaged_manifest_is_wrong(recording: Path) -> None:
    (recording / "recording.json").write_text("{")
    assert [text for text, _ in examined(recording).troubles] == ["The file recording.json is damaged."]


def test_tracebacks_that_are_damaged_are_told_and_known_to_be_lost(recording: Path) -> None:
    damage_content(recording, "tracebacks")
    lost = "The tracebacks of this run are damaged; where nodes were made is not known."
    assert [text for text, _ in examined(recording).troubles] == [f"Run {number}: {lost}" for number in (1, 2)]
    assert all(isinstance(run.tracebacks, LostTracebacks) for run in open_path(recording).runs)


def test_source_files_that_are_damaged_are_told_once(recording: Path) -> None:
    """A blind test: nothing was said to be wrong, though the index has a checksum of each text."""
    assert open_path(recording).runs[0].sources.lines("/home/ada/train.py")
    damage_content(recording, "sources")
    [(text, _)] = examined(recording).troubles
    assert text == "The copy of /home/ada/train.py is damaged, and not shown."
    assert open_path(recording).runs[0].sources.lines("/home/ada/train.py") is None


def test_a_recording_without_its_index_is_known_as_one(recording: Path) -> None:
    (recording / "index.sqlite").unlink()
    [(text, _)] = examined(recording).troubles
    assert text == f"The recording {recording} lacks its index.sqlite, which says what lies where."


def test_a_page_of_the_index_that_no_run_is_read_from_is_damaged_too(recording: Path) -> None:
    """SQLite's own check reads all pages: of a run, doctor reads its description and its graph."""
    index = recording / "index.sqlite"
    with sqlite3.connect(index) as database:
        (page,) = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'files'").fetchone()
        (size,) = database.execute("PRAGMA page_size").fetchone()
    content = bytearray(index.read_bytes())
    content[(page - 1) * size : page * size] = b"\xab" * size
    index.write_bytes(content)
    found = examined(recording)
    [(text, _)] = found.troubles
    assert text.startswith(f"{index}: The index is damaged") and "2 runs." in found.facts
    assert len(open_path(recording).runs) == 2


def test_opened_without_a_data_file_it_says_so_of_the_whole_and_of_each_run(recording: Path) -> None:
    _data_file(recording).unlink()
    opened = open_path(recording)
    trouble = "The file data/000001.safetensors cannot be read: No such file or directory"
    advice = "Was it copied whole? What lies in the other files can be looked at."
    assert f"{trouble}; values of 2 runs lie in it. {advice}" in opened.notes
    assert opened.runs[0].lost == (f"{trouble}; values of this run lie in it.",)
    assert opened.runs[0].notes == (NOTE,)


def test_a_folder_of_data_that_may_not_be_read_costs_the_values_alone(
    recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Path.stat

    def refused(path: Path, **how: bool) -> os.stat_result:
        if path.parent.name == "data":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return real(path, **how)

    monkeypatch.setattr(Path, "stat", refused)
    opened = open_path(recording)
    assert (
        "The file data/000001.safetensors cannot be read: Permission denied; values of 2 runs lie in it."
        " Check its permissions." in opened.notes
    )
    assert len(opened.runs) == 2 and len(opened.runs[0].tensors)


@pytest.mark.parametrize("length", [(1 << 64) - 1, (64 << 20) + 5])
def test_a_header_that_is_said_to_be_longer_than_its_file(recording: Path, length: int) -> None:
    """A blind test: what was too long to be looked at counted as sound."""
    path = _data_file(recording)
    content = bytearray(path.read_bytes())
    content[:8] = length.to_bytes(8, "little")
    path.write_bytes(content)
    [(text, _)] = examined(recording).troubles
    assert text == f"The header of the file data/{path.name} is damaged; values of 2 runs lie in it."


def test_a_very_long_header_is_looked_at_where_it_begins_and_ends(
    recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tfdbg_cli.formats.container.data_headers._MOST", 16)
    path = _data_file(recording)
    assert not examined(recording).troubles
    content = bytearray(path.read_bytes())
    length = int.from_bytes(content[:8], "little")
    for at in (8, 8 + length - 1):
        changed = bytearray(content)
        changed[at] = 7
        path.write_bytes(changed)
        [(text, _)] = examined(recording).troubles
        assert text == f"The header of the file data/{path.name} is damaged; values of 2 runs lie in it."


def test_a_header_of_which_one_bit_is_another_is_told(recording: Path) -> None:
    """A blind test: 39 of 60 such headers passed, though other tools read other names, types or shapes from them."""
    path = _data_file(recording)
    whole = path.read_bytes()
    length = len(whole[8 : 8 + int.from_bytes(whole[:8], "little")].rstrip())
    tensors = open_path(recording).runs[0].tensors
    chance = random.Random(1)
    for place in chance.sample(range(8, 8 + length), 100):
        changed = bytearray(whole)
        changed[place] ^= 1 << chance.randrange(8)
        path.write_bytes(changed)
        [(text, _)] = examined(recording).troubles
        assert text == f"The header of the file data/{path.name} is damaged; values of 2 runs lie in it.", place
        assert not isinstance(tensors.value(1), NoValue)
    path.write_bytes(whole)
    assert not examined(recording).troubles


def test_a_header_that_tells_of_a_run_more_than_the_index_is_whole(recording: Path) -> None:
    """So it is where the program was killed between both."""
    path = _data_file(recording)
    content = path.read_bytes()
    end = content.index(b"}" + b" " * 8)
    more = b',"run 3/x:0":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}'
    path.write_bytes(content[:end] + more + content[end + len(more) :])
    assert not examined(recording).troubles
