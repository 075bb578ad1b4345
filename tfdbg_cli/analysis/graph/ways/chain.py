"""The chain from what a run was given to one of its tensors: the shortest way, folded by the lines of the program."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from tfdbg_cli.analysis.graph.making.lineage import Lineage, variable_of
from tfdbg_cli.analysis.graph.making.makers import Maker, maker_of
from tfdbg_cli.analysis.graph.making.parts import REDUCTIONS, value_inputs
from tfdbg_cli.analysis.graph.nodes.annotation import made_at
from tfdbg_cli.analysis.graph.nodes.feeds import fed_value, feed_name
from tfdbg_cli.analysis.graph.nodes.neighbours import Edge
from tfdbg_cli.analysis.graph.nodes.roles import is_gradient
from tfdbg_cli.analysis.graph.ways.element_way import NOWHERE
from tfdbg_cli.analysis.graph.ways.ways_back import WaysBack, begins_turns
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

    `given` says what the first step is: "input", "batch" or "variable"; empty for the others. `largest` is the
    largest magnitude of a finite element, where somebody looked.
    """

    tensor: TensorName
    ops: tuple[str, ...]
    frame: Frame | None
    given: str = ""
    largest: float | None = None


def chain_to(
    run: Run,
    lineage: Lineage,
    node: Node,
    slot: int,
    through: Mapping[str, int] = NOWHERE,
    batch: str = "",
    row: int | None = None,
) -> tuple[Link, ...]:
    """The shortest way along the graph from an argument, feed or batch to output `slot` of `node`.

    It is that of the tensor at `row`, if given: it goes from one turn of the loop around it to the next no more often
    than that loop had turned.
    At the nodes that `through` names it takes the input at that position, if there is such a way. It begins with what
    came in as `batch`, if that is named and there is a way from there, and else with what is nearest. A single number
    that was given, such as the 1 of `1 - p` in code that runs eagerly, begins it only where no array does, be it an
    argument that eager ops made of such numbers, and a variable where nothing was given; it is empty when the output
    depends on constants alone. Where the way by `through` leads to a variable of a loop alone, as to its counter, it
    begins with that.
    """
    begin = tensor_name_of(batch) if batch else None
    back, start = WaysBack(run, lineage, row), _Step(TensorName(node.name, slot), node)
    way = _way(run, lineage, start, through, begin, back) or _way(run, lineage, start, NOWHERE, begin, back)
    links: list[Link] = []
    for name, maker in ((step.tensor, step.node) for step in way):
        frame = made_at(run.tracebacks, maker.name)
        if not links:
            links.append(Link(_shown(name, maker, lineage), (maker.op_type,), frame, _given(maker, lineage)))
        elif len(links) > 1 and _same_line(links[-1].frame, frame) and _same_pass(run, links[-1].tensor, maker):
            links[-1] = Link(name, (*links[-1].ops, maker.op_type), frame)
        elif maker is node or not (maker.op_type in SAME_VALUE or lineage.takes_out(maker)):
            links.append(Link(name, (maker.op_type,), frame))
    return tuple(links)


@dataclass(frozen=True, slots=True)
class _Step:
    """A tensor on a way, the node that made it, and how often the way has gone back to an earlier turn of a loop."""

    tensor: TensorName
    node: Node
    gone: int = 0


class _Beginning(Enum):
    """What a way may begin with."""

    WANTED = auto()  # the batch that is named; where none is, any array that the run was given
    OTHER_ARRAY = auto()  # that the run was given, and is not the batch
    NUMBER = auto()  # a single one that the run was given
    VARIABLE = auto()
    ARGUMENT = auto()  # of the function, that eager ops before the call made
    TURN = auto()  # a variable of a loop, as it is when a turn begins


_ENDS = frozenset({_Beginning.OTHER_ARRAY, _Beginning.NUMBER, _Beginning.VARIABLE})
"""No way goes on there. An argument that eager ops made, and a turn of a loop, are themselves made of something."""
_BESIDES_A_NUMBER = _Beginning.OTHER_ARRAY, _Beginning.ARGUMENT, _Beginning.NUMBER
_WITHOUT_A_NUMBER = _Beginning.OTHER_ARRAY, _Beginning.VARIABLE, _Beginning.ARGUMENT, _Beginning.TURN
"""With what a way begins, the best first: where a single number was given, and where none was."""


def _way(
    run: Run,
    lineage: Lineage,
    start: _Step,
    through: Mapping[str, int],
    batch: TensorName | None,
    back: WaysBack,
) -> list[_Step]:
    """The steps of the way from what was given to `start`; empty where it leads to nothing of the kind.

    The graph is searched from `start` on, the nearest nodes first, until what is wanted comes up.
    """
    before: dict[_Step, _Step | None] = {start: None}
    least = {start.node.name: start.gone}  # who went back less often may still go where others may not
    waiting = deque([start])
    nearest: dict[_Beginning, _Step] = {}  # the first of each kind
    while waiting and len(before) < _MOST_NODES:
        step = waiting.popleft()
        current = step.node
        kind = _beginning(run, lineage, step, batch)
        if kind is None and through and begins_turns(current, lineage):
            kind = _Beginning.TURN
        if kind is _Beginning.WANTED:
            return _back(before, step)
        if kind is not None:
            nearest.setdefault(kind, step)
        if kind in _ENDS:
            continue
        for edge in _read(lineage, current, through.get(current.name)):
            gone = None if edge.node is None else back.gone(current, edge, step.gone)
            if edge.node is None or gone is None:
                continue
            maker = edge.node.name
            if maker not in least or gone < least[maker]:
                least[maker] = gone
                further = _Step(edge.tensor, edge.node, gone)
                before[further] = step
                waiting.append(further)
    begin = _preferred(nearest)
    return _back(before, begin) if begin is not None else []


def _beginning(run: Run, lineage: Lineage, step: _Step, batch: TensorName | None) -> _Beginning | None:
    """What a way would begin with that begins with `step`; None where that is not given, but made on the way."""
    node = step.node
    given = maker_of(node, lineage) if node.op_type in INPUTS or lineage.delivers(node) else None
    if given is Maker.DATA:
        if _is_fed_number(run, node):
            return _Beginning.NUMBER
        wanted = batch is None or batch in (step.tensor, feed_name(node))
        return _Beginning.WANTED if wanted else _Beginning.OTHER_ARRAY
    if given is Maker.VARIABLE or variable_of(node, lineage) is not None:
        return _Beginning.VARIABLE
    return _Beginning.ARGUMENT if GIVEN_BY in node.attributes else None


def _preferred(nearest: Mapping[_Beginning, _Step]) -> _Step | None:
    """Which of the nearest of each kind a way begins with, where what is wanted did not come up.

    A single number says little, so an argument that eager ops made stands before it, be it of such numbers: of
    `1 - p` that is `p`, and not the 1. Where no number was given, what those ops began with was the program's own,
    and a variable stands before the argument.
    """
    order = _BESIDES_A_NUMBER if _Beginning.NUMBER in nearest else _WITHOUT_A_NUMBER
    return next((nearest[kind] for kind in order if kind in nearest), None)


def _is_fed_number(run: Run, node: Node) -> bool:
    """Whether `node` stands for a single number that the run was given."""
    name = feed_name(node)
    given = fed_value(run.call.feeds, name) if name is not None else None
    return given is not None and not given.ndim


def _read(lineage: Lineage, node: Node, through: int | None) -> Sequence[Edge]:
    """The inputs of `node` that its result is computed with, or that at `through`."""
    if node.op_type in _SHAPES_ONLY:
        return ()
    edges = lineage.edges(node)
    if through is not None:
        return edges[through : through + 1]
    if node.op_type in _FIRST_ONLY:
        return edges[:1]
    if node.op_type in SELECTS:
        return [*edges[1:], *edges[:1]]
    return [edges[at] for at in value_inputs(node.op_type, len(edges))]


def _back(before: Mapping[_Step, _Step | None], begin: _Step) -> list[_Step]:
    way = [begin]
    while (further := before[way[-1]]) is not None:
        way.append(further)
    return way


def _shown(name: TensorName, node: Node, lineage: Lineage) -> TensorName:
    variable = variable_of(node, lineage)
    return TensorName(variable, 0) if variable is not None else feed_name(node) or name


def _given(node: Node, lineage: Lineage) -> str:
    if begins_turns(node, lineage):
        return ""
    if variable_of(node, lineage) is not None:
        return "variable"
    return "input" if node.op_type in INPUTS or GIVEN_BY in node.attributes else "batch"


def _same_pass(run: Run, last: TensorName, maker: Node) -> bool:
    """Whether `maker` is a gradient as what made `last` is: a gradient may be said to be made where its op was."""
    return is_gradient(run.graph, last.node) == is_gradient(run.graph, maker.name)


def _same_line(one: Frame | None, other: Frame | None) -> bool:
    return one is not None and other is not None and (one.file, one.line) == (other.file, other.line)
