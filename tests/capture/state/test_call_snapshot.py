"""Calls of functions held, made again on copies of their variables, and undone."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from support.instrumented_calls import flat

from tfdbg_cli.capture.state.call_snapshot import CallSnapshot
from tfdbg_cli.capture.state.writing_threads import WRITING_THREADS
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.replay import InputRole

pytestmark = pytest.mark.tf


class _Held:
    """One captured call of `function`, held."""

    def __init__(self, function, *arguments) -> None:
        from tfdbg_cli.capture.runs.function.traced_function import traced_function
        from tfdbg_cli.capture.tf import compat

        concrete = function.get_concrete_function(*arguments)
        self.traced = traced_function(compat.atomic_of(concrete))
        self.plan = self.traced.snapshot_plan
        self.inputs = [*flat(*arguments), *concrete.captured_inputs]
        self.handles = [at for at in range(len(self.inputs)) if compat.type_in_variable(self.inputs[at]) is not None]
        self.before = self.state()
        self.held = CallSnapshot.of(self.plan, self.inputs)
        outcome = self.traced.instrumented.perform(self.inputs)
        assert outcome.error is None
        self.outputs, self.kept = outcome.outputs, outcome.captured
        self.held.take_drawn(outcome)
        self.after = self.state()

    def state(self) -> list[bytes]:
        return [value.numpy().tobytes() for value in self.plan.read(self.inputs, self.handles)]

    def again(self):
        again = self.held.again()
        assert again.error is None
        assert self.state() == self.after, "made again, a call touches no variable of the program"
        return again


def _assert_agrees(held: _Held) -> None:
    """Made again, the call gives what it gave, and leaves its variables so."""
    from tfdbg_cli.capture.functions.exact.agreement import CallOutcome, agreement
    from tfdbg_cli.capture.runs.function.replayed_capture import effect_of

    made = held.held.made_again()
    did = CallOutcome(held.outputs, held.held.variables_now())
    assert agreement(held.plan.root, did, effect_of(held.held, made)).partings == ()


def _assert_same(held: _Held) -> None:
    from tfdbg_cli.capture.replay.replayed import difference

    again = held.again()
    assert difference(held.kept, again.tensors) == ""
    _assert_agrees(held)
    assert _keys(held.kept) == _keys(again.tensors)
    assert held.held.undo() == ()
    assert held.state() == held.before
    assert difference(held.kept, held.held.again().tensors) == "", "what is held stays as it was"


def _keys(tensors) -> set[tuple[str, int, int, str]]:
    rows = [tensors[row] for row in range(len(tensors))]
    return {
        (row.node, row.slot, row.execution, row.op_type)
        for row in rows
        if row.dtype != "variant" and row.op_type != "UpdatedVariable"
    }


def _optimizer_step():
    """A step with nested calls, a loop, a branch, an iterator, a generator, dropout of old and new, and slots."""
    import tensorflow as tf

    weight = tf.Variable(tf.random.stateless_normal([8, 8], (1, 2)), name="weight")
    slot = tf.Variable(tf.zeros([8, 8]), name="slot")
    count = tf.Variable(0, name="count")
    generator = tf.random.Generator.from_seed(3)
    data = np.random.RandomState(0).rand(40, 4, 8).astype(np.float32)
    batches = iter(tf.data.Dataset.from_tensor_slices(data).repeat())

    @tf.function
    def layer(x):
        count.assign_add(1)
        return tf.matmul(x, weight) + generator.normal([8])

    @tf.function
    def step():
        x = next(batches)
        with tf.name_scope("model"):
            y = layer(x)
            for i in tf.range(3):
                with tf.name_scope("turn"):
                    y = tf.tanh(y) if tf.reduce_sum(y) > 0 else tf.sin(y) * weight[i]
        mask = tf.random.uniform([8])
        tf.print("step", tf.reduce_sum(mask), output_stream="file:///dev/null")
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(layer(x) * tf.nn.dropout(mask, 0.5))
        gradient = tape.gradient(loss, weight)
        tf.raw_ops.ResourceApplyMomentum(var=weight.handle, accum=slot.handle, lr=0.1, grad=gradient, momentum=0.9)
        return loss, weight.read_value()

    return step


def test_a_training_step_is_made_again_bit_for_bit() -> None:
    step = _optimizer_step()
    held = _Held(step)
    assert held.plan.reason == ""
    assert {str(name).rpartition("/")[2] for name in held.plan.sources} >= {
        "IteratorGetNext:0",
        "RandomUniform:0",
    }
    _assert_same(held)


def test_an_undone_step_gives_the_same_numbers_again() -> None:
    import tensorflow as tf

    weight = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    first, second = tf.Variable(tf.zeros([2, 2])), tf.Variable(tf.zeros([2, 2]))

    @tf.function
    def step(x):
        tf.raw_ops.ResourceApplyAdam(
            var=weight.handle, m=first.handle, v=second.handle, beta1_power=0.9, beta2_power=0.99, lr=0.1,
            beta1=0.9, beta2=0.99, epsilon=1e-7, grad=x,
        )  # fmt: skip
        return weight.read_value()

    x = tf.constant([[1.0, -1.0], [2.0, 0.5]])
    step(x)
    held = _Held(step, x)
    assert held.held.undo() == ()
    assert held.state() == held.before
    np.testing.assert_array_equal(step(x).numpy(), held.outputs[0].numpy())
    assert held.state() == held.after, "the slots of the optimizer were put back, too"


def test_a_compiled_step_is_made_again() -> None:
    import tensorflow as tf

    weight = tf.Variable(tf.random.stateless_normal([4, 4], (1, 2)), name="weight")
    batches = iter(tf.data.Dataset.from_tensors(tf.ones([4, 4])).repeat())

    @tf.function(jit_compile=True)
    def compiled(x):
        y = tf.nn.softmax(tf.matmul(x, weight))
        weight.assign_add(y @ tf.transpose(y))
        return y

    @tf.function
    def around():
        with tf.name_scope("inside"):
            return compiled(next(batches)) * 2.0

    _assert_same(_Held(compiled, tf.ones([4, 4])))
    _assert_same(_Held(around))


def test_what_a_compiled_function_would_print_need_not_be_compiled() -> None:
    import tensorflow as tf

    @tf.function(jit_compile=True)
    def step(x):
        tf.print("sum", tf.strings.as_string(tf.reduce_sum(x)))
        return x * 2.0

    concrete = step.get_concrete_function(tf.ones([3]))
    from tfdbg_cli.capture.runs.function.traced_function import traced_function
    from tfdbg_cli.capture.tf import compat

    again = CallSnapshot.of(traced_function(compat.atomic_of(concrete)).snapshot_plan, [tf.ones([3])]).again()
    assert again.error is None
    assert again.tensors.value(again.tensors.named("mul", 0)[0]).tolist() == [2.0, 2.0, 2.0]


def test_calls_of_functions_whose_names_no_node_can_have() -> None:
    import tensorflow as tf

    hidden = tf.function(lambda x: tf.sin(x))

    @tf.function
    def _größe_(x):
        return hidden(x) * 2.0

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = _größe_(x)
        return tape.gradient(y, x)

    held = _Held(step, tf.constant(1.0))
    assert "gr__e/lambda/Sin" in {held.kept[row].node for row in range(len(held.kept))}
    _assert_same(held)


def test_a_variable_given_and_captured_is_one() -> None:
    import tensorflow as tf

    shared = tf.Variable(1.0, name="shared")

    @tf.function
    def step(given):
        given.assign_add(2.0)
        return shared * 10.0

    held = _Held(step, shared)
    assert held.outputs[0].numpy() == 30.0
    _assert_same(held)


def test_what_draws_within_a_loop_cannot_be_made_again() -> None:
    import tensorflow as tf

    batches = iter(tf.data.Dataset.range(100))

    @tf.function
    def total():
        found = tf.constant(0, tf.int64)
        for _ in tf.range(3):
            found += next(batches)
        return found

    held = _Held(total)
    assert "IteratorGetNext" in held.plan.reason
    with pytest.raises(TfdbgError, match="IteratorGetNext") as caught:
        held.held.replay_spec()
    assert "--values keep" in caught.value.hint


def test_what_a_branch_puts_into_a_queue_cannot_be_made_again_and_that_is_said() -> None:
    """A blind test: `Cannot convert the argument type_value: 0 to a TensorFlow DType` was given as the reason."""
    import tensorflow as tf

    queue = tf.queue.FIFOQueue(3, [tf.float32], shapes=[()])

    @tf.function
    def put(x, keep):
        if keep:
            queue.enqueue(x)
        return tf.sqrt(x)

    held = _Held(put, tf.constant(4.0), tf.constant(False))
    with pytest.raises(TfdbgError, match="a queue, a table or the like cannot be made again") as caught:
        held.held.replay_spec()
    assert "--values keep" in caught.value.hint


def test_a_python_function_is_not_called_again() -> None:
    import tensorflow as tf

    calls = []

    def answer(x):
        calls.append(1)
        return x.numpy() * len(calls)

    @tf.function
    def step(x):
        return tf.py_function(answer, [x], tf.float32) + 1.0

    held = _Held(step, tf.constant(3.0))
    again = held.again()
    assert len(calls) == 1
    assert again.error is None
    _assert_agrees(held)
    assert any("Python function" in limit for limit in held.held.replay_spec().limits)


def test_a_table_is_asked_once() -> None:
    import tensorflow as tf

    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, -1.0)
    table.insert(tf.constant([1], tf.int64), tf.constant([5.0]))

    @tf.function
    def step(key):
        found = table.lookup(key)
        table.insert(key, found + 1.0)
        return tf.sqrt(found)

    held = _Held(step, tf.constant([1], tf.int64))
    assert table.lookup(tf.constant([1], tf.int64)).numpy() == 6.0
    _assert_same(held)
    assert table.lookup(tf.constant([1], tf.int64)).numpy() == 6.0


def test_a_repetition_says_what_each_input_is() -> None:
    import tensorflow as tf

    weight = tf.Variable(tf.constant([1, 2], tf.bfloat16), name="weight")
    batches = iter(tf.data.Dataset.from_tensors(tf.constant([b"a", b"b"])).repeat())

    @tf.function
    def step(x):
        weight.assign_add(tf.cast(x, tf.bfloat16))
        return tf.strings.length(next(batches)), weight.read_value()

    held = _Held(step, tf.constant([3.0, 4.0]))
    found = {item.role: (item.name, item.dtype, item.value.tolist()) for item in held.held.replay_spec().inputs}
    assert found[InputRole.GIVEN] == ("x", "float32", [3.0, 4.0])
    assert found[InputRole.VARIABLE] == ("weight", "bfloat16", [1, 2])
    assert found[InputRole.SOURCE] == ("IteratorGetNext:0", "string", [b"a", b"b"])
    _assert_same(held)


def test_a_variable_without_a_value_cannot_be_put_back() -> None:
    import tensorflow as tf

    from tfdbg_cli.capture.tf import compat

    handle = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[2], shared_name=compat.context.anonymous_name())

    @tf.function
    def begin(x):
        tf.raw_ops.AssignVariableOp(resource=handle, value=x)
        return x

    concrete = begin.get_concrete_function(tf.zeros([2]))
    from tfdbg_cli.capture.runs.function.traced_function import traced_function

    held = CallSnapshot.of(
        traced_function(compat.atomic_of(concrete)).snapshot_plan, [tf.zeros([2]), *concrete.captured_inputs]
    )
    (sentence,) = held.undo()
    assert "no value before the run" in sentence
    with pytest.raises(TfdbgError, match="no value before the run"):
        held.replay_spec()


def test_without_room_nothing_is_held_and_undo_says_so() -> None:
    import tensorflow as tf

    from tfdbg_cli.capture.runs.function.traced_function import traced_function
    from tfdbg_cli.capture.tf import compat

    weight = tf.Variable(tf.zeros([64, 64]), name="weight")

    @tf.function
    def step():
        weight.assign_add(tf.ones([64, 64]))

    concrete = step.get_concrete_function()
    plan = traced_function(compat.atomic_of(concrete)).snapshot_plan
    held = CallSnapshot.of(plan, concrete.captured_inputs, room=100)
    step()
    (sentence,) = held.undo()
    assert "16 kB" in sentence
    assert weight.numpy().max() == 1.0


def test_other_threads_do_not_disturb_a_call_that_is_given_no_variable() -> None:
    """A blind test: that threads write variables was said of a program that has none."""
    import tensorflow as tf

    weight, x = tf.Variable(2.0), tf.constant(3.0)
    without, reading = _Held(tf.function(lambda x: x * x), x), _Held(tf.function(lambda x: x * weight), x)
    other = threading.Thread(target=WRITING_THREADS.wrote)
    other.start()
    other.join()
    assert without.held.alone and not reading.held.alone
    with without.held.kept_alone() as is_alone, reading.held.kept_alone() as is_alone_too:
        assert is_alone and not is_alone_too
