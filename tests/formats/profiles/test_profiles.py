"""Profiles of TensorFlow, written by hand: found, recognized, opened, and read where they are damaged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.dump_maker import small_dump
from support.graph_file_maker import graph_def
from support.profile_maker import CPU, GPU, PlaneMaker, profile_space, write_profile
from support.prompt import Prompt

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.examining import examined
from tfdbg_cli.formats.graph_files.mended import Damages
from tfdbg_cli.formats.messages import schema
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.formats.profiles import times
from tfdbg_cli.formats.profiles.event_names import eager_op, is_op_type, node_and_op
from tfdbg_cli.formats.profiles.times import executor_times, profile_facts
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.runs import Run


def _times(run: Run) -> list[tuple[str, str, str, float, float, float]]:
    assert run.profile is not None
    return [
        (time.node, time.op_type, time.device, round(time.start_us, 6), time.op_us, time.exec_us)
        for time in run.profile.times
    ]


def test_ops_have_their_times_on_each_device(tmp_path: Path) -> None:
    (run,) = open_path(write_profile(tmp_path)).runs
    assert (run.call.kind, run.call.title) == (RunKind.PROFILE, "2026-01-02 03:04:05 on worker0")
    assert _times(run) == [
        ("Fill", "Fill", CPU, 0, 3, 8),
        ("net/dense/MatMul", "MatMul", CPU, 12, 5, 5),
        ("net/dense/MatMul", "MatMul", GPU, 14, 4, 4),
        ("net/Relu", "_FusedRelu", CPU, 18, 1, 1),
        ("fusion.3", "XLA", GPU, 19, 2, 2),
    ]


def test_what_it_is_and_what_it_does_not_tell_is_said(tmp_path: Path) -> None:
    notes = open_path(write_profile(tmp_path)).runs[0].notes
    assert notes == (
        "Profile of host worker0: 21.0 us from the first op to the end of the last.",
        "/device:GPU:0: 2 executions, 6.0 us of computing (MatMul 67%, XLA 33%).",
        "/host:CPU: 3 executions, 9.0 us of computing (MatMul 56%, Fill 33%, _FusedRelu 11%).",
        "The program marked 2 steps (train): 30.0 us to 40.0 us each, number 7 the longest. All are listed together.",
        "Left out on /device:GPU:0: 1 that name no op (kernels of other libraries, copies).",
        "A profile holds times, no values and no lines of the program; eager ops are called by their type.",
        "Of an op on an accelerator the host lists the launch, the accelerator each kernel.",
        "Ops that XLA compiled into one are called as XLA calls that; their type here is XLA.",
    )


@pytest.mark.parametrize("below", ["", "plugins", "plugins/profile", "plugins/profile/2026_01_02_03_04_05"])
def test_any_folder_above_is_opened(tmp_path: Path, below: str) -> None:
    write_profile(tmp_path)
    opened = open_path(tmp_path / below)
    assert (opened.noun, len(opened.runs)) == ("profile", 1)
    assert opened.runs[0].call.title == "2026-01-02 03:04:05 on worker0"


def test_log_directories_of_several_tries_and_hosts_are_opened_together(tmp_path: Path) -> None:
    write_profile(tmp_path / "try2" / "train", time="2026_02_02_00_00_00")
    write_profile(tmp_path / "try1" / "train", host="b")
    write_profile(tmp_path / "try1" / "train", host="a")
    write_profile(tmp_path / "a" / "b" / "c" / "d")  # too deep
    (tmp_path / "linked").symlink_to(tmp_path / "try1")
    opened = open_path(tmp_path)
    assert [opened.runs[at].call.title for at in range(len(opened.runs))] == [
        "try1/train: 2026-01-02 03:04:05 on a",
        "try1/train: 2026-01-02 03:04:05 on b",
        "try2/train: 2026-02-02 00:00:00 on worker0",
    ]


def test_files_beside_log_directories_are_opened_with_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_profile(tmp_path / "logs").rename(tmp_path / "copied.xplane.pb")
    write_profile(tmp_path / "logs", time="by_hand")
    (tmp_path / "2026_05_05_05_05_05").mkdir()
    write_profile(tmp_path / "x").rename(tmp_path / "2026_05_05_05_05_05" / "w.xplane.pb")
    opened = open_path(tmp_path)
    assert [run.call.title for run in opened.runs] == [
        "copied", "2026-05-05 05:05:05 on w", "logs: by_hand on worker0",
    ]  # fmt: skip
    for folder, path in (("logs/plugins/profile", "."), ("logs/plugins/profile/by_hand", "worker0.xplane.pb")):
        monkeypatch.chdir(tmp_path / folder)
        assert len(open_path(path).runs) == 1


def test_lists_read_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_profile(tmp_path, host="a").write_bytes(b"\xff")
    write_profile(tmp_path, host="b")
    opened = open_path(tmp_path)

    def read(*_: Any) -> None:
        raise AssertionError

    monkeypatch.setattr("tfdbg_cli.formats.profiles.profile_run.read_profile", read)
    assert [opened.runs.outline(at).call.title[-1] for at in (0, 1)] == ["a", "b"]  # type: ignore[attr-defined]


def test_a_file_of_another_name_is_known_by_its_beginning(tmp_path: Path) -> None:
    for name in ("profile", "profile.pb"):
        (tmp_path / name).write_bytes(profile_space().SerializeToString())
        assert open_path(tmp_path / name).runs[0].call.kind is RunKind.PROFILE
    (tmp_path / "graph").write_bytes(graph_def().SerializeToString())
    assert open_path(tmp_path / "graph").runs[0].call.kind is RunKind.GRAPH


def test_a_log_directory_without_profiles_is_told_as_before(tmp_path: Path) -> None:
    (tmp_path / "events.out.tfevents.1.host").touch()
    (tmp_path / "plugins" / "profile" / "2026_01_02_03_04_05").mkdir(parents=True)
    with pytest.raises(TfdbgError, match="holds no runs"):
        open_path(tmp_path)
    assert "tensorboard" in examined(tmp_path).troubles[0][1]


def test_of_a_folder_that_is_something_else_a_note_says_where_the_profiles_are(tmp_path: Path) -> None:
    small_dump(tmp_path)
    write_profile(tmp_path)
    opened = open_path(tmp_path)
    assert opened.noun == "run" and opened.notes[-1] == (
        f"There are profiles, too: `tfdbg open {tmp_path / 'plugins' / 'profile'}`."
    )


def test_commands(tmp_path: Path) -> None:
    prompt = Prompt(open_path(write_profile(tmp_path)))
    assert "5 executions\nProfile of host worker0" in prompt.show("lp")
    assert "made by the runtime" not in prompt.show("lp")
    assert prompt.show("lp -t MatMul -s op_time -r").startswith("2 executions of 5")
    data = prompt.data("lp -d GPU")
    assert [(one["device"], len(one["executions"])) for one in data["devices"]] == [(GPU, 2)]
    assert "Profile of host worker0" in prompt.show("run_info")
    for command in ("lt", "ln", "ni x", "origin", "diff", "path a b", "layers", "timeline"):
        assert "neither values nor the graph" in prompt.error(command).message


def test_several_are_listed(tmp_path: Path) -> None:
    write_profile(tmp_path, host="a")
    write_profile(tmp_path, host="b")
    text = Prompt(open_path(tmp_path)).show("runs")
    assert "2 profiles in" in text and "2026-01-02 03:04:05 on b" in text and "Nodes" not in text


def test_doctor_tells_of_each(tmp_path: Path) -> None:
    write_profile(tmp_path, host="a")
    path = write_profile(tmp_path, host="b")
    path.write_bytes(path.read_bytes()[:-10])
    found = examined(tmp_path)
    assert found.what == "profiles of TensorFlow" and "2026-01-02 03:04:05 on a:" in found.facts
    assert [text.split(":")[0] for text, _ in found.troubles] == ["b.xplane.pb"] * len(found.troubles)
    assert "it is cut off there" in found.troubles[0][0]


def test_a_truncated_file_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    path = write_profile(tmp_path)
    data = path.read_bytes()
    counts = []
    for end in range(len(data)):
        path.write_bytes(data[:end])
        run = open_path(path).runs[0]
        assert run.profile is not None
        counts.append(len(run.profile.times))
    assert counts == sorted(counts)
    path.write_bytes(data[:-30])
    notes = open_path(path).runs[0].notes
    end = f"{len(data) - 30:,}"
    assert notes[0] == f"worker0.xplane.pb: the profile at byte {end} cannot be read: it is cut off there."
    path.write_bytes(data[: data.index(b"train") - 4])
    notes = open_path(path).runs[0].notes
    assert "none of its" in notes[1] and "names of events stand behind" in notes[2]


def test_what_is_no_profile_in_spite_of_its_name_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.xplane.pb"
    for content, said in ((b"", "a.xplane.pb: it is empty"), (b"hello", "a.xplane.pb: the profile at byte 2")):
        path.write_bytes(content)
        assert examined(path).troubles[0][0].startswith(said)
    path.unlink()
    path.mkdir()
    with pytest.raises(TfdbgError, match="is empty"):
        open_path(path)


def test_a_profile_that_cannot_be_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_profile(tmp_path)
    monkeypatch.setattr("tfdbg_cli.formats.profiles.profile_run._MOST_BYTES", 100)
    with pytest.raises(TfdbgError, match="are more than such a file has") as caught:
        open_path(path)
    assert caught.value.hint
    assert "more than such a file has" in examined(path).troubles[0][0]


def test_a_damaged_line_costs_itself_alone() -> None:
    space = profile_space()
    data = bytearray(space.SerializeToString())
    at = data.index(space.planes[0].lines[1].events[1].SerializeToString())
    data[at - 1] = 0x7F  # the length of an event
    damages = Damages("p")
    found = profile_facts(bytes(data), damages)
    assert [time.node for time in found.times] == ["Fill", "net/dense/MatMul", "fusion.3"]
    assert damages.told() and damages.told()[0].startswith("p: a line of events at byte ")


def test_texts_that_are_none_are_shown_as_far_as_they_are() -> None:
    space = schema.CLASSES["XSpace"](hostnames=[b"\xff\xfe"], errors=[b"lost \xff events"])
    damages = Damages("p")
    found = profile_facts(space.SerializeToString(), damages)
    assert found.hosts == ["��"] and found.said == ["lost � events"] and not damages


def test_very_many_executions_are_counted_and_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(times, "MOST_TIMES", 2)
    found = profile_facts(profile_space().SerializeToString(), Damages("p"))
    assert (len(found.times), found.left_out) == (2, 4)  # one of those not looked at is no op


def test_a_tpu_tells_the_op_with_the_name_of_the_event() -> None:
    space = schema.CLASSES["XSpace"]()
    tpu = PlaneMaker(space, "/device:TPU:0")
    tpu.event(tpu.line("Steps"), "7", 0, 9)
    tpu.event(tpu.line("XLA Ops"), "%fusion.1 = f32[8] fusion(...)", 1, 2)
    tpu.add_stats(tpu.metadata("%fusion.1 = f32[8] fusion(...)"), tf_op="net/dense/MatMul:MatMul")
    found = profile_facts(space.SerializeToString(), Damages("p"))
    assert [(time.node, time.op_type, time.op_us) for time in found.times] == [("net/dense/MatMul", "MatMul", 2)]
    assert not found.unnamed


def test_the_metadata_of_xla_and_sums_over_many_are_no_ops() -> None:
    space = schema.CLASSES["XSpace"]()
    held = PlaneMaker(space, "/host:metadata")
    held.event(held.line("x"), "a:MatMul", 0, 1)
    host = PlaneMaker(space, CPU)
    event = host.event(host.line("x"), "a:MatMul", 0, 1)
    event.num_occurrences = 3
    assert not profile_facts(space.SerializeToString(), Damages("p")).times


def test_in_older_versions_the_kernel_of_an_eager_op_is_called_as_a_node() -> None:
    space = schema.CLASSES["XSpace"]()
    host = PlaneMaker(space, CPU)
    line = host.line("python")
    host.event(line, "EagerLocalExecute: MatMul", 0, 10)
    host.event(line, "MatMul:MatMul", 3, 5)
    (time,) = profile_facts(space.SerializeToString(), Damages("p")).times
    assert (time.op_us, time.exec_us) == (5, 10)
    (time,) = executor_times(space.SerializeToString(), is_op_type)
    assert (time.node, time.op_us) == ("MatMul", 5)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("net/dense/MatMul:MatMul", ("net/dense/MatMul", "MatMul")),
        ("_send_x_0:_HostSend", ("_send_x_0", "_HostSend")),
        ("a:Examples>Op", ("a", "Examples>Op")),
        ("ExecutorState::Process", None),
        ("EagerLocalExecute: Mul", None),
        ("__inference_j_15:__inference_j_15", None),
        ("$profiler.py:91 start", None),
        ("two words:MatMul", None),
        ("module.py:12", None),
        ("MatMul", None),
        (":MatMul", None),
        ("", None),
    ],
)  # fmt: skip
def test_a_name_tells_node_and_op_where_it_is_made_of_them(text: str, expected: tuple[str, str] | None) -> None:
    assert node_and_op(text, is_op_type) == expected


def test_a_function_that_python_calls_is_no_op() -> None:
    assert eager_op("EagerLocalExecute: _EagerConst", is_op_type) == "_EagerConst"
    assert eager_op("EagerLocalExecute: __inference_step_12", is_op_type) == ""
    assert eager_op("EagerExecute", is_op_type) == ""
