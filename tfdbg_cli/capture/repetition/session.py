"""A session's run made again: in a fresh graph and session, with every value fetched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import tensorflow as tf

from tfdbg_cli.capture import compat
from tfdbg_cli.capture.guard import INSIDE
from tfdbg_cli.capture.op_errors import OpError, run_error
from tfdbg_cli.capture.repetition.dumped import dumped, merged
from tfdbg_cli.capture.repetition.inside import with_inside
from tfdbg_cli.capture.repetition.repeated import Repeated
from tfdbg_cli.capture.session.fetched_tensors import described, fetched_array, handle_value
from tfdbg_cli.capture.session.reach import Reach, ancestors, reach
from tfdbg_cli.capture.session.redirection import Redirection, redirected
from tfdbg_cli.capture.session.shown_calls import ShownCalls
from tfdbg_cli.capture.session.updated import updated_tensor
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.writing import size_text
from tfdbg_cli.model.dtypes import element_type_named
from tfdbg_cli.model.repetition import Repetition, RepetitionInput, Role
from tfdbg_cli.model.runs import RunError
from tfdbg_cli.model.tensors import MemoryTensorStore, Tensor
from tfdbg_cli.model.values import Array

v1 = compat.v1

CONFIG = "session_config"  # the key of Repetition.details that holds the session's ConfigProto, serialized, in hex
UPDATED = "updated"  # the key of the variables, one a line, whose values after the run are to be shown
_SCOPE = "tfdbg_state"
_ATTEMPTS = 8  # ops that may fail one after the other before the values before them are given up

_HIDDEN = "{n} tensors in loops and branches cannot be fetched."
_DUMPED = "The values in loops and branches were dumped without TensorFlow's optimizer; last digits can differ."
_NOT_CALLED = "What functions computed inside is not shown: the run failed with {error} when it was to give it."
_FAILED = "The run failed again; the values are those of the ops that do not need {op}."


def repeat_session(repetition: Repetition, room: int | None = None) -> Repeated:
    """Make a session's run again, in a graph and a session of its own, and fetch every tensor that it computes.

    Args:
        repetition: of the kind SESSION or CALLABLE.
        room: how many bytes one tensor may take; the values of branches and loops are written to disk first.

    Raises:
        TfdbgError: TensorFlow does not take the graph or the inputs; an error of an op of the run is none.

    """
    with INSIDE:
        graph = _imported(repetition)
        made = _Made(graph, repetition)
        _require_room(made.fetchable, room)
        try:
            return made.with_called(made.with_inner(made.repeated(made.values())))
        except OpError as error:
            return made.after(run_error(error))


def _imported(repetition: Repetition) -> Any:
    definition = v1.GraphDef()
    graph = tf.Graph()
    try:
        definition.ParseFromString(repetition.graph)
        with graph.as_default():
            tf.graph_util.import_graph_def(definition, name="")
    except Exception as error:  # whatever protobuf and TensorFlow make of a foreign graph
        raise _refused("the graph", error) from error
    return graph


def _require_room(tensors: Iterable[Any], room: int | None) -> None:
    """Refuse a tensor that is known before the run to take more than `room` bytes.

    Raises:
        TfdbgError: there is one.

    """
    if room is None:
        return
    for tensor in tensors:
        size = (tensor.shape.num_elements() or 0) * tensor.dtype.size
        if size > room:
            raise TfdbgError(
                f"The run makes {tensor.name} of {size_text(size)}, and tfdbg may use {size_text(room)} of memory.",
                hint="Raise the budget: set TFDBG_MEMORY_BUDGET.",
            )


def _refused(what: str, error: Exception) -> TfdbgError:
    told = str(error).strip().splitlines() or [""]
    return TfdbgError(
        f"TensorFlow {tf.__version__} does not take {what} of this run: {type(error).__name__}: {told[0]}",
        hint="Try the TensorFlow version that made the run.",
        exit_code=2,
    )


class _Made:
    """The imported graph, and what of the run is found in it."""

    def __init__(self, graph: Any, repetition: Repetition) -> None:
        self._graph = graph
        self._details = repetition.details
        try:
            elements = [graph.as_graph_element(name) for name in repetition.fetches]
            self._variables = [_Variable(graph, item) for item in repetition.inputs if item.role is Role.VARIABLE]
            given = [item for item in repetition.inputs if item.role is not Role.VARIABLE]
            self._feeds = {graph.as_graph_element(item.name): _feedable(item) for item in given}
        except (KeyError, ValueError, TypeError) as error:
            raise _refused("the names", error) from error
        self._fed = {feed.name for feed in self._feeds}
        # In the order of the first time: an op that drew something then is an op among others, though it is fed now.
        arguments = {item.name for item in given if item.role is Role.GIVEN}
        ops = [element if isinstance(element, tf.Operation) else element.op for element in elements]
        self._reach: Reach = reach(graph, ops, arguments)
        opaque = self._reach.opaque
        self._targets = [element for op, element in zip(ops, elements, strict=True) if op is not element]
        self.ends = [op for op, element in zip(ops, elements, strict=True) if op is element or element.name in opaque]
        self.fetchable = [t for t in self._reach.tensors if t.name not in opaque and not self._would_draw(t)]
        self._writers = [variable.writer() for variable in self._variables]
        updated = set(repetition.details.get(UPDATED, "").split("\n"))
        self._updated = [variable for variable in self._variables if variable.item.node in updated]
        self._readers = [variable.reader() for variable in self._updated]
        self._after: Sequence[Any] = ()

    def _would_draw(self, tensor: Any) -> bool:
        """Whether `tensor` comes from an op of whose outputs others are fed, lest it draw something new."""
        return tensor.name not in self._fed and any(output.name in self._fed for output in tensor.op.outputs)

    def values(self) -> dict[str, Any]:
        """The values of all tensors, by name. Raises what an op raises."""
        before: list[Any] = []
        if any(variable.by_reference for variable in self._variables):
            # What is read from such a variable shares its memory, and would show the value from after the update.
            changed = _needing(self._graph, [op.name for op in self._graph.get_operations() if _writes(op)])
            before = [tensor for tensor in self.fetchable if tensor.op.name not in changed]
        names = {tensor.name for tensor in before}
        found = _named(before, self.perform(before, ())) if before else {}
        rest = [tensor for tensor in self.fetchable if tensor.name not in names]
        return found | _named(rest, self.perform(rest, self.ends))

    def with_inner(self, repeated: Repeated) -> Repeated:
        """`repeated` with what is computed in loops and branches, each turn, too. Raises what an op raises.

        The optimizer is off then, so that no op is missing; last digits can differ.
        """
        if not self._reach.hidden or self._reach.unwritable:
            return repeated
        ends = [*self.ends, *(tensor.op for tensor in self._targets)]
        dump = dumped(self._graph, lambda options: self.perform((), ends, options))
        skipped = {tensor.name for tensor in self._reach.tensors}
        return Repeated(merged(repeated.tensors, dump, self._graph, skipped), (_DUMPED,), repeated.error)

    def with_called(self, repeated: Repeated) -> Repeated:
        """`repeated` with what is computed in the functions that ops call, each turn of their loops, too."""
        if not self._reach.calls:
            return repeated
        ends = [*self.ends, *(tensor.op for tensor in self._targets)]
        order = ancestors(ends, self._fed)
        try:
            shown = ShownCalls(self._graph, order, frozenset(self._fed))
            shown.begin()
            found = self.perform(shown.tensors, ends, instead=shown.stand_ins)
        except OpError as error:
            return replace(repeated, notes=(*repeated.notes, _NOT_CALLED.format(error=type(error).__name__)))
        inside = dict(shown.values(found))
        tensors = with_inside(repeated.tensors, [op.name for op in order], inside)
        return replace(repeated, tensors=tensors, notes=(*repeated.notes, *shown.stand_ins.notes))

    def perform(
        self,
        tensors: Sequence[Any],
        targets: Sequence[Any],
        options: Any = None,
        instead: Redirection | None = None,
    ) -> Sequence[Any]:
        """Make the run with fresh variables, and fetch `tensors`. Raises what an op raises.

        Under `options`, which dump, the optimizer is off. What `instead` names runs in the place of others.
        """
        with self._session(optimized=options is None) as session:
            for (place, operation), variable in zip(self._writers, self._variables, strict=True):
                try:
                    session.run(operation, {place: variable.value})
                except (OpError, ValueError, TypeError) as error:
                    raise _refused(f"the variable {variable.name}", error) from error
            try:
                with redirected(session, instead):
                    values, _ = session.run((list(tensors), list(targets)), self._feeds, options)
            except (ValueError, TypeError) as error:
                raise _refused("the inputs", error) from error
            self._after = session.run(self._readers) if self._readers else ()
        found: Sequence[Any] = values
        return found

    def _session(self, optimized: bool) -> Any:
        config = v1.ConfigProto()
        try:
            config.ParseFromString(bytes.fromhex(self._details.get(CONFIG, "")))
        except Exception as error:  # damage shows as an exception of protobuf's own
            raise _refused("the configuration of the session", error) from error
        config.allow_soft_placement = True  # the devices may be others here
        if not optimized:
            config.graph_options.rewrite_options.disable_meta_optimizer = True
            config.graph_options.optimizer_options.opt_level = v1.OptimizerOptions.L0
        return v1.Session(graph=self._graph, config=config)

    def repeated(self, known: Mapping[str, Any], error: RunError | None = None) -> Repeated:
        """What the run gave, `known` by name; opaque tensors in their places."""
        shown = [
            t for t in self._reach.tensors if t.name in known or (t.name in self._reach.opaque and error is None)
        ]
        found = [fetched_array(known[t.name]) if t.name in known else handle_value(t) for t in shown]
        tensors = list(map(described, shown, found))
        if error is None:
            updated = list(map(fetched_array, self._after))
            tensors += [one.after_update(value) for one, value in zip(self._updated, updated, strict=True)]
            found += updated
        store = MemoryTensorStore(tensors, found)
        notes = [_HIDDEN.format(n=self._reach.hidden)] * bool(self._reach.hidden)
        if error is not None:
            notes.append(_FAILED.format(op=error.node or "the op that failed"))
        return Repeated(store, tuple(notes), error)

    def after(self, error: RunError) -> Repeated:
        """What was computed before the run failed: made once more without what needs the op that fails."""
        lost: set[str] = set()
        failure = error
        for _ in range(_ATTEMPTS):
            if failure.node is None or failure.node in lost:
                break
            lost |= _needing(self._graph, [failure.node])
            left = [tensor for tensor in self.fetchable if tensor.op.name not in lost]
            try:
                return self.repeated(_named(left, self.perform(left, ())), error)
            except OpError as again:
                failure = run_error(again)
        return self.repeated({}, error)


@dataclass
class _Variable:
    """A variable of the graph, to be put back to what it was."""

    graph: Any
    item: RepetitionInput

    def __post_init__(self) -> None:
        self._tensor = self.graph.as_graph_element(f"{self.item.node}:0")

    @property
    def name(self) -> str:
        return self.item.name

    @property
    def by_reference(self) -> bool:
        """Whether it is a variable of the old kind (`use_resource=False`)."""
        return bool(self._tensor.dtype != tf.resource)

    @property
    def value(self) -> Array:
        """The value in memory of its own: TensorFlow may keep what it is fed, and write into it."""
        return np.array(_feedable(self.item), copy=True)

    def writer(self) -> tuple[Any, Any]:
        """A placeholder, and the operation that writes it into the variable."""
        with self.graph.as_default(), tf.name_scope(_SCOPE), tf.device(self._tensor.device or None):
            place = v1.placeholder(self.item.dtype, self.item.value.shape)
            if self.by_reference:
                return place, tf.raw_ops.Assign(ref=self._tensor, value=place, validate_shape=False).op
            return place, tf.raw_ops.AssignVariableOp(resource=self._tensor, value=place)

    def reader(self) -> Any:
        """A tensor that gives the value."""
        with self.graph.as_default(), tf.name_scope(_SCOPE), tf.device(self._tensor.device or None):
            if self.by_reference:
                return tf.identity(self._tensor)
            return tf.raw_ops.ReadVariableOp(resource=self._tensor, dtype=self.item.dtype)

    def after_update(self, value: Array) -> Tensor:
        """The description of `value`, the variable's after the run."""
        return updated_tensor(self.name, self._tensor.device, value, self.item.dtype)


def _feedable(item: RepetitionInput) -> Array:
    """The value as Session.run takes it; quantized types have a NumPy type of TensorFlow's own."""
    element = element_type_named(item.dtype)
    if element is None or element.numpy is None:
        raise ValueError(f"{item.name} has the type {item.dtype}, which cannot be fed.")
    kind = tf.as_dtype(item.dtype).as_numpy_dtype
    return item.value if item.value.dtype.hasobject else np.asarray(item.value).view(kind)


def _named(tensors: Sequence[Any], values: Sequence[Any]) -> dict[str, Any]:
    return dict(zip((tensor.name for tensor in tensors), values, strict=True))


def _writes(op: Any) -> bool:
    """Whether `op` may write through a reference that it is given."""
    return op.op_def is not None and any(argument.is_ref for argument in op.op_def.input_arg)


def _needing(graph: Any, names: Iterable[str]) -> set[str]:
    """The operations `names` and all that need them."""
    waits: dict[str, list[Any]] = {}
    for op in graph.get_operations():
        for control in op.control_inputs:
            waits.setdefault(control.name, []).append(op)
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        waiting.extend(op.name for op in waits.get(name, ()))
        with suppress(KeyError):  # a node that the optimizer made
            op = graph.get_operation_by_name(name)
            waiting.extend(reader.name for tensor in op.outputs for reader in tensor.consumers())
    return found
