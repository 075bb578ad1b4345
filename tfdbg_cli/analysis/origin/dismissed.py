"""What counts as fine in a run since the person ignores it: which nodes and causes, and how far it goes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from tfdbg_cli.analysis.graph.annotation import made_at
from tfdbg_cli.analysis.graph.lineage import InputSeen
from tfdbg_cli.analysis.watch.verdicts import BadMask, Verdicts, nan_mask
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.ignored import IgnoredBy, IgnoredPlace
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.updates import after_update
from tfdbg_cli.model.values import NoValue


@dataclass(frozen=True)
class Dismissed:
    """What of one run counts as fine by word: `nodes`, and all that a cause of `causes` (`Cause.key`) made.

    `held` are the nodes at which NaN may be made of infinities that count as fine; None: all.
    """

    nodes: frozenset[str] = frozenset()
    causes: frozenset[str] = frozenset()
    held: frozenset[str] | None = None

    def __bool__(self) -> bool:
        return bool(self.nodes or self.causes)


NOTHING = Dismissed()


def dismissed_in(run: Run, places: Iterable[IgnoredPlace]) -> Dismissed:
    """What of `run` counts as fine by those of `places` that the person named.

    So does, in later runs, a variable that was written with it. In eager code, where the number in the name of an op
    depends on what ran before it, the ops of the same line and type are meant instead, wherever they run.
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
    """What the person said counts as fine in `run`, as far as the search for an origin has met it.

    `nodes` are the nodes that do; `caused` has those among them that do since their cause was ignored, with its key.
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
        """Tell `verdicts`, of elements that `mask` marks; `inputs` and `hidden` are what a tensor was made of."""
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
        """The tensors that are bad, and count as fine."""
        return self._verdicts.dismissed

    @property
    def bad_nodes(self) -> tuple[str, ...]:
        """Their nodes, in order of execution."""
        return tuple(dict.fromkeys(self._run.tensors[row].node for row in sorted(self.rows)))

    def caused_at(self, places: Iterable[int | InputSeen], key_of: Callable[[int | InputSeen], str]) -> bool:
        """Dismiss those of `places` whose cause, told by `key_of`, counts as fine; whether there were any."""
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
        found: set[int] = set()
        for row in range(len(self._run.tensors)):
            if not self._verdicts.offends(row):
                continue
            if self._run.tensors[row].node in self.nodes:
                found.add(row)
                continue
            bad = list(self._sources(row))
            if bad and all(item in found or item in self.nodes for item in bad) and not self._worsens(row):
                found.add(row)
        self._verdicts.dismiss(found)

    def _sources(self, row: int) -> Iterator[int | str]:
        """What is bad of what the tensor at `row` was made of: indices, and nodes that no tensor shows."""
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
        """Whether the tensor at `row` makes NaN of infinities that count as fine, which nobody has said of it."""
        held = self._dismissed.held
        if held is None or self._run.tensors[row].node in held or not self._holds_nan(row):
            return False
        given = (item.value is not None and bool(nan_mask(item.value).any()) for item in self._inputs(row))
        others = (*self._hidden(row), *self._update_before(row))
        return not any(given) and not any(map(self._holds_nan, others))

    def _holds_nan(self, row: int) -> bool:
        value = self._run.tensors.value(row)
        return not isinstance(value, NoValue) and bool(nan_mask(value).any())
