"""One graph of a file as what the prompt looks at: a run without tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tfdbg_cli.model.calls import Call, CallArgument, RunKind
from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.profile import Profile
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.variables import SavedVariable, ToldVariables

NO_VALUES = "This is a graph without values: the file keeps what is computed, and nothing of what came of it."


@dataclass(frozen=True)
class GraphFacts:
    """What a file tells of a graph: what it is given and gives back, sentences, and others about what is damaged."""

    graph: Graph
    arguments: tuple[CallArgument, ...] = ()
    results: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    damages: tuple[str, ...] = ()
    profile: Profile | None = None
    python_graph: Graph | None = None
    called: str = ""  # what the program calls it
    trainable: Mapping[str, bool] = field(default_factory=dict)  # of variables, as far as it is told


@dataclass(frozen=True)
class HeldGraph:
    """A graph that is read when it is looked at. `title` says in words which one of its file it is."""

    title: str
    read: Callable[[], GraphFacts]


def graph_run(
    number: int, held: HeldGraph, path: str, saved: Callable[[], Mapping[str, SavedVariable]] = dict
) -> Run:
    """The graph as a run that holds no tensors. `saved` gives values of its variables that lie beside the file."""
    facts = held.read()
    title = f"{held.title} ({facts.called})" if facts.called else held.title
    return Run(
        Call(number, RunKind.GRAPH, facts.results, function=title, arguments=facts.arguments),
        graph=facts.graph,
        python_graph=facts.python_graph,
        profile=facts.profile,
        notes=(*facts.damages, *facts.notes),
        lacks=NO_VALUES,
        origin_path=path,
        variables=ToldVariables(facts.trainable, saved),
    )
