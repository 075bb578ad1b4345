"""What is done with one run after another that arrives, by decisions of a front end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support.sent_events import announced, graph_pieces, tensor

from tfdbg_cli.config.settings import Settings
from tfdbg_cli.debug_server.arrivals import Arrival, Arrivals
from tfdbg_cli.debug_server.listening import Listening
from tfdbg_cli.debugger.recorder import Recorder
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.formats.streamed.assembly import Assembly
from tfdbg_cli.formats.streamed.known_graphs import KnownGraphs
from tfdbg_cli.formats.streamed.room import Room
from tfdbg_cli.formats.streamed.told_code import ToldCode
from tfdbg_cli.model.decision import (
    Abort,
    CaptureRequest,
    Continue,
    DebugRun,
    Decision,
    Detach,
    PlainRun,
    ProfileRun,
    RecordRun,
    RecordRuns,
    RunUntil,
    StepOn,
)
from tfdbg_cli.model.runs import RunEnd, Stop


class Front:
    """Answers stops with one decision after another, the last of which ends."""

    def __init__(self, *decisions: Decision) -> None:
        self.settings = Settings()
        self.failures = 0
        self.broken = False
        self.stops: list[RunEnd] = []
        self.said: list[str] = []
        self._decisions = [*decisions, Abort()]

    def stop(self, event: Stop) -> Decision:
        assert isinstance(event, RunEnd)
        self.stops.append(event)
        return self._decisions.pop(0)

    def notify(self, message: str) -> None:
        self.said.append(message)

    @property
    def numbers(self) -> list[int]:
        return [event.run.call.number for event in self.stops]


class Runs(Arrivals):
    """Arrivals of which `values` are the result, one a run; Ctrl-C where one is None; then there is silence."""

    def __init__(self, *values: float | None) -> None:
        super().__init__()
        self._graphs = KnownGraphs()
        self._values = list(values)
        self.arrived: list[Arrival] = []

    def next(self, seconds: float) -> Arrival | None:
        if not self._values:
            return None
        value = self._values.pop(0)
        if value is None:
            raise KeyboardInterrupt
        assembled = Assembly("ipv4:127.0.0.1:5", Room(1 << 20), self._graphs, ToldCode())
        for message in (*graph_pieces(), announced(), *tensor("y:0:DebugIdentity", np.float32(value))):
            assembled.hear(message)
        self.arrived.append(Arrival(assembled))
        return self.arrived[-1]


Serve = Callable[..., Front]


def served(runs: Runs, *decisions: Decision, first: Decision | None = None, attended: bool = True) -> Front:
    front = Front(*decisions)
    recorder = Recorder(lambda: front.settings, front.said.append)
    listening = Listening(runs, front, recorder, first=first, say=front.said.append, attended=attended, idle=0)
    listening.serve()
    recorder.end()
    for arrival in runs.arrived:
        arrival.wait()  # every program goes on
        assert arrival.assembled.tensors.taken == 0
    return front


def test_the_prompt_opens_at_each_run() -> None:
    assert served(Runs(1, 2, 3), DebugRun(), DebugRun(), DebugRun()).numbers == [1, 2, 3]


def test_each_stop_says_that_its_run_was_sent() -> None:
    assert all(event.sent for event in served(Runs(1, np.nan), RunUntil("has_inf_or_nan")).stops)


def test_run_t_goes_past_runs() -> None:
    assert served(Runs(1, 2, 3, 4, 5), DebugRun(times=3), PlainRun()).numbers == [1, 4]
    assert served(Runs(1, 2, 3, 4, 5), PlainRun()).numbers == [1, 3]


def test_a_watch_goes_on_until_a_run_passes() -> None:
    front = served(Runs(1, 2, np.nan, 4), RunUntil("has_inf_or_nan", keep=2))
    assert front.numbers == [1, 3]
    hit = front.stops[1]
    assert hit.hit is not None
    assert (hit.hit.filter_name, hit.hit.runs) == ("has_inf_or_nan", 2)
    assert [run.call.number for run in hit.earlier] == [1, 2]
    assert hit.watch == RunUntil("has_inf_or_nan", keep=2)


def test_a_watch_can_begin_it() -> None:
    assert served(Runs(1, np.inf), first=RunUntil("has_inf_or_nan")).numbers == [2]
    with pytest.raises(TfdbgError, match="no filter"):
        served(Runs(), first=RunUntil("nonsense"))


def test_an_unknown_filter_is_told_at_the_next_run() -> None:
    front = served(Runs(1, 2), RunUntil("nonsense"))
    assert "nonsense" in front.stops[1].notes[0]


def test_ctrl_c_during_a_watch_opens_the_prompt_at_the_next_run() -> None:
    front = served(Runs(1, 2, None, 3, 4), RunUntil("has_inf_or_nan"))
    assert front.numbers == [1, 3]
    assert front.stops[1].notes[0].startswith("Ctrl-C ended the watch")
    assert front.said[0].startswith("The prompt opens at the next run.")


def test_ctrl_c_ends_all_where_the_next_run_is_waited_for_or_nobody_is_there() -> None:
    assert served(Runs(None, 1)).numbers == []
    assert served(Runs(1, None, 2), RunUntil("has_inf_or_nan"), attended=False).numbers == [1]
    assert served(Runs(1, None, None, 2), Continue()).numbers == [1]


def test_who_detaches_has_streams_answered_and_nothing_kept() -> None:
    runs = Runs(1)
    front = served(runs, Detach())
    assert runs.ignored
    assert front.said == [
        "Streams are answered from now on, and nothing is kept, so that the programs go on; Ctrl-C ends."
    ]


def test_abort_ends_at_once() -> None:
    assert served(Runs(1, 2), Abort()).numbers == [1]


def test_what_cannot_be_asked_of_a_program_elsewhere_is_said() -> None:
    narrow = DebugRun(CaptureRequest(node_name_filter="y"))
    front = served(Runs(1, 2, 3, 4), ProfileRun(), StepOn(), narrow)
    assert [event.notes[:1] for event in front.stops] == [
        (),
        ("A program sends no times here: this is the next run, with its values.",),
        ("Nothing of a program elsewhere can be stepped through: this is its next run.",),
        ("What a program sends is what its own watch chose: the filters of `run` were left aside.",),
    ]


def test_runs_are_recorded_while_the_program_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "recorded"
    served(Runs(1, 2, 3, 4), RecordRuns(str(path), every=2))
    opened = open_path(str(path))
    assert [run.call.number for run in opened.runs] == [2, 4]
    assert opened.runs[0].tensors[0].op_type == "Log"


def test_the_next_run_is_saved(tmp_path: Path) -> None:
    path = tmp_path / "saved"
    front = served(Runs(1, 2, 3), RecordRun(str(path)))
    assert front.numbers == [1]
    assert open_path(str(path)).runs[0].call.number == 2


def test_a_run_that_failed_says_so_at_the_prompt() -> None:
    runs = Runs()
    assembled = Assembly("ipv4:127.0.0.1:5", Room(1 << 20), KnownGraphs(), ToldCode())
    for message in (*graph_pieces(), announced()):
        assembled.hear(message)
    arrival = Arrival(assembled)
    front = Front()
    listening = Listening(runs, front, Recorder(Settings), say=front.said.append)
    listening._taken(arrival)
    assert front.stops[0].notes[0].startswith("This run failed, or was cancelled")
