"""What depends on replaced tensors by the graph that a run shows, and what of it is not known any more."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from tfdbg_cli.analysis.graph.nodes.feeds import feed_name
from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import TensorStore, gone
from tfdbg_cli.model.values import NoValue
from tfdbg_cli.model.walks import reached

_OUTDATED = gone("It depends on what was replaced, and was not computed again.")


def behind(graph: Graph, replaced: Iterable[TensorName], ends: Collection[str] = ()) -> Iterator[str]:
    """The names of the nodes that depend on the tensors `replaced`: past those in `ends` none."""
    names = set(replaced)

    def read(node: str, slots: Collection[int] | None = None) -> Iterator[str]:
        return (reader.name for reader, slot in graph.consumers(node) if slots is None or slot in slots)

    given = [node.name for node in graph if feed_name(node) in names]  # a feed goes by another name in the runtime
    starts = [other for name in names for other in read(name.node, {name.slot})]
    starts += [other for node in given for other in read(node)]
    return reached(starts, lambda node: () if node in ends else read(node))


def outdated(
    run: Run, after: TensorStore, replaced: Collection[TensorName], kept: Collection[str]
) -> dict[TensorName, NoValue]:
    """The tensors that depend on `replaced` and are not in `after`, where the run was made again, with what to say.

    What the nodes `kept` give is what it was, and so is what depends on these alone.
    """
    found: dict[TensorName, NoValue] = {}
    for node in behind(run.graph, replaced, kept):
        if node not in kept:
            for row in run.tensors.named(node):
                name = run.tensors[row].name
                if name in replaced or after.named(name.node, name.slot):
                    continue
                if not isinstance(run.tensors.value(row), NoValue):
                    found[name] = _OUTDATED
    return found
