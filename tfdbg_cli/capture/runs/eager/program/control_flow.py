"""Which instruction of a function can come behind which other one."""

from __future__ import annotations

import dis
from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from types import CodeType
from typing import Any

from tfdbg_cli.capture.runs.eager.program.stacks import by_identity
from tfdbg_cli.model.walks import reached

JUMPS = frozenset(dis.hasjrel) | frozenset(dis.hasjabs)
_ALWAYS = frozenset({"JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"})
_RETURNS = frozenset({"RETURN_VALUE", "RETURN_CONST"})
_ENDS = _RETURNS | {"RAISE_VARARGS", "RERAISE"}


class ControlFlow:
    """The ways through the instructions of one code object, by their offsets; an exception may leave any of them."""

    def __init__(self, code: CodeType, instructions: Sequence[dis.Instruction]) -> None:
        self._behind: dict[int, tuple[int, ...]] = {}
        self._reached: dict[tuple[int, int | None], frozenset[int]] = {}
        entries: Any = dis.Bytecode(code)  # its table of exceptions has no type
        handlers = [(one.start, one.end, one.target) for one in entries.exception_entries]
        for at, now in enumerate(instructions):
            behind = [target for start, end, target in handlers if start <= now.offset < end]
            if now.opcode in JUMPS:
                behind.append(now.argval)
            if now.opname not in _ALWAYS | _ENDS and at + 1 < len(instructions):
                behind.append(instructions[at + 1].offset)
            self._behind[now.offset] = tuple(behind)
        self._offsets = [one.offset for one in instructions]
        self._returns = {one.offset for one in instructions if one.opname in _RETURNS}
        asks = {one.offset for one in instructions if one.opname == "WITH_EXCEPT_START"}
        # What handles an error in a `with` begins one instruction before it asks whether that is to go on.
        self._of_with = {target for _, _, target in handlers if self._next(target) in asks}

    def leads(self, before: int, now: int, around: int | None = None) -> bool:
        """Whether the instruction at `now` may come behind that at `before` in one call.

        With `around`, the first instruction of a loop that holds both: in one turn of it. Of a call that is under way
        Python tells an offset within the instruction.
        """
        before, now = self._begin_of(before), self._begin_of(now)
        known = self._reached.get((before, around))
        if known is None:
            known = self._reached[before, around] = self._reach(self._behind.get(before, ()), around)
        return now in known

    def always_passes(self, place: int, before: int, *, lets_errors_through: bool = False) -> bool:
        """Whether each way from the beginning to `before` leads through `place`.

        If each `with` `lets_errors_through`, as all but `contextlib.suppress` and its like do, none leads behind one
        from the middle of it.
        """
        without = self._of_with if lets_errors_through else set()
        return before not in self._reach(self._offsets[:1], self._begin_of(place), without)

    def always_runs(self, place: int) -> bool:
        """Whether each call that returns runs `place`, if each `with` lets errors through."""
        return self._returns.isdisjoint(self._reach(self._offsets[:1], self._begin_of(place), self._of_with))

    def _begin_of(self, offset: int) -> int:
        """Where the instruction begins that `offset` is in."""
        return self._offsets[max(0, bisect_right(self._offsets, offset) - 1)]

    def _next(self, offset: int) -> int:
        """The offset of the instruction that stands behind the one at `offset`."""
        return self._offsets[min(bisect_right(self._offsets, offset), len(self._offsets) - 1)]

    def _reach(self, begin: Iterable[int], around: int | None, without: Collection[int] = ()) -> frozenset[int]:
        """All that can be reached from `begin`, these included, without coming to `around` or one of `without`."""

        def further(at: int) -> Iterable[int]:
            return (one for one in self._behind.get(at, ()) if one != around and one not in without)

        return frozenset(reached((one for one in begin if one != around), further))


@by_identity
def control_flow(code: CodeType) -> ControlFlow:
    """The ways through `code`."""
    return ControlFlow(code, [one for one in dis.get_instructions(code) if one.opname != "CACHE"])
