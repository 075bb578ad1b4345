"""Which part of a flat function is computed from some tensors, and what of it is left as it was."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tfdbg_cli.capture.function.definition.call_tree import CallSite
from tfdbg_cli.capture.function.definition.flat import FlatFunction, FlatNode
from tfdbg_cli.capture.what_if.effects import Effect, effect_of
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.dtypes import RESOURCE, element_type
from tfdbg_cli.model.names import TensorName


@dataclass
class Slice:
    """The nodes `again` (of a flat function, or ops of a session's graph) that are computed from replaced tensors.

    The names of those that are not computed again:
    `writes` change variables, `drawn` gave what no second run would give, `late` read a variable after its update.
    """

    again: dict[str, Any] = field(default_factory=dict)
    writes: list[str] = field(default_factory=list)
    drawn: list[str] = field(default_factory=list)
    late: list[str] = field(default_factory=list)


class Edges:
    """Who reads what in a flat function, and which nodes write to which resource."""

    def __init__(self, flat: FlatFunction) -> None:
        self._flat = flat
        self._readers: dict[TensorName, list[FlatNode]] = {}
        self._writers: dict[TensorName, list[str]] = {}
        for node in flat.nodes.values():
            for name in dict.fromkeys(node.inputs):
                self._readers.setdefault(name, []).append(node)
                if _type_of(flat, name) == RESOURCE and writes(node):
                    self._writers.setdefault(name, []).append(node.name)

    def after(self, starts: Iterable[TensorName]) -> Slice:
        """What is computed from `starts`.

        Raises:
            TfdbgError: it reaches into a loop or branch of version 1.

        """
        found = Slice()
        fixed = set(starts)
        waiting, seen = list(fixed), set[str]()
        while waiting:
            for node in self._readers.get(waiting.pop(), ()):
                if node.name in seen or not _was_needed(node):
                    continue
                seen.add(node.name)
                kept = self._list_where_kept(node, found)
                if kept is not None:
                    kept.append(node.name)
                    continue
                found.again[node.name] = node
                waiting.extend(name for name in outputs_of(self._flat, node) if name not in fixed)
        found.again = {name: found.again[name] for name in self._flat.nodes if name in found.again}
        return found

    def _list_where_kept(self, node: FlatNode, found: Slice) -> list[str] | None:
        """The list of those that stay as they are, and why, to which `node` belongs; None if it runs again."""
        if node.scope is not None and node.template.name in node.scope.needed.hidden:
            raise TfdbgError(
                f"{node.name} is in a loop or a branch of version 1 inside a function: no part of it can run alone.",
                hint="Replace a tensor behind the loop.",
            )
        effects = set(effects_in(node))
        if Effect.DRAW in effects or Effect.DRAW_FROM_VARIABLE in effects:
            return found.drawn
        if site_of(node) is None and Effect.WRITE in effects:
            return found.writes
        if self.is_late(node):
            return found.late
        return None

    def is_late(self, node: FlatNode) -> bool:
        """Whether `node` sees a variable after the run has changed it."""
        writers = {writer for name in node.inputs for writer in self._writers.get(name, ()) if writer != node.name}
        return bool(writers) and not writers.isdisjoint(self._before(node))

    def is_written(self, resource: TensorName) -> bool:
        """Whether the function writes to what the handle `resource` leads to."""
        return bool(self._writers.get(resource))

    def _before(self, node: FlatNode) -> Iterator[str]:
        """The names of the nodes that certainly ran before `node`."""
        seen: set[str] = set()
        waiting = [node]
        while waiting:
            one = waiting.pop()
            for name in (*(tensor.node for tensor in one.inputs), *one.controls, *one.through):
                before = self._flat.nodes.get(name)
                if before is not None and name not in seen:
                    seen.add(name)
                    yield name
                    waiting.append(before)

    def readers(self, name: TensorName) -> Collection[FlatNode]:
        """The nodes that read the tensor `name`."""
        return self._readers.get(name, ())


def _was_needed(node: FlatNode) -> bool:
    return node.scope is not None and node.template.name in node.scope.needed.slots


def site_of(node: FlatNode) -> CallSite | None:
    """The branch, loop or compiled call that `node` is."""
    return None if node.scope is None else node.scope.calls.get(node.template.name)


def outputs_of(flat: FlatFunction, node: FlatNode) -> Iterator[TensorName]:
    """The tensors that `node` gives."""
    if node.scope is not None:
        for slot in range(len(node.scope.body.outputs(node.template.name))):
            yield TensorName(node.name, slot)


def effects_in(node: FlatNode) -> Iterator[Effect]:
    """What `node` does, and all that is in the functions that it calls."""
    site = site_of(node)
    if site is None:
        yield effect_of(node.op_type)
        return
    for scope in site.scopes:
        for inner in scope.all():
            yield from (effect_of(one.op) for one in inner.needed.nodes if one.name not in inner.calls)


def writes(node: FlatNode) -> bool:
    """Whether `node`, or what it calls, changes a variable that it is given."""
    return not {Effect.WRITE, Effect.DRAW_FROM_VARIABLE}.isdisjoint(effects_in(node))


def _type_of(flat: FlatFunction, name: TensorName) -> int:
    try:
        return flat.type_of(name)
    except KeyError:
        return 0


def is_handle(flat: FlatFunction, name: TensorName) -> bool:
    """Whether `name` holds no numbers: a resource or a variant."""
    return element_type(_type_of(flat, name)).numpy is None
