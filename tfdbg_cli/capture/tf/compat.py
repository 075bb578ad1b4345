"""The one place that knows TensorFlow's private parts. Its tests say which one broke."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from functools import cache
from itertools import chain, groupby
from operator import attrgetter, methodcaller
from types import CodeType
from typing import Any

import tensorflow as tf
from tensorflow.core.protobuf import config_pb2
from tensorflow.python import pywrap_tfe
from tensorflow.python.autograph.impl import api as autograph
from tensorflow.python.client import pywrap_tf_session
from tensorflow.python.client import session as sessions
from tensorflow.python.data.ops.iterator_ops import OwnedIterator as OwnedIterator
from tensorflow.python.eager import backprop, cancellation, context, core, execute, record
from tensorflow.python.eager.polymorphic_function.atomic_function import AtomicFunction, InterpolateRuntimeError
from tensorflow.python.eager.polymorphic_function.concrete_function import ConcreteFunction
from tensorflow.python.framework import c_api_util, op_def_registry, ops
from tensorflow.python.ops import handle_data_util, script_ops, summary_ops_v2
from tensorflow.python.util import tf_stack, traceback_utils

from tfdbg_cli.capture.tf.types import Fetches, FunctionDef, Op, OpDef, RawRunner, RawSession, SymbolicTensor, TfGraph

v1 = tf.compat.v1

Session: Any = sessions.Session  # also where the program has put something else in the place of `tf.Session`
FROM_OPTIONS = "_make_callable_from_options"  # the method of a session by which Keras 2 makes its train step
session_config: Callable[[RawSession], Any] = attrgetter("_config")  # the ConfigProto it was made with, or None
RUN = "_call_tf_sessionrun"  # the method of a session that hands a run to the runtime
PY_FUNCTION: CodeType = script_ops.EagerFunc.__call__.__code__  # by which an op of tf.py_function calls Python
tape_gradient: Callable[..., Any] = backprop._gradient_function  # by which a tape calls the gradient of one op
SCOPED, SCOPE = context.Context, "scope_name"  # the property by which name scopes of eager code come and go
# These compute all gradients of a call of a tape, make a tape, and `record(op_type, outputs, inputs, gradient, …)`.
TAPE, NEW_TAPE, _RECORD = "TFE_Py_TapeGradient", "TFE_Py_TapeSetNew", "TFE_Py_TapeSetRecordOperation"
RECORDERS = (_RECORD, f"{_RECORD}Backprop")
op_definition: Callable[[str], OpDef] = op_def_registry.get  # of a registered op; None for others
registered_gradient: Callable[[str], Any] = ops._gradient_registry.lookup  # LookupError where there is none
set_tape_gradient: Callable[[Callable[..., Any]], None] = pywrap_tfe.TFE_Py_RegisterGradientFunction

# Eager ops go by `fast(context, op_type, name, *inputs, *attributes)` and `slow(handle, device, op_type, inputs, …)`.
EXECUTORS: Any = pywrap_tfe
FAST_EXECUTOR, SLOW_EXECUTOR = "TFE_Py_FastPathExecute", "TFE_Py_Execute"
OpFailed: Any = core._NotOkStatusException  # raised by both if the op fails; the program gets another error for it
_execute = pywrap_tfe.TFE_Py_Execute
_WITHOUT = {"rewrite_options": {"disable_meta_optimizer": True}}
_UNOPTIMIZED: bytes = v1.ConfigProto(graph_options=_WITHOUT).SerializeToString()
IN_ONE_THREAD = "SINGLE_THREADED_EXECUTOR"  # of a function of simple ops: wakes no other thread for them

# What a watch asks of every eager tensor takes a tenth of the time of its public properties: the dtype by number (in
# types.proto), shape and size, a number of its own, and the array or NumPy scalar in it, sharing memory, but no life.
eager_context: Callable[[], Any] = context.context
thread_data: Callable[[Any], Any] = attrgetter("_thread_local_data")  # of a context: what each thread has of it
EagerTensor: Any = tf.__internal__.EagerTensor
dtype_number: Callable[[Any], int] = EagerTensor._datatype_enum
shape_of: Callable[[Any], tuple[int, ...]] = EagerTensor._shape_tuple
elements_of: Callable[[Any], int] = EagerTensor._num_elements
atomic_of: Callable[[ConcreteFunction], AtomicFunction] = attrgetter("inference_fn")  # what is called without a tape
dataset_of: Callable[[Any], Any] = attrgetter("_dataset")  # of an iterator; None where it was made of a handle
elements_in: Callable[[Any], Any] = attrgetter("_element_spec")  # of the spec of an iterator, a data set, an Optional
inputs_of: Callable[[Any], Sequence[Any]] = methodcaller("_inputs")  # the data sets of which a data set takes
functions_of: Callable[[Any], Sequence[Any]] = methodcaller("_functions")  # what a data set calls, each a `function`
reader_of_files: Callable[[Any], Any] = attrgetter("_impl")  # of a data set of files: the one that opens each of them
count_of: Callable[[Any], Any] = attrgetter("_count")  # of a data set that skips or takes so many elements, a tensor
batch_size_of: Callable[[Any], Any] = attrgetter("_batch_size")  # of a data set that makes batches, a tensor
padding_of: Callable[[Any], Any] = attrgetter("_padding_values")  # of a padded batch: by component, a tensor each
tensor_id: Callable[[Any], int] = attrgetter("_id")
host_array: Callable[[Any], Any] = EagerTensor._numpy_internal


def add_hook(monitored: Any, hook: Any) -> None:
    """Make the session `monitored` tell `hook` of every raw session that it will create, and of its end."""
    creator = monitored._coordinated_creator
    creator._hooks = [*creator._hooks, hook]
    monitored._hooks = [*monitored._hooks, hook]


def raw_session_of(monitored: Any) -> RawSession:
    """The `tf.compat.v1.Session` that works inside `monitored`; None once it is closed."""
    return monitored._tf_sess()


def is_hooked_run(fetches: Fetches) -> bool:
    """Whether a run of a raw session with these `fetches` is the user's own, by way of a monitored session."""
    return type(fetches) is dict and "caller" in fetches


def callers_fetches(fetches: Fetches) -> Fetches:
    """What the user fetches with a run for which `is_hooked_run` holds."""
    return fetches["caller"]


def maker_from_options(session: RawSession) -> Callable[..., RawRunner]:
    """The method of `session` that makes a runner from a `CallableOptions` message, as Keras 2 uses it."""
    maker: Callable[..., RawRunner] = getattr(session, FROM_OPTIONS)
    return maker


def reader_of(session: RawSession, fetch: Sequence[str], **further: Any) -> RawRunner:
    """A runner of `session` that fetches tensors by name; `further`: its feed, its target, its run_options."""
    return maker_from_options(session)(config_pb2.CallableOptions(fetch=fetch, **further))


def replace_input(op: Op, slot: int, tensor: SymbolicTensor) -> None:
    """Have `op` read `tensor` as its input `slot`, in the graph that they are in."""
    op._update_input(slot, tensor)


@cache
def atomic_class() -> type:
    """The class whose `call_flat` runs one graph function, whoever calls it: forward, gradient, or loaded."""
    kind: type = AtomicFunction
    return kind


def concrete_of(atomic: AtomicFunction) -> ConcreteFunction:
    """A `tf.types.experimental.ConcreteFunction` of `atomic`, a graph function.

    Its `outputs` begin with those of `atomic`; more follow where TensorFlow has made a gradient of its graph since.
    """
    return ConcreteFunction(atomic)


def is_initializer(atomic: AtomicFunction) -> bool:
    """Whether `atomic` is what TensorFlow makes to initialize the variables that a first call created."""
    return bool(atomic.name.startswith(b"__inference_initialize_variables_"))


def traces_of(function: Any) -> list[ConcreteFunction]:
    """The concrete functions that `function` (a tf.function) has been traced to, oldest first."""
    return list(function._function_cache.values())  # what lists them may trace one of a function with a signature


def not_recording() -> AbstractContextManager[None]:
    """A context in which no tape records: a graph function records itself, as one."""
    stopped: AbstractContextManager[None] = record.stop_recording()
    return stopped


def give_handle_data(atomic: AtomicFunction, outputs: Sequence[EagerTensor]) -> None:
    """Tell the resources and variants among `outputs` what they hold, as `atomic` would."""
    for output, declared in zip(outputs, atomic.function_type.flat_outputs, strict=False):
        handle_data = declared.dtype._handle_data
        if handle_data:
            handle_data_util.set_handle_data(output, handle_data.shape_inference)


def type_in_variable(handle: EagerTensor) -> int | None:
    """The number of the element type of the variable whose handle this eager tensor is; None when it is none's."""
    known = handle._handle_data
    return known.shape_and_type[0].dtype if known is not None and known.shape_and_type else None


def new_variable(value: EagerTensor) -> EagerTensor:
    """The handle of a variable that nobody else knows, with the eager tensor `value` in it; gone with the handle."""
    shared = context.anonymous_name()
    handle = tf.raw_ops.VarHandleOp(dtype=value.dtype, shape=value.shape, shared_name=shared)
    tf.raw_ops.AssignVariableOp(resource=handle, value=value)
    return handle


def function_definition(name: str) -> FunctionDef | None:
    """The FunctionDef that the eager runtime knows by `name`; None when there is none."""
    eager = context.context()
    return eager.get_function_def(name) if eager.has_function(name) else None


def add_function(definition: FunctionDef) -> None:
    """Make a FunctionDef known to the eager runtime."""
    context.context().add_function_def(definition)


def remove_function(name: str) -> None:
    """Make the eager runtime forget a function that `add_function` added."""
    eager_context().remove_function(name)


def run_function(name: str, inputs: Sequence[Any], outputs: int, *, optimize: bool = True, by: str = "") -> list[Any]:
    """Call the function `name`, as an AtomicFunction its own; as it is unless `optimize`, `by` that executor."""
    eager, cancelling = context.context(), cancellation.context()
    options = call_options(eager, optimize=optimize, executor=by)
    if cancelling is None:
        return execute.execute(name, outputs, list(inputs), options, eager) or []
    return execute.execute_with_cancellation(name, outputs, list(inputs), options, eager, cancelling) or []


def call_options(eager: Any, *, optimize: bool = True, executor: str = "") -> tuple[Any, ...]:
    """The attributes of a call of a function."""
    options = dict(eager.function_call_options.as_attrs()) | ({"executor_type": executor} if executor else {})
    if not optimize:
        options["config_proto"] += _UNOPTIMIZED  # to put messages together is to put their bytes in a row
    return tuple(chain(*options.items()))


def graphs_made_of(name: str, inputs: Sequence[Any], outputs: int, *, optimize: bool = True) -> Sequence[Any]:
    """The FunctionGraphs messages of what the runtime makes of the function `name`, without running it.

    A call that is cancelled before it starts still has its function instantiated. Empty if that was done before, or
    if the program itself collects graphs (`tf.summary.trace_on`). Graphs that other threads have made meanwhile may
    be among them. (TensorFlow goes on collecting after `disable_run_metadata`, for good.)
    """
    if getattr(summary_ops_v2, "_current_trace_context", None) is not None:
        return ()
    cancelled = cancellation.CancellationManager()
    cancelled.start_cancel()
    tf.identity(0)  # compiled at its first call, which must not happen while graphs are collected
    eager = context.context()
    options = call_options(eager, optimize=optimize)
    eager.enable_graph_collection()
    eager.export_run_metadata()  # drops what a trace of the program has left to be collected
    try:
        # Not by a CancellationManagerContext: that is the same for all threads.
        with suppress(tf.errors.CancelledError):
            execute.execute_with_cancellation(name, outputs, list(inputs), options, eager, cancelled)
        tf.identity(0)  # what was collected is handed over by the next op that ends well
        return tuple(eager.export_run_metadata().function_graphs)
    finally:
        eager.disable_graph_collection()


def run_op(
    op_type: str, inputs: Sequence[EagerTensor], attributes: Sequence[Any], outputs: int, device: str
) -> Sequence[EagerTensor]:
    """Run one op eagerly on `device`, unseen by tapes and by callbacks. `attributes` are names and values in turn."""
    eager = context.context()
    eager.ensure_initialized()
    with context.device(device):
        found: Sequence[EagerTensor] = execute.quick_execute(op_type, outputs, list(inputs), tuple(attributes), eager)
    return found


def eager_tensor(value: Any) -> EagerTensor:
    """The eager tensor of an array, be it where a graph is being built or in a program without eager execution."""
    with context.eager_mode():
        return tf.constant(value)


def read_variable(handle: EagerTensor, dtype: int) -> EagerTensor:
    """The tensor that the variable behind an eager handle holds, `dtype` by number; unseen by tapes and callbacks."""
    return _execute(context.context()._handle, "", "ReadVariableOp", [handle], ("dtype", dtype), 1)[0]


def built_graph_of(atomic: AtomicFunction) -> TfGraph:
    """The FuncGraph from which `atomic` was made; None when it was not made from one, or it is not kept."""
    return getattr(atomic, "_cached_graph", None)


def worded_as(atomic: AtomicFunction) -> AbstractContextManager[None]:
    """A context in which errors of ops get the words that a call of `atomic` gives them."""
    worded: AbstractContextManager[None] = InterpolateRuntimeError(atomic)
    return worded


def set_error_message(error: tf.errors.OpError, message: str) -> None:
    """Replace the text of an error of an op."""
    error._message = message


def called_by(atomic: AtomicFunction) -> Iterable[AtomicFunction]:
    """The graph functions that `atomic` calls, of TensorFlow 1 (Defun, as in tf.nn.ctc_loss) as well."""
    functions: Iterable[Any] = getattr(atomic, "children", None) or getattr(atomic, "_sub_functions", {}).values()
    return functions


def lengths(tensor: SymbolicTensor) -> tuple[int | None, ...] | None:
    """The lengths of a graph's tensor, as `tensor.shape` tells them, without its objects; None: no rank is known."""
    found, unknown = tensor._shape
    return None if unknown else tuple(found)


def add_hidden_ops(
    graph: TfGraph, definition: Any, inputs: Mapping[str, SymbolicTensor], controls: Mapping[str, Op]
) -> list[Op]:
    """Add the nodes of a GraphDef to a tf.Graph under their own names, be it finalized or not; gives their ops.

    `inputs` says which tensors the nodes mean by names that are not in `definition`, `controls` the same of the ops
    that they wait for. The program's next names, seeds and collections stay what they would have been.
    """
    options = pywrap_tf_session.TF_NewImportGraphDefOptions()
    pywrap_tf_session.TF_ImportGraphDefOptionsSetUniquifyNames(options, False)
    # A node may be colocated with one that is in the graph already.
    pywrap_tf_session.TF_ImportGraphDefOptionsSetValidateColocationConstraints(options, False)
    for name, tensor in inputs.items():
        pywrap_tf_session.TF_ImportGraphDefOptionsAddInputMapping(options, name, 0, tensor._as_tf_output())
    for name, op in controls.items():
        pywrap_tf_session.TF_ImportGraphDefOptionsRemapControlDependency(options, name, op._c_op)
    for node in definition.node:
        pywrap_tf_session.TF_ImportGraphDefOptionsAddReturnOperation(options, node.name)
    # As Graph._create_op_internal does, so that no session runs meanwhile; TensorFlow counts its ops under _lock.
    with graph._mutation_lock(), graph._lock, c_api_util.tf_buffer(definition.SerializeToString()) as buffer:
        with graph._c_graph.get() as c_graph:
            results = pywrap_tf_session.TF_GraphImportGraphDefWithResults(c_graph, buffer, options)
        made = pywrap_tf_session.TF_ImportGraphDefResultsReturnOperations(results)
        return [tf.Operation._from_c_op(one, graph) for one in made]


def run_elements(graph: TfGraph, outputs: Any, c_ops: Any) -> tuple[list[SymbolicTensor], list[Op]]:
    """The tensors and the ops that the method `RUN` of a session is told to fetch and to run."""

    def op_of(c_op: Any) -> Op:
        return graph.get_operation_by_name(pywrap_tf_session.TF_OperationName(c_op))

    return [op_of(one.oper).outputs[one.index] for one in outputs], list(map(op_of, c_ops))


def as_run_elements(tensors: Sequence[SymbolicTensor], ops: Sequence[Op]) -> tuple[list[Any], list[Any]]:
    """What tells the method `RUN` of a session to fetch `tensors` and to run `ops`."""
    return [tensor._as_tf_output() for tensor in tensors], [op._c_op for op in ops]


def hide_ops(graph: TfGraph, is_hidden: Callable[[str], bool]) -> None:
    """Make `graph` list and export only ops and functions whose names are not hidden, by attributes of its own."""
    listed, exported = graph.get_operations, graph._as_graph_def

    def get_operations() -> list[Op]:
        return [op for op in listed() if not is_hidden(op.name)]

    def _as_graph_def(*arguments: Any, **keywords: Any) -> Any:
        definition, version = exported(*arguments, **keywords)
        at = len(definition.node)
        runs = [(hidden, len(list(run))) for hidden, run in groupby(is_hidden(one.name) for one in definition.node)]
        for hidden, length in reversed(runs):
            at -= length
            if hidden:
                del definition.node[at : at + length]
        functions = definition.library.function
        for at in reversed([at for at, one in enumerate(functions) if is_hidden(one.signature.name)]):
            del functions[at]
        if not functions and not definition.library.gradient:
            definition.ClearField("library")
        return definition, version

    graph.get_operations = get_operations
    graph._as_graph_def = _as_graph_def
    graph._functions = _Functions(graph._functions)
    graph._functions.is_hidden = is_hidden


class _Functions(OrderedDict[str, Any]):
    """The functions of a graph by name, as far as the program knows them."""

    is_hidden: Callable[[str], bool]

    def __missing__(self, name: str) -> object:
        # Graph._as_graph_def asks for every function of the C graph, and takes one without a `graph` as it is.
        if self.is_hidden(name):
            return None
        raise KeyError(name)


def function_graphs(graph: TfGraph) -> dict[str, TfGraph]:
    """The FuncGraphs of the functions of a tf.Graph, by name, as far as they are kept."""
    # What was imported has no graph yet; it would be made when asked for, and know no line of the program.
    graphs = {name: getattr(function, "_cached_graph", None) for name, function in graph._functions.items()}
    return {name: kept for name, kept in graphs.items() if kept is not None}


def generated_origins(file: str) -> dict[int, tuple[str, int, str]]:
    """By line of a file that AutoGraph generated: the file, line and function of the program that it was made of."""
    with autograph._TRANSPILER._cache_lock:
        kept = [made for factories in autograph._TRANSPILER._cache._cache.values() for made in factories.values()]
    places = chain.from_iterable(made.source_map.items() for made in kept if made.module.__file__ == file)
    return {place.lineno: (of.loc.filename, of.loc.lineno, of.function_name or "<lambda>") for place, of in places}


def hide_frames(files: frozenset[str]) -> None:
    """Leave calls of code in `files` out of the stacks that TensorFlow records of new ops, in every thread.

    TensorFlow keeps a stack of filters for each thread; what is put in here is the lowest of each. It leaves its own
    calls out of the tracebacks of errors, and has those in `files` left out so too: else it would take the last of
    them for a call of the program, and leave out the call that raised.
    """
    excluded = traceback_utils._EXCLUDED_PATHS
    traceback_utils._EXCLUDED_PATHS = (*excluded, *sorted(files.difference(excluded)))

    def lowest() -> _Hiding:
        found = _Hiding(files)
        found.update()
        return found

    stacks = tf_stack._source_filter_stacks
    stacks.default_factory = lambda: [lowest()]
    for stack in list(stacks.values()):
        stack[0] = lowest()


class _Hiding(tf_stack.SentinelFilter):  # type: ignore[misc]
    """The lowest filter of a thread, which the others add to."""

    def __init__(self, files: frozenset[str]) -> None:
        super().__init__()
        self._files = files

    def get_filtered_filenames(self) -> frozenset[str]:
        return self._files
