"""Twins: second computations of values that checks must not read, since the graph optimizer merges them.

A check is one more reader of what it looks at. Where the optimizer would merge that value with its one reader, and
the merged op rounds otherwise (definition/mergeable.py), the check looks at a twin: the same op on the same inputs.
An attribute tells twins from originals, or the optimizer would make one op of both.
"""

from __future__ import annotations

from collections.abc import Collection

from tfdbg_cli.capture.functions.definition.body import ReferenceTarget
from tfdbg_cli.capture.functions.definition.call_tree import Scope
from tfdbg_cli.capture.functions.definition.edit import Edit
from tfdbg_cli.capture.functions.definition.mergeable import SAME, rounding_apart
from tfdbg_cli.capture.functions.definition.own_names import marked
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.types import NodeDef
from tfdbg_cli.ops.kinds import CALLS, RESHAPES

TWIN = "_tfdbg_twin"  # the attribute that tells it


def has_twin(node: NodeDef) -> bool:
    """Whether an op may be computed twice: it has no state and no side effect, and calls nothing."""
    definition = compat.op_definition(node.op)
    return definition is not None and not definition.is_stateful and node.op not in CALLS


class Twins:
    """The twins in the function of `scope`, which `edit` changes. Each is made when it is first asked for.

    `with_nan` says that NaN in a run goes unnoticed, so that its results must be those of an unwatched run even then.
    `apart` are sources that were found to be merged, although the tables in `mergeable` do not say so.
    """

    def __init__(self, edit: Edit, scope: Scope, *, with_nan: bool, apart: Collection[ReferenceTarget] = ()) -> None:
        self._edit = edit
        self._body = scope.body
        self._apart = rounding_apart(scope, with_nan=with_nan).union(apart)
        self._made: dict[str, str] = {}

    def instead_of(self, reference: str) -> str:
        """The reference that a check may read for the value of `reference`: that of its twin if it is merged."""
        source = self._body.source(reference)
        if source.node is None or not self._is_merged(source):
            return reference
        node = self._body.nodes[source.node]
        if node.op in SAME:
            return self.instead_of(self._body.data_inputs(node)[source.slot])
        return reference.replace(source.node, self._twin(node), 1) if has_twin(node) else reference

    def _is_merged(self, source: ReferenceTarget) -> bool:
        """Whether `source` is merged, or passes on a value that is."""
        while source.node is not None and source not in self._apart:
            node = self._body.nodes[source.node]
            if node.op not in SAME and node.op not in RESHAPES:
                return False
            source = self._body.source(self._body.data_inputs(node)[source.slot])
        return source.node is not None

    def _twin(self, node: NodeDef) -> str:
        if node.name not in self._made:
            inputs = [text if text.startswith("^") else self.instead_of(text) for text in node.input]
            made = self._edit.add(marked(node.name, 0), node.op, inputs, node.device)
            for name, value in node.attr.items():
                made.attr[name].CopyFrom(value)
            made.attr[TWIN].b = True
            self._edit.tell_reads(made, node.input)
            self._made[node.name] = made.name
        return self._made[node.name]
