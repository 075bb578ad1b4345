"""A watch sees into the functions that a session's graph calls: plain calls, branches, loops, layers of Keras."""

from __future__ import annotations

import random
from functools import partial

import numpy as np
import pytest
from support.libraries import library

from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.analysis.watch.filters import has_inf, has_inf_or_nan, has_nan
from tfdbg_cli.capture.controller import WatchRequest
from tfdbg_cli.capture.questions.known import question_of
from tfdbg_cli.capture.sessions.extended.call_checks import call_checks
from tfdbg_cli.capture.sessions.hidden_ops import PREFIX
from tfdbg_cli.capture.sessions.invocation import RunCall
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.decision import CaptureRequest, Detach, RunUntil, Values

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("flow_of_v2")]

WATCH = RunUntil("has_inf_or_nan")
FILTERS = {"has_inf_or_nan": has_inf_or_nan, "has_nan": has_nan, "has_inf": has_inf}
_QUICK = (0, 1, 7, 8)  # small ones that together have each op, and every kind of step in every other
OPS = ("log", "sqrt", "tanh", "negative", "half", "many", "exp", "finite", "less", "abs")


def function(tf):
    """The decorator of TensorFlow 2. AutoGraph would leave files behind."""
    return partial(tf.compat.v2.function, autograph=False)


class Program:
    """Steps of elementwise ops in calls, branches and loops, drawn by chance, for TensorFlow and for NumPy."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self.steps = [self._step(3) for _ in range(6)] + ["finite"]

    def _step(self, depth: int):
        kinds = ["op"] if not depth else ["op", "op", "call", "stateful", "if", "case", "while"]
        kind = self._chance.choice(kinds)
        if kind == "op":
            return self._chance.choice(OPS)

        def body():
            return [self._step(depth - 1) for _ in range(self._chance.randint(1, 3))]

        if kind in ("call", "stateful"):
            return kind, body()
        if kind == "while":
            return kind, self._chance.randint(0, 3), body()
        return kind, self._chance.uniform(-1, 2), *(body() for _ in range(2 if kind == "if" else 3))

    def in_numpy(self, value) -> dict[str, bool]:
        """Which of the filters find something in any of its values."""
        self._found = {"has_nan": bool(np.isnan(value).any()), "has_inf": bool(np.isinf(value).any())}
        with np.errstate(all="ignore"):
            self._numpy(self.steps, np.asarray(value, np.float32))
        return {**self._found, "has_inf_or_nan": any(self._found.values())}

    def _numpy(self, steps, value):
        for step in steps:
            if isinstance(step, str):
                value = self._numpy_op(step, value).astype(np.float32)
                self._found["has_nan"] |= bool(np.isnan(value).any())
                self._found["has_inf"] |= bool(np.isinf(value).any())
            elif step[0] in ("call", "stateful"):
                value = self._numpy(step[1], value)
            elif step[0] == "while":
                for _ in range(step[1]):
                    value = self._numpy(step[2], value)
            elif step[0] == "if":
                value = self._numpy(step[2] if value[0] > step[1] else step[3], value)
            else:
                value = self._numpy(step[2 + int(value[0] > step[1]) + int(value[1] > step[1])], value)
        return value

    @staticmethod
    def _numpy_op(op: str, value):
        made = {
            "half": lambda: value * 0.5, "many": lambda: value * 50, "less": lambda: value - 1,
            "finite": lambda: np.where(np.isfinite(value), value, 0),
        }  # fmt: skip
        return made[op]() if op in made else getattr(np, op)(value)

    def in_tensorflow(self, tf, value, variable):
        """The result, as a tensor; `variable` counts the stateful calls."""
        self._tf, self._variable = tf, variable
        return self._tensor(self.steps, value)

    def _tensor(self, steps, value):
        tf = self._tf
        for step in steps:
            if isinstance(step, str):
                value = self._op(step, value)
            elif step[0] in ("call", "stateful"):
                value = function(tf)(lambda given, step=step: self._called(step, given))(value)
            elif step[0] == "while":
                turn = lambda i, given, step=step: (i + 1, self._tensor(step[2], given))  # noqa: E731
                value = tf.while_loop(lambda i, _, step=step: i < step[1], turn, [tf.constant(0), value])[1]
            elif step[0] == "if":
                yes, no = (lambda body=body, given=value: self._tensor(body, given) for body in step[2:])
                value = tf.cond(value[0] > step[1], yes, no)
            else:
                bodies = [lambda body=body, given=value: self._tensor(body, given) for body in step[2:]]
                value = tf.switch_case(tf.reduce_sum(tf.cast(value > step[1], tf.int32)), bodies)
            value.set_shape([2])
        return value

    def _called(self, step, given):
        if step[0] == "stateful":
            self._variable.assign_add(1.0)
        return self._tensor(step[1], given)

    def _op(self, op: str, value):
        tf = self._tf
        made = {
            "half": lambda: value * 0.5, "many": lambda: value * 50, "less": lambda: value - 1,
            "finite": lambda: tf.where(tf.is_finite(value), value, tf.zeros_like(value)),
        }  # fmt: skip
        return made[op]() if op in made else getattr(tf.math, op)(value)


@pytest.mark.parametrize(
    ("seed", "turns"),
    [*((seed, 3) for seed in _QUICK), *(pytest.param(seed, 6, marks=pytest.mark.slow) for seed in range(20))],
)
def test_the_verdict_is_that_of_looking_at_every_value(tf, debugged, graph, seed, turns) -> None:
    program = Program(seed)
    x = tf.placeholder(tf.float32, [2], name="x")
    count = tf.get_variable("count", initializer=0.0, use_resource=True)
    result = program.in_tensorflow(tf, x, count)
    chance = np.random.default_rng(seed)
    with tf.Session() as raw:
        raw.run(count.initializer)
        for turn in range(turns):
            given = chance.choice([0.5, 1.0, 2.0, 0.0, -1.0, 3.0], 2)
            name = ["has_inf_or_nan", "has_nan", "has_inf"][turn % 3]
            raw.run(count.initializer)
            plain, counted = raw.run(result, {x: given}), raw.run(count)
            raw.run(count.initializer)
            session, front = debugged(raw, RunUntil(name), Detach())
            np.testing.assert_array_equal(session.run(result, {x: given}), plain)
            assert raw.run(count) == counted
            assert bool(front.ends) is program.in_numpy(given)[name], (program.steps, given)
            if front.ends:
                run = front.ends[0].run
                values = map(run.tensors.value, range(len(run.tensors)))
                assert any(FILTERS[name](None, value) for value in values), run.notes


def finite(tf, value):
    """The logarithm of `value` where it is finite."""
    found = tf.log(value, name="log")
    return tf.where(tf.is_finite(found), found, tf.zeros_like(found))


def hits(tf, debugged, raw, fetches, x, values) -> list[bool]:
    """For each of the values whether a watched run with it fed is a hit; its result is that of a plain run."""
    found = []
    for value in values:
        plain = raw.run(fetches, {x: value})
        session, front = debugged(raw, WATCH, Detach())
        for watched, expected in zip(
            tf.nest.flatten(session.run(fetches, {x: value})), tf.nest.flatten(plain), strict=True
        ):
            np.testing.assert_array_equal(watched, expected)
        found.append(bool(front.ends))
        if front.ends:
            assert front.ends[0].run.caught
    return found


def test_calls_in_calls(tf, debugged, graph) -> None:
    inner = function(tf)(lambda value: finite(tf, value))
    outer = function(tf)(lambda value: inner(value - 1.0) + 1.0)
    x = tf.placeholder(tf.float32, [2], name="x")
    y = outer(x)
    with tf.Session() as raw:
        assert hits(tf, debugged, raw, y, x, [[2.0, 3.0], [1.0, 3.0]]) == [False, True]


def test_the_origin_of_a_hit_is_in_the_call(tf, debugged, graph) -> None:
    """With its turn, its inputs across calls, and its line."""
    v = tf.get_variable("v", initializer=[1.0, 1.0], use_resource=True)

    @function(tf)
    def layer(value):
        v.assign_add([1.0, 1.0])
        turn = lambda i, w: (i + 1, finite(tf, (w - tf.cast(i, tf.float32)) * v))  # noqa: E731
        return tf.while_loop(lambda i, _: i < 2, turn, [0, value])[1]

    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.identity(layer(x), name="y")
    with tf.Session() as raw:
        raw.run(v.initializer)
        session, front = debugged(raw, WATCH, Detach())
        found = session.run(y, {x: [0.5, 2.0]})
    run = front.ends[0].run
    origin = OriginSearch(run).first()
    assert str(origin.name) == "StatefulPartitionedCall/layer/while/body/log:0"
    assert run.tensors[origin.index].execution == 1
    assert any(str(one.name).startswith("StatefulPartitionedCall/layer/while/body/mul") for one in origin.inputs)
    assert any(frame.file == __file__ and frame.function == "finite" for frame in run.tracebacks[origin.name.node])
    (row,) = run.tensors.named("y", 0)
    np.testing.assert_array_equal(run.tensors.value(row), found)
    (row,) = run.tensors.named("v/after_update", 0)
    np.testing.assert_array_equal(run.tensors.value(row), [2.0, 2.0])
    assert run.replayable is not None
    assert any("made once more" in note for note in run.notes)


def test_a_call_that_updates_a_variable(tf, debugged, graph) -> None:
    v = tf.get_variable("v", initializer=[1.0, 1.0], use_resource=True)

    @function(tf)
    def step(value):
        v.assign_add(value)
        return finite(tf, value) * v

    x = tf.placeholder(tf.float32, [2], name="x")
    y = step(x)
    with tf.Session() as raw:
        raw.run(v.initializer)
        session, front = debugged(raw, WATCH, Detach())
        for _ in range(3):
            session.run(y, {x: [1.0, 2.0]})
        np.testing.assert_array_equal(raw.run(v), [4.0, 7.0])
        session.run(y, {x: [0.0, 2.0]})
        np.testing.assert_array_equal(raw.run(v), [4.0, 9.0])
    assert [end.hit.runs for end in front.ends] == [4]


def test_one_turn_of_a_loop(tf, debugged, graph) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.while_loop(lambda i, v: i < 5, lambda i, v: (i + 1, finite(tf, x - tf.cast(i, tf.float32))), [0, x])[1]
    safe = tf.where(tf.is_finite(y), y, 0.0)
    with tf.Session() as raw:
        assert hits(tf, debugged, raw, safe, x, [10.0, 2.0, 7.0]) == [False, True, False]


@pytest.mark.parametrize("kind", ["cond", "case"])
def test_the_branch_that_is_taken(tf, debugged, graph, kind) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    branches = [lambda: tf.constant(1.0), lambda: finite(tf, x - 3.0), lambda: finite(tf, x)]
    if kind == "cond":
        y = tf.cond(x > 0.5, branches[0], branches[2])
    else:
        y = tf.switch_case(tf.cast(x, tf.int32), branches[1:2] + branches[:1] + branches[2:])
    with tf.Session() as raw:
        values = {"cond": [0.0, 0.25, 1.0], "case": [0.0, 1.0, 2.0]}[kind]
        expected = {"cond": [True, True, False], "case": [True, False, False]}[kind]
        if kind == "cond":
            expected[1] = False
        assert hits(tf, debugged, raw, y, x, values) == expected


def test_ops_that_are_fused(tf, debugged, graph) -> None:
    w = tf.constant(np.eye(2, dtype=np.float32))

    @function(tf)
    def layer(value, bias):
        return tf.nn.relu(tf.nn.bias_add(tf.matmul(value, w), bias))

    x = tf.placeholder(tf.float32, [2], name="x")
    y = layer(tf.ones([3, 2]), tf.log(x + tf.constant([1.0, 1.0])) * 1e30)
    with tf.Session() as raw:
        assert hits(tf, debugged, raw, y, x, [[1.0, 1.0], [-1.0, 1.0]]) == [False, True]


def test_a_fused_batch_normalization(tf, debugged, graph) -> None:
    @function(tf)
    def norm(value, scale):
        found = tf.nn.fused_batch_norm(value, scale, tf.zeros([2]), tf.zeros([2]), tf.ones([2]), is_training=False)[0]
        return tf.nn.relu(-tf.abs(tf.log(found)))

    x = tf.placeholder(tf.float32, [2], name="x")
    y = norm(tf.ones([1, 4, 4, 2]), x)
    with tf.Session() as raw:
        assert hits(tf, debugged, raw, y, x, [[1.0, 2.0], [1.0, 0.0]]) == [False, True]


class Training:
    """A step of training through functions, with noise of a seed before them."""

    def __init__(self, tf) -> None:
        tf.set_random_seed(7)
        self.x = tf.placeholder(tf.float32, [None, 3], name="x")
        self.v = tf.get_variable("v", initializer=np.full([3, 3], 0.5, np.float32), use_resource=True)
        self.mean = tf.get_variable("mean", initializer=np.zeros(3, np.float32), use_resource=True, trainable=False)

        @function(tf)
        def model(value):
            self.mean.assign(0.9 * self.mean + 0.1 * tf.reduce_mean(value, 0))
            hidden = tf.nn.relu(tf.matmul(value - self.mean, self.v))
            return tf.while_loop(
                lambda i, _: i < 3, lambda i, h: (i + 1, tf.tanh(tf.matmul(h, self.v))), [0, hidden]
            )[1]

        noise = tf.random_normal([3], stddev=0.1, name="noise")
        y = model(self.x + noise)
        self.logs = finite(tf, tf.abs(y))
        self.loss = tf.reduce_mean(tf.square(y)) + 1e-3 * tf.reduce_mean(self.logs)
        self.train = tf.train.AdamOptimizer(0.01).minimize(self.loss)
        self.init = tf.global_variables_initializer()


def trained(tf, debugged, decision) -> list[bytes]:
    with tf.Graph().as_default(), tf.Session() as raw:
        step = Training(tf)
        raw.run(step.init)
        session, front = debugged(raw, decision)
        numbers = np.random.default_rng(1)
        found = []
        for _ in range(6):
            batch = numbers.uniform(0.5, 1.5, [4, 3])
            found += session.run([step.loss, step.logs, step.train], {step.x: batch})[:2]
        found += raw.run(tf.global_variables())
        assert front.ends == []
        return [np.asarray(value).tobytes() for value in found]


def test_training_gives_the_same_bits(tf, debugged) -> None:
    assert trained(tf, debugged, WATCH) == trained(tf, debugged, Detach())


@pytest.mark.parametrize("seed", [None, 5])
def test_random_numbers_behind_a_call_stay_what_they_are(tf, debugged, graph, seed) -> None:
    """An op with a seed counts in its kernel, so that no other op can do the same."""
    x = tf.placeholder(tf.float32, [None], name="x")
    y = function(tf)(lambda value: finite(tf, value))(x)
    noise = tf.random_uniform(tf.shape(y), seed=seed, name="noise")
    z = function(tf)(lambda value: finite(tf, 4.0 - value))(x)
    with tf.Session() as raw:
        session, front = debugged(raw, WATCH, Detach())
        drawn = [session.run([noise, z], {x: [3.0, 2.0]})[0] for _ in range(3)]
        session.run([noise, z], {x: [0.0, 2.0]})
        session.run([noise, z], {x: [4.0, 2.0]})
    with tf.Session() as plain:
        expected = [plain.run([noise, z], {x: [3.0, 2.0]})[0] for _ in range(3)]
    if seed is not None:
        np.testing.assert_array_equal(drawn, expected)
    (end,) = front.ends
    notes = [note for note in end.run.notes if "keeps a state of its own" in note]
    assert end.hit.runs == (4 if seed is None else 5)
    assert len(notes) == (0 if seed is None else 1)


def test_random_numbers_of_a_seed_in_a_call(tf, debugged, graph) -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    y = function(tf)(lambda value: tf.random_uniform([2], seed=4) + finite(tf, value))(x)
    z = finite(tf, x - 1.0)
    with tf.Session() as raw:
        session, front = debugged(raw, WATCH, Detach())
        drawn = [session.run([y, z], {x: [3.0, 2.0]})[0] for _ in range(3)]
        session.run([y, z], {x: [1.0, 2.0]})
    with tf.Session() as plain:
        expected = [plain.run([y, z], {x: [3.0, 2.0]})[0] for _ in range(3)]
    np.testing.assert_array_equal(drawn, expected)
    assert any("was not looked at, since" in note for note in front.ends[0].run.notes)


def test_a_call_in_a_loop_of_version_1(tf, debugged, graph) -> None:
    tf.disable_control_flow_v2()
    called = function(tf)(lambda value: finite(tf, value))
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, called(x - tf.cast(i, tf.float32))), [0, x])[1]
    z = tf.cond(x > 4.0, lambda: called(x - 5.0), lambda: y)
    with tf.Session() as raw:
        assert hits(tf, debugged, raw, z, x, [3.0, 2.0, 5.0, 6.0]) == [False, True, True, False]


def test_an_error_in_a_loop_names_the_function_that_the_program_knows(tf, debugged, graph) -> None:
    """Its op has the program's name there, and no op of ours is named beside the function."""
    tf.enable_control_flow_v2()
    x = tf.placeholder(tf.float32, [3], name="x")
    body = lambda i, h: (i + 1, tf.check_numerics(tf.log(h), "bad"))  # noqa: E731
    y = tf.reduce_sum(tf.while_loop(lambda i, h: i < 3, body, [0, x])[1])
    with tf.Session() as raw:
        with pytest.raises(tf.errors.InvalidArgumentError) as plain:
            raw.run(y, {x: [1.0, 1.0, 1.0]})
        session, _ = debugged(raw, WATCH, Detach())
        with pytest.raises(tf.errors.InvalidArgumentError) as watched:
            session.run(y, {x: [1.0, 1.0, 1.0]})
    assert watched.value.message == plain.value.message
    assert "__tfdbg" not in str(watched.value.__context__)


def test_an_error_in_a_call_names_what_the_program_knows(tf, debugged, graph) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    called = function(tf)(lambda value: tf.check_numerics(finite(tf, value) / 0.0, "bad"))(x)
    behind = tf.check_numerics(tf.log(function(tf)(lambda value: finite(tf, value))(x), name="behind"), "worse")
    with tf.Session() as raw:
        for fetch in (called, behind):
            with pytest.raises(tf.errors.InvalidArgumentError) as plain:
                raw.run(fetch, {x: 0.5})
            session, _ = debugged(raw, WATCH, Detach())
            with pytest.raises(tf.errors.InvalidArgumentError) as watched:
                session.run(fetch, {x: 0.5})
            assert PREFIX not in watched.value.message
            assert "__tfdbg" not in watched.value.message
    assert watched.value.op is plain.value.op is behind.op
    assert watched.value.message == plain.value.message


def test_no_op_runs_beside_its_stand_in(tf, graph) -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.identity(function(tf)(lambda value: finite(tf, value))(x), name="y")
    with tf.Session() as raw:
        call = RunCall(raw, raw.run, y, {x: [1.0, 2.0]}, None, None)
        watched = WatchRequest("has_nan", has_nan)
        shadow_ops = call_checks(call, question_of(has_nan), watched, CaptureRequest()).shadow_ops
    shadow_ops.require_alone([shadow_ops.op(y.op)])
    with pytest.raises(TfdbgError, match="would run twice"):
        shadow_ops.require_alone([y.op])


def test_values_that_are_kept_are_those_of_the_graph(tf, debugged, graph) -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.identity(function(tf)(lambda value: finite(tf, value))(x), name="y")
    with tf.Session() as raw:
        session, front = debugged(raw, RunUntil("has_inf_or_nan", values=Values.KEEP), Detach())
        session.run(y, {x: [0.0, 2.0]})
    run = front.ends[0].run
    assert run.caught
    assert run.tensors.named("y", 0)
    assert not run.tensors.named("PartitionedCall/lambda/log")
    assert any("not among the values that were kept" in note for note in run.notes)
    assert run.inside_lacks in run.notes


def test_a_hit_behind_runs_that_are_kept_shows_what_its_calls_computed(tf, debugged, graph) -> None:
    v = tf.get_variable("v", initializer=[1.0, 1.0], use_resource=True)
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.identity(tf.cond(x[0] > 0.5, lambda: x, lambda: finite(tf, x * v)), name="y")
    with tf.control_dependencies([y]):
        update = v.assign_add([1.0, 1.0])
    with tf.Session() as raw:
        raw.run(v.initializer)
        session, front = debugged(raw, RunUntil("has_inf_or_nan", keep=2), Detach())
        for given in (2.0, 3.0, 0.0):
            session.run([y, update.op], {x: [given, 2.0]})
        assert raw.run(v).tolist() == [4.0, 4.0]
    run = front.ends[0].run
    assert str(OriginSearch(run).first().name) == "cond/false/log:0"
    (row,) = run.tensors.named("cond/false/mul", 0)
    np.testing.assert_array_equal(run.tensors.value(row), [0.0, 6.0])
    assert run.tensors.named("v/after_update", 0)
    assert not run.inside_lacks
    assert any("all else was kept while the run happened" in note for note in run.notes)


def test_nothing_is_seen_in_the_graph(tf, debugged, graph) -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.cond(x[0] > 0.5, lambda: tf.log(x), lambda: x)
    names = [op.name for op in graph.get_operations()]

    def exported():
        made = [graph.as_graph_def(), graph.as_graph_def(add_shapes=True), tf.train.export_meta_graph().graph_def]
        functions = [sorted(one.SerializeToString(deterministic=True) for one in g.library.function) for g in made]
        return functions, [[node.SerializeToString(deterministic=True) for node in g.node] for g in made]

    before = exported()
    graph.finalize()
    with tf.Session() as raw:
        session, front = debugged(raw, WATCH, Detach())
        session.run(y, {x: [1.0, 2.0]})
        session.run(y, {x: [1.0, 0.0]})
    assert len(front.ends) == 1
    assert [op.name for op in graph.get_operations()] == names
    assert exported() == before


def test_a_graph_that_was_imported(tf, debugged) -> None:
    with tf.Graph().as_default() as written:
        x = tf.placeholder(tf.float32, [2], name="x")
        layer = function(tf)(lambda value: finite(tf, value - 1.0))
        tf.identity(tf.cond(x[0] > 0.5, lambda: layer(x), lambda: x), name="y")
    with tf.Graph().as_default(), tf.Session() as raw:
        tf.graph_util.import_graph_def(written.as_graph_def(), name="")
        assert hits(tf, debugged, raw, "y:0", "x:0", [[2.0, 3.0], [1.0, 3.0], [0.0, 1.0]]) == [False, True, False]


def test_a_monitored_session(tf, debugged, graph) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.cond(x > 0.5, lambda: tf.constant(1.0), lambda: finite(tf, x))
    hook = tf.train.NanTensorHook(y)
    with tf.train.MonitoredSession(hooks=[hook]) as monitored:
        session, front = debugged(monitored, WATCH, Detach())
        assert session.run(y, {x: 1.0}) == 1.0
        assert session.run(y, {x: 0.0}) == 0.0
        assert graph.finalized
    assert front.ends[0].run.tensors.named("cond/false/log")


def test_runners_and_fed_tensors_in_between(tf, debugged, graph) -> None:
    from tensorflow.core.protobuf import config_pb2

    x = tf.placeholder(tf.float32, [2], name="x")
    y = function(tf)(lambda value: (finite(tf, value), value + 1.0))(x)
    z = tf.add(tf.identity(y[0], name="first"), y[1], name="z")
    options = config_pb2.CallableOptions(feed=["x:0"], fetch=["z:0"])
    with tf.Session() as raw:
        for make in (lambda s: s.make_callable(z, [x]), lambda s: s._make_callable_from_options(options)):
            session, front = debugged(raw, WATCH, Detach())
            runner = make(session)
            for value, expected in ((1.0, 2.0), (0.0, 1.0)):
                assert np.asarray(runner(np.float32([value, 1.0]))).reshape(-1)[0] == expected
            assert [end.hit.runs for end in front.ends] == [2]
        session, front = debugged(raw, WATCH, Detach())
        fed = {x: [2.0, 2.0], y[0].op.inputs[0] if y[0].op.type == "Identity" else y[0]: [5.0, 5.0]}
        np.testing.assert_array_equal(session.run(z, fed), [8.0, 8.0])
        np.testing.assert_array_equal(session.run(z, {**fed, x: [0.0, 0.0]}), [6.0, 6.0])
    assert [end.hit.runs for end in front.ends] == [2]


def test_a_layer_of_keras(tf, debugged, graph) -> None:
    keras = library("tf_keras")
    tf.set_random_seed(2)
    x = tf.placeholder(tf.float32, [2, 3, 2], name="x")
    y = keras.layers.LSTM(4)(tf.log(x))
    safe = tf.where(tf.is_finite(y), y, tf.zeros_like(y))
    slopes = tf.gradients(tf.reduce_sum(safe), tf.trainable_variables() or [x])
    with tf.Session() as raw:
        raw.run(tf.global_variables_initializer())
        good, bad = np.ones([2, 3, 2]), np.ones([2, 3, 2])
        bad[1, 2, 0] = 0.0
        assert hits(tf, debugged, raw, [safe, *slopes], x, [good, bad]) == [False, True]
