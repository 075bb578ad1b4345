"""A part of a session's run computed again, with other values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from tfdbg_cli.analysis.graph.nodes.feeds import with_replaced_feeds
from tfdbg_cli.capture.sessions.call_names import fed, fetched
from tfdbg_cli.capture.sessions.invocation import Invocation
from tfdbg_cli.capture.sessions.program_graph import tensor_name
from tfdbg_cli.capture.state.before_updates import held_variables
from tfdbg_cli.capture.stores import known_value
from tfdbg_cli.capture.tf.op_errors import OpError
from tfdbg_cli.capture.tf.opaque import is_opaque, is_reference
from tfdbg_cli.capture.tf.types import Op, SymbolicTensor
from tfdbg_cli.capture.what_if.effects import DRAWS
from tfdbg_cli.capture.what_if.merging import merged, with_values
from tfdbg_cli.capture.what_if.private_session import PrivateSession
from tfdbg_cli.capture.what_if.session_program import values_in
from tfdbg_cli.capture.what_if.session_slice import SessionCallGraph
from tfdbg_cli.capture.what_if.slices import Kept, Slice
from tfdbg_cli.capture.what_if.words import failed, left_out, not_captured
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.graph import GraphKind
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Change, Run
from tfdbg_cli.model.tensors import gone
from tfdbg_cli.model.values import Array, Value
from tfdbg_cli.model.walks import reached
from tfdbg_cli.ops.kinds import REFERENCE_VARIABLES

_UNFUSED = (
    "What was computed again was computed as in the Python graph, and the run's own values as in the optimizer's: "
    "last digits can differ."
)
_STALE = "It was not computed again: it is in a loop or a branch, or only the optimizer's graph has it."


class SessionWhatIf:
    """The means to compute parts of one run of a session again (`model.runs.WhatIf`)."""

    def __init__(self, invocation: Invocation) -> None:
        self._session = invocation.session
        self._fetches = invocation.fetches
        self._feeds = invocation.feeds

    @cached_property
    def _call(self) -> SessionCallGraph:
        return SessionCallGraph(fetched(self._session.graph, self._fetches).ops, fed(self._feeds))

    def require_replaceable(self, run: Run, name: TensorName) -> None:
        """Refuse handles, and what is made in loops and branches or by the optimizer. See WhatIf."""
        call = self._call
        if str(name) in call.feeds:
            return
        op = call.ops.get(name.node)
        if op is None:
            raise TfdbgError(
                f"{name} is no tensor of the program's own graph, so nothing can be computed from it.",
                hint="`run --graph python` captures that graph.",
            )
        if op.name in call.hidden:
            raise TfdbgError(
                f"{name} is made in a loop or a branch of version 1, where nothing can be put in.",
                hint="Replace what the loop is given, or what it gives.",
            )
        if op.type in REFERENCE_VARIABLES:
            return  # its memory: what it holds before the run
        if name.slot < len(op.outputs) and is_reference(op.outputs[name.slot]):
            said = f"{name} hands on the memory of a variable, and has no value of its own."
            raise TfdbgError(said, hint="Replace the variable, or what is read from it.")
        if name.slot >= len(op.outputs) or is_opaque(op.outputs[name.slot]) or str(name) in call.flows:
            raise TfdbgError(f"{name} is a handle: it holds no numbers to replace.")

    def kept_after(self, replaced: Iterable[TensorName]) -> Mapping[str, Kept]:
        """The nodes that depend on `replaced`, but keep what they gave, with why. See PartWhatIf."""
        return self._call.after(map(str, replaced)).kept

    def again(self, run: Run, replaced: Mapping[TensorName, Array]) -> Run:
        """`run` with the values `replaced` and what follows from them. See WhatIf."""
        for name in replaced:
            self.require_replaceable(run, name)
        found = self._call.after(map(str, replaced))
        computed = self._computed(run, found, replaced)
        stale = dict.fromkeys(self._stale(run, found, computed, replaced), gone(_STALE))
        values: dict[TensorName, Value] = {**stale, **computed, **replaced}
        tensors = merged(run.tensors, with_values(run.tensors, values), lambda name: "")
        notes = left_out(found)
        if run.graph_kind is GraphKind.RUNTIME and computed:
            notes += (_UNFUSED,)
        change = Change(run, dict(replaced), len(computed))
        call = with_replaced_feeds(run.call, replaced)
        return replace(run, call=call, tensors=tensors, change=change, notes=(*notes, *run.notes))

    def _computed(self, run: Run, found: Slice[Op], replaced: Mapping[TensorName, Array]) -> dict[TensorName, Array]:
        wanted = [
            name
            for op in found.again.values()
            if op.name not in self._call.hidden
            for name in _outputs(op)
            if name not in replaced and not is_opaque(op.outputs[name.slot])
        ]
        shown = [name for name in wanted if run.tensors.named(name.node, name.slot)]
        if not shown:
            return {}
        feeds, variables = self._needed(run, found, replaced, shown)
        for name in variables:
            self._private.put(name, self._before(run, name))
        try:
            values = self._private.run(list(map(str, shown)), (), feeds)
        except OpError as error:
            raise failed(error) from error
        return dict(zip(shown, values, strict=True))

    @cached_property
    def _private(self) -> PrivateSession:
        return PrivateSession(self._call.whole, self._call.hidden)

    def _needed(
        self, run: Run, found: Slice[Op], replaced: Mapping[TensorName, Array], wanted: Sequence[TensorName]
    ) -> tuple[dict[str, Array], list[str]]:
        """What to feed, and the names of the variables to give values to, so that `wanted` can be computed."""
        feeds, variables, seen = self._walked(run, found, replaced, wanted, self._known)
        if self._call.takes_from_loop(seen):
            feeds, variables, _ = self._walked(run, found, replaced, wanted, self._known_before_loops)
        return feeds, variables

    def _known_before_loops(self, run: Run, tensor: SymbolicTensor) -> Array | None:
        op = tensor.op
        if op.name in self._call.behind_loops and DRAWS.isdisjoint(self._call.effects(op)):
            return None
        return self._known(run, tensor)

    def _walked(
        self,
        run: Run,
        found: Slice[Op],
        replaced: Mapping[TensorName, Array],
        wanted: Sequence[TensorName],
        known: Callable[[Run, SymbolicTensor], Array | None],
    ) -> tuple[dict[str, Array], list[str], set[str]]:
        """As `_needed`, with the names of the ops that will run; `known` gives the values that may be fed."""
        feeds = {str(name): value for name, value in replaced.items()}

        def value_of(tensor: SymbolicTensor) -> Array | None:
            if tensor.name in feeds:
                return feeds[tensor.name]
            return None if tensor.op.name in found.again else known(run, tensor)

        ran, fed = self._call.run_before([self._call.ops[name.node] for name in wanted], value_of)
        variables: list[str] = []
        for op in ran:
            if op.name not in found.again:
                if not DRAWS.isdisjoint(self._call.effects(op)) or self._call.is_late(op):
                    raise not_captured(TensorName(op.name, 0))
                if op.name in self._private.variables:
                    variables.append(op.name)
        return feeds | fed, variables, {op.name for op in ran}

    def _known(self, run: Run, tensor: SymbolicTensor) -> Array | None:
        """The value of `tensor` in the run, if it was made once and is known."""
        if tensor.name in self._call.feeds:
            return np.asarray(self._call.feeds[tensor.name], tensor.dtype.as_numpy_dtype)
        if tensor.name in self._call.flows or tensor.op.name in self._call.hidden:
            return None
        return known_value(run.tensors, tensor_name(tensor))

    def _before(self, run: Run, name: str) -> Array:
        """What the variable that the op `name` holds was before the run.

        Raises:
            TfdbgError: nobody knows.

        """
        op = self._call.ops[name]
        for tensor in op.outputs:
            for reader in self._call.readers(tensor.name):
                if reader.type in {"ReadVariableOp", "Identity"} and not self._call.is_late(reader):
                    known = self._known(run, reader.outputs[0])
                    if known is not None:
                        return known
        held = {item.node or item.name: item.value for item in held_variables(run)}
        if name in held:
            return held[name]
        if name not in self._call.writers:
            now = values_in(self._session, [op])
            if name in now:
                return now[name]
        raise TfdbgError(
            f"What the variable {name} held before the run is not known, and the run has changed it.",
            hint="Replace a tensor further down.",
        )

    def _stale(
        self,
        run: Run,
        found: Slice[Op],
        computed: Mapping[TensorName, Array],
        replaced: Mapping[TensorName, Array],
    ) -> Iterator[TensorName]:
        """The tensors of the run that follow from the replaced ones, but whose new values are not known.

        They are in loops and branches, or in nodes that the optimizer made.
        """
        hidden = [name for name in found.again if name in self._call.hidden]

        def made_from(name: str) -> Iterator[str]:
            for reader, _ in run.graph.consumers(name):
                if reader.name not in found.kept and reader.name not in self._call.ops:
                    yield reader.name

        starts = (*found.again, *(name.node for name in replaced))
        made = reached((reader for name in starts for reader in made_from(name)), made_from)
        for node in (*hidden, *made):
            for row in run.tensors.named(node):
                name = run.tensors[row].name
                if name not in computed and name not in replaced:
                    yield name


def _outputs(op: Op) -> Iterator[TensorName]:
    return (TensorName(op.name, slot) for slot in range(len(op.outputs)))
