"""Replays in which some tensors have other values."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from tfdbg_cli.capture.functions.definition.flat import FlatFunction
from tfdbg_cli.capture.functions.definition.flat_part import part_of
from tfdbg_cli.capture.replay.cut_off import cut_off
from tfdbg_cli.capture.replay.function import of_part
from tfdbg_cli.capture.replay.function_details import FunctionDetails
from tfdbg_cli.capture.replay.registered import registered
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.dtypes import name_of
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.replay import InputRole, ReplayInput, ReplaySpec
from tfdbg_cli.model.values import Array

_SUFFIX = "_set"


def with_replaced(replay_spec: ReplaySpec, replaced: Mapping[TensorName, Array]) -> ReplaySpec:
    """`replay_spec` in which the tensors `replaced` have these values, whatever their ops would give.

    A variable holds its value before the run.

    Raises:
        TfdbgError: one of them is no tensor of the run, or lies inside a branch or a loop.

    """
    known = {item.tensor: at for at, item in enumerate(replay_spec.inputs)}
    inputs = list(replay_spec.inputs)
    of_function = replay_spec.kind is RunKind.FUNCTION
    aliases = FunctionDetails.unpacked(replay_spec.details).aliases if of_function else {}
    inner: dict[TensorName, Array] = {}
    for name, value in replaced.items():
        at = known.get(name)
        if at is None:
            inner[name] = value
        else:
            at = aliases.get(at, at)  # a variable that the function was given twice is one
            inputs[at] = replace(inputs[at], value=value)
    changed = replace(replay_spec, inputs=tuple(inputs))
    if not inner:
        return changed
    if of_function:
        return _fed_function(changed, inner, replaced)
    return replace(changed, inputs=(*changed.inputs, *(_drawn(name, value) for name, value in inner.items())))


def _drawn(name: TensorName, value: Array) -> ReplayInput:
    return ReplayInput(str(name), InputRole.SOURCE, name_of(value.dtype), value)


def _fed_function(
    replay_spec: ReplaySpec, fed: Mapping[TensorName, Array], replaced: Collection[TensorName]
) -> ReplaySpec:
    with registered(replay_spec) as (root, _, _):
        flat = FlatFunction(root)
        for name in fed:
            if name.node not in flat.nodes:
                raise TfdbgError(f"{name} is no value of the function itself, so nothing can be computed from it.")
        returns = (*flat.returns, *cut_off(flat, fed, replaced))
        part = part_of(flat, f"{root.body.name}{_SUFFIX}", returns, fed, with_effects=True)
        return of_part(replay_spec, flat, part, {name: _drawn(name, value) for name, value in fed.items()})
