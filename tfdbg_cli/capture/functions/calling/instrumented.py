"""A graph function called so that every intermediate value of it and of what it calls is kept.

The FunctionDef of the function is rewritten (rewrite.py) and called in its place, once. What the call gives
is what the original gives: the ops are the same, and so are their order, their side effects and their errors. The
exceptions are named in `Instrumented.notes`.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property

from tfdbg_cli.capture.failures import report
from tfdbg_cli.capture.functions.calling.counted_draws import CountedDraws, with_original_draws
from tfdbg_cli.capture.functions.calling.frame_reports import FrameExecution, Rewritten, Unrolled
from tfdbg_cli.capture.functions.calling.kept_tensors import NO_TENSORS, KeptTensors, alias
from tfdbg_cli.capture.functions.calling.kernel_draws import kernel_draws
from tfdbg_cli.capture.functions.calling.rewrite import Exposed
from tfdbg_cli.capture.functions.calling.straight import Straight
from tfdbg_cli.capture.functions.checking.checking_edit import WantedRewrite
from tfdbg_cli.capture.functions.checking.early_reports import shown_early
from tfdbg_cli.capture.functions.definition.body import ReferenceTarget
from tfdbg_cli.capture.functions.definition.call_tree import ARGUMENT, Scope
from tfdbg_cli.capture.functions.definition.own_names import is_ours, original_names
from tfdbg_cli.capture.functions.definition.shown_values import Shown, hidden_in, unshown_calls
from tfdbg_cli.capture.functions.optimized.compiled import Compiled, compiled
from tfdbg_cli.capture.functions.optimized.grafted import CannotBeGrafted, grafted
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.observers import unobserved
from tfdbg_cli.capture.tf.op_errors import OpError
from tfdbg_cli.capture.tf.types import AtomicFunction, EagerTensor, NodeDef
from tfdbg_cli.errors import reason_of
from tfdbg_cli.model.dtypes import HANDLE_NUMBERS
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.units import names_text
from tfdbg_cli.process.interruptions import our_errors

_WITHOUT_XLA = (
    "This function is compiled by XLA. It ran without XLA this time, since loops, branches and tensors whose size "
    "follows from values, as that of tf.boolean_mask, cannot be captured under XLA; rounding can differ."
)
_FUSED_OTHERWISE = (
    "Some of this function is compiled by XLA. With its values given back XLA fuses fewer ops; rounding can differ."
)
_XLA_FAILED = "XLA cannot compile this function with all its values given back, so none were taken this time."
_RANDOM = (
    "Random numbers of {} come from a generator inside the op, and the op of a captured call has one of its own, "
    "which begins anew: unless every call since the first was captured so, they are others than undebugged, not only "
    "in their last digits."
)
_HIDDEN = "Values of {} nodes inside loops and branches of version 1 are not shown: they need not be produced."
_UNSHOWN = "What happens inside {}, as in the turns of a loop over a dataset, is not shown."
_NOT_TAKEN = "The values of this call could not be taken: {}"
_DROPPED = "The values of {} turns of loops or branches are not kept: {}."
_UNREPORTED = "Values of loops and branches could not be taken: {}"


@dataclass(frozen=True)
class CallResult:
    """What a call gave: its flat outputs and its values, or its error and the values until then.

    After an error there are the arguments, and values of the branches and turns of loops that ended before it.
    `notes` are sentences for the screen. `found` says whether a tensor is what the question asks for, or, unless
    `sure`, whether one may be; None when nothing was asked, or the call failed. `early` is what was reported while it
    ran, also if it failed. `measured` are the statistics that were asked for, as `measures` tells them.
    """

    outputs: tuple[EagerTensor, ...]
    captured: KeptTensors
    notes: tuple[str, ...] = ()
    error: Exception | None = None
    found: bool | None = None
    sure: bool = False
    early: Mapping[TensorName, EagerTensor] = field(default_factory=dict)
    measured: EagerTensor | None = None


class Instrumented:
    """A graph function that can be called with its values kept.

    Keep it no longer than the function, for instance as an attribute of it. Calls from several threads at
    the same time do not wait for each other. Calls record nothing on tapes: make them where a tape does not look, as
    TensorFlow calls its own AtomicFunctions.

    Raises:
        TfdbgError: the runtime does not know the function by its definition.

    """

    def __init__(
        self,
        root: Scope,
        atomic: AtomicFunction = None,
        arguments: Sequence[Shown] | None = None,
        wanted: WantedRewrite | None = None,
        onto: Sequence[NodeDef] | None = None,
        at_any_cost: bool = False,
        counted: CountedDraws | None = None,
    ) -> None:
        """Rewrite the function of `root`.

        `atomic` is the AtomicFunction that it was made from, which words its errors; None when there is none.
        `arguments` say how its inputs are shown. `wanted` is what it is to give; by default all values.
        What is added is put `onto` the nodes that the optimizer made of the function, where it can be (`grafted`);
        `at_any_cost` also where products have to be computed once more for it. Random ops that are `counted` count
        where those of all other functions do that were rewritten so.
        """
        self._atomic = atomic
        self._counted = counted
        self._wanted = wanted or WantedRewrite()
        self.root = root
        self._without_xla = False
        self._onto, self._at_any_cost = onto, at_any_cost
        self.grafted = False
        self.lacking: frozenset[tuple[str, ReferenceTarget]] = frozenset()
        """Values, with the functions that compute them, that may not be read for what is added to be put there."""
        self._lock = threading.Lock()
        self._idle: list[Rewritten] = [self._rewritten()]
        self._arguments = arguments or [
            Shown(TensorName(name, 0), ARGUMENT, "", dtype)
            for name, dtype in zip(self.root.argument_names, self.root.body.argument_types, strict=True)
        ]
        self._notes = self._standing_notes()

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences for the screen of what is so of all calls."""
        return (*self._notes, self.random_note) if self.random_note else self._notes

    @property
    def name(self) -> str:
        """The name by which the runtime knows the rewritten function."""
        return self._idle[0].exposed.name

    @property
    def types(self) -> list[int]:
        """The element types of what the rewritten function gives behind the outputs of the plain one."""
        return self._idle[0].exposed.types

    def sources_given(self, positions: Iterable[int]) -> Iterator[ReferenceTarget]:
        """The outputs of nodes in the run's own function that the outputs at `positions` give back."""
        items = [item for item in self._idle[0].exposed.items if item.given_back]
        for position in positions:
            at = position - self._own
            reference = items[at].reference if at < len(items) else None
            if reference is not None and not is_ours(reference):
                source = self.root.body.source(reference)
                if source.node is not None:
                    yield source

    def places_given(self, positions: Collection[int]) -> Iterator[tuple[str, ReferenceTarget]]:
        """The values that the outputs at `positions` give back, each with the function that computes it."""
        if not positions:
            return
        shown = [item.shown for item in self._idle[0].exposed.items if item.given_back and item.shown is not None]
        asked = [position - self._own for position in positions]
        names = {shown[at].name for at in asked if at < len(shown)}
        for scope in self.root.all():
            for node in scope.needed.nodes:
                own = scope.name_of(node.name)
                yield from (
                    (scope.body.name, ReferenceTarget(node.name, name.slot)) for name in names if name.node == own
                )

    def compiled(self, inputs: Sequence[EagerTensor]) -> Compiled | None:
        """What the runtime makes of the rewritten function for `inputs`; ask before the first call (`compiled`)."""
        found = compiled(self.name, inputs, optimize=not self.grafted)
        return found if found is None or self._counted is None else with_original_draws(found)

    @property
    def random_note(self) -> str:
        """A sentence about random numbers that are not those of the plain function; empty when there are none."""
        random = self._kernel_draws if self._counted is None else self._counted.missing
        return _RANDOM.format(names_text(random)) if random else ""

    @cached_property
    def _kernel_draws(self) -> list[str]:
        return kernel_draws(self.root)

    def perform(self, inputs: Sequence[EagerTensor], room: int | None = None) -> CallResult:
        """Call the function with `inputs`, flat eager tensors with the captured ones behind, and keep the values.

        Args:
            inputs: as the function's FunctionDef takes them.
            room: how many bytes the values of branches and loops may take together (None: any). Those of the first
                turns are kept.

        """
        with self._lock:
            rewritten = self._idle.pop() if self._idle else self._rewritten()
        try:
            return self._performed(rewritten, inputs, room)
        finally:
            with self._lock:
                self._idle.append(rewritten)

    def _performed(self, rewritten: Rewritten, inputs: Sequence[EagerTensor], room: int | None) -> CallResult:
        rewritten.begin(room)
        if self._counted is not None:
            self._counted.began = True
        if not rewritten.rewriting.frames:  # before the call: after it a user may wait for a screen
            self._straight(rewritten, self._shown_arguments(inputs))
        error: Exception | None = None
        found: Sequence[EagerTensor] | None = None
        try:
            found = self._run(rewritten.exposed.name, inputs, self._own + len(rewritten.exposed.types))
        except OpError as raised:
            error = raised
        if (
            error is not None
            and self.root.body.compiled
            and not self._without_xla
            and not rewritten.rewriting.compiled_no_more
        ):
            return self._compiled_as_ever(inputs)
        try:
            return self._outcome(rewritten, inputs, room, found, error)
        except our_errors() as ours:  # the call was made: what it gave is the program's, whatever we do
            report("take the values of a function", ours)
            note = _NOT_TAKEN.format(reason_of(ours))
            return CallResult(self._outputs(found), NO_TENSORS, (*self.notes, note), error)

    def _outcome(
        self,
        rewritten: Rewritten,
        inputs: Sequence[EagerTensor],
        room: int | None,
        found: Sequence[EagerTensor] | None,
        error: Exception | None,
    ) -> CallResult:
        reports, exposed = rewritten.reports, rewritten.exposed
        turns, early = reports.end(), reports.early()
        notes = self.notes
        if reports.dropped:
            need = "there was no memory for them" if room is None else f"they need more than {room} bytes"
            notes += (_DROPPED.format(reports.dropped, need),)
        if reports.failure is not None:
            report("take the values of loops and branches", reports.failure)
            notes += (_UNREPORTED.format(reason_of(reports.failure)),)
        answer, sure = self._answer(exposed, found)
        measured = found[-1] if found is not None and self._wanted.measured and exposed.answers else None
        everything = self._wanted.early.everything
        values = self._reported(rewritten, inputs) if everything else self._values(rewritten, turns, inputs, found)
        return CallResult(self._outputs(found), values, notes, error, answer, sure, early, measured)

    @property
    def _own(self) -> int:
        """How many of the outputs are the program's own."""
        return len(self.root.body.returns)

    def _outputs(self, found: Sequence[EagerTensor] | None) -> tuple[EagerTensor, ...]:
        return () if found is None else tuple(found[: self._own])

    def _answer(self, exposed: Exposed, found: Sequence[EagerTensor] | None) -> tuple[bool | None, bool]:
        """Whether a tensor is what the question asks for, and whether that is sure."""
        question = self._wanted.question
        if found is None or question is None:
            return None, False
        if not exposed.answers:
            return False, True
        counts = found[-1].numpy()
        return question.found_in(counts), question.sure_of(counts)

    def _reported(self, rewritten: Rewritten, inputs: Sequence[EagerTensor]) -> KeptTensors:
        """The values of a call that reported everything: of its arguments, and what it told, in order."""
        arguments = [(self._arguments[at], alias(inputs[at])) for at in self._shown_arguments(inputs)]
        shown = shown_early(self.root)
        told = [(shown[name], tensor) for name, tensor in rewritten.reports.in_order()]
        return KeptTensors.of([*arguments, *told])

    def _values(
        self,
        rewritten: Rewritten,
        turns: dict[int, list[FrameExecution]],
        inputs: Sequence[EagerTensor],
        found: Sequence[EagerTensor] | None,
    ) -> KeptTensors:
        """The values of a call: of its arguments, and those that it `found` and reported in `turns`."""
        positions = self._shown_arguments(inputs)
        given = [alias(inputs[at]) for at in positions]  # the program's own die when it lets go of them
        if found is not None and not turns:
            straight = self._straight(rewritten, positions)
            return KeptTensors(straight.shown, straight.tensors([*given, *found[self._own :]]), straight.executions)
        unrolled = Unrolled(turns)
        unrolled.add_arguments(zip([self._arguments[at] for at in positions], given, strict=True))
        unrolled.add(rewritten.exposed.items, None if found is None else found[self._own :])
        return KeptTensors.of(unrolled.values)

    def _shown_arguments(self, inputs: Sequence[EagerTensor]) -> tuple[int, ...]:
        """The positions of the inputs that a run shows."""
        if not (self._wanted.values or self._wanted.early.everything):
            return ()
        # Handles of variables and iterators would fill the first screen; the call's feeds show what they lead to.
        numbers = map(compat.dtype_number, inputs[: len(self._arguments)])
        return tuple(at for at, number in enumerate(numbers) if number not in HANDLE_NUMBERS)

    def _straight(self, rewritten: Rewritten, positions: tuple[int, ...]) -> Straight:
        """The order of the values of a call that come from the body of the function alone, not from a branch or loop.

        It is the same for all such calls with arguments at these `positions`, so it is found once.
        """
        found = rewritten.straight.get(positions)
        if found is None:
            arguments = [self._arguments[at] for at in positions]
            found = rewritten.straight[positions] = Straight(arguments, rewritten.exposed.items)
        return found

    def _run(self, name: str, inputs: Sequence[EagerTensor], outputs: int) -> Sequence[EagerTensor]:
        with unobserved(), nullcontext() if self._atomic is None else compat.worded_as(self._atomic):
            try:
                found = compat.run_function(name, inputs, outputs, optimize=not self.grafted)
            except OpError as error:
                compat.set_error_message(error, original_names(error.message))
                raise
        if self._atomic is not None:
            compat.give_handle_data(self._atomic, found)
        return found

    def _compiled_as_ever(self, inputs: Sequence[EagerTensor]) -> CallResult:
        """Call the original. XLA changes nothing before a whole program succeeds, so this is the first time."""
        try:
            outputs = tuple(self._run(self.root.body.name, inputs, len(self.root.body.returns)))
        except OpError as error:
            return CallResult((), NO_TENSORS, self.notes, error)
        with self._lock:
            self._without_xla = True
            self._idle = []
        return CallResult(outputs, NO_TENSORS, (*self.notes, _XLA_FAILED))

    def _rewritten(self) -> Rewritten:
        apart: frozenset[str] = frozenset() if self._counted is None else self._counted.functions
        rewritten = Rewritten.of(self.root, self._wanted, without_xla=self._without_xla, apart=apart)
        definitions = rewritten.rewriting.definitions
        if self._onto is not None:
            try:
                definitions[:] = [grafted(definitions, self.root, self._onto, at_any_cost=self._at_any_cost)]
                self.grafted = True
            except CannotBeGrafted as without:
                self.grafted, self.lacking = False, without.lacking
        if self._counted is not None:
            self._counted.put_into(definitions, None if self.grafted else rewritten.rewriting.scopes)
        names = [definition.signature.name for definition in definitions]
        for definition in definitions:
            compat.add_function(definition)
        definitions.clear()
        weakref.finalize(rewritten, _forget, names).atexit = False
        return rewritten

    def _standing_notes(self) -> tuple[str, ...]:
        notes = []
        if self._idle[0].rewriting.compiled_no_more:
            notes.append(_WITHOUT_XLA)
        if self._idle[0].rewriting.compiled:
            notes.append(_FUSED_OTHERWISE)
        hidden = hidden_in(self.root)
        if hidden:
            notes.append(_HIDDEN.format(hidden))
        unshown = unshown_calls(self.root)
        if unshown:
            notes.append(_UNSHOWN.format(" and ".join(unshown)))
        return tuple(notes)


def _forget(names: Sequence[str]) -> None:
    for name in reversed(names):
        compat.remove_function(name)
