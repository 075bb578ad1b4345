"""Which part of a flat function is computed from given tensors."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from tfdbg_cli.capture.functions.definition.flat import FlatFunction, FlatNode
from tfdbg_cli.capture.what_if.effects import WRITES, RerunEffect, effect_of
from tfdbg_cli.capture.what_if.kept_draws import why_not_drawn
from tfdbg_cli.capture.what_if.slices import Kept, RunEdges
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.dtypes import RESOURCE
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.walks import reached


class FunctionEdges(RunEdges[FlatNode, TensorName]):
    """Who reads what in a flat function, and which nodes write to which resource."""

    def __init__(self, flat: FlatFunction) -> None:
        self._flat = flat
        self._readers: dict[TensorName, list[FlatNode]] = {}
        self._writers: dict[TensorName, list[str]] = {}
        for node in flat.nodes.values():
            for name in dict.fromkeys(node.inputs):
                if node.is_needed:
                    self._readers.setdefault(name, []).append(node)
                if _type_of(flat, name) == RESOURCE and writes(node):
                    self._writers.setdefault(name, []).append(node.name)

    @property
    def nodes(self) -> Mapping[str, FlatNode]:
        return self._flat.nodes

    def readers(self, tensor: TensorName) -> Collection[FlatNode]:
        return self._readers.get(tensor, ())

    def outputs(self, node: FlatNode) -> Sequence[TensorName]:
        return node.outputs

    def writers_beside(self, node: FlatNode) -> set[str]:
        return {writer for name in node.inputs for writer in self._writers.get(name, ()) if writer != node.name}

    def before(self, node: FlatNode) -> Iterator[str]:
        def needs(name: str) -> list[str]:
            return [other for other in self.nodes[name].needs if other in self.nodes]

        return reached(needs(node.name), needs)

    def why_kept(self, node: FlatNode) -> Kept | None:
        if node.is_hidden:
            raise TfdbgError(
                f"{node.name} is in a loop or a branch of version 1 inside a function: no part of it can run alone.",
                hint="Replace a tensor behind the loop.",
            )
        drawn = why_not_drawn(_op_types_in(node))
        if drawn is not None:
            return drawn
        if node.site is None and RerunEffect.WRITE in effects_in(node):
            return Kept.WRITES
        return Kept.LATE if self.is_late(node) else None

    def is_written(self, resource: TensorName) -> bool:
        """Whether the function writes to what the handle `resource` leads to."""
        return bool(self._writers.get(resource))


def effects_in(node: FlatNode) -> Iterator[RerunEffect]:
    """What `node` does, and all that is in the functions that it calls."""
    return map(effect_of, _op_types_in(node))


def _op_types_in(node: FlatNode) -> Iterator[str]:
    if node.site is None:
        yield node.op_type
        return
    for scope in node.site.scopes:
        for inner in scope.all():
            yield from (one.op for one in inner.needed.nodes if one.name not in inner.calls)


def writes(node: FlatNode) -> bool:
    """Whether `node`, or what it calls, changes a variable that it is given."""
    return not WRITES.isdisjoint(effects_in(node))


def _type_of(flat: FlatFunction, name: TensorName) -> int:
    try:
        return flat.type_of(name)
    except KeyError:
        return 0
