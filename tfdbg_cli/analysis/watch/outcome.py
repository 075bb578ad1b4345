"""The outcome of a run: its results, what it applies to variables or puts into queues, and the updated variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, auto
from weakref import WeakKeyDictionary

from tfdbg_cli.analysis.graph.flow.branches import was_left_out
from tfdbg_cli.analysis.graph.making.node_facts import VARIABLE_OPS
from tfdbg_cli.analysis.graph.nodes.needed import needed_nodes
from tfdbg_cli.analysis.graph.nodes.roles import Role, role_by_name
from tfdbg_cli.model.calls import Call, RunKind
from tfdbg_cli.model.graph import Graph, GraphKind, Node, once_per_graph
from tfdbg_cli.model.names import TensorName, tensor_name_of
from tfdbg_cli.model.runs import Run, StopBefore
from tfdbg_cli.model.tensors import TensorStore
from tfdbg_cli.model.updates import UPDATED_VARIABLE, is_after_update, updated_variable
from tfdbg_cli.ops.effects import puts_away, takes_handle

# Updates in whose variable a non-finite input always shows: by op type, the index of that input and of the variable.
# For optimizers that is a moment or an accumulator: m += (grad - m)·(1 - beta) and the like.
SHOWS: Mapping[str, tuple[int, int]] = {
    "AssignAddVariableOp": (1, 0), "AssignSubVariableOp": (1, 0), "AssignAdd": (1, 0), "AssignSub": (1, 0),
    "ResourceApplyGradientDescent": (2, 0), "ApplyGradientDescent": (2, 0),
    "ResourceApplyMomentum": (3, 1), "ApplyMomentum": (3, 1), "ResourceApplyKerasMomentum": (3, 1),
    "ResourceApplyAdam": (9, 1), "ApplyAdam": (9, 1),
    "ResourceApplyRMSProp": (7, 1), "ApplyRMSProp": (7, 1),
}  # fmt: skip
_found: WeakKeyDictionary[Graph, dict[tuple[object, ...], Outcome]] = WeakKeyDictionary()
_ALWAYS = ""


class HarmKind(IntEnum):
    """What part of the outcome is bad, the most telling one first; last, that nobody can tell whether one is."""

    RESULT = auto()
    VARIABLE = auto()
    PUT_AWAY = auto()
    APPLIED = auto()
    UNKNOWN = auto()


@dataclass(frozen=True, slots=True)
class Harm:
    """A sentence that says which part of a run's outcome is not finite, or why nobody can tell."""

    kind: HarmKind
    text: str

    @property
    def words(self) -> str:
        """What was done, and by what: `harm was done: y:0 comes out of the run.`"""
        return f"{'harm cannot be ruled out' if self.kind is HarmKind.UNKNOWN else 'harm was done'}: {self.text}"


@dataclass(frozen=True)
class Outcome:
    """Which tensors are the outcome of the runs of a call.

    `results` are the tensors that the program gets, and those that show variables after their update; `variables`
    names the variable of each of the latter. `applied` maps each input of an update to the nodes that show its
    variables afterwards: it counts only in runs that have one of these, as an update in an untaken branch applies
    nothing; the empty name stands for always. `put_away` maps what is put into a queue, or into what is like one, for
    other runs to take out, to the ops that do that: it counts unless all of these are in untaken branches.
    """

    results: frozenset[TensorName]
    variables: Mapping[TensorName, str]
    applied: Mapping[TensorName, frozenset[str]]
    put_away: Mapping[TensorName, tuple[str, ...]] = field(default_factory=dict)

    def includes(self, name: TensorName, graph: Graph, store: TensorStore) -> bool:
        """Whether the tensor called `name` comes out of the run of `graph` whose tensors are in `store`."""
        if name in self.results or self._is_put_away(name, graph, store):
            return True
        return any(node == _ALWAYS or bool(store.named(node)) for node in self.applied.get(name, ()))

    def _is_put_away(self, name: TensorName, graph: Graph, store: TensorStore) -> bool:
        nodes = (graph.find(op) for op in self.put_away.get(name, ()))
        return any(node is not None and not was_left_out(graph, store, node) for node in nodes)

    def is_shown(self, name: TensorName) -> bool:
        """Whether the run shows the variables to which the tensor `name` is given, as they are afterwards."""
        return _ALWAYS not in self.applied.get(name, ())

    def harm(self, name: TensorName) -> Harm:
        """What it means that the tensor `name`, which is part of the outcome, is not finite."""
        if name in self.variables:
            return Harm(HarmKind.VARIABLE, f"the variable {self.variables[name]} is not finite after its update.")
        updated = sorted(updated_variable(node) for node in self.applied.get(name, ()) if node != _ALWAYS)
        if updated and name not in self.results:
            return Harm(HarmKind.APPLIED, f"{name} is applied to the variable {updated[0]}.")
        if name in self.put_away and name not in self.results:
            return Harm(HarmKind.PUT_AWAY, f"{self.put_away[name][0]} puts {name} where other runs take it out.")
        return Harm(HarmKind.RESULT, f"{name} comes out of the run.")

    def names(self, run: Run) -> frozenset[TensorName]:
        """The tensors that come out of `run`, which is one of the call."""
        further = (*self.applied, *self.put_away)
        return self.results.union(name for name in further if self.includes(name, run.graph, run.tensors))


def outcome_of(graph: Graph, call: Call) -> Outcome:
    """The outcome of runs with that graph and that call; cached per graph."""
    known = _found.setdefault(graph, {})
    key = (*call.same, tuple(call.feeds))
    if key not in known:
        known[key] = _outcome(graph, call)
    return known[key]


def stop_after(run: Run) -> StopBefore:
    """The stop after `run`, with the variables that it may have written, as far as its graph shows all of these.

    It does not where values were not taken, nor for what ran eagerly, between whose ops ran Python.
    """
    if run.call.kind is RunKind.EAGER:
        return StopBefore(run.call.number, None)
    outcome = outcome_of(run.graph, run.call)
    shown = all(map(outcome.is_shown, outcome.applied))
    return StopBefore(run.call.number, frozenset(outcome.variables.values()) if shown else None)


def unread(run: Run) -> frozenset[TensorName]:
    """The tensors that no op of `run` reads: in eager code, those that the program may have used itself."""
    names = (run.tensors[row].name for row in range(len(run.tensors)))
    return frozenset(name for name in names if not is_after_update(name.node) and not run.graph.is_read(name))


def _outcome(graph: Graph, call: Call) -> Outcome:
    results = set(map(tensor_name_of, call.fetches))
    variables: dict[TensorName, str] = {}
    applied: dict[TensorName, set[str]] = {}
    # A session runs only what its fetches need of the program's graph: other updates in it are not made.
    partly = graph.kind is GraphKind.PYTHON and call.kind.of_session
    needed = needed_nodes(graph, call) if partly else None
    put_away: dict[TensorName, list[str]] = {}
    for name in _puts_away(graph):
        if needed is None or name in needed:
            for given in graph.node(name).inputs:
                put_away.setdefault(given, []).append(name)
    nodes = [graph.node(name) for name in _updates(graph)]
    shown = any(node.op_type == UPDATED_VARIABLE for node in nodes)
    for node in nodes:
        if node.op_type == UPDATED_VARIABLE:
            results.add(TensorName(node.name, 0))
            variables.setdefault(TensorName(node.name, 0), updated_variable(node.name))
            for given in node.inputs[1:]:  # the first one is the variable itself
                applied.setdefault(given, set()).add(node.name)
        elif not shown and (needed is None or node.name in needed):
            for given in node.inputs:
                if not _is_variable(graph, given):
                    applied.setdefault(given, set()).add(_ALWAYS)
            if not takes_handle(node.op_type):
                results.add(TensorName(node.name, 0))  # a variable by reference, as it is now
    return Outcome(
        frozenset(results),
        variables,
        {name: frozenset(by) for name, by in applied.items()},
        {name: tuple(by) for name, by in put_away.items()},
    )


@once_per_graph
def _updates(graph: Graph) -> tuple[str, ...]:
    """The nodes that write a variable, or show it afterwards."""
    return tuple(dict.fromkeys(node.name for node in graph if role_by_name("", node.op_type) is Role.UPDATE))


@once_per_graph
def _puts_away(graph: Graph) -> tuple[str, ...]:
    """The nodes that put something into a queue, or into what is like one."""
    return tuple(dict.fromkeys(node.name for node in graph if puts_away(node.op_type)))


def _is_variable(graph: Graph, name: TensorName) -> bool:
    node: Node | None = graph.find(name.node)
    return node is not None and node.op_type in VARIABLE_OPS
