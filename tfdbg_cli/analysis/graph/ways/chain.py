"""The chain from what a run was given to one of its tensors: the shortest way, folded by the lines of the program."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tfdbg_cli.analysis.graph.annotation import made_at
from tfdbg_cli.analysis.graph.feeds import fed_value, feed_name
from tfdbg_cli.analysis.graph.lineage import LOOP_VARIABLE, Lineage, variable_of
from tfdbg_cli.analysis.graph.makers import Maker, maker_of
from tfdbg_cli.analysis.graph.parts import REDUCTIONS, value_inputs
from tfdbg_cli.analysis.graph.roles import is_gradient
from tfdbg_cli.analysis.graph.ways.element_way import NOWHERE
from tfdbg_cli.model.graph import GIVEN_BY, Node
from tfdbg_cli.model.names import TensorName, tensor_name_of
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.sources import Frame
from tfdbg_cli.ops.kinds import INPUTS, OF_SHAPES, REPEATS, RESHAPES, SAME_VALUE, SELECTS

_MOST_NODES = 20_000
# Ops of which only the first input is computed with; the others say along which axes, how many, or where.
_FIRST_ONLY = REDUCTIONS | RESHAPES | REPEATS | {
    "Transpose", "StridedSlice", "Slice", "Pad", "PadV2", "Cumsum", "Cumprod", "OneHot", "TopKV2", "TensorListStack",
    "TensorListGetItem", "ArgMax", "ArgMin",
}  # fmt: skip
_SHAPES_ONLY = OF_SHAPES | {"BroadcastGradientArgs"}


@dataclass(frozen=True)
class Link:
    """A step of the chain: the last tensor made on a line of the program, and the ops on the way that stand there.

    `given` says what the first step is: "input", "batch" or "variable"; empty for the others.
    """

    tensor: TensorName
    ops: tuple[str, ...]
    frame: Frame | None
    given: str = ""


def chain_to(
    run: Run, lineage: Lineage, node: Node, slot: int, through: Mapping[str, int] = NOWHERE, batch: str = ""
) -> tuple[Link, ...]:
    """The shortest way along the graph from an argument, feed or batch to output `slot` of `node`.

    At the nodes that `through` names it takes the input at that position, if there is such a way. It begins with what
    came in as `batch`, if that is named and there is a way from there, and else with what is nearest. A single number
    that was given, such as the 1 of `1 - p` in code that runs eagerly, begins it only where no array does, be it an
    argument that eager ops made of such numbers, and a variable where nothing was given; it is empty when the output
    depends on constants alone. Where the way by `through` leads to the counter of a loop alone, it begins with that.
    """
    start = tensor_name_of(batch) if batch else None
    way = _way(run, lineage, node, slot, through, start) or _way(run, lineage, node, slot, NOWHERE, start)
    links: list[Link] = []
    for name, maker in way:
        frame = made_at(run.tracebacks, maker.name)
        if not links:
            links.append(Link(_shown(name, maker, lineage), (maker.op_type,), frame, _given(maker, lineage)))
        elif len(links) > 1 and _same_line(links[-1].frame, frame) and _same_pass(run, links[-1].tensor, maker):
            links[-1] = Link(name, (*links[-1].ops, maker.op_type), frame)
        elif maker is node or not (maker.op_type in SAME_VALUE or lineage.takes_out(maker)):
            links.append(Link(name, (maker.op_type,), frame))
    return tuple(links)


def _way(
    run: Run, lineage: Lineage, node: Node, slot: int, through: Mapping[str, int], batch: TensorName | None
) -> list[tuple[TensorName, Node]]:
    """The tensors on the way, from what was given to output `slot` of `node`."""
    start = (TensorName(node.name, slot), node)
    before: dict[str, tuple[TensorName, Node] | None] = {node.name: None}
    waiting = deque([start])
    argument: tuple[TensorName, Node] | None = None  # that eager ops made
    number: tuple[TensorName, Node] | None = None
    variable: tuple[TensorName, Node] | None = None
    nearest: tuple[TensorName, Node] | None = None  # that was given, and is not the batch
    counter: tuple[TensorName, Node] | None = None  # of a loop
    while waiting and len(before) < _MOST_NODES:
        name, current = waiting.popleft()
        kind = maker_of(current, lineage) if current.op_type in INPUTS or lineage.delivers(current) else None
        if kind is Maker.DATA and _is_number(run, current):
            number = number or (name, current)
            continue
        if kind is Maker.DATA and (batch is None or batch in (name, feed_name(current))):
            return _back(before, (name, current))
        if kind is Maker.DATA:
            nearest = nearest or (name, current)
            continue
        if kind is Maker.VARIABLE or variable_of(current, lineage) is not None:
            variable = variable or (name, current)
            continue
        if counter is None and through and current.op_type == LOOP_VARIABLE:
            counter = name, current
        if argument is None and GIVEN_BY in current.attributes:
            argument = name, current
        for tensor, maker in _read(lineage, current, through.get(current.name)):
            if maker.name not in before:
                before[maker.name] = (name, current)
                waiting.append((tensor, maker))
    begin = nearest or (argument or number if number is not None else variable or argument) or counter
    return _back(before, begin) if begin is not None else []


def _is_number(run: Run, node: Node) -> bool:
    """Whether `node` stands for a single number that the run was given."""
    name = feed_name(node)
    given = fed_value(run.call.feeds, name) if name is not None else None
    return given is not None and not given.ndim


def _read(lineage: Lineage, node: Node, through: int | None) -> Iterator[tuple[TensorName, Node]]:
    """The inputs of `node` that its result is computed with, or that at `through`, with the nodes that made them."""
    if node.op_type in _SHAPES_ONLY:
        return
    edges = lineage.edges(node)
    if through is not None:
        edges = edges[through : through + 1]
    elif node.op_type in _FIRST_ONLY:
        edges = edges[:1]
    elif node.op_type in SELECTS:
        edges = [*edges[1:], *edges[:1]]
    else:
        edges = [edges[at] for at in value_inputs(node.op_type, len(edges))]
    for edge in edges:
        if edge.node is not None:
            yield edge.tensor, edge.node


def _back(
    before: dict[str, tuple[TensorName, Node] | None], place: tuple[TensorName, Node]
) -> list[tuple[TensorName, Node]]:
    way = [place]
    while (further := before[way[-1][1].name]) is not None:
        way.append(further)
    return way


def _shown(name: TensorName, node: Node, lineage: Lineage) -> TensorName:
    variable = variable_of(node, lineage)
    return TensorName(variable, 0) if variable is not None else feed_name(node) or name


def _given(node: Node, lineage: Lineage) -> str:
    if node.op_type == LOOP_VARIABLE:
        return ""
    if variable_of(node, lineage) is not None:
        return "variable"
    return "input" if node.op_type in INPUTS or GIVEN_BY in node.attributes else "batch"


def _same_pass(run: Run, last: TensorName, maker: Node) -> bool:
    """Whether `maker` is a gradient as what made `last` is: a gradient may be said to be made where its op was."""
    return is_gradient(run.graph, last.node) == is_gradient(run.graph, maker.name)


def _same_line(one: Frame | None, other: Frame | None) -> bool:
    return one is not None and other is not None and (one.file, one.line) == (other.file, other.line)
