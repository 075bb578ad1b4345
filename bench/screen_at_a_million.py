"""How soon the screen answers a key on a list of a million tensors, in a real terminal, while work goes on."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence

from bench.goals import Goals, Wait
from bench.keystrokes import Keyboard

_TENSORS = 1_000_000
_SIZE = (200, 60)
_KEYS = 50
_MOVED, _ECHOED, _FILTERED, _SORTED = 0.016, 0.030, 0.5, 1.0  # seconds
_ESC, _DOWN, _PAGE_DOWN, _TAB, _FIND, _CTRL_C = "\x1b", "\x1b[B", "\x1b[6~", "\t", "\x10", "\x03"
_PLACE = re.compile(r"([\d,]+)/1,000,\d{3}")
_LETTERS = "layer_12/relu"


def _moved(keyboard: Keyboard, key: str, times: int = _KEYS) -> list[Wait]:
    """The times that a key of movement takes until the status row tells another place."""
    last = ""

    def elsewhere(frame: str) -> bool:
        nonlocal last
        found = _PLACE.search(frame)
        if found is None or found[1] == last:
            return False
        last = found[1]
        return True

    keyboard.waited(key, elsewhere)
    return [keyboard.waited(key, elsewhere) for _ in range(times)]


def _typed(keyboard: Keyboard, caption: str, *, times: int = _KEYS) -> list[Wait]:
    """The times until a letter stands behind `caption`: a text typed, erased, and so on."""
    found: list[Wait] = []
    while len(found) < times:
        for length in range(1, len(_LETTERS) + 1):
            echo = re.compile(re.escape(caption + _LETTERS[:length].rstrip()) + r"(?![\w/])")
            found.append(keyboard.waited(_LETTERS[length - 1], echo.search))
        keyboard.send("\x15")  # erase the line
        keyboard.idle(0.3)
    return found[:times]


def _key_alone(keyboard: Keyboard, measured: Goals) -> None:
    measured.add("j, nothing else to do", _moved(keyboard, "j"), _MOVED)
    measured.add("page down", _moved(keyboard, _PAGE_DOWN), _MOVED)
    places = [_tabbed(keyboard) for _ in range(_KEYS)]
    measured.add("Tab to the preview and back", places, _MOVED)


def _tabbed(keyboard: Keyboard) -> Wait:
    return keyboard.waited(_TAB, lambda frame: "preview" in frame)


def _beside_a_search(keyboard: Keyboard, measured: Goals) -> None:
    """Keys while a search for what is nowhere goes through all rows."""
    keyboard.send("/")
    keyboard.wait(lambda frame: " /" in frame)
    measured.add("/ and a letter", _typed(keyboard, " /"), _ECHOED)
    keyboard.send("nowhere\r")
    keyboard.wait(lambda frame: "To type a command" in frame)
    measured.add("j while a search goes on", _moved(keyboard, "j"), _MOVED)
    measured.add("page down while a search goes on", _moved(keyboard, _PAGE_DOWN), _MOVED)
    keyboard.send(_ESC)
    keyboard.idle(0.5)


def _filtered(keyboard: Keyboard, measured: Goals) -> None:
    keyboard.send("f")
    keyboard.wait(lambda frame: "filter> " in frame)
    measured.add("f and a letter", _typed(keyboard, "filter> "), _ECHOED)
    keyboard.send("nan>0")
    keyboard.idle(0.3)
    measured.add("arrow down while a filter reads values", _moved(keyboard, _DOWN), _MOVED)
    measured.add("page down while a filter reads values", _moved(keyboard, _PAGE_DOWN), _MOVED)
    keyboard.send("\x15")
    keyboard.idle(0.5)
    took = []
    for number in range(5):
        text = f"layer_{50 + number}/relu"
        keyboard.send(text[:-1])
        keyboard.idle(0.01)
        took.append(
            keyboard.waited(text[-1], lambda frame: re.search(r"filter layer_.* of 1000000|: [\d,]+ of 1,0", frame))
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
        early.append(keyboard.waited("\r", lambda frame: "To type a command" in frame or "working" in frame))
        keyboard.wait(lambda frame, number=number: f"lt -q layer_{70 + number}" in frame)  # type: ignore[misc]
        keyboard.send("\x0f")
        keyboard.idle(0.3)
    measured.add("Enter in a filter before it is done", early, _MOVED)


def _found(keyboard: Keyboard, measured: Goals) -> None:
    keyboard.send(_FIND)
    keyboard.wait(lambda frame: "Find" in frame)
    measured.add("Ctrl-P and a letter", _typed(keyboard, "> "), _ECHOED)
    keyboard.send(_ESC)
    keyboard.idle(0.5)


def _sorted(keyboard: Keyboard, measured: Goals) -> None:
    """The first sort by each of three columns, to its end, and keys that are pressed while others go on."""
    ends = []
    for key in ("dump_size", "op_type", "tensor_name"):
        _type(keyboard, f":lt -s {key}")
        ends.append(keyboard.waited("\r", _lists(f"lt -s {key}")))
    measured.add("the first sort by size, op type, name, to its end", ends, _SORTED)
    for name, key, sorts in (
        ("j", "j", ("dump_size -r", "op_type -r", "tensor_name -r")),
        ("page down", _PAGE_DOWN, ("shape", "dtype", "device")),
    ):
        answers: list[Wait] = []
        for sort in sorts:
            _type(keyboard, f":lt -s {sort}")
            keyboard.send("\r")
            answers += _moved(keyboard, key, 5)
            keyboard.wait(_lists(f"lt -s {sort}"))
            keyboard.idle(0.3)
        measured.add(f"{name} while a sort goes on", answers, _MOVED)


def _type(keyboard: Keyboard, text: str) -> None:
    keyboard.send(text)
    keyboard.idle(0.3)


def _lists(command: str) -> Callable[[str], object]:
    """Whether a frame has the page of `command`."""
    return re.compile(re.escape(f"› {command}")).search


def _worst(keyboard: Keyboard, measured: Goals) -> None:
    """`w` reads every value: what counts is how soon each key is answered meanwhile."""
    answered = []
    for _ in range(10):
        keyboard.send(_ESC)  # of the one before
        keyboard.idle(0.5)
        answered.append(keyboard.waited("w", lambda frame: "working" in frame))
    measured.add("w, until it says so", answered, _MOVED)
    measured.add("j while w reads every value", _moved(keyboard, "j"), _MOVED)
    measured.add("page down while w reads every value", _moved(keyboard, _PAGE_DOWN), _MOVED)
    measured.add("Ctrl-C, which stops it", [keyboard.waited(_CTRL_C, lambda frame: "Ctrl-C again" in frame)], _MOVED)


_PARTS: Sequence[Callable[[Keyboard, Goals], None]] = (
    _key_alone,
    _beside_a_search,
    _filtered,
    _found,
    _sorted,
    _worst,
)


def measure() -> None:
    """Measure and print."""
    measured = Goals(
        f"Keys on a list of {_TENSORS:,} tensors, {_SIZE[0]}x{_SIZE[1]}, from the key to its frame in the terminal"
    )
    keyboard = Keyboard([sys.executable, "-m", "bench.million_host", str(_TENSORS)], *_SIZE)
    try:
        keyboard.wait(lambda frame: "q leave" in frame or "list the tensors" in frame or "1,000,0" in frame)
        keyboard.idle(2.0)
        for part in _PARTS:
            part(keyboard, measured)
    finally:
        keyboard.close()
    measured.close()
