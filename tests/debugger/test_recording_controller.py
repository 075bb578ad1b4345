"""Which runs are recorded, and that whatever fails the program goes on; no TensorFlow."""

from __future__ import annotations

import errno
import json
import os
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.made_run import made_run, op
from support.scripted import ScriptedFrontend

from tfdbg_cli.capture.controller import Action
from tfdbg_cli.capture.intercept.unattended import PassingController
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.debugger import recorder as recorder_module
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.debugger.prompt_threads import PromptThreads
from tfdbg_cli.debugger.recorder import Recorder
from tfdbg_cli.debugger.recording_controller import RecordingController
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.container import data_files
from tfdbg_cli.formats.container.writer import RecordingWriter
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.formats.recording import writing
from tfdbg_cli.model.calls import Call, RunError, RunKind
from tfdbg_cli.model.decision import Continue, Detach, Full, RecordRuns, RunUntil
from tfdbg_cli.model.runs import Estimate, Run, RunStart
from tfdbg_cli.model.values import NoValue


class _Pending:
    """A run about to happen."""

    nbytes = 10

    def start(self, number: int) -> RunStart:
        return RunStart(Call(number, RunKind.SESSION, ("y:0",)))

    def estimate(self, *_: object, **__: object) -> Estimate:
        return Estimate(1, self.nbytes, 0, 1000, "memory")

    def arguments(self) -> tuple[object, object]:
        return "y:0", {}


class _Case:
    """A debugger with a recorder, and what was said."""

    def __init__(self, *script: Any, settings: Settings | None = None) -> None:
        self.said: list[str] = []
        self.front = ScriptedFrontend(*script)
        self.debugger = Debugger(lambda: self.front, settings=settings)
        self.debugger.recorder = Recorder(lambda: settings or Settings(), self.said.append)
        self.controller = RecordingController(self.debugger, self.debugger.recorder)

    def drive(self, count: int, *, value: float = 1.0, error: str = "") -> str:
        letters = ""
        for _ in range(count):
            plan = self.controller.run_starts(_Pending())
            letters += {Action.LEAVE: "-"}.get(plan.action, "W" if plan.watching else "C")
            if plan.action is not Action.LEAVE or (error and plan.errors):
                self.controller.run_ends(plan, _run(plan.number, value, error))
        return letters


def _run(number: int, value: float = 1.0, error: str = "") -> Run:
    run = made_run(op("x", "Const", value=np.full(50, value, np.float32)), op("y", "Neg", "x", value=value))
    failed = RunError(error, "it failed") if error else None
    return replace(run, call=replace(run.call, number=number), error=failed)


def _numbers(path: Path) -> list[int]:
    return [run.call.number for run in open_path(path).runs]


def test_every_run_is_recorded_and_nobody_is_asked(tmp_path: Path) -> None:
    case = _Case()
    case.debugger.set_watch(None)
    case.debugger.recorder.begin(RecordRuns(str(tmp_path / "r")))
    assert case.drive(4) == "CCCC"
    case.debugger.recorder.end()
    assert case.front.path == [] and _numbers(tmp_path / "r") == [1, 2, 3, 4]
    assert "which may take" in case.said[0]
    assert (
        case.said[1]
        == f"4 runs were recorded in {tmp_path / 'r'}: `tfdbg open {tmp_path / 'r'}` shows what is there."
    )
    assert case.drive(2) == "--"


def test_one_run_in_three(tmp_path: Path) -> None:
    case = _Case()
    case.debugger.set_watch(None)
    case.debugger.recorder.begin(RecordRuns(str(tmp_path / "r"), every=3))
    assert case.drive(8) == "C--C--C-"
    case.debugger.recorder.end()
    assert _numbers(tmp_path / "r") == [1, 4, 7]


def test_from_the_prompt_and_when_nobody_is_there_any_more(tmp_path: Path) -> None:
    case = _Case(RecordRuns(str(tmp_path / "r"), every=2))
    assert case.drive(3) == "C-C"
    assert case.front.path == ["start 1"]
    case.front.script = [Detach()]
    case.debugger.stop_next()
    assert case.drive(3) == "-C-"
    case.debugger.recorder.end()
    assert _numbers(tmp_path / "r") == [1, 3, 5]


def test_a_place_that_is_taken_stops_at_the_prompt_again(tmp_path: Path) -> None:
    (tmp_path / "r").touch()
    case = _Case(RecordRuns(str(tmp_path / "r")), Continue())
    assert case.drive(2) == "--"
    assert case.front.path == ["start 1", "start 1"]
    assert "There is something at" in case.front.stops[1].notes[0]


def test_what_a_watch_looks_at_is_recorded_too(tmp_path: Path) -> None:
    case = _Case(RunUntil("has_inf_or_nan"), Continue())
    case.debugger.recorder.begin(RecordRuns(str(tmp_path / "r")))
    assert case.drive(2) == "WW"
    assert case.drive(1, value=np.nan) == "W"
    case.debugger.recorder.end()
    assert case.front.path == ["start 1", "end 3"]
    assert _numbers(tmp_path / "r") == [1, 2, 3]


def test_a_watched_run_that_passed_inside_is_made_for_the_recording(tmp_path: Path) -> None:
    case = _Case(RunUntil("has_inf_or_nan"))
    case.debugger.recorder.begin(RecordRuns(str(tmp_path / "r")))
    plan = case.controller.run_starts(_Pending())
    made = []
    case.controller.run_passed(plan, lambda: made.append(1) or _run(plan.number))
    case.debugger.recorder.end()
    assert made == [1] and _numbers(tmp_path / "r") == [1]


def test_an_error_is_recorded_and_shown(tmp_path: Path) -> None:
    case = _Case()
    case.debugger.set_watch(None)
    case.debugger.recorder.begin(RecordRuns(str(tmp_path / "r"), every=3))
    assert case.drive(1) == "C"
    assert case.drive(1, error="InvalidArgumentError") == "-"
    assert case.drive(1, error="OutOfRangeError") == "-"
    case.debugger.recorder.end()
    runs = open_path(tmp_path / "r").runs
    assert [run.error and run.error.type_name for run in runs] == [None, "InvalidArgumentError"]
    assert case.front.path == ["end 2"]


def test_a_selection_of_values(tmp_path: Path) -> None:
    for number, asked in enumerate(
        (
            RecordRuns("", only="^y"),
            RecordRuns("", stats_only=True),
            RecordRuns("", layer="nowhere"),
            RecordRuns("", stats_only=True, only="^y"),
        )
    ):
        case, path = _Case(), tmp_path / str(number)
        case.debugger.set_watch(None)
        case.debugger.recorder.begin(replace(asked, path=str(path)))
        case.drive(1)
        case.debugger.recorder.end()
        store = open_path(path).runs[0].tensors
        kept = [store[i].node for i in range(len(store)) if not isinstance(store.value(i), NoValue)]
        assert kept == (["y"] if asked.only else [])
        nothing = "None of them shows a tensor of an op in layer nowhere: no value was recorded."
        assert (case.said[-1] == nothing) == bool(asked.layer)
        assert store.summary(0).max == 1.0  # type: ignore[attr-defined]


def test_with_statistics_only_what_the_selection_names_is_fed(tmp_path: Path) -> None:
    case = _Case()
    case.debugger.set_watch(None)
    case.debugger.recorder.begin(RecordRuns(str(tmp_path / "r"), stats_only=True, only="^batch"))
    run = _run(1)
    feeds = {"batch:0": np.ones(3, np.float32), "rate:0": np.float32(2)}
    case.debugger.recorder.take(replace(run, call=replace(run.call, feeds=feeds)))
    case.debugger.recorder.end()
    fed = open_path(tmp_path / "r").runs[0].call.feeds
    assert fed["batch:0"].tolist() == [1, 1, 1] and fed["rate:0"] is None


def test_a_regex_that_cannot_be_read_is_refused_and_nothing_written(tmp_path: Path) -> None:
    with pytest.raises(TfdbgError, match="Cannot read the regex"):
        _Case().debugger.recorder.begin(RecordRuns(str(tmp_path / "r"), only="("))
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_said_once_and_the_program_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = _Case()
    case.debugger.set_watch(None)
    case.debugger.recorder.begin(RecordRuns(str(tmp_path / "r")))
    assert case.drive(2) == "CC"
    _until(lambda: case.debugger.recorder._writer.written == 2)  # type: ignore[union-attr]

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(data_files.os, "pwrite", full)
    case.drive(1)
    _until(lambda: not case.debugger.recorder.on)
    assert case.drive(5) == "-----"
    case.debugger.recorder.end()
    told = [sentence for sentence in case.said if "disk is full" in sentence]
    assert len(told) == 1
    assert told[0].endswith(" 2 runs from before are kept. Nothing more is recorded; the program goes on.")
    assert f"the run was not recorded in {tmp_path / 'r'}" in told[0]  # the others were
    assert _numbers(tmp_path / "r") == [1, 2]


@pytest.mark.parametrize(
    ("what", "cause", "end"),
    [
        ("index.sqlite", "Somebody removed, moved or replaced the index", ", and went with its index."),
        (
            "",
            "Somebody renamed or removed the folder",
            ", a folder that somebody renamed or removed since: `tfdbg open` shows it under a new name.",
        ),
    ],
)
def test_a_recording_that_somebody_removed_is_said_once_and_nobody_is_sent_there(
    tmp_path: Path, what: str, cause: str, end: str
) -> None:
    case = _Case()
    case.debugger.set_watch(None)
    case.debugger.recorder.begin(RecordRuns(str(tmp_path / "r")))
    case.drive(1)
    case.debugger.recorder.settle()
    (tmp_path / "r" / what).rename(tmp_path / "elsewhere")
    assert case.drive(1) == "C"
    case.debugger.recorder.settle()
    assert case.drive(5) == "-----"
    case.debugger.recorder.end()
    failures = [said for said in case.said if "Somebody" in said and "Nothing more is recorded" in said]
    assert len(failures) == 1 and cause in failures[0] and "the program goes on" in failures[0]
    assert case.said[-1] == f"1 run was recorded in {tmp_path / 'r'}{end}"


def test_a_folder_that_is_renamed_behind_the_last_run_is_not_shown_to_anybody(tmp_path: Path) -> None:
    case = _Case()
    case.debugger.set_watch(None)
    case.debugger.recorder.begin(RecordRuns(str(tmp_path / "r")))
    case.drive(1)
    case.debugger.recorder.settle()
    (tmp_path / "r").rename(tmp_path / "elsewhere")
    case.debugger.recorder.end()
    assert case.said[-1].startswith(
        f"1 run was recorded in {tmp_path / 'r'}, a folder that somebody renamed or removed"
    )
    assert _numbers(tmp_path / "elsewhere") == [1]


def test_a_reason_why_no_recording_begins_ends_before_the_next_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TF_CONFIG", raising=False)
    RecordingWriter(tmp_path / "r").close()
    case = _Case()
    case.debugger.recorder.begin_with_first_run(RecordRuns(str(tmp_path / "r")))
    case.drive(1)
    assert case.said[-1].endswith("if each has a name: --worker NAME. Nothing is recorded; the program goes on.")


def test_a_fault_of_ours_is_said_once_and_the_program_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(run: Run) -> Run:
        raise RuntimeError("oops")

    monkeypatch.setattr("tfdbg_cli.debugger.recorded_part.without_files", broken)
    case = _Case()
    case.debugger.set_watch(None)
    case.debugger.recorder.begin(RecordRuns(str(tmp_path / "r")))
    assert case.drive(3) == "CCC"
    case.debugger.recorder.end()
    assert [said for said in case.said if "oops" in said] == ["Run #1 was not recorded: RuntimeError: oops"]


def test_a_run_too_large_for_the_memory_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_Pending, "nbytes", 10_000)
    case = _Case()
    case.debugger.set_watch(None)
    case.debugger.recorder.begin(RecordRuns(str(tmp_path / "r")))
    assert case.drive(3) == "---"
    assert sum("is not recorded" in said for said in case.said) == 1
    case.debugger.recorder.end()


def test_the_budget_is_said_before_and_kept(tmp_path: Path) -> None:
    case = _Case()
    case.debugger.set_watch(None)
    case.debugger.recorder.begin(RecordRuns(str(tmp_path / "r"), budget=300_000))
    assert "may take 293 kB; then the oldest runs give way" in case.said[0]
    case.drive(300)
    case.debugger.recorder.end()
    numbers = _numbers(tmp_path / "r")
    assert numbers[-1] == 300 and numbers[0] > 1
    assert sum(file.stat().st_size for file in (tmp_path / "r").rglob("*") if file.is_file()) <= 310_000
    assert sum("reached its budget" in said for said in case.said) == 1
    assert f"300 runs were recorded in {tmp_path / 'r'}, of which the last {len(numbers)} are kept:" in case.said[-1]


class _Stopped(BaseException):
    """Before anything is written."""


def _planned(path: Path, worker: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """The budget that a worker is given while 1600 bytes are free."""
    found: list[int] = []

    def stopped(*_: object, budget: int, **__: object) -> None:
        found.append(budget)
        raise _Stopped

    monkeypatch.setattr(recorder_module, "RecordingWriter", stopped)
    with pytest.raises(_Stopped):
        _Case().debugger.recorder.begin(RecordRuns(str(path), worker=worker))
    return found[0]


def test_workers_whose_number_is_known_share_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "free_disk", lambda path: 1600)
    cluster = {"worker": ["a:1", "b:1", "c:1", "d:1"]}
    for index in range(4):
        task = {"type": "worker", "index": index}
        monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": task}))
        assert _planned(tmp_path / "job", "", monkeypatch) == 200
    monkeypatch.delenv("TF_CONFIG")
    assert _planned(tmp_path / "alone", "", monkeypatch) == 800


def test_workers_that_come_one_by_one_take_half_of_what_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "free_disk", lambda path: 1600)
    monkeypatch.delenv("TF_CONFIG", raising=False)
    job, open_ones, planned = tmp_path / "job", [], []
    for number in range(5):
        with monkeypatch.context() as patch:
            planned.append(_planned(job, f"w{number}", patch))
        open_ones.append(RecordingWriter(job / f"w{number}"))
    assert planned == [800, 400, 200, 100, 50] and sum(planned) <= 1600
    for writer in open_ones[1:]:  # who records no more takes no more
        writer.close()
    with monkeypatch.context() as patch:
        assert _planned(job, "late", patch) == 400
    open_ones[0].close()


def test_a_budget_may_end_the_recording(tmp_path: Path) -> None:
    case = _Case()
    case.debugger.set_watch(None)
    case.debugger.recorder.begin(RecordRuns(str(tmp_path / "r"), budget=300_000, full=Full.STOP))
    assert "then no more is recorded" in case.said[0]
    case.drive(300)
    case.debugger.recorder.end()
    numbers = _numbers(tmp_path / "r")
    assert numbers == list(range(1, len(numbers) + 1)) and len(numbers) < 300
    assert sum("has taken its 293 kB" in said for said in case.said) == 1


def test_runs_that_wait_take_bounded_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = _Case(settings=Settings(memory_budget=4000))  # a quarter of it for runs that wait: four of them
    case.debugger.set_watch(None)
    case.debugger.recorder.begin(RecordRuns(str(tmp_path / "r")))
    background = case.debugger.recorder._writer
    assert background is not None
    go, most = threading.Event(), []
    written = background._writer.write

    def slow(run: Run) -> Any:
        most.append(background._waiting)
        go.wait(120)
        return written(run)

    monkeypatch.setattr(background._writer, "write", slow)
    thread = threading.Thread(target=lambda: case.drive(20))
    thread.start()
    time.sleep(0.3)
    assert thread.is_alive()  # the program waits
    go.set()
    thread.join(120)
    assert not thread.is_alive()
    case.debugger.recorder.end()
    assert max(most) <= 1000 and len(_numbers(tmp_path / "r")) == 20


def test_what_a_session_is_fed_is_as_it_was(tmp_path: Path) -> None:
    case, batch = _Case(), np.ones(3, np.float32)
    case.debugger.recorder.begin(RecordRuns(str(tmp_path / "r")))
    run = _run(1)
    case.debugger.recorder.take(replace(run, call=replace(run.call, feeds={"x:0": batch})))
    batch[:] = 7  # the program fills it anew
    case.debugger.recorder.end()
    assert open_path(tmp_path / "r").runs[0].call.feeds["x:0"].tolist() == [1, 1, 1]


def test_a_process_that_is_forked_off_writes_nothing(tmp_path: Path) -> None:
    case = _Case()
    case.debugger.set_watch(None)
    case.debugger.recorder.begin(RecordRuns(str(tmp_path / "r")))
    case.drive(1)
    child = os.fork()
    if not child:
        try:
            case.drive(3)
            case.debugger.recorder.end()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    case.drive(1)
    case.debugger.recorder.end()
    assert _numbers(tmp_path / "r") == [1, 2]


def test_debuggers_that_share_a_recorder_have_numbers_of_their_own_in_it(tmp_path: Path) -> None:
    case, other = _Case(), PassingController(None, Settings())
    case.debugger.set_watch(None)
    case.debugger.recorder.begin(RecordRuns(str(tmp_path / "r"), every=2))
    both = (case.controller, RecordingController(other, case.debugger.recorder))
    for _ in range(4):
        for controller in both:
            plan = controller.run_starts(_Pending())
            assert plan.action is (Action.CAPTURE if plan.number % 2 else Action.LEAVE)  # each counts its own
            if plan.action is Action.CAPTURE:
                assert not controller.run_ends(plan, _run(plan.number))
    case.debugger.recorder.end()
    assert other.run_count == 4
    assert _numbers(tmp_path / "r") == [1, 2, 3, 4]


def test_a_recording_within_a_recording(tmp_path: Path) -> None:
    """A session that writes its own, in a program that is recorded."""
    case, own = _Case(), Recorder(Settings, lambda sentence: None)
    outer, inner = case.debugger.recorder, PassingController(None, Settings())
    outer.begin(RecordRuns(str(tmp_path / "outer"), every=2))
    own.begin(RecordRuns(str(tmp_path / "own")))
    controller = RecordingController(RecordingController(inner, own), outer)
    for _ in range(3):
        plan = controller.run_starts(_Pending())
        assert plan.action is Action.CAPTURE
        controller.run_ends(plan, _run(plan.number))
    outer.end()
    own.end()
    assert _numbers(tmp_path / "outer") == [1, 3]
    assert _numbers(tmp_path / "own") == [1, 2, 3]


def test_runs_of_threads_of_another_name_are_not_recorded(tmp_path: Path) -> None:
    case = _Case()
    case.debugger.recorder.begin(RecordRuns(str(tmp_path / "r")))
    only = PromptThreads("Train")
    controller = RecordingController(PassingController(None, Settings()), case.debugger.recorder, only)
    plans = []
    for name in ("Train-1", "Other-1"):
        thread = threading.Thread(target=lambda: plans.append(controller.run_starts(_Pending())), name=name)
        thread.start()
        thread.join()
    case.debugger.recorder.end()
    assert [plan.action for plan in plans] == [Action.CAPTURE, Action.LEAVE]


def _until(holds: Any) -> None:
    end = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_recording_that_nobody_watches_stops_at_no_error_and_tells_of_the_first(tmp_path: Path) -> None:
    case = _Case()
    case.debugger.set_watch(None)
    case.debugger.recorder.begin(RecordRuns(str(tmp_path / "r")))
    case.debugger.recorder.unattended = True
    case.drive(1)
    case.drive(2, error="InvalidArgumentError")
    case.drive(1)
    case.debugger.recorder.end()
    assert case.front.path == [] and _numbers(tmp_path / "r") == [1, 2, 3, 4]
    assert [sentence for sentence in case.said if "failed" in sentence] == [
        "Run #2 failed with InvalidArgumentError, which is recorded; the program gets the error. "
        "Of later ones nothing is said."
    ]


def test_an_error_that_ends_a_recorded_program_has_the_values_of_its_run(tmp_path: Path) -> None:
    case = _Case()
    case.debugger.set_watch(None)
    case.debugger.recorder.begin(RecordRuns(str(tmp_path / "r")))
    case.debugger.recorder.unattended = True
    case.drive(1, error="InvalidArgumentError")
    bare = Run(
        Call(1, RunKind.SESSION, ("y:0",)), error=RunError("InvalidArgumentError", "it failed"), notes=("ends",)
    )
    assert len(case.controller.broken_off(bare).tensors) == 2
    assert case.controller.broken_off(bare).notes[0] == "ends"
    other = replace(bare, error=RunError("ValueError", "another"))
    assert case.controller.broken_off(other) is other
    case.drive(1)
    assert case.controller.broken_off(bare) is bare  # that run is over
    case.debugger.recorder.end()


def test_runs_of_other_threads_leave_known_which_run_of_this_one_failed(tmp_path: Path) -> None:
    """A blind test: any run that began, in whatever thread, forgot it."""
    case = _Case()
    case.debugger.set_watch(None)
    case.debugger.recorder.unattended = True
    case.debugger.recorder.begin(RecordRuns(str(tmp_path / "r")))
    case.drive(1, error="InvalidArgumentError")
    other = threading.Thread(target=lambda: case.drive(2))
    other.start()
    other.join()
    bare = Run(Call(1, RunKind.SESSION, ("y:0",)), error=RunError("InvalidArgumentError", "it failed"))
    assert len(case.controller.broken_off(bare).tensors) == 2
    case.debugger.recorder.end()
