"""What a user's filter gets to see of a tensor, under the names TensorFlow's tfdbg gave it."""

from __future__ import annotations

from dataclasses import dataclass

from tfdbg_cli.analysis.graph.nodes.roles import Role, role_of
from tfdbg_cli.model.calls import Call
from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import Tensor, TensorStore
from tfdbg_cli.model.values import Value
from tfdbg_cli.ops.undefined_outputs import is_undefined_in

EMPTY_GRAPH = Graph()


@dataclass(frozen=True, slots=True)
class TensorDatum:
    """The first argument of a filter: one tensor of a run, as `DebugTensorDatum` of TensorFlow's debug_data.

    `timestamp` counts microseconds from the epoch (0 where the capture keeps no times), `dump_size_bytes` is the
    size of the values (0 where it is unknown).

    Beyond what TensorFlow has: `op_type`, `role`, the `graph` of the run and its `call`, and `earlier`, the run of
    the same function before it where its values are held.
    """

    tensor: Tensor
    store: TensorStore
    index: int
    graph: Graph = EMPTY_GRAPH
    earlier: Run | None = None
    call: Call | None = None

    @property
    def op_type(self) -> str:
        """The type of the node's op, as the graph has it."""
        node = self.graph.find(self.tensor.node)
        return self.tensor.op_type if node is None else node.op_type

    @property
    def role(self) -> Role:
        """Whether the node is of the forward pass, of the gradients or of the update."""
        return role_of(self.graph, self.tensor.node, self.op_type)

    @property
    def undefined(self) -> bool:
        """Whether the kernel leaves this output as the memory happened to be: what it holds means nothing."""
        return is_undefined_in(self.graph, self.tensor.name)

    @property
    def device_name(self) -> str:
        return self.tensor.device

    @property
    def node_name(self) -> str:
        return self.tensor.node

    @property
    def output_slot(self) -> int:
        return self.tensor.slot

    @property
    def debug_op(self) -> str:
        return "DebugIdentity"

    @property
    def timestamp(self) -> int:
        return self.tensor.time_us or 0

    @property
    def tensor_name(self) -> str:
        """`node:slot`."""
        return str(self.tensor.name)

    @property
    def watch_key(self) -> str:
        """`node:slot:DebugIdentity`."""
        return f"{self.tensor.name}:{self.debug_op}"

    @property
    def dump_size_bytes(self) -> int:
        return self.tensor.nbytes or 0

    @property
    def file_path(self) -> str | None:
        """Always None: where a value lies is the store's affair, and it may lie in memory."""
        return None

    def get_tensor(self) -> Value:
        """The array, or why there is none."""
        return self.store.value(self.index)


def datum_of(run: Run, index: int, earlier: Run | None = None) -> TensorDatum:
    """What a filter sees of the tensor at `index` of `run`; `earlier` is the run of the same function before it."""
    return TensorDatum(run.tensors[index], run.tensors, index, run.graph, earlier, run.call)
