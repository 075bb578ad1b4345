"""A watched function is compared with the plain one by what TensorFlow's runtime makes of both."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import tensorflow as tf

from tfdbg_cli.analysis.watch.filter import TensorFilter
from tfdbg_cli.analysis.watch.filters import has_inf, has_inf_or_nan
from tfdbg_cli.capture.controller import Action, Plan, WatchRequest
from tfdbg_cli.capture.functions.definition.edit import READS
from tfdbg_cli.capture.functions.exact.comparison import FunctionComparison, compared
from tfdbg_cli.capture.functions.exact.proof import Proof
from tfdbg_cli.capture.functions.exact.values import ValueDigests
from tfdbg_cli.capture.functions.optimized.compiled import Compiled, compiled, compiled_copy
from tfdbg_cli.capture.functions.optimized.grafted import CannotBeGrafted
from tfdbg_cli.capture.runs.function.function_checks import watch_kind
from tfdbg_cli.capture.runs.function.traced_function import TracedFunction
from tfdbg_cli.capture.tf import compat

pytestmark = pytest.mark.tf


class Traced:
    """A tf.function traced for `arguments`."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        concrete = function.get_concrete_function(*arguments)
        self.function = TracedFunction(compat.atomic_of(concrete))
        self.inputs = [*tf.nest.flatten(arguments), *concrete.captured_inputs]

    def compiled(self) -> Any:
        return compiled_copy(self.function.root.body.name, self.inputs)

    def found(self, proof: Proof) -> Any:
        """What the runtime makes of the function of `proof`, which gives its answer, too."""
        made = proof.instrumented
        return compiled_copy(made.name, self.inputs, optimize=not made.grafted)

    def proof(self, tensor_filter: TensorFilter = has_inf_or_nan) -> Proof:
        kind = watch_kind(Plan(1, Action.CAPTURE, watched=WatchRequest("asked", tensor_filter)), "", "")
        assert kind is not None
        return self.function.watched(kind).checked_only(self.inputs)


def test_a_function_is_compiled_without_being_run() -> None:
    count = tf.Variable(0)

    @tf.function
    def step(x: Any) -> Any:
        count.assign_add(1)
        return x * 2.0

    traced = Traced(step, tf.constant(1.0))
    name = traced.function.root.body.name
    found = compiled(name, traced.inputs)
    assert found is not None
    assert {"Mul", "AssignAddVariableOp", "_Retval"} <= {node.op for node in found.nodes}
    assert count.numpy() == 0
    assert compiled(name, traced.inputs) is None, "it was made before"
    assert traced.compiled() is not None, "of a copy it can be had again"
    assert step(tf.constant(1.0)).numpy() == 2
    assert count.numpy() == 1


def test_what_other_threads_call_meanwhile_is_not_cancelled() -> None:
    """A cancelled call made in the way that TensorFlow offers to programs cancels those of every thread."""
    ended, failed = threading.Event(), []

    @tf.function
    def other(x: Any) -> Any:
        return x + 1.0

    def call() -> None:
        while not ended.is_set():
            try:
                other(tf.constant(1.0))
            except tf.errors.CancelledError as error:
                failed.append(error)

    other(tf.constant(1.0))
    thread = threading.Thread(target=call)
    thread.start()
    try:
        for factor in range(20):
            traced = Traced(tf.function(lambda x, by=float(factor): x * by), tf.constant(1.0))
            assert traced.compiled() is not None
    finally:
        ended.set()
        thread.join()
    assert not failed


def test_what_the_program_calls_between_two_proofs_is_taken_for_neither() -> None:
    """TensorFlow would go on collecting the graphs of all that is called, and arguments are often called alike."""
    first, other, third = (tf.function(lambda x, by=float(factor): x * by) for factor in range(3))
    name = Traced(first, tf.constant(1.0)).function.root.body.name
    assert compiled(name, [tf.constant(1.0)]) is not None
    other(tf.constant(1.0))
    assert compiled(name, [tf.constant(1.0)]) is None, "it was made before, and the other one is not it"
    other(tf.constant([1.0]))
    later = Traced(third, tf.constant(1.0))
    assert compiled(later.function.root.body.name, later.inputs) is not None


def test_a_function_that_xla_compiles_is_neither_run_nor_compiled() -> None:
    count = tf.Variable(0)

    @tf.function(jit_compile=True)
    def step(x: Any) -> Any:
        count.assign_add(1)
        return x * 2.0

    traced = Traced(step, tf.constant(1.0))
    assert traced.compiled() is None
    assert not traced.proof().holds
    assert count.numpy() == 0


def test_while_the_program_collects_graphs_itself_nothing_is_compiled(tmp_path: Any) -> None:
    step = tf.function(lambda x: x * 3.0)
    traced = Traced(step, tf.constant(1.0))
    tf.summary.trace_on(graph=True)
    try:
        assert traced.compiled() is None
        step(tf.constant(1.0))
        with tf.summary.create_file_writer(str(tmp_path)).as_default():
            tf.summary.trace_export("graph", step=0)
    finally:
        tf.summary.trace_off()
    assert traced.compiled() is not None


def _momentum(weight: Any, x: Any) -> Any:
    """An update as that of Keras with a clipped norm: Grappler computes `gradient * (rate * scale)`."""

    @tf.function
    def step() -> Any:
        gradient = tf.linalg.matvec(weight, x)
        scale = tf.minimum(0.5 / tf.norm(x), 1.0)
        update = (gradient * scale) * weight[0, 0]
        weight.assign_sub(tf.tensordot(update, x, 0))
        return tf.reduce_sum(update)

    return step


def _sums(weight: Any, x: Any) -> Any:
    """Sums of many terms, which become one `AddN`, and factors that are taken out of sums."""

    @tf.function
    def step() -> Any:
        a, b = tf.tanh(weight), tf.sin(weight)
        terms = a * 3.0 + b * 3.0 + a * b + tf.exp(a) + tf.exp(b)
        return tf.reduce_sum(terms) + tf.reduce_sum(x) + terms[0, 0] * 2.0 * 3.0

    return step


def _loop(weight: Any, x: Any) -> Any:
    @tf.function
    def step() -> Any:
        total = x
        for _ in tf.range(3):
            total = tf.nn.gelu(tf.linalg.matvec(weight, total), approximate=True) / (tf.norm(total) + 1.0)
        if tf.reduce_sum(total) > 0:
            total = total * 2.0 * 0.3
        return total

    return step


def cannot_be_grafted(*_: Any, **how: Any) -> Any:
    raise CannotBeGrafted


@pytest.fixture
def nothing_grafted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rewritten function is optimized as any other."""
    monkeypatch.setattr("tfdbg_cli.capture.functions.calling.instrumented.grafted", cannot_be_grafted)


@pytest.fixture(params=["grafted", "optimized"])
def either_way(request: pytest.FixtureRequest) -> None:
    if request.param == "optimized":
        request.getfixturevalue("nothing_grafted")


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize("build", [_momentum, _sums, _loop])
def test_a_watched_function_keeps_the_ops_of_the_plain_one(build: Callable[[Any, Any], Any]) -> None:
    weight, x = tf.Variable(tf.random.stateless_normal([4, 4], [1, 2])), tf.constant([1.0, -2.0, 0.5, 3.0])
    proof = Traced(build(weight, x)).proof()
    assert proof.holds, proof.comparison


@pytest.mark.usefixtures("nothing_grafted")
def test_what_must_not_be_read_is_found_by_what_the_optimizer_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tfdbg_cli.capture.functions.optimized.twins.rounding_apart", lambda *_, **__: frozenset())
    weight, x = tf.Variable(tf.random.stateless_normal([4, 4], [1, 2])), tf.constant([1.0, -2.0, 0.5, 3.0])
    tries = []

    def counted(*given: Any, **how: Any) -> FunctionComparison:
        tries.append(compared(*given, **how))
        return tries[-1]

    monkeypatch.setattr("tfdbg_cli.capture.functions.exact.proof.compared", counted)
    assert Traced(_sums(weight, x)).proof(has_inf).holds
    assert not tries[0].same and tries[-1].same, "without a table the first try differs"


@pytest.mark.parametrize("product", ["convolution", "matmul"])
def test_a_fused_relu_is_not_worth_a_second_product(product: str) -> None:
    """Apart from its product it gives the same bits but for NaN, and a run with NaN is made plainly, too."""
    images, kernel, bias = (
        tf.random.stateless_normal([2, 8, 8, 3], [1, 2]),
        tf.Variable(tf.ones([3, 3, 3, 4])),
        [1.0] * 4,
    )

    @tf.function
    def step(x: Any) -> Any:
        if product == "matmul":
            return tf.nn.relu(tf.nn.bias_add(tf.matmul(x[:, 0, 0], kernel[0, 0]), bias))
        return tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, kernel, 1, "SAME"), bias))

    traced = Traced(step, images)
    watched = traced.proof()
    assert watched.holds, watched.comparison
    products = [node.op for node in traced.found(watched).nodes if "Conv2D" in node.op or "MatMul" in node.op]
    assert len(products) == 1


def test_what_takes_many_rounds_is_had_by_a_second_product(
    rounds: list[FunctionComparison], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A blind test: a normalizing flow took eight rounds of six seconds each, had no proof, and ran on copies."""
    weights = [tf.Variable(tf.random.stateless_normal([4, 4], [at, 1])) for at in range(2)]

    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            given = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, weights[0]), [1.0] * 4))
            loss = tf.reduce_mean(tf.square(tf.matmul(given, weights[1])))
        for weight, gradient in zip(weights, tape.gradient(loss, weights), strict=True):
            weight.assign_sub(gradient)
        return loss

    by_rounds = Traced(step, tf.ones([2, 4])).proof()
    assert by_rounds.holds and not by_rounds.instrumented.grafted
    rounds.clear()
    monkeypatch.setattr("tfdbg_cli.capture.functions.exact.proof._USUAL", 0)
    traced = Traced(tf.function(step.python_function), tf.ones([2, 4]))
    proof = traced.proof()
    assert proof.holds and proof.instrumented.grafted
    assert len(rounds) <= 1
    products = [sum("MatMul" in node.op for node in made.nodes) for made in (traced.compiled(), traced.found(proof))]
    assert products[1] == products[0] + 1


def test_other_ops_are_a_difference() -> None:
    one = Traced(tf.function(lambda x: (x + 1.0) * 2.0), tf.constant(1.0)).compiled()
    same = Traced(tf.function(lambda x: (x + 1.0) * 2.0), tf.constant(1.0)).compiled()
    other = Traced(tf.function(lambda x: (x + 1.0) * 3.0), tf.constant(1.0)).compiled()
    assert compared(one, same, 1).same
    assert compared(one, other, 1).outputs == (0,)


def test_an_update_that_is_missing_is_a_difference() -> None:
    weight = tf.Variable(1.0)
    one = Traced(tf.function(lambda: weight.assign_add(2.0)))
    other = Traced(tf.function(lambda: weight.read_value() + 2.0))
    assert compared(one.compiled(), other.compiled(), 0).effects


def test_loops_are_compared_by_what_their_turns_compute() -> None:
    def looping(factor: float) -> Any:
        @tf.function
        def step(x: Any) -> Any:
            y = x
            for _ in tf.range(5):
                x, y = x + 1.0, y * factor
            return x, y

        return Traced(step, tf.constant(1.0)).compiled()

    assert compared(looping(2.0), looping(2.0), 2).same
    assert compared(looping(2.0), looping(3.0), 2).outputs == (1,)


def test_terms_of_a_product_may_stand_in_either_order() -> None:
    found = Traced(tf.function(lambda x, y: (x * y, y * x)), tf.constant(1.0), tf.constant(2.0)).compiled()
    values = ValueDigests(found)
    products = {values.node(name) for name, node in values.nodes.items() if node.op == "Mul"}
    assert len(products) == 1


@pytest.mark.usefixtures("either_way")
def test_a_term_of_a_long_sum_is_not_read() -> None:
    """Who holds a term of an `AddN` changes with which of them the sum begins, which no graph shows."""

    @tf.function
    def step(x: Any) -> Any:
        terms = [tf.nn.relu(x - number) for number in (1.0, 2.0, 3.0)]
        return tf.raw_ops.Relu(features=tf.add_n(terms))

    traced = Traced(step, tf.constant([1.0, 2.0]))
    proof = traced.proof(has_inf)  # which has to look at each term: Inf - Inf is no Inf
    assert proof.holds
    found = traced.found(proof)
    assert found is not None
    values = ValueDigests(found)
    sums = [name for name, node in values.nodes.items() if "AddN" in node.op and "tfdbg" not in name]
    terms = {term for name in sums for term in values.inputs(name)}
    readers = [name for name in values.nodes if "tfdbg" in name and terms & set(values.inputs(name))]
    assert terms
    assert readers == []


def test_the_memory_of_a_term_of_a_long_sum_is_not_read() -> None:
    """A term in another shape is the same memory: whoever holds that decides as well with which term it begins."""

    @tf.function
    def step(x: Any) -> Any:
        for _ in tf.range(2):  # where checks are not put onto what the optimizer made
            terms = [tf.reshape(tf.reduce_sum(x - number, 0, keepdims=True), [8]) for number in (1.0, 2.0, 3.0)]
            x = tf.tanh(x * tf.raw_ops.Relu(features=tf.add_n(terms)))
        return x

    traced = Traced(step, tf.ones([4, 8]))
    proof = traced.proof(has_inf)
    assert proof.holds and not proof.instrumented.grafted
    found = traced.found(proof)
    assert found is not None
    values = ValueDigests(found)
    sums = [name for name, node in values.nodes.items() if "AddN" in node.op and "tfdbg" not in name]
    reshapes = {term for name in sums for term, _ in values.inputs(name) if values.nodes[term].op == "Reshape"}
    assert len(reshapes) == 3
    held = reshapes | {values.inputs(name)[0][0] for name in reshapes}
    readers = [name for name in values.nodes if "tfdbg" in name]
    assert not [(name, read) for name in readers for read, _ in values.inputs(name) if read in held]


def test_a_term_of_a_long_sum_that_has_to_be_read_is_no_proof() -> None:
    """What is gathered from a variable cannot be gathered twice: whether a check is done with it is chance."""
    tables = [tf.Variable(tf.ones([5, 8])) for _ in range(3)]

    @tf.function
    def step(rows: Any) -> Any:
        terms = [tf.gather(table, rows) for table in tables]
        return tf.raw_ops.Relu(features=tf.add_n(terms))

    traced = Traced(step, tf.constant([1, 2]))
    assert not traced.proof(has_inf).holds
    assert traced.proof(has_inf_or_nan).holds, "the sum tells of its terms"


@pytest.mark.usefixtures("either_way")
def test_a_batch_that_is_compared_with_a_constant_keeps_its_proof() -> None:
    """What is drawn gets another name for the checks, and the optimizer orders the terms of `Equal` by name."""
    data = iter(tf.data.Dataset.from_tensors(tf.range(4.0)).repeat())

    @tf.function
    def step() -> Any:
        batch = next(data)
        with tf.name_scope("S"):  # between `IteratorGetNext` and `tfdbg`
            one = tf.equal(batch, 1.0)
        return tf.reduce_sum(tf.where(one, batch, 2.0 * batch))

    assert Traced(step).proof().holds


@pytest.fixture
def rounds(monkeypatch: pytest.MonkeyPatch) -> Sequence[FunctionComparison]:
    """What comes of each round of a proof."""
    found: list[FunctionComparison] = []

    def counted(*arguments: Any, **how: Any) -> FunctionComparison:
        found.append(compared(*arguments, **how))
        return found[-1]

    monkeypatch.setattr("tfdbg_cli.capture.functions.exact.proof.compared", counted)
    return found


def test_where_the_runtime_leaves_a_call_as_it_is_no_round_is_spent_on_other_checks(rounds) -> None:
    """It does so with functions that have two implementations, such as LSTM of Keras 2; rewritten, they have one."""
    layer = tf.function(
        lambda x: tf.tanh(tf.exp(x) * 2.0 + x) * 3.0,
        experimental_attributes={"api_implements": "layer_of_two", "api_preferred_device": "CPU"},
    )
    proof = Traced(tf.function(lambda x: tf.exp(layer(x * 3.0) - 1.0)), tf.constant(1.0)).proof()
    assert not proof.holds
    assert [len(found.opened) for found in rounds] == [1]
    assert proof.comparison is rounds[0]


def test_where_a_loop_stays_a_call_no_round_is_spent_on_other_checks(rounds) -> None:
    """As in `ctc_loss`: checks inside give one more output of the call, whatever those outside read."""
    types = tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.float32)
    again = tf.function(lambda i, x: i < 3).get_concrete_function(*types)
    turn = tf.function(lambda i, x: (i + 1, tf.exp(x) * 0.5)).get_concrete_function(*types)

    @tf.function
    def step(x: Any) -> Any:
        _, given = tf.raw_ops.While(input=[tf.constant(0), tf.tanh(x)], cond=again, body=turn)
        return tf.math.log(given) + tf.exp(x)

    proof = Traced(step, tf.constant(1.0)).proof()
    assert not proof.holds
    assert [len(found.opened) for found in rounds] == [1]


@pytest.mark.usefixtures("nothing_grafted")
def test_an_activation_with_a_gradient_of_its_own_takes_one_round(rounds) -> None:
    """`tf.nn.silu` hands its result and its input on, which the optimizer takes out only where nobody else reads it.

    Each such place of a network took a round: EfficientNet had no proof, and its steps took three times as long.
    """
    weights = [tf.Variable(tf.ones([4, 4])) for _ in range(6)]
    biases = [tf.Variable(tf.ones([4])) for _ in range(6)]

    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            for weight, bias in zip(weights, biases, strict=True):
                x = x * tf.sigmoid(tf.matmul(tf.nn.silu(tf.nn.bias_add(tf.matmul(x, weight), bias)), weight) + bias)
            loss = tf.reduce_mean(x)
        for variable, gradient in zip(weights, tape.gradient(loss, weights), strict=True):
            variable.assign_sub(gradient)
        return loss

    assert Traced(step, tf.ones([2, 4])).proof().holds
    assert len(rounds) == 1


def test_whichever_of_two_convolutions_sums_up_the_gradient_of_a_bias_is_no_difference() -> None:
    """As in the blocks of ResNet V2: compiled several times, TensorFlow takes now the one and now the other."""

    def made(with_bias: int) -> ValueDigests:
        definition = tf.compat.v1.GraphDef()
        for at, name in enumerate(("image", "shape", "gradient", "other")):
            definition.node.add(name=name, op="_Arg").attr["index"].i = at
        for at, image in enumerate(("image", "other")):
            op = "_MklNativeConv2DBackpropFilter" + "WithBias" * (at == with_bias)
            node = definition.node.add(name=f"filter_{at}", op=op, input=[image, "shape", "gradient"])
            if at != with_bias:
                node.attr["explicit_paddings"].list.SetInParent()
            definition.node.add(name=f"result_{at}", op="_Retval", input=[node.name]).attr["index"].i = at
        given = [f"filter_{with_bias}:1"]
        definition.node.add(name="bias", op="_Retval", input=given).attr["index"].i = 2
        return ValueDigests(Compiled(definition.node, definition.node))

    first, second = made(0), made(1)
    for name in ("result_0", "result_1", "bias"):
        assert first.node(name) == second.node(name)
    assert first.of(("filter_0", 0)) != first.of(("filter_0", 1)) != first.of(("gradient", 0))


def test_where_differences_begin_behind_others_is_found_by_what_the_ops_look_like() -> None:
    """A block of a network like the one before it: what differs in the first makes all behind it differ."""

    def made(*products: str) -> Compiled:
        definition = tf.compat.v1.GraphDef()
        definition.node.add(name="x", op="_Arg").attr["index"].i = 0
        read = "x"
        for at, op in enumerate(products):
            name = f"block_{at}"
            definition.node.add(name=f"{name}/product", op=op, input=[read, "x"])
            read = definition.node.add(name=f"{name}/relu", op="Relu", input=[f"{name}/product"]).name
            if op == "Mul":
                given = [f"{name}/product"]
                check = definition.node.add(name=f"{name}/check", op="DebugNumericSummaryV2", input=given)
                check.attr[READS].list.s.append(b"")
        definition.node.add(name="result", op="_Retval", input=[read]).attr["index"].i = 0
        return Compiled(definition.node, definition.node)

    plain, rewritten = made("MulNoNan", "MulNoNan", "MulNoNan"), made("Mul", "MulNoNan", "Mul")

    def suspects(*, everywhere: bool) -> list[str]:
        return [node.name for node, _ in compared(plain, rewritten, 1, everywhere=everywhere).suspects]

    assert suspects(everywhere=False) == ["block_0/check"]
    assert suspects(everywhere=True) == ["block_0/check", "block_2/check"]
