"""Whose variable a handle or a reference is: for what a call writes, and for a part of it computed again."""

from __future__ import annotations

import pytest
import tensorflow as tf

from tfdbg_cli.capture.sessions.call_state import call_state
from tfdbg_cli.capture.sessions.holders import holder_of
from tfdbg_cli.capture.sessions.reach import reach
from tfdbg_cli.capture.what_if.session_slice import CallGraph

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
        state = call_state(reached.order, reached.tensors, frozenset())
        call = CallGraph([op], {})
    assert [one.name for one in state.written if op in one.writers] == ["v"]
    assert call.written_by(op) == ("v",)
    assert op.name in call.writers["v"]


def test_what_reads_a_variable_behind_its_update_reads_that_variable() -> None:
    with tf.Graph().as_default():
        updated = raw.Assign(ref=_old("v"), value=5.0)
        read = tf.negative(updated)
        call = CallGraph([read.op], {})
    assert call.variables_of(read.op) == ("v",)
    assert call.writers_beside(read.op) == {updated.op.name}


def test_what_is_fed_is_nobodys_variable() -> None:
    with tf.Graph().as_default():
        handle = _handle()
        read = raw.ReadVariableOp(resource=handle, dtype=tf.float32)
        assert holder_of(handle, ()) is handle.op
        assert holder_of(handle, {handle.name}) is None
        assert CallGraph([read.op], {handle.name: None}).variables_of(read.op) == ()
