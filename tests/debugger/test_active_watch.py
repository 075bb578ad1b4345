"""A watch from its beginning to the stop: runs kept, what is done at a hit, Ctrl-C; no TensorFlow."""

from __future__ import annotations

import _signal
import asyncio
import gc
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.made_run import made_run, op
from support.scripted import ScriptedFrontend

from tfdbg_cli.analysis.watch.filters import BUILT_IN_FILTERS
from tfdbg_cli.analysis.watch.watch import Watch
from tfdbg_cli.capture.controller import Plan
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.debugger import run_saving
from tfdbg_cli.debugger.active_watch import ActiveWatch
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.debugger.progress_line import ProgressLine
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import Call, RunError, RunKind
from tfdbg_cli.model.decision import Continue, DebugRun, Decision, OnBenign, RunUntil, Values
from tfdbg_cli.model.exactness import Exactness, ExecutionWay
from tfdbg_cli.model.ignored import Ignored
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.replay import ReplaySpec
from tfdbg_cli.model.runs import Estimate, Run, RunEnd, RunStart
from tfdbg_cli.model.tensors import MemoryTensorStore, describe

_NBYTES = 1 << 20  # of the values of one run


def _run(number: int, value: float = 1.0, **changes: Any) -> Run:
    array = np.full(_NBYTES // 4, value, np.float32)
    tensor = describe(TensorName("y", 0), array, device="", op_type="Add", dtype="float32")
    call = Call(number, RunKind.FUNCTION, ("y:0",), function="step")
    return Run(call, MemoryTensorStore([tensor], [array]), **changes)


class _Pending:
    def start(self, number: int) -> RunStart:
        return RunStart(Call(number, RunKind.FUNCTION, ("y:0",), function="step"))

    def estimate(self, capture: object, watching: bool = False, directory: object = None) -> Estimate:
        return Estimate(1, self.nbytes, 0, 1000, "memory")

    def arguments(self) -> tuple[object, object]:
        return "y:0", {}

    nbytes = 10


def _debugger(*script: Decision, memory: int = 1 << 30, attended: bool = False) -> tuple[Debugger, ScriptedFrontend]:
    settings = Settings(memory_budget=memory)
    front = ScriptedFrontend(*script, settings=settings)
    return Debugger(lambda: front, settings=settings, attended=lambda: attended), front


def _drive(debugger: Debugger, values: list[float], *, inside: bool = False, during: Any = None) -> list[Plan]:
    """Make a watched run for each of `values`; with `inside` each is checked where it happens."""
    plans = []
    for value in values:
        plan = debugger.run_starts(_Pending())
        plans.append(plan)
        if during is not None:
            during(plan.number)
        if not plan.watching:
            continue
        bad = not np.isfinite(value)
        if inside and not bad:
            debugger.run_passed(plan, lambda plan=plan, value=value: _run(plan.number, value))  # type: ignore[misc]
        else:
            debugger.run_ends(plan, _run(plan.number, value, caught=inside and bad))
    return plans


def _numbers(end: RunEnd) -> list[int]:
    return [run.call.number for run in end.earlier]


@pytest.mark.parametrize("inside", [False, True])
def test_the_runs_before_the_hit_stay(inside: bool) -> None:
    debugger, front = _debugger(RunUntil("has_inf_or_nan", keep=3), Continue())
    plans = _drive(debugger, [1, 2, 3, 4, 5, np.nan], inside=inside)
    assert plans[0].watched is not None and plans[0].watched.all_runs and plans[0].watched.values is Values.KEEP
    (end,) = front.ends
    assert _numbers(end) == [3, 4, 5]
    assert [run.tensors.value(0)[0] for run in end.earlier] == [3, 4, 5]
    assert end.notes == (
        "The 3 runs before it are kept: `older` steps back, `history TENSOR` shows one tensor over all.",
    )


def test_memory_decides_how_many_stay_and_the_stop_says_so() -> None:
    debugger, front = _debugger(RunUntil("has_inf_or_nan", keep=4), memory=3 * _NBYTES + 1)
    _drive(debugger, [1, 2, 3, 4, np.inf])
    (end,) = front.ends
    assert _numbers(end) == [3, 4]
    assert "The 2 runs before it are kept" in end.notes[0]
    assert "too little for 4 runs: the values of one take up to 1 MB, and all may take 3 MB" in end.notes[1]
    assert "memory_budget" in end.notes[1]


def test_a_run_that_was_caught_is_a_hit_without_a_look_at_its_values() -> None:
    debugger, front = _debugger(RunUntil("has_inf_or_nan", exclude_node_names="^y$"))
    plan = debugger.run_starts(_Pending())
    assert debugger.run_ends(plan, _run(plan.number, 1.0, caught=True))
    assert front.ends[0].hit is not None


def test_values_that_cannot_be_had_are_told_of_once_and_the_watch_goes_on(capsys: Any) -> None:
    def broken() -> Run:
        raise RuntimeError("no memory")

    debugger, front = _debugger(RunUntil("has_inf_or_nan", keep=2))
    for _ in range(3):
        debugger.run_passed(debugger.run_starts(_Pending()), broken)
    _drive(debugger, [np.nan], inside=True)
    assert capsys.readouterr().err.count("no memory") == 1
    assert front.path == ["start 1", "end 4"]
    assert front.ends[0].earlier == ()


def test_how_it_goes_is_not_said_of_the_run_that_ends_it() -> None:
    """`no has_inf_or_nan in 2 runs` would deny the very run that is stopped for."""
    lines: list[str] = []

    class Line(ProgressLine):
        def tick(self, words: Any) -> None:
            lines.append(words())

    decision = RunUntil("has_inf_or_nan")
    asked = BUILT_IN_FILTERS["has_inf_or_nan"]
    watching = ActiveWatch(decision, asked, Settings(), Line(), lambda text: None, Ignored())
    assert watching.sees(_run(1)) is None
    assert watching.sees(_run(2, np.nan)) is not None
    (line,) = lines
    assert line.startswith("no has_inf_or_nan in 1 run")  # and, on a slow machine, what the filter takes


@pytest.mark.parametrize(("at_the_stop", "told"), [("", True), ("Others ran.", False)])
def test_runs_before_the_stop_that_may_not_be_exact_are_told(at_the_stop: str, told: bool) -> None:
    """A blind test: the weights were others than without tfdbg, and a stop said nothing of it."""
    debugger, front = _debugger(RunUntil("has_inf_or_nan"))
    plan = debugger.run_starts(_Pending())
    debugger.run_passed(plan, lambda: _run(1), Exactness(ExecutionWay.PROVEN, 2, doubt="Others ran."))
    plan = debugger.run_starts(_Pending())
    debugger.run_ends(plan, _run(2, np.nan, exactness=Exactness(ExecutionWay.PROVEN, 2, doubt=at_the_stop)))
    (end,) = front.ends
    words = "The program's own numbers, by runs before this one: may not be exact. Others ran."
    assert (words in end.notes) is told


def test_the_last_run_that_passed_is_told() -> None:
    """A NaN in a variable was there before the watch began, or came between two runs."""
    for values, expected in (([np.nan], None), ([1, 1, np.nan], 2)):
        debugger, front = _debugger(RunUntil("has_inf_or_nan"))
        _drive(debugger, values, inside=True)
        hit = front.ends[0].hit
        assert hit is not None
        assert (hit.runs, hit.last_passed) == (len(values), expected)


def test_the_last_run_that_passed_is_one_that_read_the_same_variables() -> None:
    """What passed without a look at a variable says nothing of it."""

    def run(number: int, value: float, looks_at: str) -> Run:
        made = _run(number, value)
        return replace(made, call=replace(made.call, looks_at=looks_at))

    for kinds, expected in (("a", (None, False)), ("aab", (None, True)), ("bab", (1, True)), ("abbb", (3, False))):
        watch = Watch(RunUntil("has_inf_or_nan"), BUILT_IN_FILTERS["has_inf_or_nan"], lambda _: None)
        *before, last = kinds
        for number, kind in enumerate(before, 1):
            if kind == "a":  # checked where it happened
                watch.passed(number, kind)
            else:
                assert watch.sees(run(number, 1.0, kind)) is None
        hit = watch.sees(run(len(kinds), np.nan, last))
        assert hit is not None and (hit.last_passed, hit.others_passed) == expected


def test_a_run_that_failed_with_what_was_watched_for_says_both() -> None:
    debugger, front = _debugger(RunUntil("has_inf_or_nan"), RunUntil("has_inf_or_nan"))
    plan = debugger.run_starts(_Pending())
    debugger.run_ends(plan, _run(1, np.nan, error=RunError("InvalidArgumentError", "Tensor had NaN")))
    plan = debugger.run_starts(_Pending())
    debugger.run_ends(plan, _run(2, 1.0, error=RunError("InvalidArgumentError", "something else")))
    first, second = front.ends
    assert first.hit is not None and first.run.error is not None
    assert second.hit is None and second.run.error is not None
    plan = debugger.run_starts(_Pending())
    assert not debugger.run_ends(plan, _run(3, np.nan, error=RunError("OutOfRangeError", "the end of the data")))


def test_a_new_watch_of_another_thread_hears_nothing_of_old_runs() -> None:
    debugger, front = _debugger(RunUntil("has_inf_or_nan"))
    old = debugger.run_starts(_Pending())
    debugger.set_watch(RunUntil("has_inf_or_nan", exclude_node_names="^y$"))
    assert not debugger.run_ends(old, _run(1, np.nan))
    assert front.ends == []


class _Repeatable:
    def __init__(self, undone: list[str], fails: bool = False) -> None:
        self._undone = undone
        self._fails = fails

    def replay_spec(self) -> ReplaySpec:
        if self._fails:
            raise TfdbgError("A hash table cannot be taken along.")
        return ReplaySpec(RunKind.FUNCTION, b"graph", "step")

    def undo(self) -> tuple[str, ...]:
        self._undone.append("undo")
        return ("The table t is as the run left it.",)


def _hit_with(front: ScriptedFrontend, debugger: Debugger, replayable: Any) -> RunEnd:
    plan = debugger.run_starts(_Pending())
    assert plan.watched is not None and plan.watched.replayable
    debugger.run_ends(plan, _run(plan.number, np.nan, replayable=replayable))
    return front.ends[0]


def test_at_a_hit_the_bundle_is_written_and_then_the_update_undone(tmp_path: Path, monkeypatch: Any) -> None:
    done: list[str] = []

    def save(run: Run, path: Path, **keywords: Any) -> tuple[str, ...]:
        done.append(str(path))
        return "The bundle is there.", "A note."

    monkeypatch.setattr(run_saving, "save_bundle_or_values", save)
    path = tmp_path / "case"
    debugger, front = _debugger(RunUntil("has_inf_or_nan", bundle=str(path), skip_update=True))
    end = _hit_with(front, debugger, _Repeatable(done))
    assert done == [str(path), "undo"]
    assert end.notes == (
        "The bundle is there.",
        "A note.",
        "The variables are as before this run.",
        "The table t is as the run left it.",
    )


@pytest.mark.parametrize("held", [False, True])
def test_what_fails_at_a_hit_is_a_note_and_no_exception(tmp_path: Path, held: bool) -> None:
    undone: list[str] = []
    debugger, front = _debugger(RunUntil("has_inf_or_nan", bundle=str(tmp_path / "case"), skip_update=True))
    end = _hit_with(front, debugger, _Repeatable(undone, fails=True) if held else None)
    assert end.notes[0].startswith("The values of the run are in ")
    assert end.notes[1] == (
        "A hash table cannot be taken along."
        if held
        else "The state from before this run was not held, so it cannot be made again."
    )
    assert undone == ["undo"] * held
    assert (end.notes[2] == "The variables are as before this run.") == held


def test_a_bundle_that_cannot_be_written_is_a_note_and_no_exception(tmp_path: Path) -> None:
    (tmp_path / "case").write_text("something else")
    debugger, front = _debugger(RunUntil("has_inf_or_nan", bundle=str(tmp_path / "case")))
    end = _hit_with(front, debugger, None)
    assert end.notes[0].startswith("The bundle was not written: ")
    assert (tmp_path / "case").read_text() == "something else"


def test_a_watch_checked_inside_is_not_refused_for_the_size_of_all_values() -> None:
    for decision, refused in (
        (RunUntil("has_inf_or_nan"), False),
        (RunUntil("has_inf_or_nan", values=Values.KEEP), True),
        (RunUntil("own"), True),
    ):
        debugger, front = _debugger(decision)
        debugger.add_filter("own", lambda datum, tensor: False)
        pending = _Pending()
        pending.nbytes = 10_000
        plan = debugger.run_starts(pending)
        assert plan.watching is not refused
        assert front.path == ["start 1"] * (2 if refused else 1)


def test_a_number_goes_with_a_filter() -> None:
    debugger, front = _debugger(RunUntil("magnitude_above:3.5"), RunUntil("magnitude_above:x"))
    _drive(debugger, [1, 3, 4])
    assert front.path == ["start 1", "end 3"]
    _drive(debugger, [1])
    assert "is no number" in front.stops[-1].notes[0]


@pytest.fixture
def default_handler() -> Iterator[None]:
    gc.collect()  # watches that other tests left on
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def _interrupts_at(number: int) -> Any:
    return lambda now: signal.raise_signal(signal.SIGINT) if now == number else None


@pytest.mark.parametrize("inside", [False, True])
def test_ctrl_c_opens_the_prompt_after_the_run(default_handler: None, inside: bool) -> None:
    debugger, front = _debugger(RunUntil("has_inf_or_nan", keep=1), DebugRun(), attended=True)
    _drive(debugger, [1, 2, 3, 4], inside=inside, during=_interrupts_at(3))
    assert front.path == ["start 1", "end 3"]
    (end,) = front.ends
    assert end.hit is None
    assert "Ctrl-C ended the watch: nothing passed has_inf_or_nan in 3 runs." in end.notes
    assert _numbers(end) == [2]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("inside", [False, True])
def test_ctrl_c_between_runs_opens_the_prompt_after_the_next(default_handler: None, inside: bool) -> None:
    """So that there are values to look at, and the runs that were kept."""
    debugger, front = _debugger(RunUntil("has_inf_or_nan", keep=2), attended=True)
    _drive(debugger, [1, 2], inside=inside)
    signal.raise_signal(signal.SIGINT)
    _drive(debugger, [3], inside=inside)
    assert front.path == ["start 1", "end 3"]
    assert _numbers(front.ends[0]) == [1, 2]
    assert "Ctrl-C ended the watch: nothing passed has_inf_or_nan in 3 runs." in front.ends[0].notes


def test_ctrl_c_opens_the_prompt_before_a_run_when_the_last_one_showed_nothing(default_handler: None) -> None:
    def broken() -> Run:
        raise RuntimeError("no memory")

    debugger, front = _debugger(RunUntil("has_inf_or_nan"), attended=True)
    _drive(debugger, [1], inside=True)
    signal.raise_signal(signal.SIGINT)
    debugger.run_passed(debugger.run_starts(_Pending()), broken)
    assert front.path == ["start 1"]
    _drive(debugger, [3], inside=True)
    assert front.path == ["start 1", "start 3"]
    assert "Ctrl-C ended the watch" in front.stops[-1].notes[0]


def test_a_second_ctrl_c_interrupts_the_program_as_ever(default_handler: None) -> None:
    debugger, front = _debugger(RunUntil("has_inf_or_nan"), attended=True)
    plan = debugger.run_starts(_Pending())
    signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    debugger.run_abandoned(plan)
    assert _drive(debugger, [1])[0].watching, "a program that catches it goes on as it was"
    assert front.path == ["start 1"]


@pytest.mark.parametrize("how", ["not attended", "own handler", "ignored"])
def test_ctrl_c_is_left_alone(default_handler: None, how: str) -> None:
    caught: list[int] = []

    def theirs(number: int, frame: object) -> None:
        caught.append(number)

    handler = {"own handler": theirs, "ignored": signal.SIG_IGN}.get(how, signal.default_int_handler)
    signal.signal(signal.SIGINT, handler)
    debugger, _ = _debugger(RunUntil("has_inf_or_nan"), attended=how != "not attended")
    debugger.run_starts(_Pending())
    assert signal.getsignal(signal.SIGINT) is handler


def test_a_handler_that_the_program_sets_meanwhile_stays(default_handler: None) -> None:
    debugger, _ = _debugger(RunUntil("has_inf_or_nan"), attended=True)
    debugger.run_starts(_Pending())
    ours = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    debugger.end_watch()
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    signal.signal(signal.SIGINT, ours)  # as a context of the program's would, which put back what it had found
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_runs_kept_before_a_stop_stay_when_the_watch_goes_on() -> None:
    watch = RunUntil("has_inf_or_nan", keep=3)
    debugger, front = _debugger(watch, watch, watch)
    _drive(debugger, [1, 2, np.nan, 4, np.inf, 6, 7, 8, np.nan])
    assert [_numbers(end) for end in front.ends] == [[1, 2], [2, 3, 4], [6, 7, 8]]
    assert [stop.watch for stop in front.stops] == [None, watch, watch, watch]


def _in_a_thread(act: Callable[[], object]) -> None:
    thread = threading.Thread(target=act)
    thread.start()
    thread.join()


def test_ctrl_c_opens_the_prompt_of_a_watch_that_began_in_a_thread(default_handler: None) -> None:
    debugger, front = _debugger(RunUntil("has_inf_or_nan"), Continue(), attended=True)
    debugger.interruption.stand_by()
    _in_a_thread(lambda: _drive(debugger, [1, 2]))
    signal.raise_signal(signal.SIGINT)  # the main thread goes on
    _in_a_thread(lambda: _drive(debugger, [3]))
    assert front.path == ["start 1", "end 3"]
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    debugger.end_watch()
    debugger.interruption.leave()
    assert _signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_who_stands_by_is_not_seen_and_changes_nothing(default_handler: None) -> None:
    """A program that asks whose handler is there, as asyncio does, finds Python's."""
    ask = signal.getsignal
    debugger, _ = _debugger(Continue(), attended=True)
    debugger.interruption.stand_by()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL

    async def interrupted() -> None:
        signal.raise_signal(signal.SIGINT)
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            told.append("cancelled")
            raise

    told: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(interrupted())
    assert told == ["cancelled"]
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    debugger.end_watch()
    debugger.interruption.leave()
    assert signal.getsignal is ask


def test_one_ctrl_c_opens_the_prompt_of_every_watch(default_handler: None) -> None:
    """Sessions that were wrapped one by one have a debugger each."""
    pairs = [_debugger(RunUntil("has_inf_or_nan"), attended=True) for _ in range(2)]
    for debugger, _ in pairs:
        _drive(debugger, [1])
    signal.raise_signal(signal.SIGINT)
    for debugger, front in pairs:
        _drive(debugger, [2])
        assert front.path == ["start 1", "end 2"]
    assert _signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("end", ["stop_next", "end_watch", "set_watch"])
def test_every_end_of_a_watch_gives_ctrl_c_back(default_handler: None, end: str) -> None:
    debugger, _ = _debugger(RunUntil("has_inf_or_nan"), attended=True)
    debugger.run_starts(_Pending())
    assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    getattr(debugger, end)(*([None] if end == "set_watch" else []))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def _benign(number: int, *, harm: bool = False) -> Run:
    """A run with a -inf that `tf.where` replaces, and a result."""
    result = [0.0, float("nan")] if harm else [0.0, 1.0]
    run = made_run(
        op("x", "Placeholder", value=[1.0, 0.0]), op("log", "Log", "x", value=[0.0, float("-inf")]),
        op("ok", "Greater", "x", value=[True, False]), op("y", "SelectV2", "ok", "log", "x", value=[0.0, 0.0]),
        op("z", "Add", "y", "x", value=result),
    )  # fmt: skip
    call = Call(number, RunKind.FUNCTION, ("z:0",), function="step")
    return replace(run, call=call, caught=True)


def _watching(decision: RunUntil, said: list[str], ignored: Ignored, name: str = "has_inf_or_nan") -> ActiveWatch:
    asked = BUILT_IN_FILTERS[name]
    return ActiveWatch(decision, asked, Settings(), ProgressLine(), said.append, ignored)


def test_what_does_no_harm_is_said_once_and_left_out_from_then_on() -> None:
    said: list[str] = []
    ignored = Ignored()
    skip = RunUntil("has_inf_or_nan", benign=OnBenign.SKIP)
    watching = _watching(skip, said, ignored)
    assert watching.watched.ignored == frozenset()
    assert watching.sees(_benign(1)) is None
    assert said == ["Run #1: ignored 1 place: -inf made on purpose at log:0. The watch goes on."]
    assert "ignored 1 place: -inf made on purpose at log:0" in watching.watch.words
    assert watching.watched.ignored == {("step", "log")}
    assert watching.watched.ignored_in("step") == {"log"} and not watching.watched.ignored_in("other")
    hit = watching.sees(_benign(2, harm=True))
    assert hit is not None and (hit.runs, hit.last_passed) == (2, 1)
    end = watching.end(_benign(2, harm=True), hit)
    assert end.notes[0] == "The watch stopped here, since harm was done: z:0 comes out of the run."
    assert len(said) == 1
    again = _watching(skip, said, ignored)
    assert again.watched.ignored == {("step", "log")}, "the next watch leaves it out too"


def test_what_is_left_out_of_one_function_is_looked_at_in_another_of_its_name() -> None:
    """A blind test: two classes had a train_step; what the one masked was not looked at in the other."""
    said: list[str] = []
    watching = _watching(RunUntil("has_inf_or_nan", benign=OnBenign.SKIP), said, Ignored())

    def traced(number: int, trace: str, *, harm: bool = False) -> Run:
        run = _benign(number, harm=harm)
        return replace(run, call=replace(run.call, looks_at=trace))

    assert watching.sees(traced(1, "step_1")) is None
    assert watching.watched.ignored_in("step", "step_1") == {"log"}
    assert not watching.watched.ignored_in("step", "step_2")
    assert watching.sees(traced(2, "step_2")) is None
    assert len(said) == 1 and "ignored 1 place" in watching.watch.words, "which is told once"
    assert watching.sees(traced(3, "step_3", harm=True)) is not None


def test_a_hit_that_shows_nothing_new_is_one() -> None:
    """What a check found is not among the values: the watch must not go on for ever."""
    ignored = Ignored()
    watching = _watching(RunUntil("has_inf_or_nan", benign=OnBenign.SKIP), [], ignored)
    assert watching.sees(_benign(1)) is None
    assert watching.sees(_benign(2)) is not None


def test_nothing_is_left_out_where_nobody_asked_for_it() -> None:
    ignored = Ignored()
    assert _watching(RunUntil("has_inf_or_nan"), [], ignored).sees(_benign(1)) is not None
    skip = RunUntil("has_nan", benign=OnBenign.SKIP)
    assert _watching(skip, [], ignored, "has_nan").sees(_benign(1)) is not None
    failed = replace(_benign(1), error=RunError("InvalidArgumentError", "no"))
    assert _watching(RunUntil("has_inf_or_nan", benign=OnBenign.SKIP), [], ignored).sees(failed) is not None
    assert not ignored.places
