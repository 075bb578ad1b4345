"""How soon the screen answers a key on a list of a million tensors, in a real terminal, while work goes on."""

from __future__ import annotations

import re
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from bench.keystrokes import Keyboard

_TENSORS = 1_000_000
_SIZE = (200, 60)
_KEYS = 50
_MOVED, _ECHOED, _FILTERED, _SORTED = 0.016, 0.030, 0.5, 1.0  # seconds
_ESC, _DOWN, _PAGE_DOWN, _TAB, _FIND, _CTRL_C = "\x1b", "\x1b[B", "\x1b[6~", "\t", "\x10", "\x03"
_PLACE = re.compile(r"([\d,]+)/1,000,\d{3}")
_LETTERS = "layer_12/relu"


@dataclass
class _Measured:
    """What was measured, in rows: a name, seconds, and the goal for nearly all of them."""

    rows: list[tuple[str, Sequence[float], float]] = field(default_factory=list)

    def add(self, name: str, seconds: Sequence[float], goal: float) -> None:
        self.rows.append((name, seconds, goal))
        print(f"  {name:<52} {statistics.median(seconds) * 1e3:>9.1f} {_nearly_all(seconds) * 1e3:>9.1f}"
              f" {max(seconds) * 1e3:>9.1f}   ≤ {goal * 1e3:.0f} ms", flush=True)  # fmt: skip


def _nearly_all(seconds: Sequence[float]) -> float:
    """What 95 of 100 do not exceed."""
    return sorted(seconds)[max(0, -(-len(seconds) * 95 // 100) - 1)]


def _moved(keyboard: Keyboard, key: str, times: int = _KEYS) -> list[float]:
    """The times that a key of movement takes until the status row tells another place."""
    last = ""

    def elsewhere(frame: str) -> bool:
        nonlocal last
        found = _PLACE.search(frame)
        if found is None or found[1] == last:
            return False
        last = found[1]
        return True

    keyboard.seconds(key, elsewhere)
    return [keyboard.seconds(key, elsewhere) for _ in range(times)]


def _typed(keyboard: Keyboard, caption: str, *, times: int = _KEYS) -> list[float]:
    """The times until a letter stands behind `caption`: a text typed, erased, and so on."""
    found: list[float] = []
    while len(found) < times:
        for length in range(1, len(_LETTERS) + 1):
            echo = re.compile(re.escape(caption + _LETTERS[:length].rstrip()) + r"(?![\w/])")
            found.append(keyboard.seconds(_LETTERS[length - 1], echo.search))
        keyboard.send("\x15")  # erase the line
        keyboard.idle(0.3)
    return found[:times]


def _key_alone(keyboard: Keyboard, measured: _Measured) -> None:
    measured.add("j, nothing else to do", _moved(keyboard, "j"), _MOVED)
    measured.add("page down", _moved(keyboard, _PAGE_DOWN), _MOVED)
    places = [_tabbed(keyboard) for _ in range(_KEYS)]
    measured.add("Tab to the preview and back", places, _MOVED)


def _tabbed(keyboard: Keyboard) -> float:
    return keyboard.seconds(_TAB, lambda frame: "preview" in frame)


def _beside_a_search(keyboard: Keyboard, measured: _Measured) -> None:
    """Keys while a search for what is nowhere goes through all rows."""
    keyboard.send("/")
    keyboard.wait(lambda frame: " /" in frame)
    measured.add("/ and a letter", _typed(keyboard, " /"), _ECHOED)
    keyboard.send("nowhere\r")
    keyboard.wait(lambda frame: "press : to type" in frame)
    measured.add("j while a search goes on", _moved(keyboard, "j"), _MOVED)
    measured.add("page down while a search goes on", _moved(keyboard, _PAGE_DOWN), _MOVED)
    keyboard.send(_ESC)
    keyboard.idle(0.5)


def _filtered(keyboard: Keyboard, measured: _Measured) -> None:
    keyboard.send("f")
    keyboard.wait(lambda frame: "filter> " in frame)
    measured.add("f and a letter", _typed(keyboard, "filter> "), _ECHOED)
    keyboard.send("nan>0")
    keyboard.idle(0.3)
    measured.add("arrow down while a filter reads values", _moved(keyboard, _DOWN), _MOVED)
    keyboard.send("\x15")
    keyboard.idle(0.5)
    took = []
    for number in range(5):
        text = f"layer_{50 + number}/relu"
        keyboard.send(text[:-1])
        keyboard.idle(0.01)
        took.append(
            keyboard.seconds(text[-1], lambda frame: re.search(r"filter layer_.* of 1000000|: [\d,]+ of 1,0", frame))
        )
        keyboard.send("\x15")
        keyboard.idle(1.0)
    measured.add("a filter over all names, to its end", took, _FILTERED)
    keyboard.send(_ESC)
    keyboard.idle(0.5)
    early = []
    for number in range(10):
        keyboard.send("f")
        keyboard.wait(lambda frame: "filter> " in frame)
        keyboard.send(f"layer_{70 + number}/relu")
        keyboard.idle(0.1)
        early.append(keyboard.seconds("\r", lambda frame: "press : to type" in frame or "working" in frame))
        keyboard.wait(lambda frame, number=number: f"lt -q layer_{70 + number}" in frame)  # type: ignore[misc]
        keyboard.send("\x0f")
        keyboard.idle(0.3)
    measured.add("Enter in a filter before it is done", early, _MOVED)


def _found(keyboard: Keyboard, measured: _Measured) -> None:
    keyboard.send(_FIND)
    keyboard.wait(lambda frame: "Find" in frame)
    measured.add("Ctrl-P and a letter", _typed(keyboard, "> "), _ECHOED)
    keyboard.send(_ESC)
    keyboard.idle(0.5)


def _sorted(keyboard: Keyboard, measured: _Measured) -> None:
    """The first sort by each of three columns, to its end, and keys that are pressed meanwhile."""
    answers: list[float] = []
    ends: list[float] = []
    for key in ("dump_size", "op_type", "tensor_name"):
        keyboard.send(f":lt -s {key}")
        keyboard.idle(0.3)
        ends.append(keyboard.seconds("\r", lambda frame, key=key: re.search(f"› lt -s {key}", frame)))  # type: ignore[misc]
        keyboard.send(f":lt -s {key} -r")
        keyboard.idle(0.3)
        keyboard.send("\r")
        answers += _moved(keyboard, "j", 5)
        keyboard.wait(lambda frame, key=key: re.search(f"› lt -s {key} -r", frame))  # type: ignore[misc]
        keyboard.idle(0.3)
    measured.add("the first sort by size, op type, name, to its end", ends, _SORTED)
    measured.add("j while a sort goes on", answers, _MOVED)


def _worst(keyboard: Keyboard, measured: _Measured) -> None:
    """`w` reads every value: what counts is how soon each key is answered meanwhile."""
    answered = keyboard.seconds("w", lambda frame: "working" in frame)
    measured.add("w, until it says so", [answered], _MOVED)
    measured.add("j while w reads every value", _moved(keyboard, "j"), _MOVED)
    measured.add("Ctrl-C, which stops it", [keyboard.seconds(_CTRL_C, lambda frame: "Ctrl-C again" in frame)], _MOVED)


_PARTS: Sequence[Callable[[Keyboard, _Measured], None]] = (
    _key_alone,
    _beside_a_search,
    _filtered,
    _found,
    _sorted,
    _worst,
)


def measure() -> None:
    """Measure and print."""
    print(
        f"\nKeys on a list of {_TENSORS:,} tensors, {_SIZE[0]}x{_SIZE[1]}, from the key to its frame in the terminal"
    )
    print(f"  {'':<52} {'median':>9} {'95 %':>9} {'most':>9}   goal of 95 % (ms)")
    measured = _Measured()
    keyboard = Keyboard([sys.executable, "-m", "bench.million_host", str(_TENSORS)], *_SIZE)
    try:
        keyboard.wait(lambda frame: "q leave" in frame or "list the tensors" in frame or "1,000,0" in frame)
        keyboard.idle(2.0)
        for part in _PARTS:
            part(keyboard, measured)
    finally:
        keyboard.close()
