"""A run of a function, extended by the eager ops before it that made its arguments.

These ops are added to the graph of the run under the scope `eager/`, and an argument reads the output of the op that
made it. `analysis/graph/making/eager_past.py` undoes this where the function alone is made again.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

from tfdbg_cli.analysis.graph.making.eager_past import behind_past, rows_behind_past
from tfdbg_cli.capture.functions.graph.forward_function import HandedOver
from tfdbg_cli.capture.runs.batch_places import batch_places
from tfdbg_cli.capture.runs.data_behind import data_behind
from tfdbg_cli.capture.runs.eager.log.insides import called_by
from tfdbg_cli.capture.runs.eager.log.noted_ops import Noted, OutsideInput
from tfdbg_cli.capture.runs.eager.log.recent import RecentOps
from tfdbg_cli.capture.runs.eager.log.run_of_log import parts_leading_to
from tfdbg_cli.capture.runs.eager.program.stacks import EagerTracebacks
from tfdbg_cli.capture.stores import rows_of
from tfdbg_cli.capture.tf.compat import EagerTensor, dtype_number, tensor_id
from tfdbg_cli.model.dtypes import HANDLE_NUMBERS
from tfdbg_cli.model.gathered import GatheredTensors, Row
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.sources import Traceback
from tfdbg_cli.model.tensors import MemoryTensorStore, Tensor, TensorStore

SCOPE = "eager"
_NOTE = "What is under `eager/` ran before this call, op by op: it made what the call was given."


@dataclass(frozen=True, slots=True)
class _Joined:
    """The graph of a function behind the nodes of its past, with where those were made."""

    nodes: tuple[Node, ...]
    made: Mapping[str, TensorName]
    places: EagerTracebacks
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
        handed: HandedOver | None,
        named: Callable[[OutsideInput], str],
        *,
        insides: bool = True,
    ) -> Run:
        """`run` of a function that was `given` tensors for its arguments, with the ops of `log` that made those.

        Of handles, such as that of an iterator, nothing is told. `named` gives a name to what came from outside of
        the log; empty for none. With `insides` the values inside of functions among those ops are computed again.
        Of a gradient they are shown in its forward part, too, if the call that `handed` it tensors is in the log.
        """
        ends = {
            name: end
            for name, tensor in given.items()
            if type(tensor) is EagerTensor
            and dtype_number(tensor) not in HANDLE_NUMBERS
            and (end := log.maker(tensor_id(tensor))) is not None
        }
        forward = None if handed is None else _call_of(log, handed)
        if not ends and forward is None:
            return run
        numbers = [op.number for op, _ in ends.values()] + ([] if forward is None else [forward.number])
        parts = parts_leading_to(log, numbers, named, insides=insides)
        made = {name: _moved(parts.name_of(op, slot)) for name, (op, slot) in ends.items()}
        store = parts.store
        if handed is not None and forward is not None:
            taken = parts.given[forward.number].items()
            made |= {f"{handed.scope}/{name}": _moved(source) for name, source in taken}
        own = rows_behind_past(run.tensors, made)
        if handed is not None and forward is not None:
            own = _with_forward_part(own, run.graph, handed.scope, store, forward.name)
        tensors = [_renamed(store[row]) for row in range(len(store))]
        before = MemoryTensorStore(tensors, [store.value(row) for row in range(len(store))])
        places: dict[str, Traceback] = {f"{SCOPE}/{name}": parts.tracebacks[name] for name in parts.tracebacks}
        feeds = {f"{SCOPE}/{name}": value for name, value in parts.feeds.items()}
        came = {f"{SCOPE}/{name}": key for name, key in parts.came.items()}
        within = {f"{SCOPE}/{name}": number for name, number in parts.runs_within.items()}
        return replace(
            run,
            call=replace(
                run.call,
                feeds=ChainMap(feeds, run.call.feeds),  # type: ignore[arg-type]  # is read only
                came={**run.call.came, **batch_places(came)},
                behind={**run.call.behind, **data_behind(came)},
                runs_within={**run.call.runs_within, **within},
            ),
            graph=self._joined(run.graph, tuple(parts.graph), made, parts.tracebacks),
            tensors=GatheredTensors([*rows_of(before), *own]),
            tracebacks=ChainMap(places, run.tracebacks),  # type: ignore[arg-type]
            notes=(*run.notes, _NOTE),
        )

    def _joined(
        self, alone: Graph, past: tuple[Node, ...], made: Mapping[str, TensorName], places: EagerTracebacks
    ) -> Graph:
        latest = self._latest.get(alone)
        if latest is not None and (latest.nodes, latest.made) == (past, made) and latest.places.is_alike(places):
            return latest.graph
        nodes = [node.within(SCOPE) for node in past]
        nodes += [behind_past(node, made) for node in alone]
        graph = Graph(nodes, alone.kind)
        self._latest[alone] = _Joined(past, made, places, graph)
        return graph


def _call_of(log: RecentOps, handed: HandedOver) -> Noted | None:
    """The call, in `log`, of the function that `handed` something over; None where it is not there."""
    for tensor in handed.tensors.values():
        op, _ = log.maker(tensor_id(tensor)) or (None, 0)
        insides = called_by(op) if op is not None else None
        if insides is not None and insides.traced.root.body.name == handed.function:
            return op
    return None


def _with_forward_part(own: list[Row], graph: Graph, scope: str, before: TensorStore, call: str) -> list[Row]:
    """The rows `own` of a gradient, behind those of its forward function, whose nodes are under `scope` in `graph`.

    What was not handed over is what `before` has of the inside of the op `call`, which called that function.
    """
    known = {store[row].name: (store, row) for store, row in own}
    beginning = f"{call}/"
    found: list[Row] = []
    for row in range(len(before)):
        tensor = before[row]
        name = TensorName(f"{scope}/{tensor.node.removeprefix(beginning)}", tensor.slot)
        if tensor.node.startswith(beginning) and graph.find(name.node) is not None:
            renamed = MemoryTensorStore([replace(tensor, name=name)], [before.value(row)])
            found.append(known.pop(name, (renamed, 0)))
    return [*found, *known.values()]


def _moved(name: TensorName) -> TensorName:
    return TensorName(f"{SCOPE}/{name.node}", name.slot)


def _renamed(tensor: Tensor) -> Tensor:
    return replace(tensor, name=_moved(tensor.name))
