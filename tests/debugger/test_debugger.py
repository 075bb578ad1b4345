"""What the debugger does with each run, by the decisions at its stops; no TensorFlow."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest
from support.sample_run import sample_run
from support.scripted import ScriptedFrontend

from tfdbg_cli.capture.controller import UNCOUNTED, Action, Plan
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.model.calls import Call, RunError, RunKind
from tfdbg_cli.model.decision import (
    Abort,
    CaptureRequest,
    Continue,
    DebugRun,
    Detach,
    PlainRun,
    ProfileRun,
    RunUntil,
)
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Estimate, Run, RunEnd, RunStart
from tfdbg_cli.model.tensors import MemoryTensorStore, describe

_SMALL = Estimate(1, 10, 0, 1000, "memory")


def _run(number: int = 1, value: float = 1.0, node: str = "y", error: str = "") -> Run:
    array = np.array([value], np.float32)
    tensor = describe(TensorName(node, 0), array, device="", op_type="Add", dtype="float32")
    call = Call(number, RunKind.SESSION, ("y:0",))
    return Run(call, MemoryTensorStore([tensor], [array]), error=RunError(error, "it failed") if error else None)


class _Pending:
    """A run about to happen that counts what is asked of it."""

    def __init__(self, estimate: Estimate = _SMALL) -> None:
        self.described = 0
        self._estimate = estimate

    def start(self, number: int) -> RunStart:
        self.described += 1
        return RunStart(Call(number, RunKind.SESSION, ("y:0",)), estimate=self._estimate)

    def estimate(self, capture: CaptureRequest, watching: bool = False, directory: object = None) -> Estimate:
        return self._estimate

    def arguments(self):
        return "y:0", {}


def _drive(debugger: Debugger, count: int, values: dict[int, float] | None = None, errors=()) -> str:
    """Make `count` runs; a letter for each: - left alone, C captured, W watched, P profiled."""
    letters = ""
    for _ in range(count):
        plan = debugger.run_starts(_Pending())
        number = plan.number
        letters += {Action.LEAVE: "-", Action.PROFILE: "P"}.get(plan.action, "W" if plan.watching else "C")
        failed = number in errors
        if plan.action is not Action.LEAVE or (plan.errors and failed):
            run = _run(number, (values or {}).get(number, 1.0), error="InvalidArgumentError" if failed else "")
            debugger.run_ends(plan, run)
    return letters


def _debugger(*script, **arguments) -> tuple[Debugger, ScriptedFrontend]:
    front = ScriptedFrontend(*script)
    return Debugger(lambda: front, **arguments), front


def test_run_stops_at_the_start_of_the_first_run_and_then_at_each_end() -> None:
    debugger, front = _debugger(DebugRun(), DebugRun(), DebugRun(), Continue())
    assert _drive(debugger, 4) == "CCC-"
    assert front.path == ["start 1", "end 1", "end 2", "end 3"]


def test_run_t_leaves_the_runs_before_the_last_alone() -> None:
    debugger, front = _debugger(DebugRun(times=3), DebugRun(times=2), Detach())
    assert _drive(debugger, 6) == "--C-C-"
    assert front.path == ["start 1", "end 3", "end 5"]


def test_run_n_runs_once_undebugged_and_stops_before_the_next() -> None:
    debugger, front = _debugger(PlainRun(), PlainRun(), DebugRun(), PlainRun(), Detach())
    assert _drive(debugger, 6) == "--C---"
    assert front.path == ["start 1", "start 2", "start 3", "end 3", "start 5"]


def test_run_p_profiles_once() -> None:
    debugger, front = _debugger(ProfileRun(), Continue())
    assert _drive(debugger, 2) == "P-"
    assert front.path == ["start 1", "end 1"]


def test_run_f_captures_until_a_tensor_passes() -> None:
    debugger, front = _debugger(RunUntil("has_inf_or_nan"), Continue())
    assert _drive(debugger, 6, {4: np.nan}) == "WWWW--"
    assert front.path == ["start 1", "end 4"]
    hit = front.ends[0].hit
    assert hit is not None
    assert (hit.filter_name, hit.runs) == ("has_inf_or_nan", 4)


def test_run_f_passes_over_excluded_nodes() -> None:
    debugger, front = _debugger(RunUntil("has_inf_or_nan", exclude_node_names="^y$"))
    assert _drive(debugger, 3, {2: np.nan}) == "WWW"
    assert front.path == ["start 1"]


def test_a_filter_that_raises_is_told_of_once_and_does_not_pass() -> None:
    debugger, front = _debugger(RunUntil("picky"))

    def picky(datum, tensor):
        raise TypeError("no such thing")

    debugger.add_filter("picky", picky)
    assert _drive(debugger, 3) == "WWW"
    assert len(front.said) == 1
    assert "TypeError" in front.said[0]
    assert "y:0" in front.said[0]


def test_a_filter_gets_a_datum_and_the_value() -> None:
    debugger, front = _debugger(RunUntil("large"))
    seen = []

    def large(datum, tensor):
        seen.append((datum.node_name, datum.output_slot, datum.debug_op))
        return tensor.max() > 5

    debugger.add_filter("large", large)
    _drive(debugger, 3, {2: 6.0})
    assert seen == [("y", 0, "DebugIdentity")] * 2
    assert front.path == ["start 1", "end 2"]


def test_an_unknown_filter_leads_back_to_the_prompt() -> None:
    debugger, front = _debugger(RunUntil("nothing"), Detach())
    assert _drive(debugger, 2) == "--"
    assert front.path == ["start 1", "start 1"]
    assert "nothing" in front.stops[1].notes[0]
    assert len(front.said) == 1 and "nothing" in front.said[0], "without a person at the prompt the note is not seen"


def test_continue_opens_the_prompt_at_an_error_only() -> None:
    debugger, front = _debugger(Continue(), Continue())
    assert _drive(debugger, 4, errors=(3,)) == "----"
    assert front.path == ["start 1", "end 3"]
    assert front.ends[0].run.error is not None


@pytest.mark.parametrize("signal", ["OutOfRangeError", "AbortedError", "UnavailableError", "CancelledError"])
def test_the_end_of_the_data_is_no_error_unless_one_steps(signal: str) -> None:
    debugger, front = _debugger(Continue())
    plan = debugger.run_starts(_Pending())
    assert not debugger.run_ends(plan, _run(error=signal))
    debugger, front = _debugger(DebugRun(), Detach())
    plan = debugger.run_starts(_Pending())
    debugger.run_ends(plan, _run(error=signal))
    assert front.path == ["start 1", "end 1"]


def test_detach_is_as_if_there_were_no_debugger() -> None:
    debugger, front = _debugger(Detach())
    assert _drive(debugger, 3, errors=(2,)) == "---"
    assert front.path == ["start 1"]
    assert debugger.run_starts(_Pending()) == Plan(4)


def test_abort_raises_keyboard_interrupt_where_the_run_was_called() -> None:
    """TensorFlow's tfdbg: `exit` killed the program by sys.exit(1)."""
    debugger, _ = _debugger(Abort())
    with pytest.raises(KeyboardInterrupt):
        debugger.run_starts(_Pending())
    debugger, front = _debugger(DebugRun(), Abort())
    plan = debugger.run_starts(_Pending())
    with pytest.raises(KeyboardInterrupt):
        debugger.run_ends(plan, _run())
    assert _drive(debugger, 2) == "--", "what the program does on its way out is not debugged"
    assert front.path == ["start 1", "end 1"]


def test_nothing_is_described_for_a_run_that_is_left_alone() -> None:
    debugger, _ = _debugger(Continue())
    debugger.run_starts(_Pending())
    pending = _Pending()
    debugger.run_starts(pending)
    assert pending.described == 0


def test_a_capture_over_the_budget_is_refused_with_cause_and_ways_out() -> None:
    debugger, front = _debugger(DebugRun(), DebugRun(force=True), Detach())
    plan = debugger.run_starts(_Pending(Estimate(7, 3 << 30, 0, 1 << 30, "disk")))
    assert plan.action is Action.CAPTURE
    assert front.path == ["start 1", "start 1"]
    (message,) = front.stops[1].notes
    for part in ("7 tensors", "3 GB", "1 GB", "--node_name_filter", "disk_budget 4G", "run -n"):
        assert part in message


def test_an_unknown_size_is_not_refused() -> None:
    debugger, _ = _debugger(DebugRun())
    assert debugger.run_starts(_Pending(Estimate(7, None, 7, 10, "disk"))).action is Action.CAPTURE


def test_runs_of_other_threads_go_by_while_one_is_captured() -> None:
    debugger, front = _debugger(DebugRun(), Detach())
    plan = debugger.run_starts(_Pending())
    found = []
    thread = threading.Thread(target=lambda: found.append(debugger.run_starts(_Pending())))
    thread.start()
    thread.join(120)
    assert found == [Plan(2, errors=True)]
    debugger.run_ends(plan, _run(1))
    assert front.path == ["start 1", "end 1"]


@pytest.mark.parametrize("wrapped_apart", [False, True])
def test_a_second_thread_waits_for_the_prompt(wrapped_apart: bool) -> None:
    """Sessions that are wrapped one by one share the terminal all the same: two screens drew over each other."""
    opened, close = threading.Event(), threading.Event()

    def slow(event):
        opened.set()
        assert close.wait(120)
        return PlainRun()

    debugger, front = _debugger(slow, Detach())
    other, others_front = _debugger(Detach()) if wrapped_apart else (debugger, front)
    threads = [threading.Thread(target=asked.run_starts, args=(_Pending(),)) for asked in (debugger, other)]
    threads[0].start()
    assert opened.wait(120)
    threads[1].start()
    threads[1].join(0.05)
    assert threads[1].is_alive()
    assert (len(front.stops), len(others_front.stops)) == ((1, 0) if wrapped_apart else (1, 1))
    close.set()
    for thread in threads:
        thread.join(120)
    assert (len(front.stops), len(others_front.stops)) == ((1, 1) if wrapped_apart else (2, 2))


@pytest.mark.parametrize(("then", "stops"), [("has_inf_or_nan", 2), ("has_inf", 1)])
def test_a_run_that_was_under_way_at_a_stop_counts_for_the_watch_begun_there(then: str, stops: int) -> None:
    """Two threads found NaN at once: the second went by unseen, whatever was decided at the stop of the first."""
    debugger, front = _debugger(RunUntil("has_inf_or_nan"), RunUntil(then))
    plans = [debugger.run_starts(_Pending()) for _ in range(2)]
    for plan in plans:
        debugger.run_ends(plan, _run(plan.number, np.nan))
    assert front.path == ["start 1", "end 1", "end 2"][: 1 + stops]
    assert [stop.hit.filter_name for stop in front.ends] == ["has_inf_or_nan"] * stops


def _in_thread(name: str, debugger: Debugger) -> Plan:
    found: list[Plan] = []
    thread = threading.Thread(target=lambda: found.append(debugger.run_starts(_Pending())), name=name)
    thread.start()
    thread.join(120)
    return found[0]


def test_the_thread_name_filter_matches_from_the_start() -> None:
    debugger, front = _debugger(DebugRun(), thread_name_filter="Main")
    assert _in_thread("Worker-Main", debugger) == Plan(1)
    assert front.stops == []
    assert _in_thread("Main-2", debugger).action is Action.CAPTURE


def test_queue_runners_are_left_alone_unless_asked_for() -> None:
    """tensorflow#11017: with QueueRunners the prompt opened in their threads."""
    debugger, front = _debugger(DebugRun())
    assert _in_thread("QueueRunnerThread-fifo-enqueue", debugger) == Plan(UNCOUNTED)
    assert front.stops == []
    debugger, front = _debugger(DebugRun(), thread_name_filter="Queue")
    assert _in_thread("QueueRunnerThread-fifo-enqueue", debugger).action is Action.CAPTURE


@pytest.mark.parametrize("before", [PlainRun(), Continue(), Detach()])
def test_runs_of_queue_runners_have_no_numbers(before) -> None:
    """A blind test: a run in which a training of 30 steps stopped was run #107, and another time #108."""
    debugger, _ = _debugger(before)
    assert debugger.run_starts(_Pending()).number == 1
    for _ in range(3):
        assert _in_thread("QueueRunnerThread-fifo-enqueue", debugger) == Plan(UNCOUNTED)
    assert debugger.run_count == 1
    assert _in_thread("Worker", debugger).number == 2


def test_a_run_made_at_the_prompt_is_left_alone() -> None:
    inner = []
    other, _ = _debugger(DebugRun())

    def nested(event):
        inner.extend(asked.run_starts(_Pending()) for asked in (debugger, other))
        return DebugRun()

    debugger, _ = _debugger(nested)
    assert debugger.run_starts(_Pending()).action is Action.CAPTURE
    assert inner == [Plan(2), Plan(1)]
    assert other.run_starts(_Pending()).action is Action.CAPTURE


def test_a_call_that_never_ran_leads_back_to_a_start() -> None:
    debugger, front = _debugger(DebugRun(), Detach())
    debugger.run_abandoned(debugger.run_starts(_Pending()))
    assert _drive(debugger, 1) == "-"
    assert front.path == ["start 1", "start 2"]


def test_a_front_end_that_fails_is_left_and_told_of(capsys: pytest.CaptureFixture[str]) -> None:
    def broken(event):
        raise RuntimeError("no screen")

    debugger, front = _debugger(broken)
    assert _drive(debugger, 2) == "--"
    assert len(front.stops) == 1
    assert "no screen" in capsys.readouterr().err


def test_one_front_end_serves_all_stops() -> None:
    """TensorFlow's tfdbg: the configuration was lost between the screens, since each built its own."""
    made = []

    def make() -> ScriptedFrontend:
        made.append(ScriptedFrontend(DebugRun(), DebugRun(), Detach()))
        return made[-1]

    debugger = Debugger(make)
    _drive(debugger, 3)
    assert len(made) == 1
    made[0].settings = replace(made[0].settings, memory_budget=5)
    assert debugger.settings.memory_budget == 5


def test_no_front_end_is_made_before_the_first_stop() -> None:
    def make():
        raise AssertionError

    debugger = Debugger(make, thread_name_filter="nobody")
    assert _drive(debugger, 2) == "--"


@pytest.mark.parametrize(
    ("name", "function", "error"), [("", len, ValueError), (3, len, TypeError), ("f", "len", TypeError)]
)
def test_add_filter_refuses_what_is_no_filter(name, function, error) -> None:
    with pytest.raises(error):
        _debugger()[0].add_filter(name, function)


def test_dumps_are_kept_for_stops_only(tmp_path) -> None:
    debugger, _ = _debugger(RunUntil("has_inf_or_nan"), Continue(), dump_root=tmp_path)
    plan = debugger.run_starts(_Pending())
    assert plan.directory is not None
    assert plan.directory.parent == tmp_path
    assert not debugger.run_ends(plan, _run(1))
    plan = debugger.run_starts(_Pending())
    assert debugger.run_ends(plan, _run(2, np.inf))


def test_the_sample_run_is_a_hit() -> None:
    debugger, front = _debugger(RunUntil("has_inf_or_nan"))
    debugger.run_ends(debugger.run_starts(_Pending()), sample_run())
    assert isinstance(front.stops[-1], RunEnd)
