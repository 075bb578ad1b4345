"""Gradient tensors, found by the tensor with respect to which they are."""

from __future__ import annotations

import numpy as np
import pytest
from support.launched import python

import tfdbg_cli as tf_debug
from tfdbg_cli.capture.sessions.gradients import GradientsDebugger, clear_gradient_debuggers

pytestmark = pytest.mark.tf


@pytest.fixture(autouse=True)
def _alone():
    clear_gradient_debuggers()
    yield
    clear_gradient_debuggers()


@pytest.fixture(params=[False, True], ids=["reference", "resource"])
def model(tf, graph, request):
    """u = 2, v = 3 and w = u * v."""
    u = tf.get_variable("u", initializer=2.0, use_resource=request.param)
    v = tf.get_variable("v", initializer=3.0, use_resource=request.param)
    return u, v, tf.multiply(u, v, name="w")


def values(tf, *tensors):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [float(value) for value in session.run(list(tensors))]


@pytest.mark.parametrize("in_context", [False, True])
def test_the_gradient_of_an_identity(tf, model, in_context) -> None:
    u, v, w = model
    debugger = GradientsDebugger()
    y = tf.add(debugger.identify_gradient(w), -1.0, name="y")
    if in_context:
        with debugger as entered:
            gradients = tf.gradients(y, [u, v])
        assert entered is debugger
    else:
        gradients = tf.gradients(y, [u, v])
    assert values(tf, y, *gradients, debugger.gradient_tensor(w), debugger.gradient_tensor("w:0")) == [5, 3, 2, 1, 1]
    assert set(debugger.gradient_tensors()) == {"w:0"}
    assert debugger.graph is w.graph


def test_what_is_differentiated_can_be_named(tf, model) -> None:
    """Defect of TensorFlow's debugger: y_tensor is asked for its truth, which a tensor of a graph refuses."""
    _, _, w = model
    debugger = GradientsDebugger(w)
    assert (debugger.y_tensor, debugger.graph) == (w, w.graph)


def test_a_tensor_is_named_once_to_a_debugger(model) -> None:
    _, _, w = model
    debugger = GradientsDebugger()
    debugger.identify_gradient(w)
    with pytest.raises(ValueError, match="The graph already contains an op named w_0/gradient_debug_"):
        debugger.identify_gradient(w)


def test_inside_a_name_scope(tf, model) -> None:
    """Defect of TensorFlow's debugger: in a scope it claims that there is such an op already."""
    u, _, w = model
    debugger = GradientsDebugger()
    with tf.name_scope("scope"):
        y = tf.square(debugger.identify_gradient(w))
    tf.gradients(y, u)
    assert values(tf, debugger.gradient_tensor(w)) == [12]


def test_two_losses(tf, model) -> None:
    _, _, w = model
    y = tf.add(w, -1.0, name="y")
    first, second = GradientsDebugger(), GradientsDebugger()
    z1 = tf.square(first.identify_gradient(y))
    z2 = tf.sqrt(second.identify_gradient(y))
    for debugger, loss in ((first, z1), (second, z2)):
        with debugger:
            tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    found = values(tf, first.gradient_tensor(y), second.gradient_tensor(y))
    np.testing.assert_allclose(found, [10, 0.5 * 5**-0.5], rtol=1e-6)


def test_of_several_debuggers_only_the_one_in_use_is_told(tf, model) -> None:
    u, v, w = model
    first, second = GradientsDebugger(), GradientsDebugger()
    tf.gradients(first.identify_gradient(w) - 1.0, [u, v])
    for debugger in (first, second):
        with pytest.raises(LookupError, match="has not received any gradient tensor for x-tensor w:0"):
            debugger.gradient_tensor(w)


def test_gradients_are_as_ever_when_the_debuggers_are_forgotten(tf, model) -> None:
    """Defect of TensorFlow's debugger: making the gradients is a KeyError then."""
    u, v, w = model
    y = GradientsDebugger().identify_gradient(w) - 1.0
    clear_gradient_debuggers()
    assert values(tf, *tf.gradients(y, [u, v])) == [3, 2]


def test_what_is_no_tensor(model) -> None:
    _, _, w = model
    with pytest.raises(
        TypeError, match=r"x_tensor must be a str or tf\.Tensor or tf\.Variable, but instead has type"
    ):
        GradientsDebugger().gradient_tensor(w.op)


def test_by_names_when_the_graph_is_there(tf, model) -> None:
    u, v, w = model
    y = tf.add(w, -1.0, name="y")
    debugger = GradientsDebugger()
    with debugger.watch_gradients_by_tensor_names(tf.get_default_graph(), "(u|w):0$"):
        gradients = tf.gradients(y, [u, v])
    assert set(debugger.gradient_tensors()) == {"u:0", "w:0"}
    assert values(tf, y, *gradients) == [5, 3, 2]
    assert values(tf, debugger.gradient_tensor("w:0"), debugger.gradient_tensor("u:0")) == [1, 3]


def test_by_tensors_and_variables(tf, model) -> None:
    u, _, w = model
    y = tf.add(w, -1.0, name="foo/y")
    z = tf.square(y, name="foo/z")
    debugger = GradientsDebugger()
    with debugger.watch_gradients_by_tensors(tf.get_default_graph(), [w, u, y]):
        tf.train.GradientDescentOptimizer(0.1).minimize(z)
    assert values(tf, *(debugger.gradient_tensor(x) for x in (y, w, u))) == [10, 10, 30]


def test_one_tensor_for_two_losses(tf, model) -> None:
    _, _, w = model
    y = tf.add(w, -1.0, name="y")
    losses = tf.square(y), tf.sqrt(y)
    found = []
    for loss in losses:
        with GradientsDebugger().watch_gradients_by_tensors(tf.get_default_graph(), y) as debugger:
            tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        found.append(debugger.gradient_tensor(y))
    np.testing.assert_allclose(values(tf, *found), [10, 0.5 * 5**-0.5], rtol=1e-6)


def test_values_from_a_dump(tf, model, tmp_path) -> None:
    u, v, w = model
    y = tf.add(w, -1.0, name="y")
    z = tf.square(y, name="z")
    debugger = tf_debug.GradientsDebugger()
    with debugger.watch_gradients_by_tensors(tf.get_default_graph(), [w, u, y]):
        train = tf.train.GradientDescentOptimizer(0.1).minimize(z)
    off = tf.OptimizerOptions(opt_level=-1)
    config = tf.ConfigProto(graph_options=tf.GraphOptions(optimizer_options=off))
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    with tf.Session(config=config) as session:
        session.run(tf.global_variables_initializer())
        dumping = tf_debug.DumpingDebugWrapperSession(session, str(tmp_path / "root"))
        dumping.run(train)
        assert session.run(u) == -1
    (run,) = (tmp_path / "root").iterdir()
    dump = tf_debug.DebugDumpDir(str(run))
    dump.set_python_graph(tf.get_default_graph())
    found = [tf_debug.gradient_values_from_dump(debugger, x, dump) for x in (y, w, u)]
    assert [[float(value) for value in each] for each in found] == [[10], [10], [30]]
    with pytest.raises(LookupError, match="x-tensor v:0"):
        tf_debug.gradient_values_from_dump(debugger, v, dump)
    dump.set_python_graph(tf.Graph())
    with pytest.raises(ValueError, match="differs from the graph of the DebugDumpDir"):
        tf_debug.gradient_values_from_dump(debugger, u, dump)
    debug_data = pytest.importorskip("tensorflow.python.debug.lib.debug_data")
    theirs = debug_data.DebugDumpDir(str(run))
    assert float(tf_debug.gradient_values_from_dump(debugger, u, theirs)[0]) == 30
    debugger.register_gradient_tensor("v:0", tf.constant(1.0, name="never_run"))
    for each in (theirs, tf_debug.DebugDumpDir(str(run))):
        assert tf_debug.gradient_values_from_dump(debugger, v, each) == []


@pytest.mark.parametrize("first", ["ours", "theirs"])
def test_beside_tensorflows_own_debugger_in_one_process(first) -> None:
    """Both use the same ops; each finds its own gradients, whichever was loaded first."""
    imports = [
        "from tfdbg_cli.capture.sessions.gradients import GradientsDebugger as Ours",
        "from tensorflow.python.debug.lib.debug_gradients import GradientsDebugger as Theirs",
    ]
    program = f"""
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
{chr(10).join(imports if first == "ours" else reversed(imports))}

x = tf.constant(3.0, name="x")
ours, theirs = Ours(), Theirs()
y = tf.square(ours.identify_gradient(x)) + theirs.identify_gradient(x)
with ours, theirs:
    tf.gradients(y, x)
with tf.Session() as session:
    print(session.run([ours.gradient_tensor(x), theirs.gradient_tensor(x)]))
"""
    pytest.importorskip("tensorflow.python.debug.lib.debug_gradients")
    done = python("-c", program)
    assert done.stdout.replace("np.float32", "") in ("[(6.0), (1.0)]\n", "[6.0, 1.0]\n"), done.stderr
