"""Bad data that a tf.where keeps from the result, but not from the gradient, which multiplies it by 0."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.analysis.graph.nodes.roles import Role, is_gradient, role_of
from tfdbg_cli.model.dtypes import HANDLES
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.walks import reached
from tfdbg_cli.ops.kinds import INPUTS, SELECTS


def masked_in_forward(
    run: Run, lineage: Lineage, given: Node | None, rows: Sequence[int], bad: Callable[[int], bool]
) -> str:
    """The name of the tf.where that hides bad input data, `given`, in the forward pass; empty if there is none.

    Only if gradients are bad, but no result of the forward pass. `rows` are the bad tensors in order of execution.
    """
    if given is None or not (given.op_type in INPUTS or lineage.delivers(given)):
        return ""
    graph = lineage.graph_of(given)
    nodes = {run.tensors[row].node for row in rows}
    gradients = [name for name in nodes if is_gradient(graph, name)]
    if not gradients or _reaches_result(run, graph, nodes, gradients):
        return ""
    spoiled = set(
        reached([given.name], lambda name: (one.name for one, _ in graph.consumers(name) if one.name in nodes))
    )
    for row in rows:
        tensor = run.tensors[row]
        if tensor.node not in spoiled:  # what else is bad has nothing to do with the data
            continue
        for reader, slot in graph.consumers(tensor.node):
            forward = role_of(graph, reader.name, reader.op_type) is Role.FORWARD  # an optimizer clips by a choice
            if reader.op_type not in SELECTS or slot != tensor.slot or not forward:
                continue
            turns = [i for i in run.tensors.named(reader.name) if run.tensors[i].execution == tensor.execution]
            if tensor.name in reader.inputs[1:] and turns and not any(map(bad, turns)):
                return reader.name
    return ""


def _reaches_result(run: Run, graph: Graph, nodes: Iterable[str], gradients: Iterable[str]) -> bool:
    """Whether one of the `nodes` leads to a result of the forward pass, which no op of that pass reads, as the loss.

    Not counting what is computed from `gradients`, such as their norm. Ops that did not run are followed, since the
    gradients do not need the loss itself, but not a tf.where, which may have chosen something else.
    """

    def readers(name: str) -> Iterator[str]:
        return (reader.name for reader, _ in graph.consumers(name))

    def is_forward(name: str) -> bool:
        node = graph.find(name)
        return node is not None and role_of(graph, name, node.op_type) is Role.FORWARD

    behind = set(reached(gradients, readers))
    own = {name for name in nodes if name not in behind and is_forward(name)}

    def forward(name: str) -> list[str]:
        return list(filter(is_forward, readers(name)))

    def may_choose(name: str) -> bool:
        return name not in own and graph.node(name).op_type in SELECTS

    def is_shown(name: str) -> bool:  # of an Optional, in which Keras hands on the loss, nobody sees what it holds
        return any(run.tensors[row].dtype not in HANDLES for row in run.tensors.named(name))

    last = (name for name in own if not any(map(is_shown, forward(name))))
    left = reached(last, lambda name: () if may_choose(name) else forward(name))
    return any(not forward(name) and not may_choose(name) for name in left)
