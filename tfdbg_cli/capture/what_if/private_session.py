"""A copy of a part of the program's graph, with a session of its own in which single ops can be run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import deepcopy

import numpy as np
import tensorflow as tf

from tfdbg_cli.capture.sessions.fetched_tensors import fetched_array
from tfdbg_cli.capture.tf import colocation, compat
from tfdbg_cli.capture.tf.reentrancy import INSIDE
from tfdbg_cli.capture.tf.second_thread import apart
from tfdbg_cli.capture.tf.types import GraphDef, Op, SymbolicTensor
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.values import Array
from tfdbg_cli.ops.kinds import VARIABLES

v1 = compat.v1

_SCOPE = "tfdbg_state"


class PrivateSession:
    """A copy of the operations `ops` of a tf.Graph, under the same names.

    Control inputs are left out but among `hidden` ops, those in loops and branches of version 1: so each other op can
    be run alone, on values that are fed. Variables are this session's own, and empty until `put` gives them a value.
    """

    def __init__(self, ops: Sequence[Op], hidden: Collection[str]) -> None:
        """Copy the operations.

        Raises:
            TfdbgError: TensorFlow does not take them.

        """
        self._graph = tf.Graph()
        self._writers: dict[str, tuple[SymbolicTensor, Op]] = {}
        self._readers: dict[str, SymbolicTensor] = {}
        definition = _definition(ops, hidden)

        def build() -> None:
            with self._graph.as_default():
                tf.graph_util.import_graph_def(definition, name="")
                for op in ops:
                    if op.type in VARIABLES:
                        self._writers[op.name] = self._writer(op.name)
                        self._readers[op.name] = self._reader(op.name)

        with INSIDE:
            try:
                apart(build)
                # Each op that is stepped over is a run of another part, for which the whole would be placed anew.
                options = v1.GraphOptions(place_pruned_graph=True)
                config = v1.ConfigProto(allow_soft_placement=True, graph_options=options)
                self._session = compat.Session(graph=self._graph, config=config)
            except (ValueError, TypeError, tf.errors.OpError) as error:
                told = str(error).strip().split("\n")[0]
                raise TfdbgError(f"TensorFlow does not take a part of this graph: {told}", exit_code=2) from error

    @property
    def variables(self) -> Collection[str]:
        """The names of the ops that hold a variable."""
        return self._writers

    def put(self, variable: str, value: Array) -> None:
        """Give a variable its value."""
        place, operation = self._writers[variable]
        with INSIDE:
            # TensorFlow may keep what it is fed, and write into it.
            self._session.run(operation, {place: np.array(_feedable(place, value), copy=True)})

    def held(self, variable: str) -> Array | None:
        """What a variable holds now; None where it is empty."""
        try:
            with INSIDE:
                return np.array(fetched_array(self._session.run(self._readers[variable])), copy=True)
        except tf.errors.FailedPreconditionError:
            return None

    def run(self, tensors: Sequence[str], operations: Iterable[str], feeds: Mapping[str, Array]) -> list[Array]:
        """Run the operations and give the values of the tensors (`node:slot`), while `feeds` stand for tensors.

        Raises:
            tf.errors.OpError: what an op raises.

        """
        fetches = [[self._graph.get_tensor_by_name(name) for name in tensors]]
        fetches.append([self._graph.get_operation_by_name(name) for name in operations])
        given = {}
        for name, value in feeds.items():
            tensor = self._graph.get_tensor_by_name(name)
            given[tensor] = _feedable(tensor, value)
        with INSIDE:
            values, _ = self._session.run(fetches, given)
        return [fetched_array(value) for value in values]

    def close(self) -> None:
        """Free what the session holds."""
        with INSIDE:
            self._session.close()

    def _writer(self, name: str) -> tuple[SymbolicTensor, Op]:
        tensor = self._graph.get_tensor_by_name(f"{name}:0")
        dtype = tf.as_dtype(tensor.op.get_attr("dtype")).base_dtype
        with tf.name_scope(_SCOPE), tf.device(tensor.device or None):
            place = v1.placeholder(dtype)
            if tensor.dtype == tf.resource:
                return place, tf.raw_ops.AssignVariableOp(resource=tensor, value=place)
            return place, tf.raw_ops.Assign(ref=tensor, value=place, validate_shape=False).op

    def _reader(self, name: str) -> SymbolicTensor:
        tensor = self._graph.get_tensor_by_name(f"{name}:0")
        with tf.name_scope(_SCOPE), tf.device(tensor.device or None):
            if tensor.dtype == tf.resource:
                return tf.raw_ops.ReadVariableOp(resource=tensor, dtype=tensor.op.get_attr("dtype"))
            return tf.identity(tensor)


def _feedable(tensor: SymbolicTensor, value: Array) -> Array:
    if value.dtype.hasobject:
        return value
    kind = tensor.dtype.base_dtype.as_numpy_dtype
    return value if value.dtype == kind else np.asarray(value).view(kind)


def _definition(ops: Sequence[Op], hidden: Collection[str]) -> GraphDef:
    """The GraphDef of `ops`; control inputs are kept only among `hidden` ones."""
    kept = {op.name for op in ops}
    found = v1.GraphDef()
    for op in ops:
        node = deepcopy(op.node_def)
        controls = [text for text in node.input if text.startswith("^")]
        node.ClearField("input")
        node.input.extend(f"{tensor.op.name}:{tensor.value_index}" for tensor in op.inputs)
        if op.name in hidden:
            node.input.extend(text for text in controls if text[1:] in kept and text[1:] in hidden)
        colocation.forget(node)
        node.device = _local(node.device)
        found.node.append(node)
    if ops:
        whole = ops[0].graph.as_graph_def()
        found.library.CopyFrom(whole.library)
        found.versions.CopyFrom(whole.versions)
    return found


def _local(device: str) -> str:
    """The kind and number of a device, without the machine, which may be another."""
    at = device.rfind("/device:")
    return device[at:] if at >= 0 else ""
