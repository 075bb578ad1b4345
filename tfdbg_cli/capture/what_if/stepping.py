"""The stepper: which nodes are computed when, which values are known, and which a new value makes unknown."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.names import TensorName, did_you_mean
from tfdbg_cli.model.stepping import From, Letter, StepNode, Stepped
from tfdbg_cli.model.tensors import MemoryTensorStore, Tensor, describe
from tfdbg_cli.model.values import Array, Value
from tfdbg_cli.model.walks import depth_first, reached

ProgramValue: TypeAlias = Any  # a value as a program keeps it: an eager tensor, or an array


@dataclass(frozen=True)
class StepOutput:
    """One output of a node: its name, its element type's name, and whether another value can be put in its place."""

    name: TensorName
    dtype: str
    feedable: bool


@dataclass(frozen=True)
class OpStep:
    """A node as the stepper sees it. `waits` are nodes that must run before it without being read by it.

    `reads` and `writes` name variables. `alone` is False for a node inside a loop of version 1: the loop runs as one,
    when a node that reads its result is computed.
    """

    node: StepNode
    device: str
    outputs: tuple[StepOutput, ...]
    waits: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    alone: bool = True
    given: bool = False  # nothing computes it here: an argument, or a feed

    @property
    def name(self) -> str:
        return self.node.name


class SteppedRun(Protocol):
    """A run, and the means to compute one node of it at a time."""

    @property
    def steps(self) -> Sequence[OpStep]:
        """The nodes in an order in which all can be computed."""
        ...

    @property
    def given(self) -> Mapping[TensorName, ProgramValue]:
        """What the run is given: arguments, feeds, and what was drawn from outside."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about what differs from the run."""
        ...

    def compute(
        self, step: OpStep, known: Mapping[TensorName, ProgramValue], overridden: Collection[TensorName]
    ) -> Sequence[ProgramValue | None]:
        """The outputs of a node; None for one that holds no numbers and need not be kept.

        `known` are the values of what it reads and more, of them `overridden` those that a user gave.

        Raises:
            TfdbgError: it cannot be computed, or fails.

        """
        ...

    def array(self, value: ProgramValue) -> Value:
        """The array of a value as the program keeps it."""
        ...

    def value(self, array: Array, dtype: str) -> ProgramValue:
        """A value as the program keeps it, of an array."""
        ...

    def restore(self) -> None:
        """Put the variables back as they were before the run."""
        ...

    def held(self, variable: str) -> Array | None:
        """What the copy of `variable` holds; None where the run has no such variable, or it holds nothing."""
        ...

    def assign(self, variable: str, value: Array) -> None:
        """Let the copy of `variable`, which holds something, hold `value`."""
        ...

    def close(self) -> None:
        """Free what is held."""
        ...


class NodeStepper:
    """A run made node by node (`model.stepping.Stepper`)."""

    def __init__(self, program: SteppedRun) -> None:
        self._program = program
        self._steps = {step.name: step for step in program.steps}
        self._order = {name: place for place, name in enumerate(self._steps)}
        self._nodes = [step.node for step in program.steps]
        self._known: dict[TensorName, ProgramValue | None] = dict(program.given)
        self._from: dict[TensorName, From] = dict.fromkeys(self._known, From.GIVEN)
        self._overridden: set[TensorName] = set()  # those of OVERRIDE
        self._assigned: dict[str, Array] = {}  # what variables were given by hand
        self._done: dict[str, Letter] = {}  # nodes that ran, and are not forgotten
        self._dirty: set[str] = set()
        self._next = self._alone_from(0)
        self._readers: dict[TensorName, list[str]] = {}
        for step in program.steps:
            for name in dict.fromkeys(step.node.inputs):
                self._readers.setdefault(name, []).append(step.name)

    @property
    def nodes(self) -> Sequence[StepNode]:
        """See Stepper."""
        return self._nodes

    @property
    def next(self) -> int:
        """See Stepper."""
        return self._next

    @property
    def notes(self) -> tuple[str, ...]:
        """See Stepper."""
        return self._program.notes

    @property
    def tensors(self) -> MemoryTensorStore:
        """See Stepper."""
        rows = [(name, value) for name, value in self._known.items() if value is not None]
        values = [self._program.array(value) for _, value in rows]
        return MemoryTensorStore(
            [self._described(name, value) for (name, _), value in zip(rows, values, strict=True)], values
        )

    def letters(self, node: str) -> frozenset[Letter]:
        """See Stepper."""
        found = set()
        step = self._steps[node]
        names = [output.name for output in step.outputs]
        origins = {self._from.get(name) for name in names}
        if From.GIVEN in origins:
            found.add(Letter.P)
        if From.OVERRIDE in origins:
            found.add(Letter.O)
        if node in self._done:
            found.add(self._done[node])
        if not step.alone or not any(output.feedable for output in step.outputs):
            found.add(Letter.U)
        if node in self._dirty or (node in self._done and not self._dirty.isdisjoint(step.writes)):
            found.add(Letter.D)
        return frozenset(found)

    def step(self) -> Stepped:
        """See Stepper."""
        if self._next >= len(self._nodes):
            raise TfdbgError("This was the last node.", hint="`exit` leaves the stepper.")
        return self.cont(self._nodes[self._next].name)

    def cont(self, target: str, *, invalidate: bool = False, restore: bool = False) -> Stepped:
        """See Stepper."""
        if target not in self._steps:
            raise TfdbgError(
                f"{target} is no node of this run.", hint=did_you_mean(target, self._steps) or "`lt` lists the nodes."
            )
        if not self._steps[target].alone:
            raise TfdbgError(
                f"{target} is inside a loop or a branch of version 1, which runs as one.",
                hint="Go on to a node behind it.",
            )
        if restore:
            self._program.restore()
            for variable, value in self._assigned.items():
                self._program.assign(variable, value)
        if restore or invalidate:
            self._forget(self._read_from(self._dirty))
            self._forget_writes(restore)
        used: dict[TensorName, From] = {}
        computed: list[str] = []
        updated: dict[str, None] = {}
        for name in self._needed(target, used):
            step = self._steps[name]
            self._compute(step, Letter.H if name == target else Letter.I)
            computed.append(name)
            updated.update(dict.fromkeys(step.writes))
        if target in self._done:
            self._done[target] = Letter.H
            for output in self._steps[target].outputs:
                if self._from.get(output.name) is From.ON_THE_WAY:
                    self._from[output.name] = From.ASKED
        self._next = self._alone_from(self._order[target] + 1)
        outputs = tuple(output.name for output in self._steps[target].outputs)
        return Stepped(target, tuple(computed), used, tuple(updated), outputs)

    def _alone_from(self, place: int) -> int:
        """The place of the first node from `place` on that can be computed alone."""
        while place < len(self._nodes) and not self._steps[self._nodes[place].name].alone:
            place += 1
        return place

    def inject(self, name: TensorName, value: Array) -> tuple[str, ...]:
        """See Stepper."""
        dtype = self.dtype(name)
        written = self._forget(self._after([name]))
        self._known[name] = self._program.value(value, dtype)
        self._from[name] = From.OVERRIDE
        self._overridden.add(name)
        return written

    def dtype(self, name: TensorName) -> str:
        """See Stepper."""
        step = self._steps.get(name.node)
        found = next((output for output in step.outputs if output.name == name), None) if step else None
        if found is None:
            known = [str(output.name) for one in self._steps.values() for output in one.outputs]
            raise TfdbgError(f"{name} is no tensor of this run.", hint=did_you_mean(str(name), known))
        if not found.feedable or (step is not None and not step.alone):
            raise TfdbgError(f"{name} cannot be given a value: it is a handle, or inside a loop that runs as one.")
        return found.dtype

    def held(self, variable: str) -> Array | None:
        """See Stepper."""
        return self._program.held(variable)

    def assign(self, variable: str, value: Array) -> tuple[str, ...]:
        """See Stepper."""
        self._program.assign(variable, value)
        self._assigned[variable] = value
        self._dirty.add(variable)
        return tuple(name for name in self._forget(self._read_from([variable])) if name != variable)

    def close(self) -> None:
        """See Stepper."""
        self._program.close()

    def _compute(self, step: OpStep, letter: Letter) -> None:
        values = self._program.compute(step, self._known, self._overridden)
        for output, value in zip(step.outputs, values, strict=False):
            if self._from.get(output.name) in {From.OVERRIDE, From.GIVEN}:
                continue
            self._known.pop(output.name, None)  # so that it moves to the end: the dict is in the order of computing
            self._known[output.name] = value
            self._from[output.name] = From.ON_THE_WAY
        self._done[step.name] = letter
        self._dirty.update(step.writes)

    def _needed(self, target: str, used: dict[TensorName, From]) -> list[str]:
        """The nodes to run for `target`, in order; fills `used` with the known tensors that they read."""

        def to_run(names: Iterable[str]) -> list[str]:
            steps = (self._steps[name] for name in names if name in self._steps)
            return [step.name for step in steps if step.name not in self._done and not self._is_covered(step)]

        def needs(name: str) -> list[str]:
            step = self._steps[name]
            known = [tensor for tensor in step.node.inputs if tensor in self._known]
            used.update({tensor: self._from[tensor] for tensor in known})
            return to_run((*step.waits, *(tensor.node for tensor in step.node.inputs if tensor not in self._known)))

        found = depth_first(to_run([target]), needs)
        return sorted((name for name in found if self._steps[name].alone), key=self._order.__getitem__)

    def _is_covered(self, step: OpStep) -> bool:
        """Whether all outputs of a node are known without it."""
        return bool(step.outputs) and all(output.name in self._known for output in step.outputs)

    def _after(self, starts: Iterable[TensorName]) -> Iterator[str]:
        """The nodes that are computed from the tensors `starts`."""

        def readers(tensors: Iterable[TensorName]) -> list[str]:
            return [name for tensor in tensors for name in self._readers.get(tensor, ())]

        return reached(readers(starts), lambda name: readers(one.name for one in self._steps[name].outputs))

    def _read_from(self, variables: Collection[str]) -> list[str]:
        """The nodes that read one of the variables, and those that are computed from them."""
        readers = [step for step in self._steps.values() if not set(step.reads).isdisjoint(variables)]
        starts = [output.name for step in readers for output in step.outputs]
        return [*(step.name for step in readers), *self._after(starts)]

    def _forget(self, names: Iterable[str]) -> tuple[str, ...]:
        """Forget the outputs of the nodes `names`, except of those that have run and written a variable.

        Returns what those have written.
        """
        written: dict[str, None] = {}
        for name in list(names):
            step = self._steps[name]
            if step.writes and name in self._done:
                written.update(dict.fromkeys(step.writes))
                continue
            self._done.pop(name, None)
            for output in step.outputs:
                if self._from.get(output.name) in {From.ASKED, From.ON_THE_WAY}:
                    del self._known[output.name], self._from[output.name]
        return tuple(written)

    def _forget_writes(self, restored: bool) -> None:
        """If variables were put back (`restored`), let the nodes that wrote them run again."""
        if not restored:
            return
        for name in [name for name in self._done if self._steps[name].writes]:
            del self._done[name]
        self._dirty = set(self._assigned)

    def _described(self, name: TensorName, value: Value) -> Tensor:
        step = self._steps.get(name.node)
        output = next((one for one in step.outputs if one.name == name), None) if step else None
        return describe(
            name,
            value,
            device=step.device if step else "",
            op_type=step.node.op_type if step else "Placeholder",
            dtype=output.dtype if output else str(getattr(value, "dtype", "")),
        )
