"""The consequences of an origin: how many later tensors are bad, and which results and variables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tfdbg_cli.analysis.graph.flow.last_update import variable_shown
from tfdbg_cli.analysis.graph.making.lineage import Lineage, variable_of
from tfdbg_cli.analysis.graph.nodes.neighbours import Edge
from tfdbg_cli.model.names import tensor_name_of
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.updates import UPDATED_VARIABLE
from tfdbg_cli.ops.effects import updates_variable

_BUDGET = 1 << 30  # bytes of values read to count what was spoiled; the origin itself needs fewer


@dataclass(frozen=True, slots=True)
class Aftermath:
    """Of `total` tensors after the origin, `seen` were looked at, and `bad` of those are bad.

    `results` are the bad fetches of a session or results of a function, `variables` those that are bad after their
    update or were updated with something bad. `asked_by` is an IsFinite op of the program that tested a bad tensor,
    as loss scaling in half precision does before an update. Unless `complete`, these three are empty.
    """

    bad: int
    seen: int
    total: int
    results: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    asked_by: str = ""

    @property
    def complete(self) -> bool:
        """Whether all tensors after the origin were looked at."""
        return self.seen == self.total

    @property
    def guarded(self) -> bool:
        """Whether the program noticed itself (`asked_by`), and no result or variable is bad."""
        return bool(self.asked_by) and not self.results and not self.variables


def aftermath(
    run: Run,
    lineage: Lineage,
    bad: Callable[[int], bool],
    origin: int | None,
    budget: int = _BUDGET,
    *,
    shown_late: int | None = None,
) -> Aftermath:
    """Look at the tensors after the one at `origin` (None: all of them), up to about `budget` bytes of values.

    Where an update went wrong, `shown_late` is the tensor that shows its variable, behind those that read it.
    """
    start = 0 if origin is None else origin + 1
    later = [index for index in range(start, len(run.tensors)) if index != shown_late]
    found = seen = read = 0
    for index in later:
        if read > budget:
            break
        found += bad(index)
        seen += 1
        read += run.tensors[index].nbytes or 0
    if seen < len(later):
        return Aftermath(found, seen, len(later))
    results, variables = _results(run, bad), spoiled_variables(run, lineage, bad)
    return Aftermath(found, seen, len(later), results, variables, _asked_by(run, bad))


def _results(run: Run, bad: Callable[[int], bool]) -> tuple[str, ...]:
    names = map(tensor_name_of, dict.fromkeys(run.call.fetches))
    return tuple(str(name) for name in names if any(map(bad, run.tensors.named(name.node, name.slot)[-1:])))


def _asked_by(run: Run, bad: Callable[[int], bool]) -> str:
    """The name of the first IsFinite op that reads a bad tensor; ops that a watch added are not in this graph."""
    for node in run.graph:
        asked = node.inputs[0] if node.op_type == "IsFinite" and node.inputs else None
        if asked is not None and any(map(bad, run.tensors.named(asked.node, asked.slot))):
            return node.name
    return ""


def spoiled_variables(run: Run, lineage: Lineage, bad: Callable[[int], bool]) -> tuple[str, ...]:
    """Variables whose value after the update is bad, or that were written by an op with a bad input."""
    found: dict[str, None] = {}
    # An update may know its variable by the handle alone, which is a name of its own in eager code.
    shown = {
        writer: variable_shown(node)
        for node in run.graph
        if node.op_type == UPDATED_VARIABLE
        for writer in node.control_inputs
    }
    for node in run.graph:
        if node.op_type == UPDATED_VARIABLE:
            if any(map(bad, run.tensors.named(node.name))):
                found[variable_shown(node)] = None
        elif updates_variable(node.op_type) and node.inputs:
            given = (run.tensors.named(name.node, name.slot)[-1:] for name in node.inputs[1:])
            if any(bad(index) for rows in given for index in rows):
                target = next(iter(lineage.edges(node)), Edge(node.inputs[0], None))
                name = variable_of(target.node, lineage) if target.node is not None else None
                found[shown.get(node.name) or name or target.tensor.node] = None
    return tuple(found)
