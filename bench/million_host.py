"""A stop at a run of very many tensors, on the real screen: `screen_at_a_million` starts it in a terminal.

`python -m bench.million_host COUNT`: what they hold is made as it is looked at, so nothing is read from a file.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import overload

import numpy as np

from tfdbg_cli.analysis.watch.filters import BUILT_IN_FILTERS
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.model.calls import Call, RunKind
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run, RunEnd
from tfdbg_cli.model.tensors import MemoryTensorStore, Tensor
from tfdbg_cli.model.values import Array
from tfdbg_cli.tui.frontend import TuiFrontend

_DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"
_OPS = ("MatMul", "Relu", "AddV2", "Mul", "Softmax", "Sum", "Cast")
_NODES = 100_000  # of the graph: a part of it is enough for previews


def _name_at(index: int) -> str:
    """The name of the node that made the tensor at `index`; the same letters stand in very many of them."""
    return f"model/layer_{index * 7919 % 997}/{_OPS[index % 7].lower()}_{index}"


def _described(index: int) -> Tensor:
    length = 16 + index * 31 % 64
    name = TensorName(_name_at(index), 0)
    return Tensor(name, _DEVICE, 0, "float32", (length, 8), 32 * length, 10 * index, _OPS[index % 7])


class _Values(Sequence[Array]):
    """What they hold: one in some thousands has a NaN in it."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Array: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Array]: ...

    def __getitem__(self, index: int | slice) -> Array | Sequence[Array]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(self._count))]
        value = np.full((16 + index * 31 % 64, 8), index % 1009, np.float32)
        if index % 4999 == 17:
            value[3, 1] = np.nan
        return value


def _run(count: int) -> Run:
    names = [TensorName(_name_at(index), 0) for index in range(min(count, _NODES))]
    nodes = [
        Node(name.node, _OPS[index % 7], _DEVICE, (names[index - 1],) if index else ())
        for index, name in enumerate(names)
    ]
    store = MemoryTensorStore([_described(index) for index in range(count)], _Values(count))
    return Run(Call(1, RunKind.SESSION, (str(names[-1]),)), store, Graph(nodes))


def main() -> None:
    """Stop once, and end with the screen."""
    front = TuiFrontend(standard_registry(), Settings(), BUILT_IN_FILTERS, opening=lambda event: "lt")
    front.stop(RunEnd(_run(int(sys.argv[1]))))


if __name__ == "__main__":
    main()
