"""The tensors of a dump directory, read file by file when somebody looks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from operator import itemgetter

import numpy as np

from tfdbg_cli.formats.dumps.listing import VALUE_OP, DumpFile
from tfdbg_cli.formats.messages.event_file import read_tensor, tensor_facts
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.tensors import Tensor
from tfdbg_cli.model.values import NoValue, Value
from tfdbg_cli.model.walks import needs_first

_TIME = itemgetter(DumpFile._fields.index("time_us"))


def shown_name(file: DumpFile) -> TensorName:
    """The tensor's name; a summary of it made by another debug op is a tensor of its own, `node_slot_DebugOp:0`."""
    if file.debug_op == VALUE_OP:
        return TensorName(file.node, file.slot)
    return TensorName(f"{file.node}_{file.slot}_{file.debug_op}", 0)


def debug_op_nodes(files: Sequence[DumpFile]) -> list[Node]:
    """A node for each summary in `files`, reading the tensor that it sums up."""
    nodes = {
        (file.device, shown_name(file).node): Node(
            shown_name(file).node, file.debug_op, file.device, (TensorName(file.node, file.slot),)
        )
        for file in files
        if file.debug_op != VALUE_OP
    }
    return list(nodes.values())


class DumpTensorStore:
    """Tensors in files, in order of time over all devices. A row reads a header, a value reads its file.

    `graph` tells the op types. Without times (`timed` false) the order alone counts. `lacks` tells, by path, why
    there is no value where the file does not.
    """

    def __init__(
        self, files: Sequence[DumpFile], graph: Graph, lacks: Mapping[str, NoValue], timed: bool = True
    ) -> None:
        self._files = files
        self._graph = graph
        self._lacks = lacks
        self._timed = timed
        self._rows: list[Tensor | None] = [None] * len(files)
        self._executions: dict[str, dict[int, int]] = {}  # by node and index, of those that were asked for
        nodes = [file.node if file.debug_op == VALUE_OP else shown_name(file).node for file in files]
        self._first = dict(zip(nodes, range(len(nodes)), strict=True))  # by node
        self._several: dict[str, list[int]] = {}  # of nodes with more tensors than that one
        if len(self._first) != len(nodes):
            self._tell_apart(nodes)

    def _tell_apart(self, nodes: Sequence[str]) -> None:
        self._first = {}
        for index, node in enumerate(nodes):
            known = self._first.setdefault(node, index)
            if known != index:  # no list is made for those that need none, of which there can be very many
                self._several.setdefault(node, [known]).append(index)

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, index: int) -> Tensor:
        row = self._rows[index]
        if row is None:
            row = self._rows[index] = self._describe(index % len(self._files))
        return row

    def _describe(self, index: int) -> Tensor:
        file = self._files[index]
        facts = tensor_facts(file.path)
        name = shown_name(file)
        return Tensor(
            name=name,
            device=file.device,
            execution=self._execution(name.node, index),
            dtype=facts.dtype,
            shape=facts.shape,
            nbytes=facts.nbytes,
            time_us=file.time_us if self._timed else None,
            op_type=self._op_type(index),
        )

    def _execution(self, node: str, index: int) -> int:
        """Which dump of its tensor the one at `index` is, from 0; `node` is the node that it is shown with."""
        known = self._executions.get(node)
        if known is None:
            known = self._executions[node] = {}
            count: Counter[tuple[str, str, int, str]] = Counter()
            for each in self.named(node):
                file = self._files[each]
                key = (file.device, file.node, file.slot, file.debug_op)
                known[each] = count[key]
                count[key] += 1
        return known[index]

    def _op_type(self, index: int) -> str:
        file = self._files[index]
        name = shown_name(file).node
        node = self._graph.find(name, file.device) or self._graph.find(name)
        return node.op_type if node else ""

    def _name(self, index: int) -> tuple[str, int]:
        name = shown_name(self._files[index])
        return name.node, name.slot

    def device(self, index: int) -> str:
        return self._files[index].device

    def order(self, key: str, reverse: bool) -> Sequence[int] | None:
        """All indices, sorted by what names of files and the graph tell; None where every header would have to."""
        told: dict[str, Callable[[int], str | tuple[str, int]]] = {
            "tensor_name": self._name,
            "op_type": self._op_type,
            "device": self.device,
        }
        return sorted(range(len(self._files)), key=told[key], reverse=reverse) if key in told else None

    def value(self, index: int) -> Value:
        path = self._files[index].path
        return self._lacks.get(path) or read_tensor(path)

    def in_file(self, index: int) -> bool:
        """True: nothing else has the values."""
        return True

    def named(self, node: str, slot: int | None = None) -> Sequence[int]:
        found = self._several.get(node) or ([self._first[node]] if node in self._first else [])
        if slot is None:
            return found
        return [index for index in found if shown_name(self._files[index]).slot == slot]

    def nodes(self) -> Sequence[str]:
        return self._nodes

    @cached_property
    def _nodes(self) -> Sequence[str]:
        return list(self._first)


def in_order(files: list[DumpFile], graph: Graph) -> list[DumpFile]:
    """`files` by time over all devices; of one microsecond, what is read comes before what reads it."""
    times = np.fromiter(map(_TIME, files), np.int64, len(files))
    order = np.argsort(times, kind="stable")
    by_time = [files[at] for at in order.tolist()]
    if np.diff(times[order]).all():
        return by_time
    ordered: list[DumpFile] = []
    for _, tied in groupby(by_time, key=_TIME):
        group = list(tied)
        ordered.extend(group if len(group) == 1 else _inputs_first(sorted(group), graph))
    return ordered


def _inputs_first(group: list[DumpFile], graph: Graph) -> list[DumpFile]:
    places = dict.fromkeys((file.device, file.node) for file in group)

    def read_by(place: tuple[str, str]) -> list[tuple[str, str]]:
        device, name = place
        node = graph.find(name, device)
        read = [(device, tensor.node) for tensor in (node.inputs if node else ())]
        return [one for one in read if one in places]

    rank = {place: at for at, place in enumerate(needs_first(places, read_by))}
    return sorted(group, key=lambda file: (rank[file.device, file.node], file.repeat, file.slot))
