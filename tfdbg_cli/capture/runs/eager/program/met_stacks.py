"""What is known of the Python stacks that were met in turns of one loop, so that most ops need no comparing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tfdbg_cli.capture.runs.eager.program.stacks import Stack

_MOST_PAIRS = 5_000


@dataclass(eq=False, slots=True)
class MetStack:
    """A stack that was met in turns of one loop.

    `followed` are the stacks that came next in the same turn, by their ids, without the mark of the turn (see
    `EagerTurns`). A stack that is `repeated` is no mark: it is in an inner loop, or comes in
    the first turn alone, as what makes variables; None where nobody asked yet.
    """

    stack: Stack
    followed: dict[int, MetStack] = field(default_factory=dict)
    repeated: bool | None = None


class MetStacks:
    """The stacks of one loop, and whether a turn ended between two of them; bounded, and forgotten as a whole."""

    def __init__(self) -> None:
        self._met: dict[int, MetStack] = {}  # by the ids of their stacks
        self._pairs = 0  # entries in all `followed`
        # By the ids of two stacks and of the mark, and by whether a run had begun; with these stacks, which hold the
        # ids.
        self._passages: dict[tuple[int, int, int, bool], tuple[bool, tuple[Stack, ...]]] = {}

    def __iter__(self) -> Iterator[Stack]:
        """Each stack that was met."""
        return (met.stack for met in self._met.values())

    def meet(self, stack: Stack) -> MetStack:
        """What is known of `stack`, which is met now if it was not before."""
        found = self._met.get(id(stack))
        if found is None:
            found = self._met[id(stack)] = MetStack(stack)
        return found

    def known(self, stack: Stack) -> MetStack:
        """What is known of `stack`; of one that was not met, nothing, and that is not kept."""
        return self._met.get(id(stack)) or MetStack(stack)

    def note_followed(self, last: Stack, stack: Stack) -> None:
        """Note that `stack` came behind `last` in one turn, and is not its mark."""
        if self._pairs > _MOST_PAIRS:
            self.forget()
        self._pairs += 1
        self.meet(last).followed[id(stack)] = self.meet(stack)

    def ended(self, last: Stack, stack: Stack, mark: Stack, *, begun: bool) -> bool | None:
        """What was noted of a turn with this mark: whether it ended between two ops; None where nothing was."""
        known = self._passages.get((id(last), id(stack), id(mark), begun))
        return None if known is None else known[0]

    def note_passage(self, last: Stack, stack: Stack, mark: Stack, *, begun: bool, ends: bool) -> None:
        """Note whether a turn `ends` between two ops, by its mark and whether a run has `begun` in it."""
        if len(self._passages) > _MOST_PAIRS:
            self._passages.clear()
        self._passages[id(last), id(stack), id(mark), begun] = ends, (last, stack, mark)

    def forget_passages(self) -> None:
        """Forget where turns ended, and keep the stacks."""
        self._passages.clear()

    def forget(self) -> None:
        """Forget all of it."""
        for met in self._met.values():
            met.followed.clear()  # they refer to each other in circles
        self._met.clear()
        self._passages.clear()
        self._pairs = 0
