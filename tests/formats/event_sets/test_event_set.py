"""What runs are in an event set, what they hold, and what damage costs."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from support.event_set_maker import EventSetMaker, health, proto, record, small_set
from support.prompt import Prompt

from tfdbg_cli.analysis.many_runs.run_health import KnownHealth, RunHealths
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.event_sets.records import DamagedRecordError, RecordFile
from tfdbg_cli.formats.examining import examined
from tfdbg_cli.formats.messages import schema
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.formats.recording.checksum import masked_checksum, places_of_lengths


def _rows(prompt: Prompt) -> list[str]:
    return [f"{row['name']} {row['op_type']}" for row in prompt.data("lt")["tensors"]]


def _plain_checksum(data: bytes) -> int:
    state = 0xFFFFFFFF
    for byte in data:
        state ^= byte
        for _ in range(8):
            state = state >> 1 ^ (0x82F63B78 if state & 1 else 0)
    state ^= 0xFFFFFFFF
    return ((state >> 15 | state << 17) + 0xA282EAD8) & 0xFFFFFFFF


@pytest.mark.parametrize("length", [0, 1, 3, 8, 31, 32, 33, 35, 1023, 1024, 1025, 1027, 5000])
def test_checksums_are_those_of_the_definition(length: int) -> None:
    data = np.random.RandomState(length).bytes(length)
    assert masked_checksum(data) == _plain_checksum(data)


def test_headers_are_found_wherever_they_begin() -> None:
    content = b"abc" + record(b"x" * 50) + b"de" + record(b"")
    assert places_of_lengths(content) == [3, 3 + 66 + 2]


def test_a_run_is_a_call_or_the_eager_ops_between(tmp_path: Path) -> None:
    small_set(tmp_path)
    opened = open_path(tmp_path)
    prompt = Prompt(opened)
    assert [run.call.title for run in opened.runs] == [
        "run #1: 2 eager ops", "run #2: step(x:0)", "run #3: step(x:0)", "run #4: 1 eager op",
    ]  # fmt: skip
    assert _rows(prompt) == ["AddV2_0:0 AddV2", "Mul_0:0 Mul"]
    prompt.run("runs 3")
    assert _rows(prompt) == [
        "x:0 Placeholder", "Softmax:0 Softmax", "logarithm/y:0 Placeholder", "logarithm/Log:0 Log", "mul:0 Mul",
        "step/returned:0 __inference_step_12",
    ]  # fmt: skip
    assert opened.runs[2].call.notes == ("x:0 was given Mul_0:0 of run 1.",)


def test_eager_ops_are_a_graph_by_the_ids_of_tensors(tmp_path: Path) -> None:
    small_set(tmp_path)
    opened = open_path(tmp_path)
    node = Prompt(opened).data("ni Mul_0")
    assert node["inputs"] == ["AddV2_0:0", "AddV2_0:0"]
    last = opened.runs[3].graph
    assert [str(name) for name in last.node("Neg_0").inputs] == ["run_3/step/returned:0"]
    assert last.node("run_3/step/returned").attributes == {"from": "step/returned:0 of run 3"}


def test_a_loop_and_a_branch_have_the_scope_of_their_op(tmp_path: Path) -> None:
    made = EventSetMaker(tmp_path)
    made.graph("g", "step")
    made.op("g", "model/while", "While")
    made.op("g", "if", "StatelessIf")
    for graph_id, name in (
        ("b", "model_while_body_7"),
        ("t", "if_true_8"),
        ("u", "if_true_9"),
        ("v", "loose_body_1"),
    ):
        made.graph(graph_id, name, "g")
        made.op(graph_id, f"{'model/while/' * (graph_id == 'b')}add", "AddV2")
        made.trace(graph_id, f"{'model/while/' * (graph_id == 'b')}add", health(2))
    made.execution("__inference_step_3", [], [], graph="g")
    assert [row.split(":")[0] for row in _rows(Prompt(open_path(tmp_path)))] == [
        "model/while/body/add", "if/true/add", "if/true_1/add", "loose_body_1/add",
    ]  # fmt: skip


def test_the_origin_goes_by_counts_and_names_the_line(tmp_path: Path) -> None:
    small_set(tmp_path)
    prompt = Prompt(open_path(tmp_path))
    assert prompt.data("origin")["tensor"] is None
    alerts = prompt.data("alerts")["alerts"]
    assert [(a["run"], a["tensor"], a["neg_inf"], a["nan"]) for a in alerts] == [
        (3, "logarithm/Log:0", 1, 0), (3, "mul:0", 0, 1), (3, "step/returned:0", 0, 1), (4, "Neg_0:0", 0, 1),
    ]  # fmt: skip
    assert {alert["rule"] for alert in alerts} == {"has_inf_or_nan"}
    prompt.run("runs 3")
    origin = prompt.data("origin")
    assert (origin["tensor"], origin["file"], origin["line"]) == ("logarithm/Log:0", "/home/ada/train.py", 4)
    assert origin["cause"] == "Log of 0: logarithm/y:0 holds 1 zero."
    shown = prompt.show("origin")
    assert "tf.math.log(x)" in shown and "3 later tensors" not in shown and "2 later tensors" in shown
    assert prompt.data("lt -f has_inf_or_nan")["tensors"][0]["name"] == "logarithm/Log:0"
    assert prompt.data("origin --all")["tensors"][0] == "logarithm/Log:0"


@pytest.mark.parametrize("kind", ["stack_frames", "source_files", "graphs"])
def test_what_tells_of_lines_and_is_gone_is_named(tmp_path: Path, kind: str) -> None:
    """A blind test: of a set without its stacks `origin` said that tfdbg, TensorFlow or a SavedModel made the op."""
    path = small_set(tmp_path).path(kind)
    path.unlink()
    prompt = Prompt(open_path(tmp_path))
    prompt.run("runs 3")
    said = f"o source is known: the file {path.name} is missing"
    assert f"n{said}" in prompt.show("origin")
    assert f"N{said}." in prompt.show("ls")
    if kind == "graphs":
        prompt.run("runs 4")
        assert "train.py" in prompt.show("ls"), "of executions the stacks are there"
    else:
        assert said in prompt.show("ni -t mul")
        prompt.run("runs 1")
        told = f"Lines of the program are not known: the file {path.name} is missing."
        assert told in prompt.show("alerts") and told in prompt.show("timeline")
        assert prompt.error("ps train.py").hint == f"N{said}."


@pytest.mark.parametrize("mode", [4, 7])
def test_of_calls_without_their_executions_it_is_not_said_that_no_harm_was_done(tmp_path: Path, mode: int) -> None:
    """A blind test: `origin` said that no result is touched, and `doctor` that there are no eager executions."""
    made = EventSetMaker(tmp_path, mode=mode)
    made.graph("g", "step")
    made.op("g", "x", "Placeholder")
    made.op("g", "Log", "Log", ["x:0"])
    values = [proto(np.array(one, np.float32)) for one in ([0.0, 1.0], [-np.inf, 0.0])]
    for name, value in zip(
        ("x", "Log"), values if mode == 7 else [health(2, zero=1), health(2, neg_inf=1)], strict=True
    ):
        made.trace("g", name, value)
    made.execution("__inference_step_12", [], [10], [values[1]], graph="g")
    path = made.path("execution")
    path.unlink()
    shown = Prompt(open_path(tmp_path)).show("origin")
    assert "Log of 0" in shown and "Harm" not in shown
    said = [text for text, _ in examined(tmp_path).troubles]
    assert said == [f"Of {path.stem} these files are missing: execution."]
    made.path("graph_execution_traces").unlink()
    assert [text for text, _ in examined(tmp_path).troubles if "was executed" in text] == []


@pytest.mark.parametrize("mode", [4, 7])
def test_of_a_result_without_what_the_function_computed_the_missing_file_is_named(tmp_path: Path, mode: int) -> None:
    """A blind test: "no graph at hand holds it", and the graph was at hand."""
    made = EventSetMaker(tmp_path, mode=mode)
    made.graph("g", "step")
    made.op("g", "Log", "Log", ["x:0"])
    bad = proto(np.array([np.nan], np.float32)) if mode == 7 else health(1, nan=1)
    made.trace("g", "Log", bad)
    made.execution("__inference_step_12", [], [10, 11], [bad, bad], graph="g")
    path = made.path("graph_execution_traces")
    path.unlink()
    cause = Prompt(open_path(tmp_path)).data("origin")["cause"]
    assert cause == (
        "The function returned it. What the function computed on the way is not known:"
        f" the file {path.name} is missing."
        " So nobody can tell which of its results went bad first."
    )


def test_the_timeline_comes_in_pages(tmp_path: Path) -> None:
    small_set(tmp_path)
    prompt = Prompt(open_path(tmp_path))
    page = prompt.data("timeline 2 -n 2")
    assert (page["total"], page["begin"]) == (5, 2)
    assert [(row["op_type"], row["run"], row["nonfinite"], row["line"]) for row in page["executions"]] == [
        ("Mul", 1, False, 4), ("step", 2, False, 4),
    ]  # fmt: skip
    assert "timeline 4 -n 2" in prompt.links("timeline 2 -n 2")
    assert "timeline -n 2 is the page before; timeline 4 -n 2 the next.\n" in prompt.show("timeline 2 -n 2")
    assert "timeline 3 -n 2 is the next page.\n" in prompt.show("timeline 1 -n 2")
    assert "timeline 3 -n 2 is the page before.\n" in prompt.show("timeline 5 -n 2")
    assert "step()" in prompt.show("timeline")
    assert "counted from 1" in prompt.error("timeline 0").message


def test_graphs_that_ran_after_the_last_call_are_a_run(tmp_path: Path) -> None:
    made = small_set(tmp_path)
    made.trace("h", "Log", health(6))
    runs = open_path(tmp_path).runs
    assert len(runs) == 5 and "outside of any recorded call" in runs[4].call.title
    assert [runs[4].tensors[0].node, len(runs[4].tensors)] == ["step/logarithm/Log", 1]


def test_calls_whose_executions_are_cut_off_are_a_run_that_says_so(tmp_path: Path) -> None:
    path = small_set(tmp_path, calls=4).path("execution")
    offsets = [one.offset for one in RecordFile(path).scan()]
    path.write_bytes(path.read_bytes()[: offsets[3] + 5])  # of the calls only the first is left
    opened = open_path(tmp_path)
    assert [run.call.title for run in opened.runs] == [
        "run #1: 2 eager ops", "run #2: step(x:0)", "run #3: calls whose executions are missing",
    ]  # fmt: skip
    assert "nobody can tell the calls apart" in opened.runs[2].call.notes[0]
    assert any("behind the end of the executions" in note for note in opened.notes)
    prompt = Prompt(opened)
    assert [alert["run"] for alert in prompt.data("alerts")["alerts"]] == [3, 3]
    assert "the first in run #3: calls whose executions are missing" in prompt.show("alerts")
    path.unlink()
    assert [run.call.function for run in open_path(tmp_path).runs] == ["calls whose executions are missing"]


def test_values_are_there_in_the_mode_full_tensor(tmp_path: Path) -> None:
    made = EventSetMaker(tmp_path, mode=7)
    made.device()
    made.execution("Log", [1], [2], [proto(np.array([0.0, -np.inf], np.float32))])
    made.execution("VarHandleOp", [], [3])
    prompt = Prompt(open_path(tmp_path))
    assert prompt.data("pt Log_0:0")["value"] is not None
    assert prompt.data("pt VarHandleOp_0:0")["lack"] == "opaque"
    assert [alert["tensor"] for alert in prompt.data("alerts")["alerts"]] == ["Log_0:0"]


@pytest.mark.parametrize(("mode", "word"), [(1, "NO_TENSOR"), (5, "SHAPE")])
def test_origin_says_what_the_mode_did_not_record(tmp_path: Path, mode: int, word: str) -> None:
    made = EventSetMaker(tmp_path, mode=mode)
    shape = proto(np.array([7, 1, 2, 6, 2, 3, 0, 0, 0, 0], np.float64))
    made.execution("Log", [1], [2], [shape] if mode == 5 else [])
    prompt = Prompt(open_path(tmp_path))
    assert word in prompt.data("origin")["missing"] and word in prompt.show("origin")
    tensor = prompt.data("lt")["tensors"][0]
    assert tensor["shape"] == ([2, 3] if mode == 5 else None)
    assert word in prompt.show("pt Log_0:0")


@pytest.mark.parametrize(("mode", "word"), [(1, "NO_TENSOR"), (5, "SHAPE")])
def test_no_list_of_origins_claims_what_the_mode_did_not_record(tmp_path: Path, mode: int, word: str) -> None:
    """A blind test: `origin --all` said that no tensor is not finite."""
    made = EventSetMaker(tmp_path, mode=mode)
    made.execution(
        "Log", [1], [2], [proto(np.array([7, 1, 2, 6, 2, 3, 0, 0, 0, 0], np.float64))] if mode == 5 else []
    )
    prompt = Prompt(open_path(tmp_path))
    told = prompt.data("origin --all")
    assert (told["kind"], told["tensors"]) == ("origins", []) and word in told["missing"]
    shown = prompt.show("origin --all")
    assert "Where it began cannot be told" in shown and "although" not in shown


def test_of_curt_health_it_is_known_that_some_are_bad(tmp_path: Path) -> None:
    made = EventSetMaker(tmp_path, mode=2)
    made.execution("Softmax", [1], [2], [proto(np.array([-1.0, 0.0]))])
    made.execution("Log", [2], [3], [proto(np.array([-1.0, 1.0]))])
    prompt = Prompt(open_path(tmp_path))
    assert prompt.data("origin")["tensor"] == "Log_0:0"
    cause = "Log gave NaN or infinity (how many was not recorded) out of finite inputs."
    assert prompt.data("origin")["cause"] == cause
    assert [point["value"] for point in prompt.data("history Log_0 -s nan")["points"]] == [None]
    assert "NaN or inf" in prompt.show("history Log_0")
    assert [point["value"] for point in prompt.data("history Softmax_0 -s nan")["points"]] == [0]
    assert "NaN or inf" in prompt.show("alerts") and "NaN or inf" in prompt.show("pt Log_0:0")
    assert [row["name"] for row in prompt.data("lt -f has_inf_or_nan")["tensors"]] == ["Log_0:0"]


@pytest.mark.parametrize("mode", [2, 3, 4])
def test_what_gives_no_floats_is_fine_and_of_other_ops_nobody_can_tell(tmp_path: Path, mode: int) -> None:
    made = EventSetMaker(tmp_path, mode=mode)
    left_out = schema.TensorProto()  # as TensorFlow writes it of whole numbers, truths and handles
    for op_type in ("ArgMax", "Equal", "VarHandleOp", "Shape"):
        made.execution(op_type, [1], [2], [left_out])
    opened = open_path(tmp_path)
    assert "nobody can tell" not in Prompt(opened).show("alerts")
    assert RunHealths(opened.runs).of(0).health is KnownHealth.FINE
    made.execution("Exp", [1], [3], [left_out])
    opened = open_path(tmp_path)
    assert "Of 1 tensor nobody can tell" in Prompt(opened).show("alerts")
    assert RunHealths(opened.runs).of(0).health is KnownHealth.UNKNOWN


def test_hosts_of_one_run_belong_together_and_other_runs_stand_behind(tmp_path: Path) -> None:
    made = small_set(tmp_path)
    worker = EventSetMaker(tmp_path, host="worker.2")
    worker.time = made.time - 0.0035  # within the last call
    worker.trace("g", "Softmax", health(6), device="/job:worker")
    other = EventSetMaker(tmp_path, host="other", run_id="zzz")
    other.execution("Sin", [], [1], [health(2)])
    opened = open_path(tmp_path)
    assert len(opened.runs) == 5
    assert "/job:worker" in [opened.runs[2].tensors[i].device for i in range(len(opened.runs[2].tensors))]
    assert opened.runs[4].tensors[0].node == "Sin_0"
    assert any("2 runs of programs" in note for note in opened.notes)


def test_a_timeline_of_programs_that_ran_at_one_time_claims_no_order_of_time(tmp_path: Path) -> None:
    """A blind test: it said so, and the times in its rows went back where the second program began."""
    made = small_set(tmp_path)
    assert ", in order of time" in Prompt(open_path(tmp_path)).show("timeline")
    other = EventSetMaker(tmp_path, host="other", run_id="zzz")
    other.time = made.time - 0.0035
    other.execution("Sin", [], [1], [health(2)])
    assert ", one program behind the other" in Prompt(open_path(tmp_path)).show("timeline")


def test_a_cut_off_end_is_told_and_costs_the_last_record(tmp_path: Path) -> None:
    made = small_set(tmp_path)
    path = made.path("execution")
    path.write_bytes(path.read_bytes()[:-5])
    opened = open_path(tmp_path)
    assert len(opened.runs) == 3
    assert any("cut off" in note and path.name in note for note in opened.notes)


def test_damage_is_passed_over_and_told_with_its_place(tmp_path: Path) -> None:
    made = small_set(tmp_path)
    path = made.path("execution")
    file = RecordFile(path)
    offsets = [one.offset for one in file.scan()]
    content = bytearray(path.read_bytes())
    content[offsets[1]] ^= 0xFF  # no record begins there any more
    content[offsets[4] - 60] ^= 0xFF  # its content is another
    path.write_bytes(content)
    file = RecordFile(path)
    assert [one.offset for one in file.scan()] == [offsets[0], *offsets[2:]]
    assert f"damaged at byte {offsets[1]:,}" in file.troubles[0]
    with pytest.raises(DamagedRecordError, match=f"byte {offsets[3]:,} of {path.name}.*checksum"):
        file.read(offsets[3])
    opened = open_path(tmp_path)
    bad = opened.runs[2].tensors
    assert "checksum" in getattr(bad.value(len(bad) - 1), "text", "")


def test_a_record_longer_than_the_file_takes_no_memory(tmp_path: Path) -> None:
    made = small_set(tmp_path)
    head = struct.pack("<Q", 1 << 50)
    with made.path("execution").open("ab") as file:
        file.write(head + struct.pack("<I", masked_checksum(head)))
    assert any("cut off" in note for note in open_path(tmp_path).notes)


def test_an_empty_set_and_a_single_file(tmp_path: Path) -> None:
    made = EventSetMaker(tmp_path / "logs")
    opened = open_path(tmp_path / "logs")
    assert not len(opened.runs) and "doctor" in opened.notes[-1]
    with pytest.raises(TfdbgError) as caught:
        open_path(made.path("execution"))
    assert "Open the folder" in caught.value.hint
    with pytest.raises(TfdbgError) as caught:
        open_path(tmp_path)
    assert str(tmp_path / "logs") in caught.value.hint


def test_what_tensorflow_wrote_before_it_had_ids_is_read(tmp_path: Path) -> None:
    made = small_set(tmp_path)
    made.path("metadata").write_bytes(record(schema.DebugEvent(wall_time=5.0).SerializeToString()))
    assert len(open_path(tmp_path).runs) == 4
    made.path("metadata").unlink()
    opened = open_path(tmp_path)
    assert len(opened.runs) == 4 and any("metadata" in note for note in opened.notes)


def test_graphs_that_lie_in_each_other_are_told_once(tmp_path: Path) -> None:
    made = EventSetMaker(tmp_path)
    made.device()
    made.graph("a", "", "b")
    made.graph("b", "", "a")
    made.execution("__inference_a_1", [], [1], graph="a")
    made.trace("a", "x", health(4))
    prompt = Prompt(open_path(tmp_path))
    assert "1 run" in prompt.show("runs") or "run #1" in prompt.show("runs")
    assert len(prompt.context.run.graph) <= 1
