"""A run of a function, extended by the eager ops before it that made its arguments.

These ops are added to the graph of the run under the scope `eager/`, and an argument reads the output of the op that
made it. `analysis/graph/eager_past.py` undoes this where the function alone is made again.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

from tfdbg_cli.analysis.graph.eager_past import behind_past, rows_behind_past
from tfdbg_cli.capture.runs.batch_places import batch_places
from tfdbg_cli.capture.runs.eager.log.noted_ops import HANDLES, Source
from tfdbg_cli.capture.runs.eager.log.recent import RecentOps
from tfdbg_cli.capture.runs.eager.log.told import told_of
from tfdbg_cli.capture.runs.eager.program.stacks import Tracebacks
from tfdbg_cli.capture.stores import rows_of
from tfdbg_cli.capture.tf.compat import EagerTensor, dtype_number, tensor_id
from tfdbg_cli.model.gathered import GatheredTensors
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.sources import Traceback
from tfdbg_cli.model.tensors import MemoryTensorStore, Tensor

SCOPE = "eager"
_NOTE = "What is under `eager/` ran before this call, op by op: it made what the call was given."


@dataclass(frozen=True, slots=True)
class _Joined:
    """The graph of a function behind the nodes of its past, with where those were made."""

    nodes: tuple[Node, ...]
    made: Mapping[str, TensorName]
    places: Tracebacks
    graph: Graph


class Pasts:
    """Extends runs of functions by their past; of calls with the same past the graph is the same object.

    So a recording of many runs writes it once.
    """

    def __init__(self) -> None:
        self._latest: WeakKeyDictionary[Graph, _Joined] = WeakKeyDictionary()  # by the graph of the function alone

    def with_past(
        self,
        run: Run,
        log: RecentOps,
        given: Mapping[str, EagerTensor],
        named: Callable[[Source], str],
        *,
        insides: bool = True,
    ) -> Run:
        """`run` of a function that was `given` tensors for its arguments, with the ops of `log` that made those.

        Of handles, such as that of an iterator, nothing is told. `named` gives a name to what came from outside of
        the log; empty for none. With `insides` the values inside of functions among those ops are computed again.
        """
        ends = {
            name: end
            for name, tensor in given.items()
            if type(tensor) is EagerTensor
            and dtype_number(tensor) not in HANDLES
            and (end := log.maker(tensor_id(tensor))) is not None
        }
        if not ends:
            return run
        parts = told_of(log, [op.number for op, _ in ends.values()], named, insides=insides)
        made = {name: _moved(parts.name_of(op, slot)) for name, (op, slot) in ends.items()}
        store = parts.store
        tensors = [_renamed(store[row]) for row in range(len(store))]
        before = MemoryTensorStore(tensors, [store.value(row) for row in range(len(store))])
        places: dict[str, Traceback] = {f"{SCOPE}/{name}": parts.tracebacks[name] for name in parts.tracebacks}
        feeds = {f"{SCOPE}/{name}": value for name, value in parts.feeds.items()}
        return replace(
            run,
            call=replace(
                run.call,
                feeds=ChainMap(feeds, run.call.feeds),  # type: ignore[arg-type]  # is read only
                came={**run.call.came, **batch_places({f"{SCOPE}/{name}": key for name, key in parts.came.items()})},
            ),
            graph=self._joined(run.graph, tuple(parts.graph), made, parts.tracebacks),
            tensors=GatheredTensors([*rows_of(before), *rows_behind_past(run.tensors, made)]),
            tracebacks=ChainMap(places, run.tracebacks),  # type: ignore[arg-type]
            notes=(*run.notes, _NOTE),
        )

    def _joined(
        self, alone: Graph, past: tuple[Node, ...], made: Mapping[str, TensorName], places: Tracebacks
    ) -> Graph:
        latest = self._latest.get(alone)
        if latest is not None and (latest.nodes, latest.made) == (past, made) and latest.places.is_alike(places):
            return latest.graph
        nodes = [node.within(SCOPE) for node in past]
        nodes += [behind_past(node, made) for node in alone]
        graph = Graph(nodes, alone.kind)
        self._latest[alone] = _Joined(past, made, places, graph)
        return graph


def _moved(name: TensorName) -> TensorName:
    return TensorName(f"{SCOPE}/{name.node}", name.slot)


def _renamed(tensor: Tensor) -> Tensor:
    return replace(tensor, name=_moved(tensor.name))
