"""Small runs written down in a few rows, for tests of what is asked of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tfdbg_cli.model.calls import Call, RunKind
from tfdbg_cli.model.dtypes import name_of
from tfdbg_cli.model.graph import Graph, GraphKind, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import MemoryTensorStore, Tensor, describe
from tfdbg_cli.model.values import Array, NoValue, Value

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"
OTHER = "/job:localhost/replica:0/task:0/device:CPU:1"
NAN, INF = float("nan"), float("inf")


@dataclass(frozen=True)
class Op:
    """One node and the values of its outputs: `values` holds one for each execution of output 0."""

    name: str
    op_type: str
    inputs: tuple[str, ...] = ()
    values: Sequence[Any] = ()
    device: str = CPU
    control: tuple[str, ...] = ()
    attributes: Mapping[str, str] = field(default_factory=dict)


def op(name: str, op_type: str, *inputs: str, value: Any = None, **more: Any) -> Op:
    """A node that ran once and gave `value`; without one it was not captured."""
    values = more.pop("values", () if value is None else (value,))
    return Op(name, op_type, inputs, values, more.pop("device", CPU), more.pop("control", ()), more)


def name(text: str) -> TensorName:
    """`a` or `a:1` as a tensor name."""
    node, _, slot = text.partition(":")
    return TensorName(node, int(slot or 0))


def made_graph(*ops: Op, kind: GraphKind = GraphKind.RUNTIME) -> Graph:
    """The graph of `ops`."""
    return Graph(
        [Node(o.name, o.op_type, o.device, tuple(map(name, o.inputs)), o.control, o.attributes) for o in ops], kind
    )


def made_run(*ops: Op, feeds: Mapping[str, Any] | None = None, order: Sequence[str] = (), times: bool = True) -> Run:
    """A run of `ops` in the order given, or of the nodes named in `order` (a name as often as it ran)."""
    waiting = {o.name: list(enumerate(o.values)) for o in ops}
    by_name = {o.name: o for o in ops}
    tensors: list[Tensor] = []
    values: list[Value] = []
    for node in order or [o.name for o in ops for _ in o.values]:
        execution, value = waiting[node].pop(0)
        one = by_name[node]
        held = value if isinstance(value, NoValue) else array(value)
        dtype = "resource" if isinstance(held, NoValue) else name_of(held.dtype)
        time_us = 1000 + 10 * len(tensors) if times else None
        tensors.append(
            describe(
                TensorName(node, 0), held, device=one.device, op_type=one.op_type, dtype=dtype, execution=execution,
                time_us=time_us,
            )
        )  # fmt: skip
        values.append(held)
    kind = GraphKind.RUNTIME if times else GraphKind.PYTHON
    call = Call(1, RunKind.SESSION, (f"{ops[-1].name}:0",), dict(feeds or {}))
    return Run(call, MemoryTensorStore(tensors, values), made_graph(*ops, kind=kind))


def array(value: Any) -> Array:
    """Python numbers as float32, arrays as they are."""
    if isinstance(value, np.ndarray | np.generic):
        return np.asarray(value)
    found = np.asarray(value)
    return found.astype(np.float32) if found.dtype.kind == "f" else found
