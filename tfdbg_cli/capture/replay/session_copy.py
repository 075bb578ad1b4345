"""A copy of the part of a session's graph that a run needs, with a session and variables of its own."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import tensorflow as tf

from tfdbg_cli.capture.replay.foreign_graph import imported, refused
from tfdbg_cli.capture.replay.prepared_run import PreparedRun
from tfdbg_cli.capture.sessions import variable_ops
from tfdbg_cli.capture.sessions.exact.run_effect import RunEffect
from tfdbg_cli.capture.sessions.fetched_tensors import Outlined, fetched_array
from tfdbg_cli.capture.sessions.hidden_ops import NewOp, hidden_ops
from tfdbg_cli.capture.sessions.redirection import Redirection, redirected
from tfdbg_cli.capture.sessions.updated_variables import updated_outline
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.op_errors import OpError
from tfdbg_cli.capture.tf.reentrancy import INSIDE
from tfdbg_cli.capture.tf.types import (
    FetchedValue,
    GraphElement,
    Op,
    RawSession,
    RunMetadata,
    RunOptions,
    SymbolicTensor,
    TfGraph,
)
from tfdbg_cli.model.dtypes import element_type_named
from tfdbg_cli.model.replay import InputRole, ReplayInput, ReplaySpec
from tfdbg_cli.model.values import Array
from tfdbg_cli.process.interruptions import our_errors

v1 = compat.v1

CONFIG = "session_config"  # the key of ReplaySpec.details that holds the session's ConfigProto, serialized, in hex
UPDATED = "updated"  # the key of the variables, one a line, whose values after the run are to be shown
_PREPARED = 8  # kinds of runs that are kept prepared in a copy
_OP_BYTES = 16 << 10  # what an op takes in Python, in what TensorFlow prepares, and in what is known of it
_GRAPHS = 3  # how often the data in a graph are held: as they came, imported, and prepared for runs
_TOLD_GRAPHS = v1.RunOptions(output_partition_graphs=True)


class SessionCopy:
    """A graph and a session in which runs of the kind of a `ReplaySpec` are made, each from a state of its own.

    One thread at a time may use it: hold `lock`. It takes about `nbytes`.
    """

    def __init__(self, replay_spec: ReplaySpec) -> None:
        """Import the graph.

        Raises:
            TfdbgError: TensorFlow does not take the graph or the names.

        """
        self.lock = threading.RLock()
        self.graph = imported(replay_spec.graph)
        self._details = replay_spec.details
        graph = self.graph
        try:
            self.elements = [graph.as_graph_element(name) for name in replay_spec.fetches]
            inputs = replay_spec.inputs
            self.variables = [CopiedVariable(graph, item) for item in inputs if item.role is InputRole.VARIABLE]
            given = [item for item in inputs if item.role is not InputRole.VARIABLE]
            self.feeds = {item.name: graph.as_graph_element(item.name) for item in given}
        except (KeyError, ValueError, TypeError) as error:
            raise refused("the names", error) from error
        self.fed = {feed.name for feed in self.feeds.values()}
        self.arguments = {item.name for item in given if item.role is InputRole.GIVEN}
        updated = set(replay_spec.details.get(UPDATED, "").split("\n"))
        self.updated = [variable for variable in self.variables if variable.node in updated]
        hidden = hidden_ops(graph)
        new = [op for at, variable in enumerate(self.variables) for op in variable.ends(hidden.name_of(3 * at))]
        try:
            ends = hidden.add(new)
        except (OpError, TypeError) as error:
            raise refused("the variables", error) from error
        self._writers = [(place.outputs[0], write) for place, write, _ in zip(*[iter(ends)] * 3, strict=True)]
        readers = dict(zip((variable.node for variable in self.variables), ends[2::3], strict=True))
        self._readers = [readers[variable.node].outputs[0] for variable in self.updated]
        held = sum(item.value.nbytes for item in inputs if item.role is InputRole.VARIABLE)
        self.nbytes = held + _GRAPHS * len(replay_spec.graph) + _OP_BYTES * len(graph.get_operations())
        self.alike = False  # whether replays in this copy were found to make the same updates as the program's runs
        self._sessions: dict[bool, RawSession] = {}
        self._runs: dict[tuple[object, ...], PreparedRun] = {}

    @cached_property
    def _ends(self) -> tuple[list[SymbolicTensor], list[Op]]:
        """The tensors and the ops for the sake of which the program makes its run."""
        tensors = [element for element in self.elements if isinstance(element, tf.Tensor)]
        return tensors, [element for element in self.elements if isinstance(element, tf.Operation)]

    @cached_property
    def by_reference(self) -> bool:
        """Whether there are variables of the old kind, which share their memory with what is read from them."""
        return any(variable.by_reference for variable in self.variables)

    def session(self, *, optimized: bool = True) -> RawSession:
        """The session with or without TensorFlow's optimizer.

        Raises:
            TfdbgError: the configuration is damaged.

        """
        if optimized not in self._sessions:
            self._sessions[optimized] = compat.Session(graph=self.graph, config=self._config(optimized))
        return self._sessions[optimized]

    def _config(self, optimized: bool) -> Any:
        config = v1.ConfigProto()
        try:
            config.ParseFromString(bytes.fromhex(self._details.get(CONFIG, "")))
        except our_errors() as error:  # damage shows as an exception of protobuf's own
            raise refused("the configuration of the session", error) from error
        config.allow_soft_placement = True  # the devices may be others here
        config.experimental.disable_output_partition_graphs = False
        if not optimized:
            config.graph_options.rewrite_options.disable_meta_optimizer = True
            config.graph_options.optimizer_options.opt_level = v1.OptimizerOptions.L0
        return config

    def given(self, replay_spec: ReplaySpec) -> dict[SymbolicTensor, Array]:
        """What is fed in a run like `replay_spec`."""
        try:
            return {
                self.feeds[item.name]: _feedable(item)
                for item in replay_spec.inputs
                if item.role is not InputRole.VARIABLE
            }
        except (KeyError, ValueError, TypeError) as error:
            raise refused("the names", error) from error

    def begin(self, replay_spec: ReplaySpec, *, optimized: bool = True) -> RawSession:
        """The session, with its variables as they were before the run.

        Raises:
            TfdbgError: TensorFlow does not take the values.

        """
        session = self.session(optimized=optimized)
        items = replay_spec.variables
        places = [place for place, _ in self._writers]
        try:
            # In memory of its own: TensorFlow may keep what it is fed, and write into it.
            given = [np.array(_feedable(item), copy=True) for item in items]
            if given:
                self._prepared(session, places, (), [write for _, write in self._writers]).make(given)
        except (OpError, ValueError, TypeError) as error:
            names = ", ".join(item.name for item in items)
            raise refused(f"the variables {names}" if len(items) > 1 else f"the variable {names}", error) from error
        return session

    def after(self, session: RawSession) -> list[Array]:
        """The variables that the run wrote, as they are now."""
        if not self._readers:
            return []
        values = self._prepared(session, (), self._readers, ()).make(())
        return [
            np.array(value, copy=True) if variable.by_reference else fetched_array(value)
            for variable, value in zip(self.updated, values, strict=True)
        ]

    def perform(
        self,
        replay_spec: ReplaySpec,
        tensors: Sequence[SymbolicTensor],
        targets: Sequence[Op],
        options: RunOptions = None,
        instead: Redirection | None = None,
        run_metadata: RunMetadata = None,
    ) -> tuple[list[FetchedValue], list[Array]]:
        """Make the run and fetch `tensors`: their values, and those of the updated variables after it.

        Under `options` that dump, the optimizer is off. With `instead` other ops run in the place of those that it
        names. Raises what an op raises.

        Raises:
            TfdbgError: TensorFlow does not take the inputs.

        """
        dumps = options is not None and bool(options.debug_options.debug_tensor_watch_opts)
        with self.lock, INSIDE:
            session = self.begin(replay_spec, optimized=not dumps)
            try:
                given = self.given(replay_spec)
                values = None
                if instead is None and (options is None or options is _TOLD_GRAPHS):
                    values = self._prepared_values(session, given, tensors, targets, options, run_metadata)
                    if values is None:  # it failed
                        self.begin(replay_spec, optimized=not dumps)
                if values is None:
                    with redirected(session, instead):
                        values, _ = session.run((list(tensors), list(targets)), given, options, run_metadata)
            except (ValueError, TypeError) as error:
                raise refused("the inputs", error) from error
            if self.by_reference:
                # Reads of old variables share their memory, which the next run changes: so copy.
                values = [np.array(value, copy=True) if isinstance(value, np.ndarray) else value for value in values]
            return list(values), self.after(session)

    def _prepared_values(
        self,
        session: RawSession,
        given: Mapping[SymbolicTensor, Array],
        tensors: Sequence[SymbolicTensor],
        targets: Sequence[Op],
        options: RunOptions,
        run_metadata: RunMetadata,
    ) -> Sequence[FetchedValue] | None:
        """The values of a run that is prepared once; None if it fails: only `Session.run` tells which op did."""
        try:
            prepared = self._prepared(session, list(given), tensors, targets, options)
            return prepared.make(list(given.values()), run_metadata)
        except OpError:
            return None

    def _prepared(
        self,
        session: RawSession,
        feeds: Sequence[SymbolicTensor],
        tensors: Sequence[SymbolicTensor],
        targets: Sequence[Op],
        options: RunOptions = None,
    ) -> PreparedRun:
        """The run of that kind, prepared; the kinds asked for last are kept."""
        # The key has ids of graph elements, which stay unique since the graph of the copy keeps these alive.
        key = id(session), id(options), *(tuple(map(id, elements)) for elements in (feeds, tensors, targets))
        found = self._runs.pop(key, None) or PreparedRun(session, feeds, tensors, targets, options)
        self._runs[key] = found
        while len(self._runs) > _PREPARED:
            self._runs.pop(next(iter(self._runs)))
        return found

    def plain(self, replay_spec: ReplaySpec, run_metadata: RunMetadata = None) -> RunEffect:
        """What the run gives when it fetches what the program fetched, and nothing else. Raises what an op raises.

        The graphs that ran are put into `run_metadata`, if given.
        """
        tensors, targets = self._ends
        values, after = self.perform(replay_spec, tensors, targets, _TOLD_GRAPHS, None, run_metadata)
        return self._outcome(tensors, values, after)

    def prepare_plain(self) -> None:
        """Have TensorFlow compile what `plain` runs, which for a large graph takes most of its time."""
        with self.lock, INSIDE:
            session = self.session()
            self._prepared(session, [place for place, _ in self._writers], (), [write for _, write in self._writers])
            self._prepared(session, list(self.feeds.values()), *self._ends, _TOLD_GRAPHS)
            self._prepared(session, (), self._readers, ())

    def outcome(self, values: Sequence[FetchedValue], after: Sequence[Array]) -> RunEffect:
        """The outcome of a run that gave `values` for what the program fetched, and left `after` in its variables."""
        return self._outcome(self.elements, values, after)

    def _outcome(
        self, elements: Sequence[GraphElement], values: Sequence[FetchedValue], after: Sequence[Array]
    ) -> RunEffect:
        pairs = zip(elements, values, strict=True)
        fetched = {element.name: fetched_array(value) for element, value in pairs if value is not None}
        names = (variable.node for variable in self.updated)
        return RunEffect(fetched, dict(zip(names, after, strict=True)))

    def forget(self) -> None:
        """Free the values of the variables until the next run. What TensorFlow prepared for runs stays."""
        with self.lock, INSIDE:
            nothing = {place: np.empty(0, place.dtype.as_numpy_dtype) for place, _ in self._writers}
            for session in self._sessions.values() if nothing else ():
                session.run([operation for _, operation in self._writers], nothing)

    def close(self) -> None:
        """Free what the sessions hold."""
        with self.lock, INSIDE:
            self._runs.clear()
            for session in self._sessions.values():
                session.close()
            self._sessions.clear()


@dataclass
class CopiedVariable:
    """A variable of the copy's graph, which each run finds as it was before the program's run."""

    graph: TfGraph
    item: ReplayInput

    def __post_init__(self) -> None:
        self._tensor = self.graph.as_graph_element(f"{self.item.node}:0")
        # The value is not kept for runs to come.
        self.name, self.node, self._dtype = self.item.name, self.item.node, self.item.dtype
        del self.item

    @property
    def by_reference(self) -> bool:
        """Whether it is a variable of the old kind (`use_resource=False`)."""
        return bool(self._tensor.dtype != tf.resource)

    def ends(self, place: str) -> list[NewOp]:
        """A placeholder of any shape, called `place`, an op that writes it into the variable, one that reads it."""
        holder, dtype = self._tensor, tf.as_dtype(self._dtype)
        kind, device = self.by_reference, holder.device
        write = variable_ops.write(holder, place, dtype, device, reference=kind)
        return [variable_ops.place_for(dtype), write, variable_ops.read(holder, dtype, device, reference=kind)]

    @property
    def after_update(self) -> Outlined:
        """What is known of its value after the run without that."""
        return updated_outline(self.name, self._tensor.device, self._dtype)


def _feedable(item: ReplayInput) -> Array:
    """The value as Session.run takes it; quantized types have a NumPy type of TensorFlow's own."""
    element = element_type_named(item.dtype)
    if element is None or element.numpy is None:
        raise ValueError(f"{item.name} has the type {item.dtype}, which cannot be fed.")
    kind = tf.as_dtype(item.dtype).as_numpy_dtype
    return item.value if item.value.dtype.hasobject else np.asarray(item.value).view(kind)
