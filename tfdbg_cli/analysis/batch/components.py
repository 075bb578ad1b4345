"""The components of a batch: all that came in with it, row for row, such as inputs, labels and weights."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tfdbg_cli.analysis.batch.alongside import Alongside, RowEvidence
from tfdbg_cli.analysis.batch.batch_roles import BatchRoles, told_parts
from tfdbg_cli.analysis.batch.batch_rows import BatchRows
from tfdbg_cli.analysis.batch.same_batch import of_same_batch
from tfdbg_cli.analysis.batch.stored_batch import DELIVERIES
from tfdbg_cli.analysis.graph.flow.deliveries import delivers
from tfdbg_cli.analysis.graph.making.eager_past import past_in
from tfdbg_cli.analysis.graph.nodes.feeds import fed_elements, given_arrays
from tfdbg_cli.analysis.graph.nodes.membership import membership_of
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.names import TensorName, parse_tensor_name, tensor_name_of
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.values import Array, NoValue, known_array
from tfdbg_cli.ops.kinds import WHERE_INPUTS

_PART = re.compile(r"(_\d+|/(values|flat_values|indices|shape|row_splits_\d+))$")
_FEWEST, _MOST_CHANNELS = 4, 4  # pixels of a side of what looks like an image; channels: grey, with alpha, RGB, RGBA


@dataclass(frozen=True)
class Component:
    """One part of a batch: what it is called, its value, what it is to the program where that is known.

    `fed` says that it is a feed or an argument; else it is a tensor of the run. Of a sparse or ragged part, whose
    rows do not stand one below the other, `of_elements` is the row of each element that is stored. `key` is what the
    program calls it, as where a dict holds several inputs.
    """

    name: str
    value: Array
    role: str
    fed: bool
    of_elements: Array | None = None
    key: str = ""

    @property
    def words(self) -> str:
        """What it is to the program, as in `'income' of the inputs (x)`; empty where that is not known."""
        return " of ".join(filter(None, (repr(self.key) if self.key else "", self.role)))

    def row(self, at: int) -> Array:
        """Its row at that place: of a sparse or ragged part the elements of it that are stored."""
        if self.of_elements is not None:
            stored: Array = self.value[self.of_elements == at]
            return stored
        return self.value[at : at + 1].reshape(self.value.shape[1:])

    def place(self, at: int) -> str:
        """How its row is asked for, such as `x[3]`; all of it where the row does not stand in one piece."""
        if self.of_elements is None:
            return f"{self.name}[{at}]"
        stored = np.flatnonzero(self.of_elements == at)
        if not stored.size or stored[-1] - stored[0] + 1 != stored.size:
            return self.name
        return f"{self.name}[{stored[0]}:{stored[-1] + 1}]"


def components(run: Run, batch: BatchRows) -> list[Component]:
    """What came in together with the batch: what was fed, or what the pipeline gave beside it, of as many rows.

    Of what was given to the replicas of a step it is what the one that took the batch was given.
    A sparse or ragged batch (`stored`) comes first, without the indices or splits that came in with it.
    """
    captured = frozenset(argument.name for argument in run.call.arguments if argument.captured)
    captured |= frozenset(run.call.carried)
    beside = given_with(run, batch)
    past = past_in(run.graph)
    names = map(tensor_name_of, beside)
    alone = [name for name in names if name.node not in captured and _is_alone(run, name, past)]
    roles = BatchRoles(run.graph, captured, alone, unfinished=run.unfinished, told=told_parts(run))
    found = [
        Component(name, value, _role(roles, name), fed=True, key=roles.key(tensor_name_of(name)))
        for name, value in beside.items()
    ]
    if batch.stored:
        whole, stem = _stored(run, roles, batch), _stem(batch.source)
        others = found or _delivered(run, roles, batch)
        return [*whole, *(part for part in others if _stem(part.name) != stem)]
    return found or _delivered(run, roles, batch)


def _delivered(run: Run, roles: BatchRoles, batch: BatchRows) -> list[Component]:
    """What a pipeline gave with the batch: outputs of one op, out of one of which a stored batch is taken."""
    source = parse_tensor_name(batch.source)
    if source is None:
        return []
    taken = run.graph.find(source.node)
    given_by = taken.inputs[0].node if taken is not None and taken.op_type in DELIVERIES else source.node
    found: list[Component] = []
    rows = run.tensors.named(given_by)
    of_this = {run.tensors[row].name: row for row in rows if run.tensors[row].execution == batch.execution}
    for name, row in of_this.items():
        given = run.tensors.value(row)
        if not isinstance(given, NoValue) and given.shape[:1] == (batch.size,):
            role, key = _role(roles, str(name)), roles.key(name)
            found.append(Component(str(name), given, role, fed=False, key=key))
    return found


def singles_first(parts: Sequence[Component]) -> list[Component]:
    """`parts`, those of which a row is a single number before the others: a label is not lost below a picture."""
    return sorted(parts, key=lambda part: part.of_elements is not None or part.value.ndim > 1)


def given_with(run: Run, batch: BatchRows) -> Mapping[str, Array]:
    """The feeds or arguments of as many rows as the batch has, by their names; of replicas those of its own.

    None beside a batch that a pipeline inside the run gave, however many rows they have. Beside one whose rows eager
    ops put in another order, what these were given alone. Nothing that is known not to stand row for row with the
    batch (`alongside`), nor what an earlier run computed, unless that is all there is.
    """
    values = {name: array for name, array in given_arrays(run).items() if not _says_where(run, name)}
    past = past_in(run.graph)
    if batch.apart:
        values = {name: value for name, value in values.items() if tensor_name_of(name).node in past}
    found = {name: value for name, value in values.items() if value is not None and value.shape[:1] == (batch.size,)}
    found = _alongside(run, batch, found, past)
    if not batch.stored and _was_drawn(run, batch, found):
        return {}
    found = {name: value for name, value in found.items() if name not in run.call.carried} or found
    return _of_replica(run, batch, found) if len(found) > 1 else found


def _alongside(run: Run, batch: BatchRows, given: dict[str, Array], past: Container[str]) -> dict[str, Array]:
    """Without what is known to be in another order than the batch, or to belong to another one.

    What eager ops were given, those of the run or of its `past`, was given each for itself: of that only what is used
    in the order of the batch remains, and what nothing is known of; beside a batch from elsewhere, such as an
    argument, only what certainly is in its order.
    """
    if not given:
        return given
    source, beside = tensor_name_of(batch.source), Alongside(run, batch)
    against = frozenset({RowEvidence.AGAINST, RowEvidence.RATHER_AGAINST})
    against_alone = against if _is_alone(run, source, past) else frozenset(RowEvidence) - {RowEvidence.FOR}
    found: dict[str, Array] = {}
    for name, value in given.items():
        tensor = tensor_name_of(name)
        excluded = against_alone if _is_alone(run, tensor, past) else against
        if tensor == source or beside.keeps_rows(name) not in excluded:
            found[name] = value
    return of_same_batch(run, batch.source, found, beside)


def _is_alone(run: Run, tensor: TensorName, past: Container[str]) -> bool:
    """Whether an eager op was given `tensor`, for itself and not as one of the arguments of a call."""
    return run.call.kind is RunKind.EAGER or tensor.node in past


def _was_drawn(run: Run, batch: BatchRows, given: Mapping[str, Array]) -> bool:
    """Whether the batch came in as a tensor of the run that is none of what was `given`, nor holds the same."""
    source = tensor_name_of(batch.source)
    if source in map(tensor_name_of, given):
        return False
    held = [run.tensors.value(row) for row in run.tensors.named(source.node, source.slot)]
    drawn = [value for value in held if not isinstance(value, NoValue)]
    return bool(drawn) and not any(_same(one, value) for one in drawn for value in given.values())


def _says_where(run: Run, name: str) -> bool:
    """Whether what was given as `name` says nothing but of what shape, or from where, something is to be: no rows."""
    node = tensor_name_of(name).node
    readers = [reader for reader, _ in run.graph.consumers(node)]
    return bool(readers) and all(
        at in WHERE_INPUTS.get(reader.op_type, ())
        for reader in readers
        for at, read in enumerate(reader.inputs)
        if read.node == node
    )


def _stored(run: Run, roles: BatchRoles, batch: BatchRows) -> list[Component]:
    """The sparse or ragged part of the batch; none where its elements are not held."""
    source = tensor_name_of(batch.source)
    value = fed_elements(run.call.given, source)
    fed = value is not None
    rows = [] if fed else run.tensors.named(source.node, source.slot)
    if rows:
        value = known_array(run.tensors.value(rows[min(batch.execution, len(rows) - 1)]))
    if value is None or batch.of_elements is None or len(value) != len(batch.of_elements):
        return []
    name = source.node if fed and source.node in run.call.given else batch.source
    return [Component(name, value, _role(roles, batch.source), fed, batch.of_elements)]


def _stem(name: str) -> str:
    """What the parts of one sparse or ragged argument have in common: `s` of `s`, `s_1` and `s/values:0`."""
    node = tensor_name_of(name).node
    return _PART.sub("", node)


def _of_replica(run: Run, batch: BatchRows, given: Mapping[str, Array]) -> Mapping[str, Array]:
    """Without what other replicas of a step were given than the one that took the batch.

    Of an argument that came from a pipeline outside of the step the graph shows the pipeline as what is read in its
    place: then what it holds tells for whom it was drawn. Equal arguments stand in the order of the replicas.
    """
    membership = membership_of(run)
    replica = membership.replica.get(tensor_name_of(batch.source).node)
    if replica is None:
        return given
    known = {name: membership.replica.get(tensor_name_of(name).node) for name in given}
    drawn = [
        (membership.replica[node.name], value)
        for node in sorted(run.graph, key=lambda node: membership.replica.get(node.name, 0))
        if delivers(run.graph, node) and node.name in membership.replica
        for value in map(run.tensors.value, run.tensors.named(node.name))
        if not isinstance(value, NoValue)
    ]

    def is_its_own(name: str, value: Array) -> bool:
        if known[name] is not None:
            return known[name] == replica
        of = [number for number, one in drawn if _same(value, one)]
        alike = [other for other, one in given.items() if known[other] is None and _same(value, one)]
        if len(of) == len(alike) == len(set(of)):
            return of[alike.index(name)] == replica
        return not of or replica in of

    return {name: value for name, value in given.items() if is_its_own(name, value)}


def _same(one: Array, two: Array) -> bool:
    return one.dtype == two.dtype and one.shape == two.shape and one.tobytes() == two.tobytes()


def _role(roles: BatchRoles, text: str) -> str:
    role = roles.role(tensor_name_of(text))
    return "" if role is None else role.value


def looks_like_image(row: Array) -> bool:
    """Whether `row`, of one component, looks like a picture: height, width, and channels if it has any."""
    if row.dtype.kind not in "fiu" or row.ndim not in {2, 3} or min(row.shape[:2]) < _FEWEST:
        return False
    return row.ndim == 2 or row.shape[2] <= _MOST_CHANNELS
