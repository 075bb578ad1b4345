"""Which tensors a request admits, by name, op type and dtype."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from tfdbg_cli.capture.tf.opaque import dtype_name
from tfdbg_cli.capture.tf.types import SymbolicTensor
from tfdbg_cli.model.decision import CaptureRequest


@lru_cache(maxsize=64)
def chooser(request: CaptureRequest, excluded: str = "", ignored: frozenset[str] = frozenset()) -> Chooser:
    """The test that says which tensors `request` asks for; not those of nodes that are `excluded` or `ignored`."""
    regexes = (request.node_name_filter, request.op_type_filter, request.tensor_dtype_filter, excluded)
    return Chooser(ignored, *(re.compile(text) if text else None for text in regexes))


@dataclass(frozen=True, slots=True)
class Chooser:
    """Regexes that all must be found: in the node's name, its op type, the tensor's dtype.

    Left out are nodes whose names `excluded` finds, and those that are `ignored`.
    """

    ignored: frozenset[str]
    node: re.Pattern[str] | None
    op_type: re.Pattern[str] | None
    dtype: re.Pattern[str] | None
    excluded: re.Pattern[str] | None

    def admits(self, tensor: SymbolicTensor) -> bool:
        """Whether `tensor` (a tf.Tensor in a graph) is asked for."""
        return self.admits_named(tensor.op.name, tensor.op.type, dtype_name(tensor))

    def admits_named(self, node: str, op_type: str, dtype: str) -> bool:
        """Whether a tensor of `node` with these names is asked for."""
        if node in self.ignored or (self.excluded is not None and self.excluded.search(node)):
            return False
        return (
            (self.node is None or bool(self.node.search(node)))
            and (self.op_type is None or bool(self.op_type.search(op_type)))
            and (self.dtype is None or bool(self.dtype.search(dtype)))
        )
