"""`tfdbg doctor` and `tfdbg tail`, on event sets and on what is none."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import numpy as np
import pytest
from support.dump_maker import small_dump
from support.event_set_maker import EventSetMaker, health, proto, small_set

from tfdbg_cli.cli import main as cli
from tfdbg_cli.formats.event_sets.following import FollowedFolder


def _doctor(path: Path, capsys: pytest.CaptureFixture[str], code: int) -> str:
    assert cli.main(["doctor", str(path)]) == code
    return capsys.readouterr().out


def test_a_healthy_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small_set(tmp_path)
    shown = _doctor(tmp_path, capsys, 0)
    assert "log directory of Debugger V2" in shown and "TensorFlow 2.21.0" in shown and "Mode FULL_HEALTH" in shown
    assert "5 eager executions, 10 tensors of graphs: 4 runs" in shown and "Nothing is wrong" in shown


def test_a_set_without_executions_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    EventSetMaker(tmp_path)
    shown = _doctor(tmp_path, capsys, 1)
    assert "Nothing that was executed was written" in shown and "circular_buffer_size=-1" in shown


def test_a_full_buffer_and_a_blind_mode(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = EventSetMaker(tmp_path, mode=1)
    for number in range(1000):
        made.execution("Sin", [], [number])
    shown = _doctor(tmp_path, capsys, 1)
    assert "Exactly 1,000 events" in shown and "NO_TENSOR" in shown and "FULL_HEALTH" in shown


def test_damage_is_told_with_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = small_set(tmp_path)
    path = made.path("graph_execution_traces")
    content = bytearray(path.read_bytes())
    content[60] ^= 1
    path.write_bytes(content)
    made.path("source_files").unlink()
    shown = _doctor(tmp_path, capsys, 1)
    assert f"The record at byte 0 of {path.name} cannot be used: its checksum does not fit." in shown
    assert "these files are missing: source_files" in shown


@pytest.mark.parametrize("kind", ["graph_execution_traces", "graphs", "stack_frames", "source_files"])
def test_a_file_that_cannot_be_empty_is(tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str) -> None:
    path = small_set(tmp_path).path(kind)
    path.write_bytes(b"")
    shown = _doctor(tmp_path, capsys, 1)
    assert f"The file {path.name} is empty, although" in shown and "Copy the file again" in shown
    assert ("although functions were called" in shown) == (kind == "graph_execution_traces")


def test_eager_ops_alone_leave_no_tensors_of_graphs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = EventSetMaker(tmp_path)
    made.device()
    made.execution("Sin", [], [1], [health(2)])
    _doctor(tmp_path, capsys, 0)


@pytest.mark.parametrize("place", [3, 20])  # in the head of its record, and in what it tells
def test_damaged_metadata_is_told_once(tmp_path: Path, capsys: pytest.CaptureFixture[str], place: int) -> None:
    path = small_set(tmp_path).path("metadata")
    content = bytearray(path.read_bytes())
    content[place] ^= 0xFF
    path.write_bytes(content)
    assert _doctor(tmp_path, capsys, 1).count(path.name) == 1


def test_much_that_is_no_record_is_given_up_soon(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """However large the files are, as much of them is read."""
    sizes: list[int] = []
    read = os.pread

    def counted(descriptor: int, size: int, offset: int) -> bytes:
        sizes.append(size)
        return read(descriptor, size, offset)

    monkeypatch.setattr(os, "pread", counted)
    taken = []
    for size in (20_000_000, 40_000_000):
        made = small_set(tmp_path / str(size))
        for kind in ("execution", "graph_execution_traces"):
            made.path(kind).write_bytes(np.random.RandomState(1).bytes(size))
        sizes.clear()
        assert _doctor(tmp_path / str(size), capsys, 1).count("is damaged at byte 0") == 2
        taken.append(sum(sizes))
    assert taken[0] == taken[1] < 80_000_000


def test_a_function_that_was_traced_too_early_leaves_the_tensors_of_graphs_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = EventSetMaker(tmp_path)
    made.device()
    made.graph("g", "step")
    made.op("g", "x", "Placeholder")
    made.execution("__inference_step_12", [4], [10], [health(6)], graph="g")
    shown = _doctor(tmp_path, capsys, 1)
    assert "1 eager execution, 0 tensors of graphs: 1 run.\n" in shown
    assert "traced before enable_dump_debug_info" in shown


def test_what_is_no_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").mkdir()
    assert "Nothing was written here" in _doctor(tmp_path / "empty", capsys, 1)
    (tmp_path / "board").mkdir()
    (tmp_path / "board" / "events.out.tfevents.1.host").touch()
    assert "tensorboard --logdir" in _doctor(tmp_path / "board", capsys, 1)
    (tmp_path / "notes.txt").write_text("x")
    assert "no format that tfdbg knows" in _doctor(tmp_path / "notes.txt", capsys, 1)
    small_set(tmp_path / "job" / "worker0")
    assert str(tmp_path / "job" / "worker0") in _doctor(tmp_path / "job", capsys, 1)
    assert "1 run." in _doctor(small_dump(tmp_path / "dump"), capsys, 0)
    assert cli.main(["doctor", str(tmp_path / "none")]) == 1
    assert "There is no" in capsys.readouterr().err


def test_what_the_doctor_says_is_one_json_object(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    EventSetMaker(tmp_path)
    assert cli.main(["doctor", str(tmp_path), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["kind"], told["what"]) == ("examination", "a log directory of Debugger V2")
    assert told["command"] == f"doctor {tmp_path}"
    assert told["troubles"][0]["advice"]


def test_tail_tells_each_run_and_what_is_not_finite(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small_set(tmp_path)
    assert cli.main(["tail", str(tmp_path), "--idle", "0", "--interval", "0.01"]) == 3
    rows = capsys.readouterr().out.splitlines()
    assert rows[0] == "run 1: 2 eager ops, 2 tensors" and rows[1] == "run 2: step(x:0), 6 tensors"
    assert "NOT FINITE: logarithm/Log:0 (Log gave -inf×1, train.py:4)" in rows[2]
    assert len(rows) == 4


def test_tail_follows_what_is_written_meanwhile(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "logs"  # not there yet
    elsewhere = EventSetMaker(tmp_path / "elsewhere")
    elsewhere.execution("Sin", [], [1], [health(2)])
    before = elsewhere.path("execution").read_bytes()
    elsewhere.execution("Cos", [], [2], [health(2)])
    second = elsewhere.path("execution").read_bytes().removeprefix(before)

    def write() -> None:
        made = EventSetMaker(folder)
        made.execution("Sin", [], [1], [health(2)])
        with made.path("execution").open("ab", buffering=0) as file:  # as TensorFlow does, which only appends
            file.write(second[:10])  # the middle of a record
            threading.Event().wait(0.2)
            file.write(second[10:])
        threading.Event().wait(0.2)
        made.execution("Log", [2], [3], [health(2, nan=1)])

    writer = threading.Thread(target=write)
    writer.start()
    code = cli.main(["tail", str(folder), "--until-alert", "--idle", "120", "--interval", "0.02", "--json"])
    writer.join()
    told = [json.loads(row) for row in capsys.readouterr().out.splitlines()]
    assert code == 3
    assert sum(row["tensors"] for row in told) == 3
    assert [alert["tensor"] for alert in told[-1]["alerts"]] == ["Log_0:0"]


@pytest.mark.parametrize("missing", [True, False])
def test_tail_tells_what_graphs_did_where_nothing_was_executed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], missing: bool
) -> None:
    made = EventSetMaker(tmp_path)  # as a session writes it
    made.graph("g", "")
    made.op("g", "Log", "Log")
    made.trace("g", "Log", health(2, nan=1))
    if missing:
        made.path("execution").unlink()
    assert cli.main(["tail", str(tmp_path), "--idle", "0", "--interval", "0.01"]) == 3
    (row,) = capsys.readouterr().out.splitlines()
    words = "calls whose executions are missing" if missing else "what graphs did outside of any recorded call"
    assert row.startswith(f"run 1: {words}, 1 tensor: NOT FINITE: Log:0 (Log gave NaN×1")


def test_what_has_no_call_yet_is_told_once(tmp_path: Path) -> None:
    made, following = small_set(tmp_path), FollowedFolder(tmp_path)
    assert [growth.place for growth in following.growth()] == [0, 1, 2, 3]
    made.trace("g", "x", health(6))
    assert not list(following.growth()), "its call may come"
    (growth,) = following.growth(behind=True)
    assert (growth.place, len(growth.run.tensors)) == (4, 1)
    assert not list(following.growth(behind=True))
    made.trace("g", "mul", health(6))
    made.execution("__inference_step_12", [4], [60], [health(6)], graph="g")
    (growth,) = following.growth()
    assert (growth.place, growth.start, len(growth.run.tensors)) == (4, 1, 3)


def _called(made: EventSetMaker, number: int) -> None:
    made.execution("__inference_step_12", [], [number], [health(6)], graph="g")


def test_traces_that_are_written_before_any_call_wait_for_it(tmp_path: Path) -> None:
    """A blind test: they were run 1, outside of any call, and then again parts of runs 2 and 3."""
    made, following = EventSetMaker(tmp_path), FollowedFolder(tmp_path)
    made.graph("outside", "")
    made.graph("g", "step", "outside")
    made.op("g", "x", "Placeholder")
    made.op("g", "Log", "Log", ["x:0"])
    made.trace("g", "x", health(6))
    first_call = made.time + 0.0005
    made.trace("g", "x", health(6))
    made.trace("g", "Log", health(6, nan=1))
    assert not list(following.growth())
    (early,) = following.growth(behind=True)
    assert early.early and (early.place, early.start, early.end) == (0, 0, 3)
    last, made.time = made.time, first_call - 0.001
    _called(made, 50)
    made.time = last
    _called(made, 51)
    found = list(following.growth())
    assert [(growth.place, growth.start, growth.end, growth.more) for growth in found] == [
        (0, 1, 2, False), (1, 2, 3, False),
    ]  # fmt: skip
    assert [str(growth.run.tensors[1].name) for growth in found] == ["step/returned:0", "Log:0"]
    assert not list(following.growth(behind=True))


def test_traces_that_are_written_behind_their_calls_are_more_of_them(tmp_path: Path) -> None:
    """A blind test: the results of a call were told twice, and what came for calls before the last never."""
    made, following = small_set(tmp_path), FollowedFolder(tmp_path)
    traces = made.path("graph_execution_traces")
    records = traces.read_bytes()
    first = 16 + int.from_bytes(records[:8], "little")  # a record has 16 bytes around its content
    traces.write_bytes(records[:first])
    assert [(growth.start, growth.end) for growth in following.growth()] == [(0, 2), (0, 2), (0, 1), (0, 1)]
    with traces.open("ab") as file:
        file.write(records[first:])
    more = list(following.growth())
    assert [(growth.place, growth.start, growth.end, growth.more) for growth in more] == [
        (1, 1, 5, True), (2, 0, 5, True),
    ]  # fmt: skip
    assert "step/returned:0" not in [str(growth.run.tensors[at].name) for growth in more for at in range(5)]
    assert not list(following.growth())


@pytest.mark.parametrize("mode", [1, 5])
def test_tail_says_where_nobody_can_tell_what_is_finite(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], mode: int
) -> None:
    """A blind test: such runs looked finite, and `--until-alert` waited for ever."""
    made = EventSetMaker(tmp_path, mode=mode)
    shape = proto(np.array([7, 1, 1, 6, 6, 0, 0, 0, 0, 0], np.float64))
    made.execution("Log", [], [1], [shape] if mode == 5 else [])
    assert cli.main(["tail", str(tmp_path), "--idle", "0", "--interval", "0.01"]) == 0
    assert capsys.readouterr().out == "run 1: 1 eager op, 1 tensor: not recorded whether finite\n"
    assert cli.main(["tail", str(tmp_path), "--idle", "0", "--interval", "0.01", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["tensors"], told["unknown"], told["alerts"]) == (1, 1, [])
    assert cli.main(["tail", str(tmp_path), "--until-alert", "--idle", "0", "--interval", "0.01"]) == 1
    assert "No alert can come." in capsys.readouterr().err


def test_tail_names_what_came_early_and_what_came_late(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = EventSetMaker(tmp_path)
    made.graph("outside", "")
    made.graph("g", "step", "outside")
    made.op("g", "Log", "Log")
    made.trace("g", "Log", health(2, nan=1))
    assert cli.main(["tail", str(tmp_path), "--idle", "0", "--interval", "0.01"]) == 3
    shown = capsys.readouterr().out
    assert shown.startswith("from run 1 on: calls that are not recorded yet, 1 tensor: NOT FINITE: step/Log:0")


def test_a_host_that_joins_tells_its_part_of_runs_that_were_told(tmp_path: Path) -> None:
    made, following = small_set(tmp_path), FollowedFolder(tmp_path)
    assert len(list(following.growth())) == 4
    worker = EventSetMaker(tmp_path, host="aaa")
    assert not list(following.growth())
    late = EventSetMaker(tmp_path, host="bbb")
    late.time = made.time - 0.0035  # within the last call
    late.trace("g", "Softmax", health(6, nan=1), device="/job:worker")
    (growth,) = following.growth()
    devices = [growth.run.tensors[at].device for at in range(growth.start, len(growth.run.tensors))]
    assert growth.place == 2 and "/job:worker" in devices
    worker.time = made.time + 1
    worker.execution("__inference_other_3", [], [900], [health(2)])
    (growth,) = following.growth()
    assert growth.place == 4 and not list(following.growth())


def test_tail_of_nothing_ends_when_it_is_told_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["tail", str(tmp_path / "none"), "--idle", "0.01", "--interval", "0.01"]) == 0
    assert "none is not there yet; waiting for it, until Ctrl-C, at most 0.01 s." in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    assert cli.main(["tail", str(tmp_path / "empty"), "--idle", "0.01", "--interval", "0.01"]) == 0
    assert "empty holds nothing of Debugger V2 yet" in capsys.readouterr().err
    (tmp_path / "file").touch()
    assert cli.main(["tail", str(tmp_path / "file")]) == 1
    assert cli.main(["tail", str(tmp_path), "--interval", "0"]) == 1
    assert capsys.readouterr().out == ""
