"""What `again` does not compute although something that leads to it is replaced: it is replaced itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.values import Array, known_array
from tfdbg_cli.model.walks import reached

_MOST = 20_000  # nodes that are looked at


def kept_in_words(run: Run, replaced: Mapping[TensorName, Array]) -> Iterator[str]:
    """A sentence on each tensor that was replaced in part, and that is made of another one which is `replaced`."""
    graph = run.python_graph or run.graph
    for name, value in replaced.items():
        others = [one for one in replaced if one.node != name.node]
        if not others or not _is_in_part(run, name, value):
            continue
        before = set(reached([name.node], lambda node: _sources(graph, node), most=_MOST))
        leading = [str(one) for one in others if one.node in before]
        if leading:
            changed = " and ".join(leading)
            yield f"{name} is what `set` made of it as a whole: that {changed} changed does not reach it."


def _is_in_part(run: Run, name: TensorName, value: Array) -> bool:
    """Whether some elements are still those of the run."""
    rows = run.tensors.named(name.node, name.slot)
    was = known_array(run.tensors.value(rows[-1])) if rows else None
    return was is not None and was.shape == value.shape and bool((was == value).any())


def _sources(graph: Graph, node: str) -> Iterable[str]:
    found = graph.find(node)
    return () if found is None else (one.node for one in found.inputs)
