"""What TensorFlow does in an order that the graph does not fix, it does under a debugger as it does without one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tfdbg_cli.analysis.watch.watch_progress import WatchProgress
from tfdbg_cli.capture.sessions.exact.run_effect import RunEffect
from tfdbg_cli.capture.sessions.hidden_ops import is_hidden
from tfdbg_cli.capture.tf import base_classes, compat
from tfdbg_cli.document.jsonlines import exactness_data
from tfdbg_cli.model.decision import CaptureRequest, Continue, DebugRun, Decision, GraphChoice, RunUntil, Values
from tfdbg_cli.model.exactness import Exactness, ExecutionWay
from tfdbg_cli.model.values import NoValue

pytestmark = pytest.mark.tf

STEPS = 4
WATCH = "has_inf_or_nan"
MODES: dict[str, tuple[Decision, ...]] = {
    "continue": (Continue(),),
    "run": tuple(DebugRun() for _ in range(2 * STEPS)),
    "run --graph python": tuple(DebugRun(CaptureRequest(graph=GraphChoice.PYTHON)) for _ in range(2 * STEPS)),
    "run --graph runtime": tuple(DebugRun(CaptureRequest(graph=GraphChoice.RUNTIME)) for _ in range(2 * STEPS)),
    "run --values keep": tuple(DebugRun(values=Values.KEEP) for _ in range(2 * STEPS)),
    "auto": (RunUntil(WATCH),),
    "keep": (RunUntil(WATCH, values=Values.KEEP),),
    "replay": (RunUntil(WATCH, values=Values.REPLAY),),
    "own": (RunUntil("never"),),
    "python": (RunUntil(WATCH, capture=CaptureRequest(graph=GraphChoice.PYTHON)),),
    "runtime": (RunUntil(WATCH, capture=CaptureRequest(graph=GraphChoice.RUNTIME)),),
    "own, runtime": (RunUntil("never", capture=CaptureRequest(graph=GraphChoice.RUNTIME)),),
}


def descent(tf: Any, *, resource: bool) -> list[Any]:
    """A loss beside the update that it leads to."""
    w = tf.get_variable("w", initializer=3.0, use_resource=resource)
    loss = tf.square(w, name="loss")
    return [loss, tf.train.GradientDescentOptimizer(0.1).minimize(loss)]


def weight_beside(tf: Any, *, resource: bool) -> list[Any]:
    """A weight, a loss, and the update of the weight."""
    w = tf.get_variable("w", initializer=np.full((3, 2), 3, np.float32), use_resource=resource)
    loss = tf.reduce_mean(tf.square(tf.matmul(tf.ones([4, 3]), w) - 1.0))
    return [w, loss, tf.train.GradientDescentOptimizer(0.1).minimize(loss)]


def counter(tf: Any, *, resource: bool) -> list[Any]:
    """A counter, and what it is after it was counted up."""
    c = tf.get_variable("c", initializer=0.0, use_resource=resource)
    return [c.assign_add(1.0), c]


def noisy(tf: Any, *, resource: bool) -> list[Any]:
    """A loss that reads a variable beside an assignment, both with numbers drawn."""
    w = tf.get_variable("w", initializer=np.full(4, 3, np.float32), use_resource=resource)
    loss = tf.reduce_sum(w * tf.random_uniform([4], seed=3))
    return [loss, w.assign(w * 0.9 + tf.random_uniform([4], seed=5))]


PROGRAMS = [
    pytest.param(make, resource, id=f"{make.__name__}-{'resource' if resource else 'reference'}")
    for make in (descent, weight_beside, counter, noisy)
    for resource in (True, False)
]
ORDERED = "descent-resource"  # the loss and the update read one value of the variable: nothing is left to chance


class Program:
    """A program in a graph of its own, finalized or not, whose every run of `fetches` counts."""

    def __init__(self, tf: Any, make: Callable[..., list[Any]], resource: bool, final: bool = False) -> None:
        self._tf = tf
        self.graph = tf.Graph()
        with self.graph.as_default():
            tf.set_random_seed(1)
            self.fetches = make(tf, resource=resource)
            self._init = tf.global_variables_initializer()
        if final:
            self.graph.finalize()

    def steps(self, wrap: Callable[[Any], Any] = lambda raw: raw) -> tuple[tuple[bytes, ...], ...]:
        """The bits that each step gave."""
        with self._tf.Session(graph=self.graph) as raw:
            raw.run(self._init)
            session = wrap(raw)
            found = [session.run(self.fetches) for _ in range(STEPS)]
        return tuple(tuple(np.asarray(value).tobytes() for value in step if value is not None) for step in found)


def wrapper(debugged: Any, mode: str, stops: list[Any]) -> Callable[[Any], Any]:
    def wrap(raw: Any) -> Any:
        session, front = debugged(raw, *MODES[mode])
        session._tfdbg_controller.add_filter("never", lambda datum, value: False)
        stops.append(front)
        return session

    return wrap


def _in_turn() -> list[Any]:
    """Programs and modes: of the first program all, of the others every third; the rest under `-m slow`."""
    programs = [one for one in PROGRAMS if one.id.partition("-")[0] != "noisy" and one.id != ORDERED]
    return [
        pytest.param(
            *program.values,
            mode,
            id=f"{program.id}-{mode}",
            marks=[] if not at or (at + place) % 3 == 0 else pytest.mark.slow,
        )
        for at, program in enumerate(programs)
        for place, mode in enumerate(MODES)
    ]


@pytest.mark.parametrize("final", [False, True], ids=["", "finalized"])
@pytest.mark.parametrize(("make", "resource", "mode"), _in_turn())
def test_tensorflow_is_told_to_run_what_the_program_runs(
    tf, debugged, monkeypatch, capsys, make, resource, mode, final
) -> None:
    """Not one op more runs beside those of the program: so the order is TensorFlow's own."""
    if final and mode not in ("auto", "run"):
        pytest.skip("finalizing changes what can be added to the graph, which is done in these")
    told: list[Any] = []
    original = getattr(base_classes.plain_base(), compat.RUN)

    def run(session: Any, options: Any, feeds: Any, outputs: Any, ops: Any, metadata: Any) -> Any:
        if session.graph is program.graph:
            tensors, targets = compat.run_elements(session.graph, outputs, ops)
            told.append((options, sorted(one.name for one in tensors), sorted(one.name for one in targets)))
        return original(session, options, feeds, outputs, ops, metadata)

    program = Program(tf, make, resource, final)
    monkeypatch.setattr(base_classes.plain_base(), compat.RUN, run)
    program.steps()
    plain, told[:] = told[:], []
    program.steps(wrapper(debugged, mode, []))
    assert told == plain
    assert "could not" not in capsys.readouterr().err, "not because the runs were left alone"


@pytest.mark.parametrize("mode", ["auto", "own", "runtime", "run"])
def test_what_was_drawn_is_all_that_is_fetched_beside(tf, debugged, monkeypatch, mode) -> None:
    told: set[tuple[str, ...]] = set()
    program = Program(tf, noisy, True)
    original = getattr(base_classes.plain_base(), compat.RUN)

    def run(session: Any, options: Any, feeds: Any, outputs: Any, ops: Any, metadata: Any) -> Any:
        if session.graph is program.graph:
            told.add(tuple(sorted(one.name for one in compat.run_elements(session.graph, outputs, ops)[0])))
        return original(session, options, feeds, outputs, ops, metadata)

    monkeypatch.setattr(base_classes.plain_base(), compat.RUN, run)
    program.steps()
    (plain,) = told - {()}
    program.steps(wrapper(debugged, mode, []))
    (more,) = told - {(), plain}
    added = [program.graph.get_tensor_by_name(name) for name in set(more) - set(plain)]
    assert {is_hidden(tensor.op.name) for tensor in added} == {True}, "what is drawn is read behind all other ops"
    assert sorted(tensor.op.inputs[0].op.type for tensor in added) == ["RandomUniform"] * 2


@pytest.mark.parametrize("resource", [True, False], ids=["resource", "reference"])
@pytest.mark.parametrize("mode", ["run", "run --graph runtime", "run --values keep"])
def test_an_order_that_is_left_to_chance_is_said(tf, debugged, mode, resource) -> None:
    program, stops = Program(tf, noisy, resource), []
    program.steps(wrapper(debugged, mode, stops))
    said = [end.run.exactness for end in stops[0].ends]
    assert len(said) == STEPS
    for exactness in said:
        assert exactness.race == "w"
        assert "w in no order that the graph fixes" in exactness.sentence
        assert exactness.words == "the order of what uses w is left to chance"
        assert exactness_data(exactness)["race"] == "w"
        assert exactness.program_exact, "it is the program's own order all the same"


def test_a_watch_says_in_its_line_that_an_order_is_left_to_chance(tf, debugged, monkeypatch) -> None:
    heard: list[Exactness] = []
    monkeypatch.setattr(WatchProgress, "hear", lambda progress, exactness: heard.append(exactness))
    Program(tf, noisy, False).steps(wrapper(debugged, "auto", []))
    assert {exactness.words for exactness in heard} - {""} == {"the order of what uses w is left to chance"}


def test_variables_are_read_without_a_thread_of_the_pool(tf, debugged, monkeypatch) -> None:
    """Threads that were woken just before a run decide who wins in it."""
    asked: list[Any] = []
    original = compat.reader_of

    def reader_of(session: Any, fetch: Any, **further: Any) -> Any:
        if session.graph is program.graph:
            asked.append(further["run_options"].inter_op_thread_pool)
        return original(session, fetch, **further)

    program = Program(tf, noisy, False)
    monkeypatch.setattr(compat, "reader_of", reader_of)
    program.steps(wrapper(debugged, "run", []))
    assert set(asked) == {-1}


@pytest.mark.parametrize(("make", "resource"), PROGRAMS)
def test_what_is_shown_is_in_the_order_of_the_program(tf, debugged, make, resource) -> None:
    program, stops = Program(tf, make, resource), []
    program.steps(wrapper(debugged, "run", stops))
    assert len(stops[0].ends) == STEPS
    for end in stops[0].ends:
        assert end.run.exactness.way is ExecutionWay.UNCHANGED
        assert end.run.exactness.compared
        if make is noisy and not resource:
            # The loss may read the memory of the variable before the update or after it; if not as shown, it is said.
            assert {parting.name for parting in end.run.exactness.differs} <= {"Sum:0"}
        else:
            assert end.run.exactness.differs == ()
        for row in range(len(end.run.tensors)):
            assert not isinstance(end.run.tensors.value(row), NoValue) or resource


def test_a_watch_finds_what_only_the_late_reader_sees(tf, debugged) -> None:
    """The check is made where the run is made again, of the values that the program's run had."""

    def make(tf: Any, *, resource: bool) -> list[Any]:
        v = tf.get_variable("v", initializer=2.0, use_resource=resource)
        with tf.control_dependencies([v.assign_sub(1.0)]):
            late = tf.log(v.read_value(), name="late")
        return [late, v]

    program, stops = Program(tf, make, True), []
    steps = program.steps(wrapper(debugged, "auto", stops))
    assert steps[1][0] == np.float32(-np.inf).tobytes()
    (end,) = stops[0].ends[:1]
    assert end.hit.runs == 2
    assert "in no order" in " ".join(end.run.notes)
    (row,) = end.run.tensors.named("late", 0)
    assert end.run.tensors.value(row) == -np.inf


def turned(tf: Any, *, resource: bool) -> list[Any]:
    """A loss that reads a variable in each turn of a loop of version 1, beside the update that it leads to."""
    w = tf.get_variable("w", initializer=2.0, use_resource=resource)
    loss = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * w), [0, 1.0])[1]
    return [loss, tf.train.GradientDescentOptimizer(0.1).minimize(loss), w]


def branched(tf: Any, *, resource: bool) -> list[Any]:
    """A variable that one branch of version 1 reads, and the other does not, beside its update."""
    w = tf.get_variable("w", initializer=2.0, use_resource=resource)
    taken = tf.placeholder_with_default(False, [])
    return [tf.cond(taken, lambda: w * 2.0, lambda: tf.constant(7.0)), w.assign_add(1.0), w + 1.0]


@pytest.mark.usefixtures("loops_of_v1")
@pytest.mark.parametrize("resource", [True, False], ids=["resource", "reference"])
@pytest.mark.parametrize("make", [turned, branched])
def test_what_loops_and_branches_read_is_not_fed_to_keep_an_order(
    tf, debugged, monkeypatch, capsys, make, resource
) -> None:
    """A read that is fed belongs to no turn any more, and to no branch."""
    made: list[RunEffect] = []

    def parted_from(outcome: RunEffect, other: RunEffect) -> tuple[str, ...]:
        made.append(other)
        return ("as if the copies never took the order of the program",)

    monkeypatch.setattr(RunEffect, "parted_from", parted_from)
    Program(tf, make, resource).steps(wrapper(debugged, "auto", []))
    assert len(made) > STEPS, "other orders were tried"
    assert "could not" not in capsys.readouterr().err
    if make is branched:
        (first,) = {float(value) for one in made for name, value in one.fetched.items() if "Merge" in name}
        assert first == 7.0, "the branch that was not taken gives nothing"


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["continue", "run", "auto", "own"])
@pytest.mark.parametrize(("make", "resource"), PROGRAMS)
def test_two_hundred_times_the_order_of_a_plain_run(tf, debugged, make, resource, mode) -> None:
    """The order is a race of threads, so that on a busy machine plain runs do not agree with one another either."""
    plain = Counter(Program(tf, make, resource).steps() for _ in range(200))
    found = Counter(Program(tf, make, resource).steps(wrapper(debugged, mode, [])) for _ in range(200))
    assert found.most_common(1)[0][0] == plain.most_common(1)[0][0]
    assert found.most_common(1)[0][1] >= 0.9 * plain.most_common(1)[0][1]
