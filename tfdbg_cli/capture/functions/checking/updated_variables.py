"""The variables that a function writes, as they are after their update.

An update has no output, so that a variable it spoils would first be seen in the next run. It gets a node of its own,
`NAME/after_update`, which reads the variable behind everything that writes it in the same function, branch or loop,
branches and loops in there included; before NAME stands the path of the branch or loop. A variable that is written in
a function that another op calls for itself, as in a loop over a dataset, is read behind that op.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from tfdbg_cli.analysis.watch.outcome import SHOWS
from tfdbg_cli.capture.functions.definition.body import attribute_of
from tfdbg_cli.capture.functions.definition.call_tree import CallKind, Scope
from tfdbg_cli.capture.functions.definition.hidden_writes import hidden_writes, running
from tfdbg_cli.capture.tf.types import NodeDef
from tfdbg_cli.model.dtypes import RESOURCE
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.updates import after_update, before_update, updated_variable
from tfdbg_cli.ops.effects import updates_variable
from tfdbg_cli.ops.kinds import INCREMENTS


@dataclass(frozen=True, eq=False)
class UpdatedVariable:
    """A variable after its updates in `scope` and the plain calls in it.

    `handle` is the reference of the variable in `scope`, and `waits` are the nodes there that change it, or call what
    changes it. `device` is the one that the program chose for the first update; empty if none. `inputs` are the
    tensors that the updates read. `same_as` is a tensor that certainly has the variable's value then. `adds` are
    tensors that are added to it, so that NaN and infinities in them show in the variable. `reads` has for each tensor
    read by an update the scope and the reference by which it is read. `hidden_in` names the nodes of the run that
    call functions for themselves which write it.
    """

    name: TensorName
    scope: Scope
    handle: str
    waits: tuple[str, ...]
    dtype: int
    device: str
    inputs: tuple[TensorName, ...]
    same_as: TensorName | None
    adds: tuple[TensorName, ...]
    reads: Mapping[TensorName, tuple[Scope, str]]
    hidden_in: tuple[str, ...] = ()

    @property
    def before(self) -> TensorName:
        """The tensor by which a run shows the variable before its updates."""
        return TensorName(before_update(updated_variable(self.name.node)), 0)


@dataclass(frozen=True)
class _Write:
    """A node that writes a variable: `handle` and `wait` are as the scope of its branch or loop refers to them.

    `dtype` is the number of the variable's element type. `hidden_in` is the name in the run of a node that calls the
    function for itself which writes it; empty where the node writes it.
    """

    handle: str
    wait: str
    scope: Scope
    node: NodeDef
    dtype: int
    hidden_in: str = ""


_Writes: TypeAlias = dict[tuple[TensorName, int], list[_Write]]  # by the variable, and the identity of the region


def region_of(scope: Scope) -> Scope:
    """The nearest scope, from `scope` outwards, that is the run's own function, a branch, or a part of a loop."""
    while scope.call is not None and scope.parent is not None and scope.call.kind is CallKind.PLAIN:
        scope = scope.parent
    return scope


def updated_variables(root: Scope) -> list[UpdatedVariable]:
    """The variables that a run of `root` may write, once for each branch or loop that writes them."""
    writes: _Writes = {}
    inside: _Writes = {}
    given = frozenset(root.argument_names)
    for scope in root.all():
        for node in scope.needed.nodes:
            if node.name in scope.needed.hidden:
                continue
            if updates_variable(node.op):
                dtype = int(attribute_of(node, "dtype") or attribute_of(node, "T"))
                for handle in scope.body.handles(node):
                    _note(given, _Write(handle, node.name, scope, node, dtype), writes, inside)
            for hidden in hidden_writes(scope.body, node):
                for wait in running(scope, node):
                    write = _Write(hidden.handle, wait, scope, node, hidden.dtype, scope.name_of(wait))
                    _note(given, write, writes, inside)
    return [_updated(of[0], found, inside.get(of, ())) for of, found in writes.items()]


def _note(given: frozenset[str], write: _Write, writes: _Writes, inside: _Writes) -> None:
    """Note a write, as its own scope refers to it: in `writes` for its region, in `inside` for each around that.

    Only variables among the arguments `given` of the run count.
    """
    variable = write.scope.resolve(write.handle)
    if variable.node not in given:
        return  # made and gone within the run
    region = region_of(write.scope)
    placed = _placed(write, region)
    if placed is not None:
        writes.setdefault((variable, id(region)), []).append(placed)
    while region.parent is not None:
        region = region_of(region.parent)
        placed = _placed(write, region)
        if placed is not None:
            inside.setdefault((variable, id(region)), []).append(placed)


def _placed(write: _Write, region: Scope) -> _Write | None:
    """`write` as `region` refers to its handle and to the node to wait for; None if the handle is made in between."""
    scope, handle, wait = write.scope, write.handle, write.wait
    while scope is not region:
        source = scope.body.source(handle)
        given = scope.given_at(source.slot) if source.node is None else None
        if given is None or scope.call is None:
            return None
        wait = scope.call.node.name
        scope, handle = given
    return replace(write, handle=handle, wait=wait)


def _updated(variable: TensorName, writes: Sequence[_Write], inside: Sequence[_Write]) -> UpdatedVariable:
    first = writes[0]
    region = region_of(first.scope)
    places = [
        (write.scope, text)
        for write in writes
        if not write.hidden_in
        for text in write.scope.body.data_inputs(write.node)
        if write.scope.body.type_of(text) != RESOURCE
    ]
    read = [scope.resolve(text) for scope, text in places]
    assigned = len(writes) == 1 and not inside and first.node.op == "AssignVariableOp"
    return UpdatedVariable(
        TensorName(after_update(f"{region.path}/{variable.node}".removeprefix("/")), 0),
        region,
        first.handle,
        tuple(dict.fromkeys(write.wait for write in (*writes, *inside))),
        first.dtype,
        "" if first.hidden_in else first.node.device,  # of an op on the CPU, where its variable may be elsewhere
        tuple(dict.fromkeys((variable, *read))),
        read[0] if assigned else None,
        () if inside else _adds(variable, writes, read),  # in there it may be given other numbers
        dict(zip(read, places, strict=True)),
        tuple(dict.fromkeys(write.hidden_in for write in writes if write.hidden_in)),
    )


def _adds(variable: TensorName, writes: Sequence[_Write], read: Sequence[TensorName]) -> tuple[TensorName, ...]:
    """The tensors that are added to `variable`, or to an optimizer's slot: a NaN or infinity in them shows there."""
    if all(write.node.op in INCREMENTS for write in writes):
        return tuple(read)
    ((scope, node), *others) = [(write.scope, write.node) for write in writes]
    given, target = SHOWS.get(node.op, (0, 0))
    if others or not given:
        return ()
    inputs = [scope.resolve(text) for text in scope.body.data_inputs(node)]
    return (inputs[given],) if inputs[target] == variable else ()
