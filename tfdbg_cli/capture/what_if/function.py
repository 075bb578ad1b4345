"""A part of a function's run computed again, with other values."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import tensorflow as tf

from tfdbg_cli.analysis.graph.making.eager_past import arguments_made, with_own_arguments
from tfdbg_cli.analysis.graph.nodes.feeds import with_replaced_feeds
from tfdbg_cli.capture.functions.calling.kept_tensors import KeptTensors
from tfdbg_cli.capture.functions.definition.call_tree import Scope
from tfdbg_cli.capture.functions.definition.flat import FlatFunction, FlatNode, flat_function
from tfdbg_cli.capture.functions.definition.flat_part import part_of
from tfdbg_cli.capture.stores import known_value, rows_of
from tfdbg_cli.capture.tf.observers import own_ops
from tfdbg_cli.capture.tf.types import EagerTensor
from tfdbg_cli.capture.what_if.effects import RerunEffect
from tfdbg_cli.capture.what_if.function_slice import FunctionEdges, effects_in
from tfdbg_cli.capture.what_if.merging import merged, with_values
from tfdbg_cli.capture.what_if.part import Variables, perform_part
from tfdbg_cli.capture.what_if.slices import Kept, Slice
from tfdbg_cli.capture.what_if.words import failed, left_out, not_captured, within
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.gathered import GatheredTensors
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Change, Run
from tfdbg_cli.model.values import Array

_SERIAL = itertools.count(1)
_ROUNDING = "TensorFlow optimizes a part otherwise than the whole, so last digits can differ from the run's."
_AGAIN = frozenset({RerunEffect.NONE, RerunEffect.READ})


def _outside(run: Run, name: TensorName) -> TfdbgError:
    """Why `name`, which the function did not compute, cannot be replaced, and what can be in its place."""
    given = {str(made): argument for argument, made in arguments_made(run.graph).items()}
    if str(name) in given:
        argument = given[str(name)]
        said = f"{name} was made before this call, which was given it as {argument}."
        return TfdbgError(said, hint=f"Replace what the call was given: set {argument} EXPRESSION")
    if given and name.node in run.graph:
        arguments = ", ".join(given.values())
        said = f"{name} was made before this call, and is not computed again."
        return TfdbgError(said, hint=f"Replace what the call was given: {arguments}.")
    return TfdbgError(f"{name} is no value of this function, so nothing is computed from it.")


class FunctionWhatIf:
    """The means to compute parts of one call of a function again (`model.runs.WhatIf`)."""

    def __init__(self, root: Scope, inputs: Sequence[EagerTensor], room: int | None) -> None:
        """Prepare for a call that was made.

        Args:
            root: the scope of the function; names are those of the run.
            inputs: what it was called with, flat eager tensors and handles.
            room: how many bytes the values of loops and branches may take.

        """
        self.root = root
        self._inputs = inputs
        self._room = room

    @cached_property
    def _flat(self) -> FlatFunction:
        return flat_function(self.root)

    @cached_property
    def _edges(self) -> FunctionEdges:
        return FunctionEdges(self._flat)

    def require_replaceable(self, run: Run, name: TensorName) -> None:
        """Refuse handles, and what is made inside a branch, a loop or a compiled call. See WhatIf."""
        flat = self._flat
        place = flat.place_of(name)
        if place:
            raise TfdbgError(within(name, place), hint=f"Replace what {place} is given, or what it gives.")
        if name not in flat.arguments and name.node not in flat.nodes:
            raise _outside(run, name)
        if not flat.has_numbers(name):
            raise TfdbgError(f"{name} is a handle: it holds no numbers to replace.")

    def kept_after(self, replaced: Iterable[TensorName]) -> Mapping[str, Kept]:
        """The nodes that depend on `replaced`, but keep what they gave, with why. See PartWhatIf."""
        return self._edges.after(replaced).kept

    def again(self, run: Run, replaced: Mapping[TensorName, Array]) -> Run:
        """`run` with the values `replaced` and what follows from them. See WhatIf."""
        for name in replaced:
            self.require_replaceable(run, name)
        found = self._edges.after(replaced)
        given = with_values(run.tensors, replaced)
        rows = rows_of(given)
        moved = [name for name, node in found.again.items() if node.site is not None]
        if found.again:
            values = self._computed(run, found, replaced)
            for row in range(len(values)):
                name = values[row].name
                if name not in replaced and (name.node in found.again or self._flat.place_of(name) in moved):
                    rows.append((values, row))
        tensors = merged(run.tensors, GatheredTensors(rows), self._flat.place_of, moved)
        change = Change(run, dict(replaced), len(rows) - len(given))
        notes = (*left_out(found), *((_ROUNDING,) if found.again else ()))
        call = with_replaced_feeds(run.call, replaced)
        graph = with_own_arguments(run.graph, replaced)
        return replace(run, call=call, graph=graph, tensors=tensors, change=change, notes=(*notes, *run.notes))

    def _computed(self, run: Run, found: Slice[FlatNode], replaced: Mapping[TensorName, Array]) -> KeptTensors:
        flat = self._flat
        wanted = list(self._ends(found, replaced))
        wanted += self._cut_off(found, replaced, wanted)
        fed = self._fed(run, found, replaced)
        self._require_pure(found, fed, wanted)
        part = part_of(flat, f"__tfdbg_what_if_{next(_SERIAL)}", wanted, fed, with_effects=False)
        with own_ops(), tf.device(None):
            variables = Variables(flat, self._edges, self._inputs, run)
            inputs = [self._input(name, fed, variables) for name in part.inputs]
            outcome = perform_part(flat, part, inputs, self._room)
        if outcome.error is not None:
            raise failed(outcome.error) from outcome.error
        return outcome.captured

    def _ends(self, found: Slice[FlatNode], replaced: Mapping[TensorName, Array]) -> Iterator[TensorName]:
        """The fewest tensors of the slice that must be returned so that all of it is computed.

        Any further output would keep the optimizer from merging ops as in the run, and show as a rounding difference.
        """
        returned = set(self._flat.returns)
        for node in found.again.values():
            names = list(filter(self._flat.has_numbers, node.outputs))
            read = [name for name in names if any(r.name in found.again for r in self._edges.readers(name))]
            if not read:
                yield from (name for name in names if name not in replaced)
            else:
                yield from (name for name in names if name in returned and name not in replaced)

    def _cut_off(
        self, found: Slice[FlatNode], replaced: Mapping[TensorName, Array], wanted: Sequence[TensorName]
    ) -> Iterator[TensorName]:
        """The tensors of the slice that only replaced ones are computed from, so that none of `wanted` needs them."""
        computed = {node.name for node in self._flat.ancestors(wanted, replaced)}
        for name, node in found.again.items():
            if name not in computed:
                yield from (one for one in node.outputs if one not in replaced and self._flat.has_numbers(one))

    def _fed(self, run: Run, found: Slice[FlatNode], replaced: Mapping[TensorName, Array]) -> dict[TensorName, Array]:
        """The values that the slice reads and does not compute: those replaced, and those of the run."""
        fed = dict(replaced)
        for node in found.again.values():
            for name in node.inputs:
                if name.node in found.again or name in fed or name in self._flat.arguments:
                    continue
                value = known_value(run.tensors, name)
                if value is not None:
                    fed[name] = value
        return fed

    def _require_pure(
        self, found: Slice[FlatNode], fed: Mapping[TensorName, Array], wanted: Sequence[TensorName]
    ) -> None:
        """Refuse if a value that was not captured has to be computed now, and may differ from that in the run."""
        for node in self._flat.ancestors(wanted, fed):
            if node.name not in found.again and not _AGAIN.issuperset(effects_in(node)):
                raise not_captured(TensorName(node.name, 0))
            if node.name not in found.again and self._edges.is_late(node):
                raise not_captured(TensorName(node.name, 0))

    def _input(self, name: TensorName, fed: Mapping[TensorName, Array], variables: Variables) -> EagerTensor:
        value = fed.get(name)
        if value is None:
            return variables.argument(name)
        return tf.constant(value, tf.as_dtype(self._flat.type_of(name)))
