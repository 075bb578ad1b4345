"""What is told of an origin: the op, its inputs, the elements and rows that are bad, the cause, the line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tfdbg_cli.analysis.batch.batch_rows import NO_ROWS, BatchRows
from tfdbg_cli.analysis.batch.rows import batch_rows
from tfdbg_cli.analysis.causes.causes import Cause, explain
from tfdbg_cli.analysis.causes.evidence import gather
from tfdbg_cli.analysis.causes.explanation import Explanations
from tfdbg_cli.analysis.causes.plain_facts import plain_facts
from tfdbg_cli.analysis.causes.result_of_run import result_of_run, returned_alone
from tfdbg_cli.analysis.causes.sources_of_values import (
    WHEN_READ,
    cause_of_feed,
    cause_of_update,
    cause_of_variable,
    update_spoils,
)
from tfdbg_cli.analysis.causes.surroundings import surroundings
from tfdbg_cli.analysis.graph.making.fused_ops import Composed, composed
from tfdbg_cli.analysis.graph.making.lineage import InputSeen, Lineage, variable_of
from tfdbg_cli.analysis.graph.making.loop_counters import is_counted
from tfdbg_cli.analysis.graph.nodes.annotation import made_at
from tfdbg_cli.analysis.graph.nodes.feeds import feed_name
from tfdbg_cli.analysis.graph.ways.element_way import NOWHERE, element_way
from tfdbg_cli.analysis.origin.element_ways import ElementWays
from tfdbg_cli.analysis.origin.first_reader import first_reader, reader_of, updated_by
from tfdbg_cli.analysis.origin.offending import offending_elements
from tfdbg_cli.analysis.origin.origin_found import Origin
from tfdbg_cli.analysis.origin.passed_by_where import chosen
from tfdbg_cli.analysis.watch.verdicts import BadMask, Verdicts, nan_mask
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.sources import Frame
from tfdbg_cli.model.statistics import nonfinite_mask
from tfdbg_cli.model.updates import UPDATED_VARIABLE, after_update
from tfdbg_cli.model.values import Array, NoValue
from tfdbg_cli.ops.effects import updates_variable
from tfdbg_cli.ops.kinds import INPUTS


@dataclass(frozen=True)
class _Seen:
    """What is seen of a tensor that is bad: `bad` marks the elements that count, without those `left_out`.

    `part` is the one op of several, of which the optimizer made one, that went wrong, if it did.
    """

    node: Node | None
    value: Array
    inputs: tuple[InputSeen, ...]
    bad: Array
    left_out: int
    part: Composed | None


@dataclass(frozen=True)
class _Making:
    """How a tensor was made: `made_by` is the node whose line of the program matters.

    That is `read_by`, if it is not known what made the tensor. `forward` is the op whose gradient the node computes,
    and `frame` then the line of that op, unless the program stands at the node itself.
    """

    made_by: str
    read_by: Node | None
    forward: str
    frame: Frame | None


class Descriptions:
    """Describes places of one run at which something bad began."""

    def __init__(
        self,
        run: Run,
        lineage: Lineage,
        mask: BadMask,
        verdicts: Verdicts,
        explanations: Explanations,
        ways: ElementWays,
        inputs_of: Callable[[int], Sequence[InputSeen]],
    ) -> None:
        """`inputs_of` gives what a tensor was made of."""
        self._run = run
        self._lineage = lineage
        self._mask = mask
        self._verdicts = verdicts
        self._explanations = explanations
        self._ways = ways
        self._inputs_of = inputs_of

    def of(self, place: int | InputSeen, is_bad: Callable[[InputSeen], bool]) -> Origin:
        """All that is told of the tensor at `place`, or of a feed that no tensor shows.

        `is_bad` says whether an input is itself to blame.
        """
        if isinstance(place, InputSeen):
            return self._of_feed(place)
        seen = self._seen(place)
        if seen.part is not None:
            return self._of_part(place, seen, seen.part)
        return self._of_op(place, seen, self._explained(place, seen, is_bad))

    def cause_of(self, place: int | InputSeen, is_bad: Callable[[InputSeen], bool]) -> Cause:
        """The cause that `of` tells, without the rest, of which the rows of the batch take most time."""
        if isinstance(place, InputSeen):
            return self._cause_of_feed(place)
        seen = self._seen(place)
        if seen.part is not None:
            return self._cause_of_part(place, seen.part)
        return self._explained(place, seen, is_bad) or self._unexplained(place, seen)

    def _of_op(self, place: int, seen: _Seen, explained: Cause | None) -> Origin:
        """The origin where the op of `seen` went wrong; `explained` is the cause, if a rule holds."""
        tensor, node = self._run.tensors[place], seen.node
        name = (feed_name(node) if node is not None and node.op_type == "_Arg" else None) or tensor.name
        making = self._making(place, node, name)
        elements = offending_elements(self._acting(place, node), seen.value, seen.bad, seen.inputs)
        blamed = None if explained is None else explained.blames
        way = element_way(self._run, self._lineage, place, elements[0].index, blamed) if elements else NOWHERE
        # What counts the turns of a loop has no rows of the batch.
        has_rows = not self._is_counter(seen.inputs, blamed)
        return Origin(
            index=place,
            name=name,
            device=tensor.device,
            op_type=tensor.op_type or (node.op_type if node else ""),
            node=node,
            value=seen.value,
            bad=seen.bad,
            inputs=seen.inputs,
            elements=elements,
            batch=batch_rows(self._run, self._lineage, place, seen.bad, way) if has_rows else NO_ROWS,
            cause=explained or self._unexplained(place, seen),
            made_by=making.made_by,
            frame=making.frame,
            variable=(variable_of(node, self._lineage) or "") if node is not None else "",
            forward=making.forward,
            read_by=making.read_by,
            way=way,
            left_out=seen.left_out,
        )

    def _seen(self, place: int) -> _Seen:
        value = self._run.tensors.value(place)
        assert not isinstance(value, NoValue)
        node = self._lineage.node(place)
        inputs = tuple(self._inputs_of(place))
        begun = self._begun_here(place, value, inputs)
        bad = begun if node is None else chosen(self._run, self._lineage.graph_of(node), place, begun)
        part = composed(node, inputs, value, self._lineage.graphs) if node is not None else None
        return _Seen(node, value, inputs, bad, int(begun.sum() - bad.sum()), part)

    def _begun_here(self, place: int, value: Array, inputs: Sequence[InputSeen]) -> Array:
        """Which elements are bad; where an input holds infinities that are meant, without those that hand them on."""
        bad = self._mask(value)
        if all(item.index not in self._verdicts.excused for item in inputs):
            return bad
        begun = nan_mask(value) if np.isnan(value).any() else self._ways.begun(place, inputs)
        return bad if begun is None else begun

    def _explained(self, place: int, seen: _Seen, is_bad: Callable[[InputSeen], bool]) -> Cause | None:
        """The cause by what the op is and what it was given; None where no rule holds."""
        acting = self._acting(place, seen.node)
        if acting is None:
            return None
        name = self._run.tensors[place].name
        return self._explanations.cause(name, acting, seen.inputs, seen.value, seen.bad, is_bad)

    def _unexplained(self, place: int, seen: _Seen) -> Cause:
        """What can be said where no rule holds."""
        tensor = self._run.tensors[place]
        found = result_of_run(self._run.call, tensor.name, seen.inputs)
        found = found or returned_alone(self._run, tensor.name, seen.node)
        return found or plain_facts(tensor.op_type, seen.value, seen.bad, seen.inputs, seen.node)

    def _acting(self, place: int, node: Node | None) -> Node | None:
        """The node whose arithmetic is told: where `node` reads what updates made of a variable, one that shows that.

        None of the graph does, as it was written again before the region ended.
        """
        written = None if node is None or node.op_type == UPDATED_VARIABLE else self._lineage.written(place)
        if node is None or written is None or not written.updates:
            return node
        name = after_update(node.inputs[0].node)
        return Node(name, UPDATED_VARIABLE, node.device, node.inputs, written.updates)

    def _is_counter(self, inputs: Sequence[InputSeen], at: int | None) -> bool:
        """Whether the input at `at`, if that is one, is made of variables of loops and constants alone."""
        return at is not None and at < len(inputs) and is_counted(inputs[at].node, self._lineage)

    def _making(self, place: int, node: Node | None, name: TensorName) -> _Making:
        """How the tensor at `place` was made, which `node` gives, and which is told as `name`."""
        reader = self._reader_of_argument(node)
        writer = self._writer(place) or reader
        made_by = self._made_by(node, name) if writer is None else writer.name
        forward = self._explanations.forward(node)
        stands_there = bool(self._run.frames) or self._run.unfinished
        frame = made_at(self._run.tracebacks, made_by if stands_there else forward or made_by)
        return _Making(made_by, reader, forward, frame)

    def _writer(self, place: int) -> Node | None:
        """The op that wrote last what the tensor at `place` shows of a variable, if it is known which that is."""
        written = self._lineage.written(place)
        if written is None or not written.updates:
            return self._lineage.update(place)
        return self._run.graph.find(written.updates[-1])

    def _reader_of_argument(self, node: Node | None) -> Node | None:
        """The op that reads the argument `node` of a function, whose own line is that of the call that was traced."""
        if node is None or self._run.call.kind is not RunKind.FUNCTION or node.op_type not in INPUTS:
            return None
        return None if self._lineage.is_variable(node) else reader_of(self._run, node)

    def _of_part(self, place: int, seen: _Seen, part: Composed) -> Origin:
        """The origin where one op of several that the optimizer made one of went wrong."""
        tensor = self._run.tensors[place]
        return Origin(
            index=place,
            name=tensor.name,
            device=tensor.device,
            op_type=part.node.op_type,
            node=part.node,
            value=seen.value,
            bad=seen.bad,
            inputs=part.inputs,
            elements=offending_elements(part.node, seen.value, seen.bad, part.inputs),
            batch=batch_rows(self._run, self._lineage, place, seen.bad),
            cause=self._cause_of_part(place, part),
            made_by=part.node.name,
            frame=made_at(self._run.tracebacks, part.node.name),
        )

    def _cause_of_part(self, place: int, part: Composed) -> Cause:
        mask = nonfinite_mask(part.value)
        around = surroundings(self._run, self._lineage, part.node, part.inputs, frozenset(), self._verdicts.excused)
        cause = explain(gather(part.node, part.value, mask, part.inputs, around))
        cause = cause or plain_facts(part.node.op_type, part.value, mask, part.inputs, part.node)
        told = f"{cause.text} TensorFlow made one op of {', '.join(part.others)}: {self._run.tensors[place].node}."
        return replace(cause, text=told)

    def _of_feed(self, place: InputSeen) -> Origin:
        name, value, node = _name_of_feed(place), place.value, place.node
        assert value is not None
        bad = self._mask(value)
        variable = node.name if node is not None and self._lineage.is_variable(node) else ""
        rows: tuple[int, ...] = ()
        if value.ndim and not variable:
            rows = tuple(int(row) for row in np.flatnonzero(bad.any(axis=tuple(range(1, bad.ndim)))))
        reader = self._reader_of_feed(place)
        if reader is not None and updates_variable(reader.op_type):
            rows = ()
        made_by = name.node if reader is None else reader.name
        return Origin(
            index=None,
            name=name,
            device=node.device if node else "",
            op_type=node.op_type if node else "Placeholder",
            node=node,
            value=value,
            bad=bad,
            inputs=(),
            elements=offending_elements(None, value, bad, ()),
            batch=BatchRows(rows, str(name), len(value)) if rows else NO_ROWS,
            cause=self._cause_of_feed(place),
            made_by=made_by,
            frame=made_at(self._run.tracebacks, made_by),
            variable=variable,
            read_by=reader,
        )

    def _reader_of_feed(self, place: InputSeen) -> Node | None:
        """The op that reads first what was fed; None of a variable."""
        node = place.node
        return None if node is not None and self._lineage.is_variable(node) else first_reader(self._run, node)

    def _cause_of_feed(self, place: InputSeen) -> Cause:
        """The cause when what was fed, or a variable, is not finite."""
        reader = self._reader_of_feed(place)
        if reader is not None and updates_variable(reader.op_type):
            return cause_of_update(updated_by(self._run.graph, reader), reader.op_type)
        name, node = _name_of_feed(place), place.node
        if node is None or not self._lineage.is_variable(node):
            assert place.value is not None
            return cause_of_feed(name, self._explanations.given(name, node, self._mask(place.value)))
        return update_spoils(node.name) if self.spoiled_meanwhile(node) else cause_of_variable(node.name, WHEN_READ)

    def _made_by(self, node: Node | None, name: TensorName) -> str:
        """The node whose line of the program matters: of the value after an update the op that wrote it."""
        if node is None or node.op_type != UPDATED_VARIABLE:
            return name.node
        variable = self._run.graph.find(node.inputs[0].node) if node.inputs else None
        writers = [] if variable is None else [writer.name for writer in self._lineage.writers(variable)]
        return [name.node, *node.control_inputs, *writers][-1]

    def spoiled_meanwhile(self, node: Node | None) -> bool:
        """Whether `node` is a variable that was finite when it was read: the value that is known is a later one."""
        if node is None or not self._lineage.is_variable(node) or not self._lineage.writers(node):
            return False
        if self._lineage.held(node) is not None:  # the value from before the run
            return False
        reads = self._lineage.was_read(node)[:1]
        if not reads and self._run.call.kind is RunKind.FUNCTION:
            return False  # of a function that value is held, where no read of it tells
        return not any(map(self._verdicts.offends, reads))


def _name_of_feed(place: InputSeen) -> TensorName:
    return feed_name(place.node) or place.name
