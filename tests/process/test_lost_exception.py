"""What a signal handler raised and native code has lost is given anew."""

from __future__ import annotations

import pytest

from tfdbg_cli.process.interruptions import OUR_ERRORS_SUPPRESSED, our_errors
from tfdbg_cli.process.lost_exception import regained

_CONSTRUCTOR = "  tensorflow/python/framework/errors_impl.py(284): __init__"
_HANDLER = "  train.py(5): out_of_time"
_HERE = f"  {__file__}(5): out_of_time"


class Overdue(TimeoutError):  # noqa: N818
    """An exception of a program's own, which cannot be made of words alone."""

    def __init__(self, *, limit: int) -> None:
        super().__init__(f"over after {limit} s")
        self.limit = limit


class _One:
    class Twofold(Exception):  # noqa: N818
        """A class whose name another one has."""


class _Other:
    class Twofold(Exception):  # noqa: N818
        """It has the same name."""


class _Library:
    class Overdue(Exception):  # noqa: N818
        """One of that name which the handler does not mean."""


def _mismatch(replaced: str, *calls: str) -> RuntimeError:
    """What pybind11 raises where an exception takes the place of an error that is being made."""
    text = "pybind11::error_already_set: MISMATCH of original and normalized active exception types: ORIGINAL"
    return RuntimeError(f"{text} CancelledError REPLACED BY {replaced}" + "\n\nAt:\n" + "\n".join(calls))


LOST = [
    (_mismatch("KeyboardInterrupt: <EMPTY MESSAGE>", _CONSTRUCTOR), KeyboardInterrupt, ()),
    (_mismatch("TimeoutError: over:\n10 s", _HANDLER, _CONSTRUCTOR), TimeoutError, ("over:\n10 s",)),
    (_mismatch("Overdue: over after 10 s", _HERE, _CONSTRUCTOR), Overdue, ("over after 10 s",)),
    (_mismatch("SystemExit: 3", _HANDLER, _CONSTRUCTOR), SystemExit, (3,)),
]


@pytest.mark.parametrize(("error", "kind", "args"), LOST)
def test_what_native_code_has_lost_comes_with_its_class_and_its_words(
    error: RuntimeError, kind: type[BaseException], args: tuple[object, ...]
) -> None:
    """A blind test: the training went on behind Ctrl-C; all that was left of it was an error of tfdbg's."""

    def suppressing() -> None:
        with OUR_ERRORS_SUPPRESSED:
            raise error

    def catching() -> None:
        try:
            raise error
        except our_errors():
            pass

    for guarded in (suppressing, catching):
        with pytest.raises(kind) as raised:
            guarded()
        assert type(raised.value) is kind
        assert raised.value.args == args
        assert raised.value.__context__ is None


def test_one_that_is_not_whole_says_so() -> None:
    made = regained(_mismatch("Overdue: over after 10 s", _HERE, _CONSTRUCTOR))
    assert isinstance(made, Overdue)
    assert str(made) == "over after 10 s"
    assert "what else the class would have set is missing" in made.__notes__[0]


def test_the_exit_has_its_code() -> None:
    made = regained(_mismatch("SystemExit: 3", _HANDLER, _CONSTRUCTOR))
    assert isinstance(made, SystemExit)
    assert made.code == 3


@pytest.mark.parametrize("name", ["Twofold", "OfNobody", "UnicodeDecodeError"])
def test_where_it_cannot_be_made_the_program_gets_what_tells_of_it(name: str) -> None:
    error = _mismatch(f"{name}: gone", _HANDLER, _CONSTRUCTOR)
    with pytest.raises(RuntimeError) as raised, OUR_ERRORS_SUPPRESSED:
        raise error
    assert raised.value is error


@pytest.mark.parametrize(
    "error",
    [
        _mismatch("RecursionError: maximum recursion depth exceeded", _CONSTRUCTOR),
        RuntimeError("something else"),
        ValueError(str(_mismatch("KeyboardInterrupt: <EMPTY MESSAGE>", _CONSTRUCTOR))),
    ],
)
def test_any_other_error_is_ours(error: Exception) -> None:
    assert regained(error) is None
    with OUR_ERRORS_SUPPRESSED:
        raise error
