"""A session's run made again: in a graph and session of its own, with every value fetched."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace

from tfdbg_cli.capture.replay.copy_reach import COPY_REACHES, PLACES, REPORTING_CALLS, SHOWN_CALLS
from tfdbg_cli.capture.replay.dumped import dumped, merged
from tfdbg_cli.capture.replay.replayed import Replayed
from tfdbg_cli.capture.replay.room import require_room
from tfdbg_cli.capture.replay.session_copy import SessionCopy
from tfdbg_cli.capture.sessions.extended.inside_calls import with_inside
from tfdbg_cli.capture.sessions.fetched_tensors import Outlined, OutlinedTensors, fetched_array, handle_value
from tfdbg_cli.capture.sessions.fusing import FUSED, is_by_product, is_refusal
from tfdbg_cli.capture.sessions.reach import ancestors
from tfdbg_cli.capture.sessions.redirection import Redirection
from tfdbg_cli.capture.sessions.references import values_of_references
from tfdbg_cli.capture.tf.op_definitions import calls_functions, definition_of
from tfdbg_cli.capture.tf.op_errors import OpError, run_error
from tfdbg_cli.capture.tf.reentrancy import INSIDE
from tfdbg_cli.capture.tf.types import FetchedValue, Op, RunOptions, SymbolicTensor, TfGraph
from tfdbg_cli.model.calls import RunError
from tfdbg_cli.model.replay import ReplaySpec
from tfdbg_cli.model.values import Array, Value
from tfdbg_cli.model.walks import reached

_ATTEMPTS = 8  # ops that may fail one after the other before the values before them are given up

_HIDDEN = "{n} tensors in loops and branches cannot be fetched."
_DUMPED = "The values in loops and branches were dumped without TensorFlow's optimizer; last digits can differ."
_REPORTED = "What functions computed inside they reported value by value; last digits can differ."
_NOT_CALLED = "What functions computed inside is not shown: the run failed with {error} when it was to give it."
_FAILED = "The run failed again; the values are those of the ops that do not need {op}."


def replay_session(replay_spec: ReplaySpec, room: int | None = None, copy: SessionCopy | None = None) -> Replayed:
    """Make a session's run again, in a graph and a session of its own, and fetch every tensor that it computes.

    Args:
        replay_spec: of the kind SESSION or CALLABLE.
        room: how many bytes one tensor may take; the values of branches and loops are written to disk first.
        copy: where to make it; without one it is made in a new copy.

    Raises:
        TfdbgError: TensorFlow does not take the graph or the inputs; an error of an op of the run is none.

    """
    with _made(replay_spec, copy) as made:
        if room is not None:
            require_room(made.fetchable, room)
        try:
            return made.with_called(made.with_inner(made.replayed(made.values())))
        except OpError as error:
            return made.after(run_error(error))


def require_room_in_session(replay_spec: ReplaySpec, room: int) -> None:
    """Refuse a run of a session that computes a tensor which is known to take more than `room` bytes; run nothing.

    Raises:
        TfdbgError: there is one, or TensorFlow does not take the graph or the inputs.

    """
    with _made(replay_spec) as made:
        require_room(made.fetchable, room)


@contextmanager
def _made(replay_spec: ReplaySpec, known: SessionCopy | None = None) -> Iterator[_Made]:
    """A context for one replay, in the copy `known`, or in a new one that is closed at the end."""
    with INSIDE:
        copy = known or SessionCopy(replay_spec)
        try:
            with copy.lock:
                yield _Made(copy, replay_spec)
        finally:
            if known is None:
                copy.close()


class _Made:
    """One run made again in a copy, and the values that are found there."""

    def __init__(self, copy: SessionCopy, replay_spec: ReplaySpec) -> None:
        self._copy = copy
        self._spec = replay_spec
        self._graph = copy.graph
        self._fed = copy.fed
        asked = COPY_REACHES.of(copy)
        self._reach, self._outlines = asked.reach, asked.outlines
        self._all_ends, self.ends, self.fetchable = asked.all_ends, asked.ends, asked.fetchable
        self._names = asked.names
        self._after: Sequence[Array] = ()
        self._notes: tuple[str, ...] = ()

    def values(self) -> dict[str, FetchedValue]:
        """The values of all tensors, by name. Raises what an op raises."""
        try:
            return self._values()
        except OpError as error:
            if not is_refusal(error):
                raise
            self.fetchable = [tensor for tensor in self.fetchable if not is_by_product(tensor)]
            self._names = [tensor.name for tensor in self.fetchable]
            self._notes = (FUSED,)
            return self._values()

    def _values(self) -> dict[str, FetchedValue]:
        early = self._before_updates(self.fetchable)
        if not early:
            return dict(zip(self._names, self.perform(self.fetchable, self.ends), strict=True))
        return self._fetched(early, self.fetchable, self._all_ends)

    def _before_updates(self, tensors: Sequence[SymbolicTensor]) -> list[SymbolicTensor]:
        """Those of `tensors` that depend on no update; they are fetched in a run without updates.

        A read of a variable of the old kind shares its memory: fetched with updates it would show their results.
        """
        if not self._copy.by_reference:
            return []
        changed = _needing(self._graph, [op.name for op in self._graph.get_operations() if _writes(op)])
        return [tensor for tensor in tensors if tensor.op.name not in changed]

    def _fetched(
        self, early: Sequence[SymbolicTensor], tensors: Sequence[SymbolicTensor], ends: Sequence[Op]
    ) -> dict[str, FetchedValue]:
        """The values of `tensors`: those in `early` by a run of their own, others by one that runs `ends`, too."""
        found = _named(early, self.perform(early, ())) if early else {}
        rest = [tensor for tensor in tensors if tensor.name not in found]
        return found | _named(rest, self.perform(rest, ends))

    def with_inner(self, replayed: Replayed) -> Replayed:
        """`replayed` with the values inside of loops (of each turn) and branches. Raises what an op raises.

        They are dumped by a run without the optimizer, so that no op is missing; last digits can differ.
        """
        if not self._reach.hidden or self._reach.unwritable:
            return replayed
        session = self._copy.session(optimized=False)
        dump = dumped(session, lambda options: self.perform((), self._all_ends, options))
        skipped = {tensor.name for tensor in self._reach.tensors}
        tensors = merged(replayed.tensors, dump, self._graph, skipped)
        return replace(replayed, tensors=tensors, notes=(*replayed.notes, _DUMPED))

    def with_called(self, replayed: Replayed) -> Replayed:
        """`replayed` with what is computed in the functions that ops call, each turn of their loops, too."""
        if not self._reach.calls:
            return replayed
        order = ancestors(self._all_ends, self._fed)
        if any(op.name in self._reach.inside and calls_functions(op) for op in order):
            return self._with_reported(replayed)  # what is called in a loop of version 1 gives nothing to fetch
        try:
            shown = SHOWN_CALLS.of(self._copy)
            shown.begin()
            found = self.perform(shown.tensors, self._all_ends, instead=shown.shadow_ops)
        except OpError as error:
            return replace(replayed, notes=(*replayed.notes, _NOT_CALLED.format(error=type(error).__name__)))
        inside = dict(shown.values(found, replayed.tensors))
        tensors = with_inside(replayed.tensors, [op.name for op in order], inside)
        return replace(replayed, tensors=tensors, notes=(*replayed.notes, *shown.shadow_ops.notes))

    def perform(
        self,
        tensors: Sequence[SymbolicTensor],
        targets: Sequence[Op],
        options: RunOptions = None,
        instead: Redirection | None = None,
    ) -> Sequence[FetchedValue]:
        """Make the run from the state before it, and fetch `tensors`. Raises what an op raises."""
        found, self._after = self._copy.perform(self._spec, tensors, targets, options, instead)
        return found

    def replayed(
        self,
        known: Mapping[str, FetchedValue],
        error: RunError | None = None,
        ran: Collection[str] | None = None,
    ) -> Replayed:
        """The result of the replay: the values `known` by name, opaque tensors in their places, updated variables.

        `error` is that of a run that failed; `ran` then names the ops that were run again without it.
        """
        after = dict(zip((one.node for one in self._copy.updated), self._after, strict=False))
        before = self._spec.held
        made = [one for one in self._reach.tensors if ran is None or one.op.name in ran]
        held = values_of_references(made, before, after) if self._copy.by_reference else {}
        outlines: list[Outlined] = []
        found: list[Value] = []
        for name, tensor, outline, opaque in self._outlines:
            if name in known:
                value: Value = fetched_array(known[name])
            elif opaque and (error is None or name in held):
                value = held[name] if name in held else handle_value(tensor)
            else:
                continue
            outlines.append(outline)
            found.append(value)
        if error is None:
            outlines += [one.after_update for one in self._copy.updated]
            found += map(fetched_array, self._after)
        whole = error is None and len(outlines) == len(self._outlines) + len(self._copy.updated)
        alike = PLACES.of(self._copy) if whole else None
        store = OutlinedTensors(outlines, found, alike)
        notes = [*self._notes, *[_HIDDEN.format(n=self._reach.hidden)] * bool(self._reach.hidden)]
        if error is not None:
            notes.append(_FAILED.format(op=error.node or "the op that failed"))
        return Replayed(store, tuple(notes), error)

    def after(self, error: RunError) -> Replayed:
        """The result of a replay that failed with `error`, made once more without all that needs the failed op."""
        lost: set[str] = set()
        failure = error
        for _ in range(_ATTEMPTS):
            if failure.node is None or failure.node in lost:
                break
            lost |= _needing(self._graph, self._failing(failure.node))
            left = [tensor for tensor in self.fetchable if tensor.op.name not in lost]
            try:
                values = self._fetched(self._before_updates(left), left, ())
            except OpError as again:
                failure = run_error(again)
                continue
            ran = {op.name for op in ancestors([tensor.op for tensor in left], self._fed)}
            return self._with_what_led_there(self.replayed(values, error, ran))
        return self._with_what_led_there(self.replayed({}, error, ()))

    def _failing(self, node: str) -> list[str]:
        """The ops that `node` in an error may mean: if it is inside a function, any op that calls functions."""
        if node in {op.name for op in self._reach.order}:
            return [node]
        return [node, *(op.name for op in self._reach.order if calls_functions(op))]

    def _with_what_led_there(self, replayed: Replayed) -> Replayed:
        """`replayed`, of a run that fails, with the values in loops, branches and functions until it fails."""
        if not (self._reach.hidden or self._reach.calls) or self._reach.unwritable:
            return replayed
        session = self._copy.session(optimized=False)
        dump = dumped(session, self._until_failure)
        skipped = {tensor.name for tensor in self._reach.tensors} if replayed.tensors else set()
        tensors = merged(replayed.tensors, dump, self._graph, skipped)
        notes = (*replayed.notes, _DUMPED) if self._reach.hidden else replayed.notes
        replayed = replace(replayed, tensors=tensors, notes=notes)
        return self._with_reported(replayed) if self._reach.calls else replayed

    def _with_reported(self, replayed: Replayed) -> Replayed:
        """`replayed` with what the functions that ops call reported, made once more; if it fails, until then."""
        try:
            calls = REPORTING_CALLS.of(self._copy)
        except OpError as error:
            return replace(replayed, notes=(*replayed.notes, _NOT_CALLED.format(error=type(error).__name__)))
        calls.begin()
        self._until_failure(instead=calls.shadow_ops)
        order = ancestors(self._all_ends, self._fed)
        tensors = with_inside(replayed.tensors, [op.name for op in order], dict(calls.values()))
        return replace(replayed, tensors=tensors, notes=(*replayed.notes, _REPORTED, *calls.shadow_ops.notes))

    def _until_failure(self, options: RunOptions = None, instead: Redirection | None = None) -> None:
        with suppress(OpError):
            self._copy.perform(self._spec, (), self._all_ends, options, instead)


def _named(tensors: Sequence[SymbolicTensor], values: Sequence[FetchedValue]) -> dict[str, FetchedValue]:
    return dict(zip((tensor.name for tensor in tensors), values, strict=True))


def _writes(op: Op) -> bool:
    """Whether `op` may write through a reference that it is given."""
    definition = definition_of(op)
    return definition is not None and any(argument.is_ref for argument in definition.input_arg)


def _needing(graph: TfGraph, names: Iterable[str]) -> set[str]:
    """The operations `names` and all that need them."""
    waits: dict[str, list[Op]] = {}
    for op in graph.get_operations():
        for control in op.control_inputs:
            waits.setdefault(control.name, []).append(op)

    def readers(name: str) -> Iterator[str]:
        yield from (op.name for op in waits.get(name, ()))
        with suppress(KeyError):  # a node that the optimizer made
            op = graph.get_operation_by_name(name)
            yield from (reader.name for tensor in op.outputs for reader in tensor.consumers())

    return set(reached(names, readers))
