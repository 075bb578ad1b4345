"""Two workers of a job, or replicas: what they were given differs by nature, what they share must not.

A worker trains on a batch of its own, so what is computed of it differs. What all workers get from one another (the
sum of their gradients), what is computed of that alone, and the weights that it updates are to be equal on all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

from tfdbg_cli.analysis.causes.collectives import COLLECTIVES
from tfdbg_cli.analysis.difference.compared import DIFFERENT, TensorFate, Verdict
from tfdbg_cli.analysis.difference.divergence import InputGap, Judge
from tfdbg_cli.analysis.difference.drawn_data import is_drawn
from tfdbg_cli.analysis.graph.flow.deliveries import delivers
from tfdbg_cli.analysis.graph.nodes.roles import Role, role_of
from tfdbg_cli.model.calls import Call
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.names import parse_tensor_name
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.updates import UPDATED_VARIABLE
from tfdbg_cli.model.walks import reached
from tfdbg_cli.ops.effects import draws_numbers, updates_variable
from tfdbg_cli.ops.kinds import REFERENCE_VARIABLES, VARIABLE_READS

# What each worker gets a part of its own from.
_PARTS = {
    "CollectiveReduceScatterV2", "XlaReduceScatter", "CollectiveAllToAllV2", "CollectiveAllToAllV3", "AllToAll",
    "CollectivePermute",
}  # fmt: skip
_MOST_FOLLOWED = 2_000  # nodes, on the way to what updates a variable
_VARIABLES = VARIABLE_READS | REFERENCE_VARIABLES


def of_two_workers(first: Call, second: Call) -> bool:
    """Whether two calls are of different workers that recorded together."""
    return bool(first.worker and second.worker) and first.worker != second.worker


def without_own_data(
    run: Run, judge: Judge, verdicts: Sequence[Verdict], common: Collection[str] = frozenset()
) -> Sequence[Verdict]:
    """`verdicts` where what differs by nature is said to; what is to be equal and is not counts as a divergence.

    `run` is the first of the two that `judge` has judged, `verdicts` are in the order in which it ran. `common` are
    the nodes that compute for both.
    """
    given = _Given(run, common)
    own: set[int] = set()
    found = []
    for verdict in verdicts:
        if verdict.state not in DIFFERENT:
            found.append(verdict)
            continue
        inputs = judge.inputs(verdict.rows)
        read = [one.rows[0] for one in inputs if one.state in DIFFERENT]
        of_own_data = any(row in own for row in read) or any(map(given.is_drawn, inputs)) or _differed(judge, verdict)
        of_own_data = of_own_data or any(one.by_nature for one in inputs)
        if given.is_shared(verdict):
            state = TensorFate.NEW if of_own_data or not read else verdict.state
        elif of_own_data or (not read and given.is_own(verdict)):
            own.add(verdict.rows[0])
            state = TensorFate.OWN_DATA
        else:
            state = verdict.state
        found.append(replace(verdict, state=state))
    return found


def _differed(judge: Judge, verdict: Verdict) -> bool:
    """Whether it gives a variable that differs by nature since an earlier run, as a mean that a layer keeps does."""
    left = None if verdict.gap is None else judge.as_left(verdict.rows, verdict.gap)
    return left is not None and left.by_nature


class _Given:
    """What is to be the same for all that train together, and what each is given for itself, in the run of one."""

    def __init__(self, run: Run, common: Collection[str]) -> None:
        self._run = run
        self._common = common
        self._captured = {one.name.partition(":")[0] for one in run.call.arguments if one.captured}

    def is_shared(self, verdict: Verdict) -> bool:
        """Whether all are to have the same there, whatever each was given."""
        tensor = self._run.tensors[verdict.rows[0]]
        if tensor.op_type in COLLECTIVES:
            return tensor.op_type not in _PARTS
        if tensor.op_type != UPDATED_VARIABLE:
            return False
        node = self._run.graph.find(tensor.node)
        return node is not None and self._is_trained(node)

    def is_own(self, verdict: Verdict) -> bool:
        """Whether it comes from outside: a batch, random numbers. A weight does not: all begin with the same.

        Nor does a constant, unless it is an integer: the number of the worker, or a seed.
        """
        tensor = self._run.tensors[verdict.rows[0]]
        node = self._run.graph.find(tensor.node)
        if draws_numbers(tensor.op_type) or (node is not None and delivers(self._run.graph, node)):
            return True
        if tensor.op_type in VARIABLE_READS and node is not None:
            return self._is_counted(node)
        if tensor.op_type in _VARIABLES or tensor.node in self._captured or (node is not None and node.inputs):
            return False
        return tensor.op_type != "Const" or tensor.dtype.startswith(("int", "uint"))

    def is_drawn(self, read: InputGap) -> bool:
        """Whether an op read what it drew from a pipeline for itself, where another drew something else."""
        if not read.other and read.gap is not None:
            return False  # a pair, of which its own verdict tells
        if read.gap is not None and read.gap.exact:
            return False
        name = parse_tensor_name(read.names[0])
        return name is not None and is_drawn(self._run.graph, name)

    def _is_trained(self, updated: Node) -> bool:
        """Whether a gradient updates the variable: a metric, or the mean that a layer keeps, may differ by worker."""

        def is_of_gradient(node: Node) -> bool:
            return node.op_type in COLLECTIVES or role_of(self._run.graph, node.name, node.op_type) is Role.GRADIENT

        return any(map(is_of_gradient, self._behind(updated, self._read_by)))

    def _is_counted(self, read: Node) -> bool:
        """Whether each updates the variable of what it was given, without the others: earlier steps did so, too."""
        variable = next((tensor.node for tensor in read.inputs), "")
        readers = [one for one, _ in self._run.graph.consumers(variable)]
        updated = [one for one in readers if one.op_type == UPDATED_VARIABLE or updates_variable(one.op_type)]

        def further(node: Node) -> list[Node]:
            together = node.op_type in COLLECTIVES or node.name in self._common
            return [] if together else self._read_by(node)

        def is_given(node: Node) -> bool:
            outside = not node.inputs and node.op_type not in {*_VARIABLES, "Const", "VarHandleOp"}
            outside = outside and node.name not in self._captured
            drawn = any(is_drawn(self._run.graph, tensor) for tensor in node.inputs)
            return delivers(self._run.graph, node) or (node.name not in self._common and (outside or drawn))

        return any(not self._is_trained(one) and any(map(is_given, self._behind(one, further))) for one in updated)

    def _read_by(self, node: Node) -> list[Node]:
        return [found for name in node.inputs if (found := self._run.graph.find(name.node)) is not None]

    def _behind(self, updated: Node, further: Callable[[Node], list[Node]]) -> Iterator[Node]:
        """What the variable is updated with, and all that this was made of."""
        return reached(self._read_by(updated)[1:], further, most=_MOST_FOLLOWED)
