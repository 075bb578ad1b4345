"""The values of variables before a run, from its snapshot, also as tensors beside their values after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.gathered import GatheredTensors
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.replay import ReplayInput
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import MemoryTensorStore, Tensor, TensorStore, describe
from tfdbg_cli.model.updates import BEFORE_UPDATE, UPDATED_VARIABLE, before_update, updated_variable
from tfdbg_cli.model.values import Array


def with_before(run: Run, held: Mapping[str, Array]) -> Run:
    """`run` with a tensor `VARIABLE/before_update` before each `VARIABLE/after_update` of a variable in `held`."""
    kept: list[tuple[TensorStore, int]] = []
    nodes: list[Node] = []
    for row in range(len(run.tensors)):
        after = run.tensors[row]
        variable = updated_variable(after.node)
        if after.op_type == UPDATED_VARIABLE and variable in held and not run.tensors.named(before_update(variable)):
            tensor = _described(variable, after, held[variable])
            kept.append((MemoryTensorStore([tensor], [held[variable]]), 0))
            nodes.append(Node(tensor.node, BEFORE_UPDATE, "", (TensorName(variable, 0),)))
        kept.append((run.tensors, row))
    if not nodes:
        return run
    known = [node for node in nodes if node.name not in run.graph]
    return replace(run, tensors=GatheredTensors(kept), graph=Graph([*run.graph, *known], run.graph.kind))


def _described(variable: str, after: Tensor, value: Array) -> Tensor:
    return describe(
        TensorName(before_update(variable), 0), value, device=after.device, op_type=BEFORE_UPDATE, dtype=after.dtype
    )


def held_variables(run: Run) -> Sequence[ReplayInput]:
    """The variables that `run` wrote, as they were before it; none when it cannot be made again."""
    if run.replayable is None:
        return ()
    try:
        return run.replayable.replay_spec().variables
    except TfdbgError:  # a part of it perhaps can be all the same
        return ()
