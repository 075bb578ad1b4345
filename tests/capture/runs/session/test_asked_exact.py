"""Every built-in filter that is asked in the graph of a session answers as it does when all values are asked."""

from __future__ import annotations

import random

import numpy as np
import pytest
from test_watch_exact import RandomGraph

from tfdbg_cli.analysis.watch.datum import TensorDatum, datum_of
from tfdbg_cli.analysis.watch.filters import BUILT_IN_FILTERS, filter_named
from tfdbg_cli.capture.controller import WatchRequest
from tfdbg_cli.capture.questions.known import question_of
from tfdbg_cli.capture.replay.any_replay import replay
from tfdbg_cli.capture.sessions.call_names import fetched
from tfdbg_cli.capture.sessions.extended.call_checks import call_checks, why_not_inside
from tfdbg_cli.capture.sessions.fetched_tensors import stored
from tfdbg_cli.capture.sessions.invocation import RunCall
from tfdbg_cli.capture.sessions.program_graph import program_graph
from tfdbg_cli.capture.sessions.updated_variables import updated_outline, with_updated
from tfdbg_cli.model.calls import Call, RunKind
from tfdbg_cli.model.decision import CaptureRequest, DebugRun, Detach, GraphChoice, RunUntil
from tfdbg_cli.model.tensors import MemoryTensorStore

pytestmark = pytest.mark.tf

OF_VALUES = ("all_zero", "magnitude_above:1.4", "magnitude_above:1e5", "near_overflow")
OF_TRAINING = ("vanishing_gradient:1e-3", "exploding_gradient:2", "dead_relu:0.4")

OF_STEPS = (*OF_TRAINING, "all_zero", "magnitude_above:30", "bad_result")


class Watcher:
    """One kind of call, asked `text` in its graph, and value by value."""

    def __init__(self, text: str, call: RunCall) -> None:
        self.asked = filter_named(BUILT_IN_FILTERS, text)
        self.question = question_of(self.asked)
        self.call = call
        assert not why_not_inside(call, keeping=False, question=self.question)
        self.known = call_checks(call, self.question, WatchRequest(text, self.asked), CaptureRequest())
        assert not self.known.unasked

    def in_graph(self) -> bool:
        """What is found in the graph, and among what is fed."""
        wanted = [] if self.known.health is None else [self.known.health]
        _, found = self.call.with_extra(wanted)
        given = [np.asarray(value) for key, value in self.call.feed_dict.items() if key.name in self.known.given]
        return any(map(self.question.found_in, found)) or any(map(self.question.asked_of, given))

    def described(self) -> Call:
        """The call as a run shows it."""
        elements = fetched(self.call.session.graph, self.call.fetches)
        names = [tuple(one.name for one in kind) for kind in (elements.tensors, elements.targets)]
        return Call(1, RunKind.SESSION, names[0], dict.fromkeys(key.name for key in self.call.feed_dict), names[1])

    def by_value(self) -> list[str]:
        """The tensors that pass."""
        known, session = self.known, self.call.session
        shown_ones = [tensor for tensor in known.reached.tensors if tensor.name not in known.reached.opaque]
        _, values = self.call.with_extra([*shown_ones, *known.updated])
        shown = stored(shown_ones, frozenset(), values[: len(shown_ones)])
        tensors = [shown[at] for at in range(len(shown))]
        tensors += [
            updated_outline(variable.name, "", variable.dtype.name).holding(np.asarray(value))
            for variable, value in zip(known.state.written, values[len(shown_ones) :], strict=True)
        ]
        store = MemoryTensorStore(tensors, [np.asarray(value) for value in values])
        graph = with_updated(program_graph(session.graph), known.state.written)
        rows = range(len(store))
        return [
            str(store[at].name)
            for at in rows
            if self.asked(TensorDatum(store[at], store, at, graph, None, self.described()), store.value(at))
        ]


@pytest.mark.parametrize("text", [*OF_VALUES, "bad_result"])
@pytest.mark.parametrize("seed", [20, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(21, 24))])
def test_random_graphs_give_the_same_answer_as_all_their_tensors(tf, text, seed) -> None:
    config = tf.ConfigProto(intra_op_parallelism_threads=1)
    answers, checked, total = [], 0, 0
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        made = RandomGraph(tf, seed)
        init = tf.global_variables_initializer()
        everything = [t for op in tf.get_default_graph().get_operations() for t in op.outputs]
        for _ in range(5):
            watcher = Watcher(
                text, RunCall(session, session.run, made.ends, made.planted(tf, everything), None, None)
            )
            session.run(init)
            found = watcher.in_graph()
            session.run(init)
            try:
                passing = watcher.by_value()
            except tf.errors.InvalidArgumentError as error:
                # The optimizer may replace an op of many outputs by one that has a single one, and then miss them.
                assert "does not have output" in error.message
                continue
            assert found is bool(passing), passing[:5]
            answers.append(found)
            checked, total = checked + watcher.known.checked, total + watcher.known.total
    assert answers
    assert checked < total or text == "bad_result"  # few are asked, and few of those follow from others


class RandomTraining:
    """A network, its gradients and updates."""

    def __init__(self, tf, seed: int) -> None:
        chance = random.Random(seed)
        numbers = np.random.RandomState(seed)
        self.kind = chance.choice([tf.float32, tf.float64])
        self.x = tf.placeholder(self.kind, [chance.choice([None, 3]), 4], name="x")
        value, resource = self.x, chance.random() < 0.7
        for at in range(3):
            start = numbers.normal(size=(4, 4)).astype(self.kind.as_numpy_dtype)
            weight = tf.get_variable(f"w{seed}_{at}", initializer=start, use_resource=resource)
            value = tf.matmul(value, weight) + weight[0]
            value = chance.choice([tf.nn.relu, tf.nn.relu6, tf.tanh, tf.identity, lambda v: tf.nn.relu(v) * v])(value)
        loss = tf.reduce_mean(tf.square(value))
        optimizer = chance.choice([tf.train.GradientDescentOptimizer, tf.train.AdamOptimizer])(0.01)
        self.train = optimizer.minimize(loss)
        self.ends = [loss, self.train]
        self.scales = (1.0, 0.0, 1e-3, 50.0, -1.0, np.nan, np.inf)
        self.batch = numbers.normal(size=(3, 4))


def _agree_on_training(tf, text: str, seeds: range) -> set[bool]:
    """The answers that were given."""
    answers = set()
    for seed in seeds:
        with tf.Graph().as_default(), tf.Session() as session:
            made = RandomTraining(tf, seed)
            init = tf.global_variables_initializer()
            for scale in made.scales:
                batch = (made.batch * scale).astype(made.kind.as_numpy_dtype)
                watcher = Watcher(text, RunCall(session, session.run, made.ends, {made.x: batch}, None, None))
                session.run(init)
                found = watcher.in_graph()
                session.run(init)
                passing = watcher.by_value()
                assert found is bool(passing), (seed, scale, passing)
                answers.add(found)
    return answers


@pytest.mark.parametrize("text", OF_STEPS)
def test_steps_of_training_give_the_same_answer_as_all_their_tensors(tf, text) -> None:
    assert _agree_on_training(tf, text, range(3)) == {True, False}


@pytest.mark.slow
@pytest.mark.parametrize("text", OF_STEPS)
def test_many_steps_of_training_do(tf, text) -> None:
    _agree_on_training(tf, text, range(3, 12))


@pytest.mark.parametrize("kind", ["float16", "bfloat16", "float32", "float64", "complex64", "float8_e5m2"])
def test_every_dtype_is_asked(tf, graph, kind) -> None:
    dtype = tf.as_dtype(kind)
    with tf.Session() as session:
        x = tf.placeholder(dtype, [2])
        y = tf.gather(x, [1])
        for text in ("all_zero", "magnitude_above:3", "near_overflow"):
            for value in (0.0, -0.0, 3.0, 3.5, -4.0, float(dtype.real_dtype.max), np.nan, np.inf):
                array = np.array([0, value]).astype(dtype.as_numpy_dtype)
                watcher = Watcher(text, RunCall(session, session.run, y, {x: array}, None, None))
                passing = [t for t in (array, array[1:]) if watcher.asked(None, t)]
                assert watcher.in_graph() is bool(passing), (text, value)


def _flow(tf, x, chance: random.Random, depth: int = 2):
    """Ops in nested loops and branches of version 1."""
    for _ in range(chance.randint(2, 3)):
        kind = chance.choice(["cond", "loop", *"abcdefg"] if depth else "abcdefg")
        if kind == "cond":
            limit, given = chance.uniform(-1, 2), x
            x = tf.cond(
                tf.reduce_sum(x) > limit,
                lambda given=given: _flow(tf, given, chance, depth - 1),
                lambda given=given: _flow(tf, given, chance, depth - 1),
            )
        elif kind == "loop":
            turns = chance.randint(0, 3)
            step = lambda i, v: (i + 1, _flow(tf, v, chance, depth - 1))  # noqa: E731
            x = tf.while_loop(lambda i, v, turns=turns: i < turns, step, [tf.constant(0), x])[1]
        else:
            simple = [
                lambda v: v * 3.0, lambda v: v - 1.0, tf.tanh, tf.nn.relu,
                lambda v: v * 0.0 + tf.constant([0.0, 2.0]),
                lambda v: tf.nn.relu(tf.reshape(v, [1, 2]))[0], lambda v: tf.minimum(v, 4.0),
            ]  # fmt: skip
            x = simple["abcdefg".index(kind)](x)
    return x


@pytest.mark.usefixtures("loops_of_v1")
@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 8))])
def test_loops_and_branches_of_version_1_are_asked(tf, debugged, graph, seed) -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    result = tf.tanh(_flow(tf, x, random.Random(seed)))
    chance = np.random.default_rng(seed)
    texts = ("all_zero", "magnitude_above:5", "dead_relu:0.5")
    with tf.Session() as raw:
        for text in texts:
            feeds = {x: chance.choice([0.5, 1.0, 2.0, 0.0, -1.0, 3.0], 2)}
            asked = filter_named(BUILT_IN_FILTERS, text)
            passing: list[str] = []

            def ask(end, asked=asked, passing=passing) -> Detach:
                again = replay(end.run.replayable.replay_spec())
                run = end.run.__class__(end.run.call, again.tensors, end.run.graph)
                rows = range(len(run.tensors))
                passing += [run.tensors[at].node for at in rows if asked(datum_of(run, at), run.tensors.value(at))]
                return Detach()

            session, _ = debugged(raw, DebugRun(CaptureRequest(graph=GraphChoice.PYTHON)), ask)
            plain = session.run(result, feeds)
            session, front = debugged(raw, RunUntil(text), Detach())
            np.testing.assert_array_equal(session.run(result, feeds), plain)
            assert bool(front.ends) is bool(passing), (text, passing)


def test_what_a_variable_was_before_is_asked_of_values(tf, debugged, graph) -> None:
    variable = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
    x = tf.placeholder(tf.float32, [2])
    read = variable * 1.0
    with tf.control_dependencies([read]):
        step = tf.assign_add(variable, x)
    with tf.Session() as raw:
        raw.run(variable.initializer)
        session, front = debugged(raw, RunUntil("unchanged_variable"), Detach())
        for value in (1.0, 2.0, 0.0, 3.0):
            session.run([read, step.op], {x: [value, value]})
    (end,) = front.ends
    assert end.hit.runs == 3, "it left the variable as it was"
    assert any("before" in note for note in end.run.notes)
