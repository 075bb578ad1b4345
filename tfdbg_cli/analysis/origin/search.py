"""The origin: the first tensor, in order of execution, that is not finite although all its inputs are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import replace

import numpy as np

from tfdbg_cli.analysis.batch.batch_rows import NO_ROWS
from tfdbg_cli.analysis.causes.explanation import Explanations
from tfdbg_cli.analysis.causes.intended import Intended, Intentions
from tfdbg_cli.analysis.causes.masked_data import masked_in_forward
from tfdbg_cli.analysis.causes.sources_of_values import hidden_by_where
from tfdbg_cli.analysis.graph.making.forward import named_forward
from tfdbg_cli.analysis.graph.making.lineage import InputSeen, Lineage
from tfdbg_cli.analysis.graph.nodes.feeds import fed_value
from tfdbg_cli.analysis.origin.aftermath import Aftermath, aftermath
from tfdbg_cli.analysis.origin.closed_rows import closed_rows
from tfdbg_cli.analysis.origin.descriptions import Descriptions
from tfdbg_cli.analysis.origin.dismissed import NOTHING, Dismissals, Dismissed
from tfdbg_cli.analysis.origin.element_ways import ElementWays
from tfdbg_cli.analysis.origin.harming_tensors import leading_to_outcome
from tfdbg_cli.analysis.origin.hidden_sources import HiddenSources
from tfdbg_cli.analysis.origin.inputs_read import InputsRead
from tfdbg_cli.analysis.origin.open_rows import OpenRows
from tfdbg_cli.analysis.origin.origin_found import OnIntended, Origin
from tfdbg_cli.analysis.origin.overwritten_fetches import OverwrittenFetches
from tfdbg_cli.analysis.origin.updates_read import UpdatesRead
from tfdbg_cli.analysis.watch.verdicts import BadMask, Verdicts, nan_mask, row_holds_nan
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.dtypes import in_double
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.names import tensor_name_of
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.statistics import nonfinite_mask
from tfdbg_cli.model.updates import UPDATED_VARIABLE
from tfdbg_cli.model.values import NoValue
from tfdbg_cli.ops.kinds import CROSS_ENTROPIES, INPUTS, LITERALS, VARIABLE_READS


class OriginSearch:
    """The search for the origin in one run. Bad is a tensor with NaN or infinities that do not count as fine.

    Args:
        run: the run.
        nan_only: look for NaN only (a mask of -inf is no mistake).
        exclude_node_names: a regular expression; tensors of nodes whose name matches count as fine.
        benign: what to do about infinities that look intended.
        dismissed: what the user ignores; it counts as fine, and so does what is bad only because of it.

    """

    def __init__(
        self, run: Run, *, nan_only: bool = False, exclude_node_names: str = "", benign: OnIntended = OnIntended.LAST,
        dismissed: Dismissed = NOTHING,
    ) -> None:  # fmt: skip
        self._run = run
        self._exclude_node_names, self._dismissed = exclude_node_names, dismissed
        self._mask: BadMask = nan_mask if nan_only else nonfinite_mask
        self._lineage = Lineage(run)
        self._verdicts = Verdicts(run, self._mask, exclude_node_names)
        self._intentions = Intentions(run, self._lineage, self._verdicts.offends)
        explanations = Explanations(run, self._lineage, self._intentions, self._verdicts)
        self._inputs = InputsRead(self._lineage)
        self._ways = ElementWays(run, self._lineage, self._mask)
        self._descriptions = Descriptions(
            run, self._lineage, self._mask, self._verdicts, explanations, self._ways, self._inputs.of
        )
        self._hidden = HiddenSources(run, self._lineage)
        self._late = OverwrittenFetches(run, self._lineage)
        self._benign = benign
        self.intended: list[Intended] = []  # the intended infinities that were passed over, in order
        self._passed_over: list[int | InputSeen] = []
        self._handing_on: dict[int, bool] = {}
        # Not by `self`: a search that refers to itself keeps the run with all its values until a full collection.
        hidden, updates = self._hidden, UpdatesRead(run, self._lineage)
        self._updates = updates
        self._dismissals = Dismissals(
            run,
            dismissed,
            self._verdicts,
            self._mask,
            self._inputs.of,
            lambda row: [*hidden.rows(row), *updates.rows(row)],
        )

    @property
    def unread(self) -> Set[int]:
        """The rows of tensors looked at so far whose values were lost; they count as fine."""
        return self._verdicts.unread

    def unread_before(self, origin: Origin) -> int:
        """Of how many tensors before `origin` the value was lost and may have been bad.

        Before what a run was given there is none.
        """
        lost = OpenRows(self._run, self._lineage, self._verdicts, self._made_of)
        return 0 if origin.index is None else len(lost.before(origin.index))

    def _made_of(self, index: int) -> list[int]:
        """The rows of the tensors that the one at `index` was computed from."""
        inputs = [item.index for item in self._inputs.of(index) if item.index is not None]
        return [*inputs, *self._hidden.rows(index), *self._updates.rows(index)]

    @property
    def dismissals(self) -> Dismissals:
        """What has counted as fine so far because the user ignores it."""
        return self._dismissals

    @property
    def left_out(self) -> frozenset[int]:
        """The rows of the tensors that have counted as fine so far, since they look intended or are ignored."""
        return self._verdicts.excused | self._dismissals.rows

    @property
    def lineage(self) -> Lineage:
        """The inputs of the run's tensors."""
        return self._lineage

    def first(self) -> Origin | None:
        """The origin; None if nothing is bad. Reads values in order of execution up to the first bad tensor."""
        place = self._first_blamed()
        if place is None and self.intended and self._benign is OnIntended.LAST:
            meant, self.intended = self.intended[0], []
            self._verdicts.excuse_none()
            return replace(self._described(self._passed_over[0]), intended=meant)
        closed = closed_rows(self._run, self._lineage, place) if isinstance(place, int) else None
        return None if place is None else self._described(place if closed is None else closed)

    def finds_one(self) -> bool:
        """Whether `first` gives an origin that is not intended. Nothing of it is told, which takes most time."""
        return self._first_blamed() is not None

    def read_in_steps(self) -> Iterator[None]:
        """Read the values up to the first bad one, which `first` and `finds_one` begin with; one in each step."""
        for index in range(len(self._run.tensors)):
            if self._verdicts.bad(index):
                return
            yield

    def _first_blamed(self) -> int | InputSeen | None:
        while True:
            place = self._first_place()
            if self._pass_over(place) is None and not self._dismiss_caused([] if place is None else [place]):
                return place

    def all(self) -> list[int | InputSeen]:
        """Every place at which something bad began: what the run was given, then tensors in order of execution.

        Such a tensor is bad although all its inputs are fine. What shows a variable to which the run itself gave
        something bad is not among them, and what the run was given only where no tensor shows it. Reads every value.
        """
        while True:
            found = [
                index for index in range(len(self._run.tensors)) if self._verdicts.bad(index) and self._begins(index)
            ]
            places: list[int | InputSeen] = [*self._bad_feeds(), *found]
            if not places and (unread := self._in_feeds()) is not None:
                places = [unread]
            if not any([self._pass_over(place) for place in places]) and not self._dismiss_caused(places):
                return places

    def _bad_feeds(self) -> list[InputSeen]:
        """The feeds, arguments and variables that are bad, went into a bad tensor, and that no tensor shows."""
        bad = (index for index in range(len(self._run.tensors)) if self._verdicts.bad(index))
        items = (item for index in bad for item in self._inputs.of(index) if item.index is None)
        return list({item.name: item for item in items if self._bad_input(item)}.values())

    def bad_rows(self) -> list[int]:
        """All bad tensors, without those that are excused by now as intended, or dismissed. Reads every value."""
        return [index for index in range(len(self._run.tensors)) if self._verdicts.bad(index)]

    def meant_nan_rows(self) -> list[int]:
        """The tensors with NaN that are excused, since the program means them: it chooses other numbers for them."""
        return sorted(row for row in self._verdicts.excused if row_holds_nan(self._run.tensors, row))

    def harmful(self, origin: Origin) -> tuple[Origin, int]:
        """The first origin that affects the outcome of the run, and how many harmless ones precede it.

        That is `origin` itself, unless it does not affect the outcome and a later one does. Reads every value.
        """
        bad = self.bad_rows()
        found, before = self._first_harmful(origin, bad)
        masked = masked_in_forward(self._run, self._lineage, found.node, bad, self._verdicts.bad)
        return (replace(found, cause=hidden_by_where(found.cause, masked)) if masked else found), before

    def _first_harmful(self, origin: Origin, bad: list[int]) -> tuple[Origin, int]:
        touching = leading_to_outcome(self._run, self._lineage, bad, self.spoiling)
        if not touching or origin.index in touching or (origin.index is None and self._is_read(origin, touching)):
            return origin, 0
        # An op that reads the same input, as the gradient of a logarithm does, goes wrong for the same reason, unless
        # what comes out was made of both, and is bad by the other alone.
        akin = self._intentions.bad_readers(origin.node) if origin.node is not None else frozenset()
        related = any(self._run.tensors[row].node in akin for row in touching)
        if related and not any(self._in_vain(origin.index, row) for row in touching):
            return origin, 0
        begun = [row for row in bad if self._begins(row)]
        harmful = [row for row in begun if row in touching]
        if not harmful:
            return origin, 0
        passed = sum(row < harmful[0] and row not in touching for row in begun)
        return self._described(harmful[0]), passed + (origin.index is None)

    def _in_vain(self, given: int | None, row: int) -> bool:
        """Whether the tensor at `row` was made of the one at `given`, but is bad where that is not."""
        return any(item.index == given for item in self._inputs.of(row)) and given not in self.spoiling(row)

    def _is_read(self, origin: Origin, rows: Iterable[int]) -> bool:
        """Whether one of the tensors at `rows` is bad where `origin` is, a feed that no tensor shows."""
        return any(item.node is origin.node for row in rows for item in self._bad_inputs(row) if item.index is None)

    def nan_after(self, origin: Origin) -> Origin | None:
        """Where NaN began, if `origin` is an infinity that the run was given: a constant, a feed or a variable.

        So may be what a cast made of a mask: -inf and nothing else. The program may mean the infinity; the op that
        made NaN of it is then where it went wrong. Reads every value.
        """
        node = origin.node
        if node is None or self._mask is nan_mask or nan_mask(origin.value).any():
            return None
        given = node.op_type in LITERALS | INPUTS | VARIABLE_READS or self._lineage.is_variable(node)
        if not given and (node.op_type != "Cast" or (in_double(origin.value) == np.inf).any()):
            return None
        search = OriginSearch(
            self._run, nan_only=True, exclude_node_names=self._exclude_node_names, dismissed=self._dismissed
        )
        first = search.first()
        if first is None:
            return None
        found, _ = search.harmful(first)
        # Of a weight that is infinite it is not up to a row whether that becomes NaN there, or stays infinite.
        trained = self._run.variables is not None and self._run.variables.trainable.get(origin.variable)
        return replace(found, batch=NO_ROWS) if trained else found

    def spoiled(self, origin: Origin) -> Aftermath:
        """How much is bad after `origin` in order of execution."""
        before = self._before_readers(origin)
        return aftermath(self._run, self._lineage, self._verdicts.bad, before, shown_late=origin.index)

    def _before_readers(self, origin: Origin) -> int | None:
        """The place of `origin`, or None for what came in before all: an eager op is given it when it runs.

        A variable after its update is shown behind what read it after that, in the same turn.
        """
        if origin.index is not None and origin.node is not None and origin.node.op_type == UPDATED_VARIABLE:
            handle = origin.node.inputs[0].node if origin.node.inputs else origin.node.name
            shown = (
                row for node, _ in self._run.graph.consumers(handle) for row in self._run.tensors.named(node.name)
            )
            before = [row - 1 for row in shown if row < origin.index and self._shows(row, origin.index)]
            return min(before, default=origin.index)
        if origin.index is not None or origin.node is None or self._run.call.kind is not RunKind.EAGER:
            return origin.index
        readers = {node.name for node, _ in self._run.graph.consumers(origin.node.name)}
        return min((row - 1 for name in readers for row in self._run.tensors.named(name)), default=None)

    def _shows(self, row: int, update: int) -> bool:
        """Whether the tensor at `row` was read from a variable as the one at `update` shows it."""
        return self._verdicts.bad(row) and any(item.index == update for item in self._lineage.places(row))

    def _pass_over(self, place: int | InputSeen | None) -> Intended | None:
        """Excuse the infinities at `place`, if they look intended, and the tensors that pass them on."""
        if self._benign is OnIntended.SHOW or place is None:
            return None
        found = self._intentions.at(place) if isinstance(place, int) else self._intentions.of_feed(place)
        if found is None:
            return None
        self.intended.append(found)
        self._passed_over.append(place)
        self._handing_on.clear()
        self._verdicts.excuse({*found.tensors, *({place} if isinstance(place, int) else ())})
        return found

    def _dismiss_caused(self, places: Iterable[int | InputSeen]) -> bool:
        """Dismiss those of `places` whose cause counts as fine; whether there were any."""
        found = self._dismissals.caused_at(places, self._key_of_cause)
        self._handing_on.clear()
        return found

    def _first_place(self) -> int | InputSeen | None:
        unsure: list[int] = []
        for index in range(len(self._run.tensors)):
            if not self._verdicts.bad(index):
                continue
            if self._late.written_meanwhile(index) or self._hands_on(index):
                unsure.append(index)
                continue
            return self._in_forward_pass(self._traced_back(index))
        return self._traced_back(unsure[0]) if unsure else self._in_feeds()

    def _in_forward_pass(self, place: int | InputSeen) -> int | InputSeen:
        """The forward op whose gradient is bad at `place`, if it is so by itself and only happened to run later."""
        node = self._lineage.node(place) if isinstance(place, int) else None
        forward = None if node is None else named_forward(self._lineage.graph_of(node), node)
        rows = () if forward is None else self._run.tensors.named(forward.name)
        return next((row for row in rows if self._verdicts.bad(row) and not self._reads_bad(row)), place)

    def _begins(self, index: int) -> bool:
        """Whether the bad tensor at `index` is so of its own: by no input, and by no update of this run."""
        return not self._reads_bad(index) and not any(map(self._verdicts.bad, self._updates.rows(index)))

    def _reads_bad(self, index: int) -> bool:
        """Whether something that the tensor at `index` was computed from is bad, even if no edge leads there."""
        return bool(self._bad_inputs(index)) or any(map(self._verdicts.bad, self._hidden.rows(index)))

    def _bad_inputs(self, index: int) -> list[InputSeen]:
        """The inputs of the bad tensor at `index` that are bad where it is."""
        inputs = self._inputs.of(index)
        if not any(map(self._bad_input, inputs)):
            return []
        return [item for item in self._ways.leading(index, inputs) if self._bad_input(item)]

    def spoiling(self, index: int) -> list[int]:
        """The rows of the tensors that are bad where the bad tensor at `index` is, which was made of them."""
        return [item.index for item in self._bad_inputs(index) if item.index is not None]

    def _described(self, place: int | InputSeen) -> Origin:
        return self._descriptions.of(place, self._bad_input)

    def _key_of_cause(self, place: int | InputSeen) -> str:
        return self._descriptions.cause_of(place, self._bad_input).key

    def _bad_input(self, item: InputSeen) -> bool:
        if item.index is not None:
            return self._verdicts.bad(item.index)
        if item.value is None or not self._mask(item.value).any() or self._is_intended(item.node):
            return False
        return not self._descriptions.spoiled_meanwhile(item.node)

    def _is_intended(self, node: Node | None) -> bool:
        """Whether `node` is a feed that was passed over, or dismissed."""
        if node is not None and node.name in self._dismissals.nodes:
            return True
        return node is not None and any(isinstance(p, InputSeen) and p.node is node for p in self._passed_over)

    def _traced_back(self, index: int) -> int | InputSeen:
        """Go from a bad tensor back along bad inputs to one that has none; or to a bad feed that no tensor shows."""
        met = {index}
        while True:
            further = [item for item in self._bad_inputs(index) if item.index is None or item.index not in met]
            further = [item for item in further if not self._late.own_target(index, item)]
            further = [item for item in further if item.index is None or not self._hands_on(item.index)]
            hidden = [row for row in self._hidden.rows(index) if self._verdicts.bad(row) and row not in met]
            if not further and not hidden:
                return index
            if not further:
                index = hidden[0]
                met.add(index)
                continue
            if further[0].index is None:
                return further[0]
            index = further[0].index
            met.add(index)

    def _hands_on(self, index: int) -> bool:
        """Whether the tensor at `index` only passes on an intended infinity; the fault is then where NaN arises."""
        known = self._handing_on.get(index)
        if known is None:
            self._handing_on[index] = False  # the answer within a cycle
            known = self._handing_on[index] = self._is_handing_on(index)
        return known

    def _is_handing_on(self, index: int) -> bool:
        excused, node = self._verdicts.excused, self._lineage.node(index)
        if node is not None and node.op_type in CROSS_ENTROPIES:
            return False  # a loss is infinite by the label
        rows = [item.index for item in self._lineage.places(index) if item.index is not None]
        if not any(row in excused or (row in self._handing_on and self._handing_on[row]) for row in rows):
            return False
        value = self._run.tensors.value(index)
        if isinstance(value, NoValue) or nan_mask(value).any():
            return False
        return self._ways.begun(index, self._inputs.of(index)) is None

    def _in_feeds(self) -> InputSeen | None:
        """The first bad feed that does not count as fine, for a run in which no tensor is bad."""
        for text in self._run.call.feeds:
            name = tensor_name_of(text)
            value = fed_value(self._run.call.feeds, name)
            node = self._run.graph.find(name.node)
            if value is not None and bool(self._mask(value).any()) and not self._is_intended(node):
                return InputSeen(name, node, value=value)
        return None
