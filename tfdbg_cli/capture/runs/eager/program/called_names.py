"""What the instructions of Python code call, by its names."""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterator, Sequence

_CALLS = frozenset({"CALL", "CALL_FUNCTION_EX", "CALL_KW"})
_NULL_LAST = sys.version_info >= (3, 13)  # whether what is called is pushed before the NULL that stands for no `self`


def calls_in(instructions: Sequence[dis.Instruction]) -> Iterator[tuple[int, object]]:
    """The offsets of calls and of `@`, each with the name of what is called, None where that has none."""
    called: list[object] = []  # names of callees that are pushed and not called yet, the innermost last
    before: dis.Instruction | None = None
    for now in instructions:
        if now.opname == "LOAD_METHOD" or (now.opname in ("LOAD_GLOBAL", "LOAD_ATTR") and "NULL" in now.argrepr):
            called.append(now.argval)
        elif _NULL_LAST and now.opname == "PUSH_NULL":
            called.append(None if before is None else before.argval)
        elif not _NULL_LAST and before is not None and before.opname == "PUSH_NULL":
            called.append(now.argval)
        elif now.opname in _CALLS:
            yield now.offset, called.pop() if called else None
        elif now.argrepr in ("@", "@="):
            yield now.offset, None
        before = now
