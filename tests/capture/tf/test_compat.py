"""The private parts of TensorFlow that compat.py relies on. A failure here names the part that changed."""

from __future__ import annotations

from functools import partial

import pytest
from support.one_dnn import run_as

from tfdbg_cli.capture.functions.graph.scopes import named_graphs_below
from tfdbg_cli.capture.runs.delivered import OPTIONAL
from tfdbg_cli.capture.tf import base_classes, compat
from tfdbg_cli.capture.tf.op_definitions import function_name
from tfdbg_cli.formats.profiles.times import executor_times

pytestmark = pytest.mark.tf


def test_the_base_of_sessions_defines_what_is_replaced(tf) -> None:
    base = base_classes.plain_base()
    assert issubclass(tf.Session, base)
    assert issubclass(tf.InteractiveSession, base)
    assert {"run", "make_callable", "as_default", compat.FROM_OPTIONS} <= set(vars(base))


def test_the_base_of_sessions_is_found_where_a_program_has_replaced_the_name(tf, monkeypatch) -> None:
    base = base_classes.plain_base()
    monkeypatch.setattr(tf, "Session", partial(tf.Session, target=""))
    base_classes.plain_base.cache_clear()
    assert base_classes.plain_base() is base
    assert issubclass(compat.Session, base)


def test_the_base_of_monitored_sessions_defines_what_is_replaced(tf) -> None:
    base = base_classes.monitored_base()
    assert issubclass(tf.train.MonitoredSession, base)
    assert issubclass(tf.train.SingularMonitoredSession, base)
    assert {"__init__", "run", "run_step_fn", "close", "__exit__"} <= set(vars(base))


def test_a_monitored_session_has_a_raw_one_and_takes_a_hook(tf, graph) -> None:
    tf.constant(1.0)
    ended = []

    class Hook(tf.train.SessionRunHook):
        def end(self, session) -> None:
            ended.append(session)

    with tf.train.MonitoredSession() as monitored:
        raw = compat.raw_session_of(monitored)
        assert type(raw) is tf.Session
        compat.add_hook(monitored, Hook())
    assert ended == [raw]
    assert compat.raw_session_of(monitored) is None


def test_a_monitored_session_marks_the_callers_fetches(tf, graph) -> None:
    y = tf.constant(1.0)
    seen = []
    with tf.train.MonitoredSession() as monitored:
        raw = compat.raw_session_of(monitored)
        original = raw.run
        raw.run = lambda fetches, **keywords: seen.append(fetches) or original(fetches, **keywords)
        monitored.run(y)
    assert compat.is_hooked_run(seen[0])
    assert not compat.is_hooked_run({"loss": y})
    assert not compat.is_hooked_run([y])


def test_an_op_can_be_given_another_input(tf, graph) -> None:
    first, second = tf.constant(1.0), tf.constant(2.0)
    total = tf.add(first, first)
    compat.replace_input(total.op, 1, second)
    assert [tensor.name for tensor in total.op.inputs] == [first.name, second.name]
    with tf.Session() as session:
        assert session.run(total) == 3


def test_a_runner_is_made_from_options(tf, graph) -> None:
    from tensorflow.core.protobuf import config_pb2

    y = tf.constant(1.0, name="y")
    with tf.Session() as raw:
        runner = compat.maker_from_options(raw)(config_pb2.CallableOptions(fetch=[y.name]))
        assert runner() == [1.0]
        del runner


def test_a_wildcard_watch_dumps_everything_beside_another_watch(tf, graph, tmp_path) -> None:
    from tfdbg_cli.capture.sessions.dump_addresses import watch_everything

    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.exp(x, name="y")
    options = tf.RunOptions()
    watch_everything(options, f"file://{tmp_path}")
    with tf.Session() as raw:
        raw.run(y, {x: 1.0}, options=options)
    names = {path.name.split("_DebugIdentity")[0] for path in tmp_path.rglob("*_DebugIdentity_*")}
    assert {"y_0", "_arg_x_0_0_0"} <= names


def test_functions_are_read_added_run_and_removed_by_name(tf) -> None:
    concrete = tf.function(lambda x: tf.sin(x) + 1.0).get_concrete_function(tf.TensorSpec([], tf.float32))
    atomic = compat.atomic_of(concrete)
    definition = compat.function_definition(atomic.name.decode())
    assert definition.node_def[0].op == "Sin"
    definition.signature.name = "of_test_compat"
    compat.add_function(definition)
    with tf.init_scope():
        (found,) = compat.run_function("of_test_compat", [tf.constant(0.0)], 1)
        (alone,) = compat.run_function("of_test_compat", [tf.constant(0.0)], 1, by=compat.IN_ONE_THREAD)
    assert float(found) == float(alone) == 1.0
    compat.remove_function("of_test_compat")
    assert compat.function_definition("of_test_compat") is None


def test_an_op_has_a_definition() -> None:
    assert [arg.name for arg in compat.op_definition("TopKV2").output_arg] == ["values", "indices"]
    assert compat.op_definition("no such op") is None


def test_a_graph_function_knows_its_graph_and_its_children(tf) -> None:
    inner = tf.function(lambda x: tf.sin(x))
    concrete = tf.function(lambda x: inner(x) + 1.0).get_concrete_function(tf.TensorSpec([], tf.float32))
    atomic = compat.atomic_of(concrete)
    assert compat.built_graph_of(atomic) is concrete.graph
    (child,) = atomic.children
    assert [op.type for op in compat.built_graph_of(child).get_operations()][1] == "Sin"


def test_errors_get_the_words_of_a_function(tf) -> None:
    @tf.function
    def sine(x):
        return tf.sin(x)

    concrete = sine.get_concrete_function(tf.TensorSpec([], tf.float32))
    atomic = compat.atomic_of(concrete)
    name = atomic.name.decode()
    message = f"{{{{function_node {name}}}}} bad thing [[{{{{node Sin}}}}]]"
    error = tf.errors.InvalidArgumentError(None, None, "other")
    compat.set_error_message(error, message)
    assert error.message == message
    with pytest.raises(tf.errors.InvalidArgumentError, match="Detected at node Sin"), compat.worded_as(atomic):
        raise error


def test_the_classes_of_functions_define_what_is_replaced(tf) -> None:
    function = tf.function(lambda x: x)
    assert type(function) is base_classes.function_class()
    assert "__call__" in vars(base_classes.function_class())
    assert "call_flat" in vars(compat.atomic_class())
    assert "run" in vars(base_classes.strategy_base())
    assert isinstance(tf.distribute.get_strategy(), base_classes.strategy_base())
    assert isinstance(compat.atomic_of(function.get_concrete_function(tf.constant(1))), compat.atomic_class())


def test_every_way_to_call_a_function_comes_down_to_one_method(tf, monkeypatch) -> None:
    seen: list[str] = []
    original = vars(compat.atomic_class())["call_flat"]

    def call_flat(atomic, *inputs):
        seen.append(function_name(atomic.name))
        return original(atomic, *inputs)

    monkeypatch.setattr(compat.atomic_class(), "call_flat", call_flat)
    variable = tf.Variable(2.0)
    function = tf.function(lambda x: x * variable, autograph=False)
    x = tf.constant(3.0)
    function(x)
    function.get_concrete_function(x)(x)
    with tf.GradientTape() as tape:
        y = function(x)
    tape.gradient(y, variable)
    assert len(seen) == 4
    assert seen[3].startswith("__backward_")


def test_the_outputs_of_a_grown_graph_begin_with_those_of_the_function(tf) -> None:
    variable = tf.Variable(2.0)
    concrete = tf.function(lambda x: tf.sin(x * variable), autograph=False).get_concrete_function(tf.constant(1.0))
    before = [tensor.name for tensor in concrete.outputs]
    with tf.GradientTape():
        concrete(tf.constant(1.0))
    again = compat.concrete_of(compat.atomic_of(concrete))
    assert len(again.outputs) > len(before)
    assert [tensor.name for tensor in again.outputs][: len(before)] == before


def test_an_initializer_of_variables_is_known_by_its_name(tf, monkeypatch) -> None:
    seen: list[bool] = []
    original = vars(compat.atomic_class())["call_flat"]

    def call_flat(atomic, *inputs):
        seen.append(compat.is_initializer(atomic))
        return original(atomic, *inputs)

    monkeypatch.setattr(compat.atomic_class(), "call_flat", call_flat)
    made = []

    def first() -> object:
        made[:] = made or [tf.Variable(1.0)]
        return made[0] + 1.0

    tf.function(first, autograph=False)()
    assert seen == [True, False]


def test_a_function_lists_its_traces_oldest_first(tf) -> None:
    function = tf.function(lambda x: x)
    for x in (tf.constant(1), tf.constant(1.0)):
        function(x)
    assert [trace.inputs[0].dtype for trace in compat.traces_of(function)] == [tf.int32, tf.float32]
    assert function.experimental_get_tracing_count() == 2


def test_a_tape_does_not_record_where_it_is_told_not_to(tf) -> None:
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        with compat.not_recording():
            y = x * x
    assert tape.gradient(y, x) is None


def test_ops_that_run_eagerly_go_through_two_functions_that_can_be_replaced(tf, monkeypatch) -> None:
    heard = []
    fast, slow = (getattr(compat.EXECUTORS, name) for name in (compat.FAST_EXECUTOR, compat.SLOW_EXECUTOR))

    def heard_fast(context, op_type, name, *arguments):
        heard.append((op_type, len(arguments)))
        return fast(context, op_type, name, *arguments)

    def heard_slow(handle, device, op_type, inputs, attributes, *rest):
        heard.append((op_type, len(inputs)))
        return slow(handle, device, op_type, inputs, attributes, *rest)

    one, two = tf.constant(1.0), tf.constant(2.0)
    function = tf.function(lambda x: x + 1.0).get_concrete_function(one)
    monkeypatch.setattr(compat.EXECUTORS, compat.FAST_EXECUTOR, heard_fast)
    monkeypatch.setattr(compat.EXECUTORS, compat.SLOW_EXECUTOR, heard_slow)
    _ = one + two
    function(one)
    assert heard[0] == ("AddV2", 2)
    assert [function_name(name) for name, _ in heard[1:]] == ["<lambda>"]


def test_all_gradients_of_a_call_are_computed_by_one_function_that_can_be_replaced(tf, monkeypatch) -> None:
    heard = []
    tape_gradient = getattr(compat.EXECUTORS, compat.TAPE)
    monkeypatch.setattr(
        compat.EXECUTORS, compat.TAPE, lambda *arguments: (heard.append("asked"), tape_gradient(*arguments))[1]
    )
    x, y = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        product = x * y
    assert [slope.numpy() for slope in tape.gradient(product, [x, y])] == [3.0, 2.0]
    assert heard == ["asked"]


def test_name_scopes_of_eager_code_come_and_go_by_one_property(tf, monkeypatch) -> None:
    heard = []
    known = vars(compat.SCOPED)[compat.SCOPE]
    heeded = property(known.fget, lambda context, scope: (heard.append(scope), known.fset(context, scope)))
    monkeypatch.setattr(compat.SCOPED, compat.SCOPE, heeded)
    data = compat.thread_data(compat.eager_context())
    with tf.name_scope("outer"), tf.name_scope("inner"):
        assert data.scope_name == "outer/inner/"
    assert not data.scope_name
    assert [scope or "" for scope in heard] == ["outer/", "outer/inner/", "outer/", ""]


@pytest.mark.parametrize(
    ("graph_function", "name"),
    [("__inference_step_12", "step"), (b"__forward_my_step_3", "my_step"), ("MatMul", "MatMul")],
)
def test_the_name_of_a_graph_function_holds_that_of_the_python_function(graph_function, name) -> None:
    assert function_name(graph_function) == name


def test_the_profiler_writes_what_is_read(tmp_path) -> None:
    import tensorflow as tf

    function = tf.function(lambda x: tf.matmul(x, x))
    function(tf.ones([9, 9]))
    tf.profiler.experimental.start(str(tmp_path))
    function(tf.ones([9, 9])).numpy()  # waits for the end of the call
    tf.profiler.experimental.stop()
    (path,) = tmp_path.rglob("*.xplane.pb")
    times = executor_times(path.read_bytes(), lambda op_type: compat.op_definition(op_type) is not None)
    assert ("MatMul", run_as("MatMul")) in {(time.node, time.op_type) for time in times}


def test_the_graphs_below_a_function_are_found(tf) -> None:
    inner = tf.function(lambda x: tf.sin(x), autograph=False)
    concrete = tf.function(lambda x: inner(inner(x)), autograph=False).get_concrete_function(tf.constant(1.0))
    graphs = list(named_graphs_below(compat.atomic_of(concrete)).values())
    assert [sum(op.type == "Sin" for op in graph.get_operations()) for graph in graphs] == [0, 1]


def test_handles_that_a_function_gives_back_say_what_they_hold(tf) -> None:
    variable = tf.Variable(1.0, use_resource=True)
    concrete = tf.function(lambda: variable.handle, autograph=False).get_concrete_function()
    atomic = compat.atomic_of(concrete)
    outputs = list(compat.run_function(atomic.name.decode(), concrete.captured_inputs, 1))
    assert outputs[0]._handle_data is None
    compat.give_handle_data(atomic, outputs)
    assert outputs[0]._handle_data.is_set


def test_calls_in_named_files_are_left_out_of_the_stacks_of_ops(tf, monkeypatch) -> None:
    from tensorflow.python.util import tf_stack

    from tfdbg_cli.capture.tf import compat

    def files() -> list[str]:
        with tf.Graph().as_default():
            return [frame.filename for frame in tf.constant(1).op.traceback]

    stacks = tf_stack._source_filter_stacks
    monkeypatch.setattr(stacks, "default_factory", stacks.default_factory)
    before = {thread: stack[0] for thread, stack in stacks.items()}
    assert __file__ in files()
    compat.hide_frames(frozenset({__file__}))
    try:
        assert __file__ not in files()
        assert files()
    finally:
        for thread, lowest in before.items():
            stacks[thread][0] = lowest
    assert __file__ in files()


def test_tensorflow_takes_a_call_of_hidden_files_for_its_own(tf, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else it shows none of its own calls, and we take ours away: nothing is left that says what raised."""
    from tensorflow.python.util import tf_stack, traceback_utils

    from tfdbg_cli.capture.tf import compat

    monkeypatch.setattr(traceback_utils, "_EXCLUDED_PATHS", traceback_utils._EXCLUDED_PATHS)
    monkeypatch.setattr(tf_stack, "_source_filter_stacks", type(tf_stack._source_filter_stacks)(list))
    before = traceback_utils._EXCLUDED_PATHS
    for _ in range(2):
        compat.hide_frames(frozenset({"/ours/capture.py"}))
    assert (*before, "/ours/capture.py") == traceback_utils._EXCLUDED_PATHS
    assert not traceback_utils.include_frame("/ours/capture.py")
    assert traceback_utils.include_frame("/somewhere/train.py")


def test_hidden_ops_are_numbered_with_those_of_the_program_and_listed_nowhere(tf, graph) -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.exp(x, name="y")
    graph.finalize()
    definition = tf.GraphDef()
    definition.versions.CopyFrom(graph.graph_def_versions)
    node = definition.node.add(name="ours/one", op="IsFinite", input=["given", "^waited"])
    node.attr["T"].type = tf.float32.as_datatype_enum
    before = graph.as_graph_def()
    compat.hide_ops(graph, lambda name: name.startswith("ours/"))
    (found,) = compat.add_hidden_ops(graph, definition, {"given": y}, {"waited": x.op})
    assert found.name == "ours/one"
    assert [op.name for op in graph.get_operations()] == ["x", "y"]
    assert graph.as_graph_def() == before
    assert graph.finalized
    assert y.consumers() == [found], "what TensorFlow counts by number is found"
    assert found.control_inputs == [x.op]
    with tf.Session() as raw:
        result = raw.run(found.outputs[0], {x: [1.0, 1e9]})
        assert result.tolist() == [True, False]
        assert compat.reader_of(raw, ["ours/one:0"]) is not None


def test_a_session_tells_its_configuration(tf, graph) -> None:
    config = tf.ConfigProto(allow_soft_placement=True)
    with tf.Session(config=config) as raw:
        assert compat.session_config(raw) == config
    with tf.Session() as raw:
        assert not compat.session_config(raw).allow_soft_placement if compat.session_config(raw) else True


def test_an_iterator_is_made_and_asked_by_methods_that_can_be_replaced(tf) -> None:
    kind = compat.OwnedIterator
    assert {"__init__", "__next__", "get_next", "get_next_as_optional"} <= vars(kind).keys()
    iterator = iter(tf.data.Dataset.range(2))
    assert type(iterator) is kind
    assert int(next(iterator)) == 0 and int(iterator.get_next()) == 1
    assert type(iterator.get_next_as_optional()) is OPTIONAL and "get_value" in vars(OPTIONAL)


def test_a_handle_tells_the_type_in_its_variable() -> None:
    import tensorflow

    variable = tensorflow.Variable([1, 2], dtype=tensorflow.int64)
    assert compat.type_in_variable(variable.handle) == tensorflow.int64.as_datatype_enum
    iterator = iter(tensorflow.data.Dataset.range(1))
    handle = tensorflow.nest.flatten(iterator, expand_composites=True)[0]
    assert compat.type_in_variable(handle) is None


def test_a_new_variable_is_no_other_one() -> None:
    import tensorflow

    one, other = (compat.new_variable(tensorflow.constant(number)) for number in (1.0, 2.0))
    tensorflow.raw_ops.AssignAddVariableOp(resource=one, value=tensorflow.constant(5.0))
    values = [float(tensorflow.raw_ops.ReadVariableOp(resource=handle, dtype="float32")) for handle in (one, other)]
    assert values == [6.0, 2.0]


def test_every_run_of_a_session_goes_through_one_method(tf, graph, monkeypatch) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.identity(x, name="y")
    base, original, seen = base_classes.plain_base(), getattr(base_classes.plain_base(), compat.RUN), []

    def run(session, options, feeds, outputs, c_ops, run_metadata):
        tensors, ops = compat.run_elements(session.graph, outputs, c_ops)
        seen.append((tensors, ops))
        return original(session, options, feeds, *compat.as_run_elements(tensors, ops), run_metadata)

    monkeypatch.setattr(base, compat.RUN, run)
    with tf.Session() as raw:
        assert raw.run([y, y.op], {x: 2.0})[0] == 2.0
        assert raw.make_callable(y, [x])(3.0) == 3.0
        assert raw.make_callable(tf.constant(4.0))() == 4.0
    (tensors, ops), *more = seen
    assert tensors == [y]
    assert [op.name for op in ops] == ["y"]
    assert len(more) == 2


def test_hidden_functions_are_exported_with_no_graph(tf, graph) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    called = tf.compat.v2.function(lambda value: value + 1.0, autograph=False)(x)
    (name,) = compat.function_graphs(graph)
    assert [op.type for op in compat.function_graphs(graph)[name].get_operations()].count("AddV2") == 1
    before = graph.as_graph_def(add_shapes=True)
    definition = tf.GraphDef(versions=graph.graph_def_versions)
    definition.library.function.add().CopyFrom(before.library.function[0])
    definition.library.function[0].signature.name = "hidden"
    node = definition.node.add(name="hidden/call", op=called.op.type, input=["given"])
    for key in called.op.node_def.attr:
        node.attr[key].CopyFrom(called.op.node_def.attr[key])
    node.attr["f"].func.name = "hidden"
    node.attr["_class"].list.s.append(b"loc:@x")  # a node that is there already
    compat.hide_ops(graph, lambda name: name.startswith("hidden"))
    (op,) = compat.add_hidden_ops(graph, definition, {"given": x}, {})
    with tf.Session() as raw:
        assert raw.run(op.outputs[0], {x: 1.0}) == 2.0
    assert graph.as_graph_def(add_shapes=True) == before
    with pytest.raises(KeyError):
        graph._functions["no such function"]


def test_an_array_becomes_an_eager_tensor_where_a_graph_is_built(tf, graph) -> None:
    assert compat.eager_tensor([1.0, 2.0]).numpy().tolist() == [1.0, 2.0]
    assert graph.get_operations() == []


def test_what_an_eager_tensor_is_can_be_asked_without_python_calls(tf) -> None:
    tensor = tf.constant([[1.0, 2.0]])
    assert type(tensor) is compat.EagerTensor
    assert (compat.dtype_number(tensor), compat.shape_of(tensor)) == (tensor.dtype.as_datatype_enum, (1, 2))
    assert compat.elements_of(tensor) == 2
    assert compat.tensor_id(tensor) != compat.tensor_id(tf.identity(tensor))
    value = compat.host_array(tensor)
    del tensor
    assert value.tolist() == [[1.0, 2.0]]


def test_tapes_are_made_and_record_through_functions_that_can_be_replaced(tf, monkeypatch) -> None:
    heard: list[object] = []
    new_tape = getattr(compat.EXECUTORS, compat.NEW_TAPE)
    tape_gradient = getattr(compat.EXECUTORS, compat.TAPE)

    def made(*arguments: object) -> object:
        heard.append(new_tape(*arguments))
        return heard[-1]

    def computed(handle: object, *arguments: object) -> object:
        assert handle is heard[0]
        return tape_gradient(handle, *arguments)

    for name in compat.RECORDERS:
        original = getattr(compat.EXECUTORS, name)

        def recorded(op_type, outputs, inputs, backward, *rest, original=original) -> object:
            heard.append(backward)
            return original(op_type, outputs, inputs, lambda *slopes: [3.0 * one for one in backward(*slopes)], *rest)

        monkeypatch.setattr(compat.EXECUTORS, name, recorded)
    monkeypatch.setattr(compat.EXECUTORS, compat.NEW_TAPE, made)
    monkeypatch.setattr(compat.EXECUTORS, compat.TAPE, computed)
    x = tf.constant(2.0)
    own = tf.custom_gradient(lambda given: (given * 1.0, lambda slope: slope))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = own(x)
    assert float(tape.gradient(y, x)) == 3.0
    assert len(heard) == 2


def test_which_function_gives_the_gradient_of_an_op_can_be_asked(tf) -> None:
    assert compat.registered_gradient("MatMul").__module__ == "tensorflow.python.ops.math_grad"
    with pytest.raises(LookupError):
        compat.registered_gradient("NoSuchOp")


def test_whether_somebody_hears_of_every_op_can_be_asked(tf) -> None:
    def heard(*_: object) -> None:
        return None

    assert not compat.eager_context().op_callbacks
    compat.eager_context().add_op_callback(heard)
    try:
        assert compat.eager_context().op_callbacks == [heard]
    finally:
        compat.eager_context().remove_op_callback(heard)


def test_a_tape_calls_a_gradient_function_that_can_be_replaced(tf) -> None:
    heard: list[tuple[str, int, int]] = []

    def gradient(op_type, attributes, count, inputs, outputs, slopes, skipped, scope):
        heard.append((op_type, len(inputs or ()), len(outputs or ())))
        return compat.tape_gradient(op_type, attributes, count, inputs, outputs, slopes, skipped, scope)

    x = tf.constant([[1.0]])
    compat.set_tape_gradient(gradient)
    try:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.relu(x @ x)
        tape.gradient(y, x)
    finally:
        compat.set_tape_gradient(compat.tape_gradient)
    assert heard == [("Relu", 0, 1), ("MatMul", 2, 0)]
