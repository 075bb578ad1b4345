"""What a signal handler raised and native code has lost, given anew.

pybind11, and so TensorFlow, has the Python object of an error made amid its own code. A handler that waited for that
code runs in the constructor. What it raises comes in the place of the error, which pybind11 takes for a fault: it
drops both, and raises a RuntimeError with the name of the class, the words, and the calls. (From Python 3.12 on
objects of errors are made as they are set, and the exception stays what it is.)
"""

from __future__ import annotations

import builtins
import re
import sys
from typing import Any, TypeGuard

_LOST = re.compile(
    r"pybind11::error_already_set: MISMATCH of original and normalized active exception types:"
    r" ORIGINAL \S+ REPLACED BY (?:\w+\.)*(?P<kind>\w+): (?P<words>.*?)(?:\n\nAt:\n(?P<calls>.*))?",
    re.DOTALL,
)
_NO_WORDS = "<EMPTY MESSAGE>"
_HEAP_TYPE = 1 << 9  # the flag of a class that no C code defines
_ANEW = (
    "A signal handler raised it while the object of another error was made amid native code, which lost it. This one"
    " has its class and its words; what else the class would have set is missing."
)


def regained(error: BaseException) -> BaseException | None:
    """What a signal handler raised and `error` tells of as lost: another one of its class, with its words.

    It is `error` itself where that class cannot be found, or not be made of words. None where nothing was lost, or
    what was lost is the constructor's own, such as a RecursionError.
    """
    lost = _LOST.fullmatch(str(error)) if type(error) is RuntimeError else None
    if lost is None or not _is_of_a_handler(lost["kind"], lost["calls"] or ""):
        return None
    kind = _kind_of(lost["kind"], lost["calls"] or "")
    words = () if lost["words"] == _NO_WORDS else (lost["words"],)
    try:
        return error if kind is None else _made(kind, words)
    except TypeError:  # as of one that is made of more than words
        return error


def _is_of_a_handler(kind: str, calls: str) -> bool:
    """Whether a signal handler raised what was lost: Python's own has no frame, any other is no constructor."""
    return kind == KeyboardInterrupt.__name__ or not calls.partition("\n")[0].endswith(": __init__")


def _kind_of(name: str, calls: str) -> type[BaseException] | None:
    """The class that code means by `name` where the first of `calls` is; None where that cannot be told."""
    place = re.match(r"\s*(.*)\(\d+\): ", calls)
    file = place[1] if place else None
    for module in list(sys.modules.values()) if file else ():
        there: dict[str, object] = getattr(module, "__dict__", {})
        kind = there.get(name)
        if there.get("__file__") == file and _is_exception(kind):
            return kind
    native = vars(builtins).get(name)
    if _is_exception(native):
        return native
    found = [kind for kind in _all_kinds() if kind.__name__ == name]
    return found[0] if len(found) == 1 else None


def _is_exception(kind: object) -> TypeGuard[type[BaseException]]:
    return isinstance(kind, type) and issubclass(kind, BaseException)


def _made(kind: type[BaseException], words: tuple[str, ...]) -> BaseException:
    """An exception of class `kind`, made without any Python of the program's."""
    native: Any = next(base for base in kind.__mro__ if not base.__flags__ & _HEAP_TYPE)
    given: tuple[object, ...] = words
    if issubclass(kind, SystemExit) and words and re.fullmatch(r"-?\d+", words[0]):
        given = (int(words[0]),)  # the code of the exit
    made: BaseException = native.__new__(kind, *given)
    native.__init__(made, *given)
    made.args = given
    if kind is not native:
        made.add_note(_ANEW)
    return made


def _all_kinds() -> set[type[BaseException]]:
    """All classes of exceptions."""
    found: set[type[BaseException]] = set()
    waiting: list[type[BaseException]] = [BaseException]
    while waiting:
        derived = set(type.__subclasses__(waiting.pop())) - found
        found |= derived
        waiting += derived
    return found
