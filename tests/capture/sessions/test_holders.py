"""Whose variable a handle or a reference is: for what a call writes, and for a part of it computed again."""

from __future__ import annotations

import pytest
import tensorflow as tf

from tfdbg_cli.capture.sessions.call_state import acts, call_state, changes
from tfdbg_cli.capture.sessions.holders import holder_of, touching
from tfdbg_cli.capture.sessions.reach import reach
from tfdbg_cli.capture.sessions.unordered import Held
from tfdbg_cli.capture.what_if.session_slice import SessionCallGraph

pytestmark = pytest.mark.tf
v1 = tf.compat.v1
raw = tf.raw_ops


def _old(name: str, value: float = 1.0):
    return v1.get_variable(name, initializer=value, use_resource=False)._variable


def _handle():
    return v1.get_variable("v", initializer=1.0, use_resource=True).handle


def _behind_an_update():
    return raw.AssignAdd(ref=raw.Assign(ref=_old("v"), value=5.0), value=1.0)


def _out_of_a_loop():
    inside = raw.Enter(data=_handle(), frame_name="loop")
    return raw.AssignVariableOp(resource=raw.Exit(data=inside), value=2.0)


def _of_a_branch():
    handle, _ = raw.Switch(data=_handle(), pred=True)
    return raw.AssignVariableOp(resource=handle, value=2.0)


def _of_what_another_holds():
    return raw.Assign(ref=_old("v"), value=_old("w"))


@pytest.mark.parametrize("make", [_behind_an_update, _out_of_a_loop, _of_a_branch, _of_what_another_holds])
def test_both_find_the_variable_that_an_op_writes(make) -> None:
    with tf.Graph().as_default() as graph:
        made = make()
        op = getattr(made, "op", made)
        reached = reach(graph, [op], ())
        state = call_state(reached.ops, reached.fetchable, frozenset())
        call = SessionCallGraph([op], {})
    assert [one.name for one in state.written if op in one.writers] == ["v"]
    assert call.written_by(op) == ("v",)
    assert op.name in call.writers["v"]


def test_what_reads_a_variable_behind_its_update_reads_that_variable() -> None:
    with tf.Graph().as_default():
        updated = raw.Assign(ref=_old("v"), value=5.0)
        read = tf.negative(updated)
        call = SessionCallGraph([read.op], {})
    assert call.variables_of(read.op) == ("v",)
    assert call.writers_beside(read.op) == {updated.op.name}


def test_what_is_fed_is_nobodys_variable() -> None:
    with tf.Graph().as_default():
        handle = _handle()
        read = raw.ReadVariableOp(resource=handle, dtype=tf.float32)
        assert holder_of(handle, ()) is handle.op
        assert holder_of(handle, {handle.name}) is None
        assert SessionCallGraph([read.op], {handle.name: None}).variables_of(read.op) == ()


def _with_all_kinds_of_state() -> list[tf.Operation]:
    """What a call uses that is no number, amid ops that only compute."""
    x = v1.placeholder(tf.float32, [2], name="x")
    old = _old("old")
    read = tf.identity(old, name="old/read")  # shares the memory of the variable, and so does what hands it on
    shared = tf.square(tf.reshape(read, [1]))
    new = v1.get_variable("new", initializer=1.0, use_resource=True)
    queue = v1.FIFOQueue(2, [tf.float32], shapes=[[]])
    batch = v1.data.make_one_shot_iterator(v1.data.Dataset.range(3).repeat()).get_next()
    drawn = tf.exp(tf.cast(batch, tf.float32))
    python = v1.py_func(lambda value: value, [x], tf.float32, stateful=False)
    called = tf.function(lambda value: value + new.read_value())(tf.negative(x))
    turns = v1.while_loop(lambda at: at < 3.0, lambda at: at + new.read_value(), [tf.reduce_sum(x)])
    elements = v1.TensorArray(tf.float32, 2).unstack(x).read(0)
    both = raw.IdentityN(input=[new.handle, tf.sin(x)])
    made = [
        shared, drawn, python, called, turns, elements, tf.cos(both[1]), queue.enqueue(tf.tanh(new + 1.0)),
        raw.AssignAdd(ref=old, value=2.0), new.assign_add(tf.reduce_max(x)), tf.random.uniform([2]) * x,
        v1.Print(x, [x]),
    ]  # fmt: skip
    return [getattr(one, "op", one) for one in made]


@pytest.mark.parametrize("fed", [(), ("x:0",)])
def test_ops_that_only_compute_have_nothing_to_do_with_state(fed: tuple[str, ...]) -> None:
    fed_names = frozenset(fed)
    with tf.Graph().as_default() as graph:
        reached = reach(graph, _with_all_kinds_of_state(), fed_names)
        concerned = touching(reached.ops)
        state = call_state(reached.ops, [], fed_names)
    written = {variable.name for variable in state.written}
    writers = {variable.name: variable.writers for variable in state.written}
    order = reached.order
    left = set(order) - set(concerned)
    assert {op.type for op in left} >= {"Exp", "Neg", "Tanh", "Max"}
    assert {"Square", "PyFuncStateless", "ReadVariableOp"} <= {op.type for op in concerned}
    assert not [op for op in left if changes(op, fed_names) or acts(op, fed_names, written)]
    every, few = Held(order, writers, fed_names), Held(concerned, writers, fed_names)
    assert (few.uses, few.sharing) == (every.uses, every.sharing)
    assert written >= {"old", "new"}
