"""Takes what branches and turns of loops report while a function runs, and puts all values in order afterwards."""

from __future__ import annotations

import _thread
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import tensorflow as tf

from tfdbg_cli.capture.functions.calling.recomputed import LazyTensor, Recent, made_of
from tfdbg_cli.capture.functions.calling.rewrite import Exposed, ReportingBody, Rewriting
from tfdbg_cli.capture.functions.calling.straight import Straight
from tfdbg_cli.capture.functions.checking.checking_edit import WantedRewrite
from tfdbg_cli.capture.functions.definition.call_tree import CallKind, CallSite, Scope
from tfdbg_cli.capture.functions.definition.shown_values import Item, Shown
from tfdbg_cli.capture.functions.definition.undefined import gives_undefined
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.observers import unobserved
from tfdbg_cli.capture.tf.second_thread import apart
from tfdbg_cli.capture.tf.types import EagerTensor, Op
from tfdbg_cli.model.dtypes import element_type
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.process.interruptions import our_errors

_TEXT_BYTES = 32  # what a string in a tensor is taken to need


@dataclass
class FrameExecution:
    """One execution of a branch, or one turn of a loop: its values, and the executions inside it.

    The values are None if there was no room for them. `inside` has the inner executions by the number of their body.
    """

    frame: ReportingBody
    values: Sequence[EagerTensor] | None
    inside: dict[int, list[FrameExecution]] = field(default_factory=dict)


class FrameReports:
    """The callback of one rewritten function. Takes part in one call at a time."""

    def __init__(self) -> None:
        self.frames: Sequence[ReportingBody] = ()
        self._pending: dict[int, list[FrameExecution]] = {}
        self._room: int | None = 0
        self._inner: dict[int, tuple[int, ...]] = {}
        self.dropped = 0  # turns whose values there was no room for
        self.failure: Exception | None = None  # what went wrong last in taking a report: a mistake of ours
        self._early_names: Sequence[tuple[TensorName, ...]] = ()
        self._early: dict[TensorName, EagerTensor] = {}
        self._in_order: list[tuple[TensorName, EagerTensor]] | None = None
        self._graph = tf.Graph()  # keeps the registration of the callback alive
        self.token: bytes = apart(self._registered).get_attr("token")

    def _registered(self) -> Op:
        """The op that calls the callback."""
        with unobserved(), self._graph.as_default():
            return tf.py_function(self._report, [], [])

    def begin(
        self,
        frames: Sequence[ReportingBody],
        room: int | None,
        early: Sequence[tuple[TensorName, ...]],
        *,
        in_order: bool = False,
    ) -> None:
        """Get ready for a call whose reports of `frames` may take `room` bytes (None: any).

        `early[0]` has the names of the values in reports with the number -1, `early[1]` with -2, and so on. With
        `in_order` all of these are kept, else the last value of each name.
        """
        self._early_names, self._early = early, {}
        self._in_order = [] if in_order else None
        if self.frames is not frames:
            self.frames = frames
            self._inner = {frame.number: _inner_frames(frames, frame.scope) for frame in frames}
        self._pending = {}
        self._room = room
        self.dropped, self.failure = 0, None

    def end(self) -> dict[int, list[FrameExecution]]:
        """The turns of the outermost frames, by frame; after a failed call also turns in ones that did not end."""
        found, self._pending = self._pending, {}
        return found

    def early(self) -> dict[TensorName, EagerTensor]:
        """What was reported early in the last call, by name; may be asked once."""
        found, self._early = self._early, {}
        return found

    def in_order(self) -> list[tuple[TensorName, EagerTensor]]:
        """All that was reported early in the last call, in order; may be asked once."""
        found, self._in_order = self._in_order or [], None
        return found

    def _report(self, number: EagerTensor, *values: EagerTensor) -> None:
        """Take in one turn. The runtime calls this in its threads, so nothing may come out of it but None."""
        try:
            self._take(int(number), values)
        except KeyboardInterrupt:
            _thread.interrupt_main()  # here it would become an error of an op
        except (MemoryError, tf.errors.ResourceExhaustedError):
            self.dropped += 1
        except our_errors() as error:
            self.failure = error

    def _take(self, number: int, values: Sequence[EagerTensor]) -> None:
        if number < 0:
            pairs = zip(self._early_names[-1 - number], values, strict=True)
            if self._in_order is None:
                self._early.update(pairs)
            else:
                self._in_order.extend(pairs)
            return
        kept: Sequence[EagerTensor] | None = values
        if self._room is not None:
            size = sum(map(tensor_bytes, values))
            if size > self._room:
                kept, self._room = None, 0  # later turns are dropped as well, to leave no gaps
                self.dropped += 1
            else:
                self._room -= size
        turn = FrameExecution(self.frames[number], kept)
        for inner in self._inner[number]:
            if inner in self._pending:
                turn.inside[inner] = self._pending.pop(inner)
        self._pending.setdefault(number, []).append(turn)


@dataclass(frozen=True)
class Rewritten:
    """A rewritten function, and what takes the reports of its branches and loops.

    `straight` has the order of values for calls without such reports, by the positions of the inputs that are shown.
    """

    exposed: Exposed
    rewriting: Rewriting
    reports: FrameReports
    straight: dict[tuple[int, ...], Straight] = field(default_factory=dict)

    @staticmethod
    def of(
        root: Scope, wanted: WantedRewrite, *, without_xla: bool = False, apart: frozenset[str] = frozenset()
    ) -> Rewritten:
        """The function of `root`, rewritten; it is not registered. Calls of functions named `apart` share none."""
        reports = FrameReports()
        rewriting = Rewriting(reports.token, without_xla, wanted, apart)
        return Rewritten(rewriting.exposed(root), rewriting, reports)

    def begin(self, room: int | None) -> None:
        """Get ready for a call, of which the values of branches and loops may take `room` bytes (None: any)."""
        everything = self.rewriting.wanted.early.everything
        self.reports.begin(self.rewriting.frames, room, self.rewriting.early, in_order=everything)


def tensor_bytes(tensor: EagerTensor) -> int:
    """The bytes of an eager tensor, without looking at it; for strings a guess."""
    return compat.elements_of(tensor) * (element_type(compat.dtype_number(tensor)).itemsize or _TEXT_BYTES)


def _inner_frames(frames: Sequence[ReportingBody], scope: Scope) -> tuple[int, ...]:
    """The frames that run inside one turn of `scope` with no other frame between."""
    scopes = set(map(id, _direct(scope)))
    return tuple(frame.number for frame in frames if id(frame.scope) in scopes)


def _direct(scope: Scope) -> Iterator[Scope]:
    for site in scope.calls.values():
        if site.kind is CallKind.PLAIN:
            yield from _direct(site.scopes[0])
        else:
            yield from site.scopes


class Unrolled:
    """The values of a call in order of execution: returned ones, reported ones between them, and computed ones.

    A value that would be computed from a missing one (after an error) is left out.
    """

    def __init__(self, turns: dict[int, list[FrameExecution]]) -> None:
        self._turns = turns
        self.values: list[tuple[Shown, LazyTensor | None]] = []
        self._recent = Recent()
        # The values known so far: in the turn that is being added, in the turns around it, in the run's own function.
        self._known: list[dict[TensorName, LazyTensor]] = [{}]
        self._undefined: set[TensorName] = set()  # outputs of branches that the branch taken did not compute

    def add_arguments(self, arguments: Iterable[tuple[Shown, EagerTensor]]) -> None:
        """Add what the run's own function was given."""
        for shown, tensor in arguments:
            self._show(shown, tensor)

    def know(self, around: Mapping[TensorName, EagerTensor]) -> None:
        """Note tensors that are shown elsewhere, from which values of the call may be computed."""
        self._known[-1].update(around)

    def add(self, items: Iterable[Item], values: Iterable[EagerTensor] | None) -> None:
        """Add the values of the run's own function; None when it failed."""
        self._add(items, values, self._turns)
        for number in list(self._turns):
            for turn in self._turns.pop(number, ()):
                self._add_turn(turn)

    def _show(self, shown: Shown, tensor: EagerTensor) -> None:
        self.values.append((shown, tensor))
        if tensor is not None:
            self._known[0][shown.name] = tensor

    def _add(
        self, items: Iterable[Item], values: Iterable[EagerTensor] | None, turns: dict[int, list[FrameExecution]]
    ) -> None:
        given = None if values is None else iter(values)
        for item in items:
            if item.site is not None:
                self._add_site(item.site, turns)
            elif item.shown is None or given is None:
                continue
            elif item.known is not None:
                self._show(item.shown, item.known)
            elif item.recipe is None:
                value = None if item.reference is None else next(given)
                undefined = self._undefined and item.shown.name in self._undefined
                self._show(item.shown, None if undefined else value)
            else:
                inputs = list(map(self._shown, item.recipe.inputs))
                if all(tensor is not None for tensor in inputs):
                    self._show(item.shown, made_of(item.recipe, inputs, self._recent))

    def _shown(self, name: TensorName) -> LazyTensor | None:
        for known in self._known:
            if (found := known.get(name)) is not None:
                return found
        return None

    def _add_site(self, site: CallSite, turns: dict[int, list[FrameExecution]]) -> None:
        mine = [[turn for turn in turns.get(self._number(scope, turns), ())] for scope in site.scopes]
        for scope, taken in zip(site.scopes, mine, strict=True):
            turns.pop(self._number(scope, turns), None)
            if taken and site.kind is CallKind.BRANCH:
                self._note_undefined(scope, site)
        for at in range(max(map(len, mine), default=0)):
            for column in mine:
                if at < len(column):
                    self._add_turn(column[at])

    def _note_undefined(self, taken: Scope, site: CallSite) -> None:
        """Note which outputs of `site` the branch `taken` did not compute."""
        assert taken.parent is not None
        own = taken.parent.name_of(site.node.name)
        for slot in range(len(taken.body.returns)):
            note = self._undefined.add if gives_undefined(taken, slot) else self._undefined.discard
            note(TensorName(own, slot))

    @staticmethod
    def _number(scope: Scope, turns: dict[int, list[FrameExecution]]) -> int:
        return next((number for number, found in turns.items() if found[0].frame.scope is scope), -1)

    def _add_turn(self, turn: FrameExecution) -> None:
        outside, self._known = self._known, [{}, *self._known]
        self._add(turn.frame.items, turn.values, turn.inside)
        for number in list(turn.inside):
            for inner in turn.inside.pop(number, ()):
                self._add_turn(inner)
        self._known = outside
