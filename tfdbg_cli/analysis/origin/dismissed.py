"""What counts as fine in a run because the user ignores it: nodes, causes, and what is bad only because of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from tfdbg_cli.analysis.graph.making.lineage import InputSeen
from tfdbg_cli.analysis.graph.nodes.annotation import made_at
from tfdbg_cli.analysis.watch.verdicts import BadMask, Verdicts, nan_mask, row_holds_nan
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.ignored import IgnoredBy, IgnoredPlace
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.updates import after_update


@dataclass(frozen=True)
class Dismissed:
    """What the user ignores in one run: `nodes`, and origins with one of `causes` (`Cause.key`).

    `held` are the nodes where a NaN may arise from ignored infinities and still count as fine; None: any node.
    """

    nodes: frozenset[str] = frozenset()
    causes: frozenset[str] = frozenset()
    held: frozenset[str] | None = None

    def __bool__(self) -> bool:
        return bool(self.nodes or self.causes)


NOTHING = Dismissed()


def dismissed_in(run: Run, places: Iterable[IgnoredPlace]) -> Dismissed:
    """What those of `places` that the user named mean for `run`.

    They include the variables that were written with the values, as these are bad in later runs. The name of an eager
    op depends on what ran before it, so in eager code a node means all ops of that type in the same line.
    """
    eager = run.call.kind is RunKind.EAGER
    by_hand = [place for place in places if place.by_hand]
    here = [place for place in by_hand if place.function == run.call.place or (eager and place.file)]
    nodes = {node for place in here if place.function == run.call.place for node in (*place.named, *place.spoiled)}
    lines = {(place.file, place.line, place.op_type) for place in here if place.by is IgnoredBy.NODE and place.file}
    if lines and eager:
        for node in run.graph:
            frame = made_at(run.tracebacks, node.name)
            if frame is not None and (frame.file, frame.line, node.op_type) in lines:
                nodes.add(node.name)
    causes = frozenset(place.name for place in here if place.by is IgnoredBy.CAUSE)
    return Dismissed(frozenset(nodes), causes, frozenset(node for place in here for node in place.held))


class Dismissals:
    """Applies `dismissed` to `verdicts`: marks the tensors that count as fine.

    `nodes` are the ignored nodes; `caused` maps those that are ignored because of their cause to its key. These
    become known only when the search for an origin comes to them (`caused_at`).
    """

    def __init__(
        self,
        run: Run,
        dismissed: Dismissed,
        verdicts: Verdicts,
        mask: BadMask,
        inputs: Callable[[int], Sequence[InputSeen]],
        hidden: Callable[[int], Sequence[int]],
    ) -> None:
        """`mask` marks bad elements; `inputs` and `hidden` give what a tensor was computed from, by edges and not."""
        self._run = run
        self._dismissed = dismissed
        self._verdicts = verdicts
        self._mask = mask
        self._inputs = inputs
        self._hidden = hidden
        self.caused: dict[str, str] = {}
        self.nodes: set[str] = set()
        if dismissed.nodes:
            self._dismiss(dismissed.nodes)

    @property
    def rows(self) -> frozenset[int]:
        """The tensors that hold NaN or infinities but count as fine."""
        return self._verdicts.dismissed

    @property
    def bad_nodes(self) -> tuple[str, ...]:
        """Their nodes, in order of execution."""
        return tuple(dict.fromkeys(self._run.tensors[row].node for row in sorted(self.rows)))

    def caused_at(self, places: Iterable[int | InputSeen], key_of: Callable[[int | InputSeen], str]) -> bool:
        """Dismiss those of `places` whose cause (its key is `key_of(place)`) is ignored; whether there were any."""
        found: dict[str, str] = {}
        for place in places if self._dismissed.causes else ():
            key = key_of(place)
            if key in self._dismissed.causes:
                found[self._run.tensors[place].node if isinstance(place, int) else place.name.node] = key
        self.caused.update(found)
        if found:
            self._dismiss(found)
        return bool(found)

    def _dismiss(self, nodes: Iterable[str]) -> None:
        """Let the tensors of `nodes` count as fine, and those that are bad only because of them."""
        self.nodes.update(nodes)
        offending = [row for row in range(len(self._run.tensors)) if self._verdicts.offends(row)]
        found = {row for row in offending if self._run.tensors[row].node in self.nodes}
        left, late = [row for row in offending if row not in found], True
        while late:  # what is read from a variable after its update comes before the tensor that shows that
            before = len(left)
            left = [row for row in left if not self._follows(row, found)]
            late = before > len(left)
        self._verdicts.dismiss(found)

    def _follows(self, row: int, found: set[int]) -> bool:
        """Whether the tensor at `row` is bad only because of those `found`; then it is one of them."""
        bad = list(self._sources(row))
        follows = bool(bad) and all(item in found or item in self.nodes for item in bad) and not self._worsens(row)
        if follows:
            found.add(row)
        return follows

    def _sources(self, row: int) -> Iterator[int | str]:
        """The bad sources of the tensor at `row`: rows of tensors, and names of nodes without a captured tensor."""
        yield from filter(self._verdicts.offends, (*self._hidden(row), *self._update_before(row)))
        for item in self._inputs(row):
            if item.index is not None and self._verdicts.offends(item.index):
                yield item.index
            elif item.index is None and item.value is not None and self._mask(item.value).any():
                yield item.name.node

    def _update_before(self, row: int) -> Sequence[int]:
        """In eager code, the update of the variable that the tensor at `row` shows: no edge leads to it."""
        node = self._run.graph.find(self._run.tensors[row].node) if self._run.call.kind is RunKind.EAGER else None
        if node is None or node.op_type != "ReadVariableOp" or not node.inputs:
            return ()
        updates = self._run.tensors.named(after_update(node.inputs[0].node))
        return [update for update in updates if update < row][-1:]

    def _worsens(self, row: int) -> bool:
        """Whether the tensor at `row` holds a NaN, none of its sources does, and `held` does not cover its node."""
        held = self._dismissed.held
        if held is None or self._run.tensors[row].node in held or not row_holds_nan(self._run.tensors, row):
            return False
        given = (item.value is not None and bool(nan_mask(item.value).any()) for item in self._inputs(row))
        others = (*self._hidden(row), *self._update_before(row))
        return not any(given) and not any(row_holds_nan(self._run.tensors, other) for other in others)
