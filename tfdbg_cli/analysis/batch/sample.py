"""Which sample of the data a row of the batch is, as far as it is known."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tfdbg_cli.analysis.batch.batch_rows import BatchRows
from tfdbg_cli.analysis.batch.components import components
from tfdbg_cli.analysis.graph.flow.deliveries import delivers
from tfdbg_cli.model.batch_place import VALIDATION, BatchPlace, Order
from tfdbg_cli.model.exactness import same_bits
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import TensorName, tensor_name_of
from tfdbg_cli.model.runs import Run


@dataclass(frozen=True, slots=True)
class Sample:
    """A row of the batch at `place`: sample `number`, from 0, None where that cannot be known.

    It is `certain`, or holds where every batch before it had as many rows.
    """

    place: BatchPlace
    number: int | None
    certain: bool


def sample_of(run: Run, batch: BatchRows, row: int) -> Sample | None:
    """Which sample the row of `batch` is; None where nobody noted where the batch was, and of a row that was set."""
    place = None if batch.stored or _was_set(run, batch, row) else _place(run, batch)
    if place is None:
        return None
    if place.order is Order.SHUFFLED:
        return Sample(place, None, certain=True)
    if place.single:
        return Sample(place, place.step, certain=True)
    before = place.step * batch.size if place.first is None else place.first
    return Sample(place, before + row, certain=place.first is not None or not place.step)


def _was_set(run: Run, batch: BatchRows, row: int) -> bool:
    """Whether the row holds other bits than in the program's run, of which `run` is one with other values."""
    source = tensor_name_of(batch.source)
    if run.change is None:  # of what was recorded it is not known which rows of it were set
        return source in run.replaced
    asked = batch if batch.rows else replace(batch, rows=(row,))
    now, before = (
        [part.row(row) for part in components(one, asked) if tensor_name_of(part.name) == source]
        for one in (run, run.change.base)
    )
    return not all(map(same_bits, now, before))


def arrays_of(run: Run) -> str:
    """Which arrays the batches of the run come from, if a method of Keras loops over what is no data set; else empty.

    They may be batches that Python gave it, one by one.
    """
    places = list(run.call.came.values())
    if not places or any(place.order is Order.PIPELINE and not place.by_python for place in places):
        return ""
    loop = places[0].loop
    method, kind = ("fit", "validation ") if loop == VALIDATION else (loop, "")
    if any(place.by_python for place in places):
        return f"the {kind}batches that Python gave {method}"
    return f"the {kind}arrays that {method} was given"


def loop_batch(run: Run, name: TensorName) -> BatchPlace | None:
    """Where in the data of a loop of Keras the batch is that a step was given as `name`; None for no such."""
    place = run.call.came.get(str(name), run.call.came.get(name.node))  # an argument goes by its name
    return place if place is not None and place.loop and not place.handle else None


def _place(run: Run, batch: BatchRows) -> BatchPlace | None:
    came = run.call.came
    if batch.source in came:
        return came[batch.source]
    feed = batch.source.removesuffix(":0")  # an argument goes by its name
    if feed in came:
        return came[feed]
    handles = [place for place in came.values() if place.handle]
    return _place_of_taken(run, batch, handles[0]) if len(handles) == 1 else None


def _place_of_taken(run: Run, batch: BatchRows, first: BatchPlace) -> BatchPlace | None:
    """The place of a batch that the run took from an iterator which stood at `first`.

    Several are told apart by the order in which they were taken. None where a step of the loop takes more than one.
    """
    nodes = {
        node.name for node in map(run.graph.find, run.graph.names()) if node is not None and _gives(run.graph, node)
    }
    taken: dict[tuple[str, int], int] = {}  # by node and execution the rows of the batch, in order of time
    for index in sorted(index for node in nodes for index in run.tensors.named(node)):
        tensor = run.tensors[index]
        if not tensor.shape:
            return None
        taken.setdefault((tensor.node, tensor.execution), tensor.shape[0])
    asked = (batch.source.rpartition(":")[0], batch.execution)
    if asked not in taken or len(taken) > first.steps:
        return None
    before = list(taken.values())[: list(taken).index(asked)]
    rows_before = None if first.first is None else first.first + sum(before)
    return replace(first, step=first.step + len(before), first=rows_before)


def _gives(graph: Graph, node: Node) -> bool:
    """Whether `node` of `graph` gives the tensors of a batch: an optional one is a handle yet."""
    return delivers(graph, node) and not node.op_type.endswith("AsOptional")
