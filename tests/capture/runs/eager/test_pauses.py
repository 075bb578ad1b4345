"""Steps, places and breakpoints in code that runs eagerly, and values that the program is given there."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from support.prompt import Prompt
from support.scripted import ScriptedFrontend

from tfdbg_cli.analysis.known_variables import KnownVariables
from tfdbg_cli.analysis.places import place_of
from tfdbg_cli.capture.runs.eager.watch import EagerWatch
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.decision import Continue, DebugRun, Decision, RunTo, RunUntil, StepOn
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.pausing import Pace
from tfdbg_cli.model.runs import RunEnd, Stop

pytestmark = pytest.mark.tf
Answer = Decision | Callable[[Stop], Decision]


class Debugged:
    """A context in which code that runs eagerly is debugged; `script` answers the stops."""

    def __init__(self, *script: Answer, breakpoints: tuple[str, ...] = (), begin: Decision | None = None) -> None:
        self.front = ScriptedFrontend(*script)
        self.debugger = Debugger(lambda: self.front, settings=Settings())
        for text in breakpoints:
            self.debugger.prompt.breakpoints.add(place_of(text))
        self.watch = EagerWatch(self.debugger)
        self.debugger.attendant = self.watch
        self._begin = begin

    def __enter__(self) -> Debugged:
        if isinstance(self._begin, RunUntil):
            self.debugger.set_watch(self._begin)
        else:
            self.debugger._state = self._begin or Continue()
        return self

    def __exit__(self, *error: object) -> None:
        self.watch.end()
        self.watch.attend(False)

    @property
    def nodes(self) -> list[str]:
        """The ops stopped at."""
        return [_paused(stop).node for stop in self.front.ends]


def _paused(stop: Stop) -> Any:
    assert isinstance(stop, RunEnd)
    return stop.run.paused


def _layer(x: Any) -> Any:
    x = tf.nn.relu(x)
    return x * 2.0


def _program(turns: int = 2) -> list[float]:
    """Three ops in a call, two outside."""
    w, found = tf.Variable(2.0), []
    for turn in range(turns):
        x = w - float(turn)
        x = _layer(x)
        x = tf.math.log(x)
        w.assign_sub(0.0)
        found.append(float(x))
    return found


def test_an_op_type_stops_at_every_pass() -> None:
    plain = _program()
    with Debugged(Continue(), Continue(), breakpoints=("log",)) as debugged:
        assert _program() == plain
    assert debugged.nodes == ["Log_0", "Log_0"]
    assert [stop.run.paused.why for stop in debugged.front.ends] == ["breakpoint 1 (log)"] * 2
    assert [stop.run.call.title.split(" of ")[0] for stop in debugged.front.ends] == [
        "run #1: turn 1",
        "run #2: turn 2",
    ]


def test_steps_go_from_op_to_op() -> None:
    step = StepOn()
    with Debugged(step, step, step, Continue(), begin=RunTo(place_of("sub"))) as debugged:
        _program()
    assert debugged.nodes == ["Sub_0", "Relu_0", "Mul_0", "Log_0"]


def test_over_a_line_means_with_all_that_it_calls() -> None:
    over = StepOn(Pace.LINE)
    with Debugged(over, over, over, over, Continue(), begin=RunTo(place_of("sub"))) as debugged:
        _program()
    assert debugged.nodes == ["Sub_0", "Relu_0", "Log_0", "AssignSubVariableOp_0", "Sub_0"]


def test_over_a_line_stops_at_it_again_where_a_loop_comes_back_to_it() -> None:
    over, found = StepOn(Pace.LINE), [tf.Variable(1.0), tf.Variable(2.0)]
    with Debugged(Continue(), over, over, over, Continue(), breakpoints=("log",)) as debugged:
        for _ in range(2):
            _ = tf.math.log(found[0])
            for variable in found:
                variable.assign_sub(0.5 * variable)
            _ = tf.exp(found[0])
    assert debugged.nodes == ["Log_0", "Log_0", "Mul_0", "Mul_1", "Exp_0"]


def test_a_line_is_stepped_over_from_what_a_watch_found() -> None:
    begin = RunUntil(filter_name="has_inf_or_nan")
    with Debugged(StepOn(Pace.LINE), Continue(), begin=begin) as debugged:
        for value in (1.0, 0.0):
            x = tf.math.log(tf.constant(value)) * 2.0 - 1.0
            _ = tf.exp(x)
    assert debugged.nodes == ["Log_0", "Exp_0"]


def test_out_of_a_call_and_out_of_a_turn() -> None:
    out = StepOn(Pace.OUT)
    with Debugged(out, out, Continue(), begin=RunTo(place_of("relu"))) as debugged:
        _program()
    assert debugged.nodes == ["Relu_0", "Log_0", "Sub_0"]


def test_out_of_a_call_behind_which_nothing_is_computed() -> None:
    """The next op is in the next call from the same place, which is another one."""
    out = StepOn(Pace.OUT)
    with Debugged(out, out, Continue(), begin=RunTo(place_of("relu"))) as debugged:
        for value in (1.0, 2.0, 3.0):
            _layer(tf.constant(value))
    assert debugged.nodes == ["Relu_0", "Relu_0", "Relu_0"]
    assert [stop.run.call.title.split(" of ")[0] for stop in debugged.front.ends] == [
        f"run #{turn}: turn {turn}" for turn in (1, 2, 3)
    ]


def test_out_of_a_layer() -> None:
    def inner(x: Any) -> Any:
        with tf.name_scope("inner"):
            return x * 2.0 * 3.0

    out = Debugged(StepOn(Pace.OUT), Continue(), begin=RunTo(place_of("inner")))
    with out as debugged, tf.name_scope("outer"):
        x = inner(tf.constant(1.0)) - 1.0
    assert x == 5.0
    assert debugged.nodes == ["outer/inner/Mul_0", "outer/Sub_0"]


def test_a_line_and_a_condition() -> None:
    line = _layer.__code__.co_firstlineno + 2
    with Debugged(Continue(), breakpoints=(f"test_pauses.py:{line} when max < 3",)) as debugged:
        _program(3)
    assert debugged.nodes == ["Mul_0"] * 2
    assert [float(stop.run.tensors.value(-1 + len(stop.run.tensors))) for stop in debugged.front.ends] == [2.0, 0.0]


def test_what_an_op_was_given_can_be_asked() -> None:
    with Debugged(breakpoints=("log when input.min <= 0",)) as debugged:
        _program(3)
    assert debugged.nodes == ["Log_0"]


def test_a_step_stays_in_its_thread() -> None:
    def elsewhere() -> None:
        _ = tf.constant(1.0) * 5.0

    def to_sub(stop: Stop) -> Decision:
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        return StepOn()

    with Debugged(to_sub, StepOn(), Continue(), begin=RunTo(place_of("sub"))) as debugged:
        _program()
    assert debugged.nodes == ["Sub_0", "Relu_0", "Mul_0"]


def test_the_program_is_given_another_value_and_its_gradient() -> None:
    def instead(stop: Stop) -> Decision:
        paused = _paused(stop)
        assert paused.value(TensorName(paused.node, 0)).tolist() == [0.0, -np.inf]
        paused.replace(TensorName(paused.node, 0), np.array([7.0, 8.0], np.float32))
        assert paused.value(TensorName(paused.node, 0)).tolist() == [7.0, 8.0]
        return Continue()

    w = tf.Variable([1.0, 0.0])
    with Debugged(instead, breakpoints=("log",)), tf.GradientTape() as tape:
        x = tf.math.log(w)
        loss = tf.reduce_sum(x * x)
    assert x.numpy().tolist() == [7.0, 8.0]
    assert loss.numpy() == 49 + 64
    assert tape.gradient(loss, w).numpy().tolist() == [14.0, np.inf]


def test_a_tape_reads_what_was_given_in_the_place_of_which_the_program_got_something_else() -> None:
    def instead(stop: Stop) -> Decision:
        _paused(stop).replace(TensorName(_paused(stop).node, 0), np.array([7.0, 8.0], np.float32))
        return Continue()

    def look(stop: Stop) -> Decision:
        assert isinstance(stop, RunEnd)
        shown.append([str(need) for need in stop.run.graph.node("gradient_tape/Mul_0").inputs])
        return Continue()

    shown: list[list[str]] = []
    w = tf.Variable([1.0, 0.0])
    with Debugged(instead, look, breakpoints=("exp", "mul")), tf.GradientTape() as tape:
        x = tf.math.exp(w)
        gradient = tape.gradient(x, w)
    assert x.numpy().tolist() == [7.0, 8.0]
    np.testing.assert_allclose(gradient, [np.e, 1.0])
    assert shown


def test_what_follows_from_a_value_that_was_set_is_not_the_doing_of_the_op(tmp_path) -> None:
    """A blind test: "Log gave 1 NaN out of finite inputs", and a square of -4 with a row of the batch behind it."""

    def instead(stop: Stop) -> Decision:
        _paused(stop).replace(TensorName(_paused(stop).node, 0), values.pop())
        return Continue()

    def look(stop: Stop) -> Decision:
        assert isinstance(stop, RunEnd)
        found.append(Prompt(stop).data("origin"))
        shown.append(Prompt(stop).show(f"pt {replaced}"))
        shown.append(Prompt(stop).show("pt GivenBySet_0"))
        folder = tmp_path / replaced
        Prompt(stop).run(f"save {folder}")
        saved = open_path(folder)
        found.append(Prompt(saved).data("origin"))
        shown.append(Prompt(saved).show(f"pt {replaced}"))
        return Continue()

    found: list[Any] = []
    shown: list[str] = []
    w = tf.Variable([1.0, 2.0])
    values = [np.array([np.nan, 1.0], np.float32), np.array([-4.0, 4.0], np.float32)]
    replaced = "Square_0"
    with Debugged(instead, look, breakpoints=("square", "log")):
        tf.math.log(tf.square(w))
    replaced = "Log_0"
    with Debugged(instead, look, breakpoints=("log", "exp")):
        tf.exp(tf.math.log(w))
    assert [one["tensor"] for one in found] == ["Log_0:0"] * 2 + ["GivenBySet_0:0"] * 2
    assert "GivenBySet_0:0 is negative at 1 element" in found[0]["cause"] and found[1]["cause"] == found[0]["cause"]
    assert all(one["cause"] == "`set` gave the program this value in place of Log_0:0." for one in found[2:])
    assert not any(one["batch_rows"] for one in found)
    for said, name in zip(shown, ["Square_0"] * 3 + ["Log_0"] * 3, strict=True):
        was = f"By `set` the program was given another {name}:0, which stands here as GivenBySet_0:0."
        gave = f"By `set` the program was given this in place of what the op gave, {name}:0."
        assert was in said or gave in said


def test_a_variable_that_set_assigned_is_shown_as_assigned_so(tmp_path) -> None:
    """A blind test: the run said that w was not finite before, and that its initializer or an earlier run did it."""

    def assign(stop: Stop) -> Decision:
        Prompt(stop).run("set w [np.nan, 4]")
        stop.breakpoints.clear()
        return RunUntil("has_inf_or_nan")

    def look(stop: Stop) -> Decision:
        live.append(Prompt(stop).data("origin"))
        shown.append(Prompt(stop).show("origin", None))
        Prompt(stop).run(f"save {tmp_path / 'run'}{len(live)}")
        return Continue()

    live: list[Any] = []
    shown: list[str] = []
    w = tf.Variable([1.0, 2.0])
    with Debugged(assign, look, breakpoints=("square",)):
        tf.square(w)
        tf.exp(w)
    saved = Prompt(open_path(tmp_path / "run1"))
    for one in (live[0], saved.data("origin")):
        assert (one["tensor"], one["cause"]) == ("GivenBySet_0:0", "`set` assigned this value to variable w.")
    assert "By `set` this was assigned to variable w." in saved.show("pt GivenBySet_0:0")
    assert "[1. 2.]" in saved.show("pt ReadVariableOp_0")
    assert "[nan  4.]" in saved.show("pt w/after_update")
    assert [str(one) for one in saved.context.run.graph.node("w/after_update").inputs] == ["w:0", "GivenBySet_0:0"]
    w.assign([1.0, 2.0])
    with Debugged(assign, look, breakpoints=("square",)):
        for _ in range(2):
            tf.square(tf.exp(w))
    told = "when it was read: `set` assigned it what it holds, at Square_0 in run #1."
    assert live[1]["tensor"] == "ReadVariableOp_0:0" and live[1]["cause"].endswith(told)
    assert "run #1, by `set`" in shown[1]
    with Debugged(assign, look, breakpoints=("square",)):
        w = tf.Variable([1.0, 2.0])
        tf.square(w)
        tf.exp(w)
    assert live[2]["cause"] == "`set` assigned this value to variable w."


def test_one_of_several_outputs_is_exchanged() -> None:
    def instead(stop: Stop) -> Decision:
        _paused(stop).replace(TensorName(_paused(stop).node, 1), np.array([9.0], np.float32))
        return Continue()

    with Debugged(instead, breakpoints=("split*",)):
        one, two, three = tf.split(tf.constant([1.0, 2.0, 3.0]), 3)
    assert [float(x[0]) for x in (one, two, three)] == [1.0, 9.0, 3.0]


def test_a_variable_is_assigned_unseen_by_a_tape() -> None:
    def instead(stop: Stop) -> Decision:
        paused = _paused(stop)
        assert paused.variables == ("w",)
        assert paused.value(TensorName("w", 0)).tolist() == [1.0, 0.0]
        paused.replace(TensorName("w", 0), np.array([3.0, 4.0], np.float32))
        return Continue()

    w = tf.Variable([1.0, 0.0])
    with Debugged(instead, breakpoints=("square",)), tf.GradientTape() as tape:
        x = tf.square(w)
    assert w.numpy().tolist() == [3.0, 4.0]
    assert tape.gradient(x, w).numpy().tolist() == [2.0, 0.0]


def test_a_variable_that_was_written_is_told_and_given_back_what_it_held() -> None:
    def instead(stop: Stop) -> Decision:
        paused, name = _paused(stop), TensorName("w", 0)
        assert isinstance(stop, RunEnd)
        shown = []
        for value in ([3.0, 4.0], [5.0, 6.0]):
            paused.replace(name, np.array(value, np.float32))
            known = KnownVariables(stop.run)
            summary = known.summary(0)
            assert summary is not None
            shown.append((known.rows[0].name, summary.max))
        assert shown == [("w", 4.0), ("w", 6.0)]
        assert [(str(one), held.tolist()) for one, held in paused.written.items()] == [("w:0", [1.0, 0.0])]
        paused.take_back(name)
        told = KnownVariables(stop.run).summary(0)
        assert not paused.written and told is not None and told.max == 1.0
        return Continue()

    w = tf.Variable([1.0, 0.0])
    with Debugged(instead, breakpoints=("square",)):
        tf.square(w)
    assert w.numpy().tolist() == [1.0, 0.0]


def test_what_the_program_has_gone_on_with_is_said_not_to_be_taken_back() -> None:
    """A blind test: after `set w` and `step`, `unset` said that no tensor is replaced, and w was as set."""

    def instead(stop: Stop) -> Decision:
        prompt = Prompt(stop)
        prompt.run("set w [3, 4]")
        prompt.run("set Square_0 [5, 6]")
        assert "until the program goes on" in prompt.show("set")
        return StepOn()

    def look(stop: Stop) -> Decision:
        prompt = Prompt(stop)
        for command in ("unset", "set"):
            assert prompt.show(command, None).splitlines()[0] == "No tensor is replaced."
            assert prompt.show(command, None).splitlines()[1:] == [said.format("Square_0:0"), said.format("w")]
        for name, shown in (("w", "w"), ("w:0", "w"), ("Square_0", "Square_0:0")):
            error = prompt.error(f"unset {name}")
            assert error.message == said.format(shown)
            assert error.hint == ("`set w EXPRESSION` assigns it another one." if shown == "w" else "")
        prompt.run("set w [7, 8]")
        assert said.format("w") in prompt.show("set", None)
        prompt.run("unset w")
        return Continue()

    said = "`set` gave {} another value at Square_0 in run #1, and the program has gone on with that: "
    said += "nothing takes it back."
    w = tf.Variable([1.0, 0.0])
    with Debugged(instead, look, breakpoints=("square",)) as debugged:
        tf.exp(tf.square(w))
    assert debugged.nodes == ["Square_0", "Exp_0"]
    assert w.numpy().tolist() == [3.0, 4.0]


def test_what_the_program_holds_already_stays() -> None:
    said: list[str] = []

    def instead(stop: Stop) -> Decision:
        with pytest.raises(TfdbgError, match="Relu_0:0 is not what the program is given next") as refused:
            _paused(stop).replace(TensorName("Relu_0", 0), np.zeros(()))
        said.append(refused.value.hint)
        return Continue()

    with Debugged(instead, breakpoints=("mul",)):
        _program(1)
    assert said == ["These can: Mul_0:0, w."]


def test_a_hit_of_a_watch_can_be_mended_on_the_spot() -> None:
    def instead(stop: Stop) -> Decision:
        paused = _paused(stop)
        paused.replace(TensorName(paused.node, 0), np.float32(0.5))
        return RunUntil("has_inf_or_nan")

    with Debugged(instead, begin=RunUntil("has_inf_or_nan")) as debugged:
        assert _program(3)[2] == 0.5
    assert debugged.nodes == ["Log_0"]


@pytest.mark.parametrize(
    ("first", "again", "nodes", "runs"),
    [
        (RunTo(place_of("log")), "has_inf", ["Log_0", "Exp_1", "Log_0"], [1, 1, 2]),
        (RunTo(place_of("log")), "exploding_gradient", ["Log_0"], [1]),
        (RunUntil("has_inf_or_nan"), "all_zero", ["Log_0", "Mul_1", "Mul_1"], [1, 1, 2]),
        (RunUntil("has_inf_or_nan"), "has_inf_or_nan", ["Log_0", "Log_0"], [1, 2]),  # by design once in a turn
    ],
)
def test_a_watch_begun_at_a_stop_looks_at_the_rest_of_the_turn(
    first: Decision, again: str, nodes: list[str], runs: list[int]
) -> None:
    """A blind test: `run -f` at a stop in the middle of a turn stopped in the next turn, at the first op there."""
    with Debugged(RunUntil(again), RunUntil(again), Continue(), begin=first) as debugged:
        w = tf.Variable([1.0, 0.0])
        for _ in range(2):
            _ = tf.math.log(w)
            _ = tf.exp(w)
            _ = tf.exp(1000.0 * w)
            w.assign_sub(0.0 * w)
    assert debugged.nodes == nodes
    assert [stop.run.call.number for stop in debugged.front.ends] == runs
    assert debugged.debugger.run_count == 2


def test_breakpoints_hold_beside_a_watch_and_are_dropped() -> None:
    def drop(stop: Stop) -> Decision:
        assert isinstance(stop, RunEnd)
        assert [one.number for one in stop.breakpoints] == [1]
        stop.breakpoints.remove(1)
        return RunUntil("has_inf_or_nan")

    with Debugged(drop, Continue(), breakpoints=("relu",), begin=RunUntil("has_inf_or_nan")) as debugged:
        _program(3)
    assert debugged.nodes == ["Relu_0", "Log_0"]


def test_a_step_ends_before_a_function() -> None:
    from tfdbg_cli.capture.intercept.all_functions import intercept_all_functions

    function = tf.function(lambda x: x + 1.0)
    function(tf.constant(1.0))
    with Debugged(StepOn(), Continue(), begin=RunTo(place_of("mul"))) as debugged:
        end = intercept_all_functions(debugged.debugger)
        try:
            w = tf.Variable(1.0)
            function(w * 2.0)
        finally:
            end()
    assert debugged.front.path == ["end 1", "start 2"]
    assert "before a run" in debugged.front.stops[1].notes[0]


@pytest.mark.parametrize(
    ("decided", "path", "where"),
    [
        (DebugRun(), ["end 1", "end 2"], ["Log_0", ""]),
        (DebugRun(times=2), ["end 1", "end 3"], ["Log_0", ""]),
        (StepOn(), ["end 1", "start 2"], ["Log_0"]),
        (RunTo(place_of("nowhere")), ["end 1"], ["Log_0"]),
        (RunUntil("has_inf"), ["end 1", "end 1"], ["Log_0", "Exp_0"]),
        (Continue(), ["end 1"], ["Log_0"]),
    ],
)
def test_what_is_decided_amid_a_captured_run_takes_the_place_of_the_stop_behind_it(
    decided: Decision, path: list[str], where: list[str]
) -> None:
    """A blind test: `run` and `step` went past a function that the turn called next, and `continue` stopped."""
    from tfdbg_cli.capture.intercept.all_functions import intercept_all_functions

    def decide(stop: Stop) -> Decision:
        stop.breakpoints.clear()
        return decided

    w, function = tf.Variable(1.0), tf.function(lambda x: x + 1.0)
    function(tf.constant(1.0))
    with Debugged(decide, Continue(), breakpoints=("log",), begin=DebugRun()) as debugged:
        end = intercept_all_functions(debugged.debugger)
        try:
            for _ in range(2):
                tf.exp(1000.0 + function(tf.math.log(w)))
        finally:
            end()
    assert debugged.front.path == path
    assert [stop.run.paused.node if stop.run.paused else "" for stop in debugged.front.ends] == where


def test_run_goes_on_to_the_end_of_the_captured_run_in_which_it_is_stopped() -> None:
    with Debugged(DebugRun(), Continue(), breakpoints=("log",), begin=DebugRun()) as debugged:
        _program(1)
    assert debugged.front.path == ["end 1", "end 1"]
    assert debugged.front.ends[1].run.paused is None
