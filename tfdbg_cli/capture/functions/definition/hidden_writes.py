"""Variables that are written in functions which ops call for themselves: the turns of a loop over a dataset are one.

Nothing of such a function is seen from the function that has the op. What is known is which handles it is given, and
that it may have run once the op has, or an op that is given what the first one gave: `ReduceDataset` runs what
`ScanDataset` is told to do with each element.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tfdbg_cli.capture.functions.definition.body import Body, Library, attribute_of
from tfdbg_cli.capture.functions.definition.call_tree import CallTree, Scope
from tfdbg_cli.capture.functions.definition.called_functions import named_by
from tfdbg_cli.capture.tf.types import NodeDef
from tfdbg_cli.model.dtypes import RESOURCE
from tfdbg_cli.model.walks import reached
from tfdbg_cli.ops.effects import updates_variable
from tfdbg_cli.ops.kinds import CALLS

_DEEPEST = 4  # such ops, each in a function that the one before calls


@dataclass(frozen=True, slots=True)
class HiddenWrite:
    """A variable that is written so: the reference by which the op is given it, the number of its element type."""

    handle: str
    dtype: int


def hidden_writes(body: Body, node: NodeDef, depth: int = 0) -> Iterator[HiddenWrite]:
    """The variables, among those that `node` of `body` is given, that functions write which it calls for itself."""
    functions = () if node.op in CALLS or depth >= _DEEPEST else tuple(named_by(node))
    handles = body.handles(node) if functions else []
    for name in functions if handles else ():
        written = _written(name, depth)
        for position, handle in enumerate(handles):
            if position in written and len(written) <= len(handles):
                yield HiddenWrite(handle, written[position])


def _written(function: str, depth: int) -> dict[int, int]:
    """By their place among the handles given to `function`, the element types of the variables that it writes."""
    try:
        root = CallTree(Library()).grow(function)
    except LookupError:
        return {}
    arguments = zip(root.argument_names, root.body.argument_types, strict=True)
    given = [name for name, dtype in arguments if dtype == RESOURCE]
    found: dict[int, int] = {}
    for scope in root.all():
        for node in scope.needed.nodes:
            if updates_variable(node.op):
                dtype = int(attribute_of(node, "dtype") or attribute_of(node, "T"))
                writes = [HiddenWrite(handle, dtype) for handle in scope.body.handles(node)]
            else:
                writes = list(hidden_writes(scope.body, node, depth + 1))
            for write in writes:
                variable = scope.resolve(write.handle).node
                if variable in given:
                    found.setdefault(given.index(variable), write.dtype)
    return found


def running(scope: Scope, node: NodeDef) -> list[str]:
    """The nodes of `scope` in which functions of `node` may run: those that get its handles, and itself.

    It stands last, since the program's line of such a write is its own.
    """
    body = scope.body
    readers: dict[str, list[str]] = {}
    for other in scope.needed.nodes:
        for text in body.data_inputs(other):
            source = body.source(text)
            outputs = () if source.node is None else body.outputs(source.node)
            if source.node is not None and source.slot < len(outputs) and not outputs[source.slot].returnable:
                readers.setdefault(source.node, []).append(other.name)
    return list(reached([node.name], lambda name: readers.get(name, ())))[::-1]
