"""The page of a difference: where two runs part, with both lines and the inputs; then all that differs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tfdbg_cli.analysis.difference.compared import TensorChange, TensorFate, Verdict
from tfdbg_cli.analysis.difference.compared_recordings import Compared
from tfdbg_cli.analysis.difference.comparison import Comparison
from tfdbg_cli.analysis.difference.graph_changes import GraphChange
from tfdbg_cli.analysis.graph.flow.last_update import made_by
from tfdbg_cli.analysis.graph.nodes.annotation import made_at
from tfdbg_cli.commands.asked.patterns import pattern
from tfdbg_cli.commands.views.difference.data import difference_data
from tfdbg_cli.commands.views.difference.reason import why
from tfdbg_cli.commands.views.difference.rows import change_text, graph_table, input_table, number, tensor_table
from tfdbg_cli.commands.views.links import tensor_link
from tfdbg_cli.commands.views.made_at import made_at_blocks
from tfdbg_cli.document.document import Block, Document, Text, WithoutLinks
from tfdbg_cli.document.flow import Flow, Piece
from tfdbg_cli.document.labels import label_span
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.document.wrapping import Labelled
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.names import short_device
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.units import count_text, shape_text
from tfdbg_cli.model.updates import UPDATED_VARIABLE
from tfdbg_cli.model.values import NoValue
from tfdbg_cli.ops.effects import updates_variable

_BY_NATURE = " that differ by nature, as each {} was given data of its own"
_NAMES_SHOWN = 6
_WAY_SHOWN = 6


@dataclass(frozen=True)
class SideBySide:
    """Two runs compared, as they are to be shown: under which `names`, the list narrowed to nodes of a `pattern`.

    `shown` is the run that the commands of this stop look at: links lead to its tensors.
    """

    compared: Compared
    names: tuple[str, str]
    pattern: str = ""
    graphs: bool = False
    shown: Run | None = None

    @property
    def comparison(self) -> Comparison:
        """The two runs."""
        return self.compared.comparison

    @property
    def linked(self) -> int | None:
        """Which of the two runs links lead into."""
        return next((side for side, run in enumerate(self.comparison.runs) if run is self.shown), None)

    def linked_node(self, change: GraphChange) -> str:
        """The node of a change that the run which links lead into has; empty where it has none."""
        return "" if self.linked is None else (change.first, change.second)[self.linked]

    def listed(self) -> Sequence[Verdict]:
        """The tensors that differ, the worst first."""
        found = self.comparison.differing
        if self.pattern:
            wanted = pattern(self.pattern)
            found = [one for one in found if any(wanted.search(name) for name in self._nodes(one))]
        return sorted(found, key=_weight, reverse=True)

    def link(self, rows: tuple[int | None, int | None]) -> str:
        """What shows the tensor of a pair that can be shown; nothing where none can."""
        side = self.linked
        row = None if side is None else rows[side]
        return "" if row is None or side is None else tensor_link(self.comparison.runs[side].tensors, row)

    def _nodes(self, one: Verdict) -> tuple[str, str]:
        first, second = self.comparison.runs
        return first.tensors[one.rows[0]].node, second.tensors[one.rows[1]].node


def difference_document(beside: SideBySide) -> Document:
    """The page."""
    comparison = beside.comparison
    blocks: list[Block] = [Text(tuple(_head(beside))), Text((EMPTY_LINE,))]
    first = comparison.first
    if comparison.of_graphs_alone:
        blocks += [_graphs_alone(asked=beside.graphs)]
    elif first is None:
        blocks += [_nothing(beside.compared), Text((EMPTY_LINE,)), *_counted(beside)]
    else:
        blocks += [*_first_blocks(beside, first), Text((EMPTY_LINE,)), *_counted(beside)]
    blocks += _growth(beside)
    listed = beside.listed()
    if listed:
        blocks += [Text((EMPTY_LINE,)), tensor_table(comparison, listed, beside.link)]
    if beside.graphs:
        renamed = any(one != two for one, two in comparison.pairs.nodes)
        table = graph_table(comparison.graph_changes, beside.linked_node, renamed=renamed)
        blocks += [Text((EMPTY_LINE,)), *table]
    return Document("diff", tuple(blocks), lambda: difference_data(beside.compared, listed, beside.graphs), "diff")


def _weight(one: Verdict) -> tuple[bool, float, int]:
    gap = one.gap
    assert gap is not None
    odd = gap.change is not TensorChange.VALUES
    return odd, gap.errors.relative, -one.rows[0]


def _head(beside: SideBySide) -> list[Line]:
    lines = []
    for label, name, run in zip("AB", beside.names, beside.comparison.runs, strict=True):
        title = run.what_if_title or run.call.title
        said: list[Span | str] = [Span(name, Style.NAME), "  "] if name else []
        lines.append(line(label_span(label), *said, title))
    found = beside.compared
    if found.pairs > 1:
        lines.append(line(label_span("Runs"), _runs_told(found)))
    if found.pairs > 1 and found.renumbered:
        text = "in their order, since no number of a run is in both: they may be of other steps."
        lines.append(line(label_span("Paired"), Span(text, Style.WARNING)))
    if found.single:
        was = "was" if found.single == 1 else "were"
        text = f"{count_text(found.single, 'run has', 'runs have')} no other, and {was} not compared."
        lines.append(line(label_span("Alone"), Span(text, Style.WARNING)))
    return lines


def _runs_told(found: Compared) -> str:
    """Which pair of several this is, and what the others are."""
    without = f"; of {count_text(found.silent, 'pair')} nothing could be compared" if found.silent else ""
    if found.comparison.of_graphs_alone and found.graphs:
        if found.comparison.graph_changes:
            return f"pair {found.count} of {found.pairs} is the first whose graphs differ."
        return f"the graphs of all {found.pairs} pairs are the same; this is the first."
    if not found.comparable:
        return f"nothing could be compared of any of the {found.pairs} pairs; this is the first."
    if not found.comparison.same:
        agreed = found.count - 1 - found.silent
        before = f"; the {count_text(agreed, 'pair')} before it agree" if agreed else ""
        return f"pair {found.count} of {found.pairs} is the first that differs{before}{without}."
    if found.silent:
        return f"{count_text(found.pairs - found.silent, 'pair')} of {found.pairs} agree{without}."
    return f"all {found.pairs} pairs agree; this is the last."


def _graphs_alone(*, asked: bool) -> Block:
    """What is to be said in the place of values, of two graphs without any."""
    if asked:
        return Labelled("First", "Graphs hold no values: only what sets them apart is told.")
    text = "Could not compare. Graphs hold no values: --graphs lists what sets them apart."
    return Labelled("First", text, Style.WARNING)


def _nothing(found: Compared) -> Block:
    comparison = found.comparison
    if not comparison.pairs.rows:
        return Labelled(
            "First",
            "Could not compare. No tensor of one could be paired with one of the other.",
            Style.WARNING,
        )
    if not comparison.comparable:
        text = f"Could not compare. Of no pair of tensors both have values.{_why_without(comparison)}"
        return Labelled("First", text, Style.WARNING)
    if comparison.differing:
        text = "Nothing diverges of its own, but rounding has grown beyond the tolerance that was asked for."
        return Labelled("First", text, Style.WARNING)
    counts = comparison.counts
    if counts[TensorFate.OWN_DATA]:
        if _lacks_updates(comparison):
            text = (
                "Nothing diverges before the variables are updated; what they are afterwards was not recorded, and"
                " not compared."
            )
            return Labelled("First", text, Style.WARNING)
        shared = f"what all {comparison.peer}s are to share is the same"
        text = f"Nothing diverges: {shared}, the rest is of what each was given."
    elif counts[TensorFate.OTHER_WAY]:
        text = "Nothing diverges: what differs is rounding, or computed on two ways that lead to the same."
    elif counts[TensorFate.ROUNDED] or counts[TensorFate.GROWN]:
        text = "Nothing diverges: what differs is rounding."
    else:
        some = counts[TensorFate.UNKNOWN] or found.silent or found.damaged
        text = "Nothing differs of what could be compared." if some else "Nothing differs."
    return Labelled("First", text, Style.WARNING if found.damaged else Style.GOOD)


def _why_without(comparison: Comparison) -> str:
    """What stands in the place of the value of the first pair, in the one that has none: a reason for them all."""
    rows = comparison.pairs.rows[0]
    for name, run, row in zip("AB", comparison.runs, rows, strict=True):
        value = run.tensors.value(row)
        if isinstance(value, NoValue) and value.text:
            return f" {name}, {run.tensors[row].name}: {value.text}"
    return ""


def _lacks_updates(comparison: Comparison) -> bool:
    """Whether the runs update variables, and none was compared as it is afterwards."""
    run = comparison.runs[0]
    unknown = {one.rows for one in comparison.verdicts if one.state is TensorFate.UNKNOWN}
    compared = (run.tensors[rows[0]] for rows in comparison.pairs.rows if rows not in unknown)
    if any(tensor.op_type == UPDATED_VARIABLE for tensor in compared):
        return False
    return any(updates_variable(node.op_type) for node in run.graph)


def _first_blocks(beside: SideBySide, first: Verdict) -> list[Block]:
    comparison, gap = beside.comparison, first.gap
    assert gap is not None
    inputs = comparison.inputs(first)
    tensors = [run.tensors[row] for run, row in zip(comparison.runs, first.rows, strict=True)]
    lines = []
    for side, (label, tensor) in enumerate(zip(("First", ""), tensors, strict=True)):
        link = beside.link(first.rows) if tensors[0].name == tensors[1].name or side == beside.linked else ""
        if label or tensor.name != tensors[0].name or tensor.op_type != tensors[0].op_type:
            again = f" execution {tensor.execution}" if tensor.execution else ""
            lines.append(
                line(
                    label_span(label or "    in B"),
                    Span(str(tensor.name), Style.TITLE, link),
                    f"{again}  ",
                    Span(tensor.op_type, Style.OP),
                    f"  {tensor.dtype}{shape_text(tensor.shape)}  ",
                    Span(short_device(tensor.device), Style.DEVICE),
                )
            )
    blocks: list[Block] = [Text(tuple(lines)), Labelled("", change_text(comparison, first), Style.WARNING)]
    blocks.append(Labelled("Why", why(comparison, first, inputs)))
    blocks.append(Text((EMPTY_LINE,)))
    blocks += _made_at(beside, first)
    if inputs:
        blocks += [Text((EMPTY_LINE,)), input_table(inputs, beside.link)]
    return blocks


def _made_at(beside: SideBySide, first: Verdict) -> list[Block]:
    """The line that made the op in A, and that in B; once, where both are the same."""
    runs, linked = beside.comparison.runs, beside.linked
    if all(run.call.kind is RunKind.CHECKPOINT for run in runs):  # nothing made them here
        return []
    nodes = [made_by(run.graph, run.tensors[row].node) for run, row in zip(runs, first.rows, strict=True)]
    ours, theirs = (made_at(run.tracebacks, node) for run, node in zip(runs, nodes, strict=True))
    sides, labels = [0, 1], ("A at", "B at")
    if ours is not None and ours == theirs and runs[0].sources.lines(ours.file) == runs[1].sources.lines(ours.file):
        sides, labels = [linked or 0], ("Both at", "Both at")
    found: list[Block] = []
    for side in sides:
        blocks = made_at_blocks(runs[side], nodes[side], label=labels[side])
        found += blocks if side == linked else map(WithoutLinks, blocks)
    return found


def _counted(beside: SideBySide) -> list[Block]:
    comparison = beside.comparison
    counts, pairs = comparison.counts, comparison.pairs
    own, follow = counts[TensorFate.NEW], counts[TensorFate.FOLLOWS]
    parts = [
        f"{counts[TensorFate.EQUAL]:,} equal",
        f"{counts[TensorFate.ROUNDED]:,} the same but for rounding" if counts[TensorFate.ROUNDED] else "",
        f"{counts[TensorFate.GROWN]:,} in which rounding has grown" if counts[TensorFate.GROWN] else "",
        f"{own + follow:,} different ({own:,} of their own, {follow:,} that follow)" if own + follow else "",
        f"{counts[TensorFate.OTHER_WAY]:,} on two ways to the same" if counts[TensorFate.OTHER_WAY] else "",
        f"{counts[TensorFate.OWN_DATA]:,}{_BY_NATURE.format(comparison.peer)}" if counts[TensorFate.OWN_DATA] else "",
        f"{counts[TensorFate.UNKNOWN]:,} without values" if counts[TensorFate.UNKNOWN] else "",
    ]
    text = f"{count_text(len(pairs.rows), 'pair')} of tensors: {', '.join(filter(None, parts))}."
    blocks: list[Block] = [Labelled("Compared", text)]
    if zeros := list(comparison.judge.signed_zeros):
        names = [str(comparison.runs[0].tensors[row].name) for row, _ in zeros[:_NAMES_SHOWN]]
        more = f" … {len(zeros) - len(names):,} more" if len(zeros) > len(names) else ""
        text = f"in {count_text(len(zeros), 'equal pair')} elements are 0 in one and -0 in the other"
        blocks.append(Labelled("Zeros", f"{text}: {', '.join(names)}{more}", Style.HINT))
    for label, side, rows in (("Only in A", 0, pairs.only_first), ("Only in B", 1, pairs.only_second)):
        if rows:
            names = [str(comparison.runs[side].tensors[row].name) for row in rows[:_NAMES_SHOWN]]
            more = f" … {len(rows) - len(names):,} more" if len(rows) > len(names) else ""
            text = f"{count_text(len(rows), 'tensor')}: {', '.join(names)}{more}"
            blocks.append(Labelled(label, text, Style.WARNING))
    blocks += _damaged(beside.compared)
    if comparison.precision is not None:
        names = [
            f"{run.tensors[row].dtype} in {side} ({run.tensors[row].name!s})"
            for side, run, row in zip("AB", comparison.runs, comparison.precision, strict=True)
        ]
        text = f"from here on they compute with other types: {', '.join(names)}; the coarser one says what counts."
        blocks.append(Labelled("Types", text))
    if unused := beside.compared.unused_lines:
        some = beside.compared.count < beside.compared.pairs
        where = " in the runs that were compared" if some else ""
        text = f"these lines fit no pair of nodes{where}: {', '.join(map(str, unused))}"
        blocks.append(Labelled("Map", text, Style.WARNING))
    return blocks


def _damaged(found: Compared) -> list[Block]:
    """What could not be read of the runs compared, each tensor with the runs in which that is so."""
    blocks: list[Block] = []
    for one in found.damaged[:_NAMES_SHOWN]:
        more = f" and {len(one.runs) - 1:,} more" if len(one.runs) > 1 else ""
        where = f" in run #{one.runs[0]}{more}" if found.pairs > 1 else ""
        blocks.append(Labelled("Damaged", f"{one.name}{where}: {one.why.text}", Style.ERROR))
    if left := len(found.damaged) - len(blocks):
        blocks.append(Labelled("", f"… and {count_text(left, 'more tensor')} that cannot be read", Style.ERROR))
    return blocks


def _growth(beside: SideBySide) -> list[Block]:
    """Along which tensors rounding grew, each with its error beside its largest element, and how much it grew."""
    way = beside.comparison.way_of_growth()
    if not way:
        return []
    tensors = beside.comparison.runs[0].tensors
    shown = [*way[:2], None, *way[-_WAY_SHOWN + 2 :]] if len(way) > _WAY_SHOWN else way
    pieces: list[Piece] = [(Span("grows along "),)]
    for at, one in enumerate(shown):
        arrow = Span(" → " if at else "", Style.DIM)
        if one is None or one.gap is None:
            pieces.append((arrow, Span(f"… {len(way) - _WAY_SHOWN} more …", Style.DIM)))
            continue
        name = re.sub(r":0$", "", str(tensors[one.rows[0]].name))
        grew = f" ×{one.growth:.3g}" if one.growth > 1 else ""
        error = Span(f" {number(one.gap.errors.relative)}{grew}", Style.NUMBER)
        pieces.append((arrow, Span(name, Style.NAME, beside.link(one.rows)), error))
    return [Flow("Rounding", tuple(pieces))]
