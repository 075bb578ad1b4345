"""Parts of remote files that are fetched meanwhile: what fails is said, once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest
from support.ending import ends

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.recording.fetching import in_steps, once_there
from tfdbg_cli.formats.recording.stand_in import AwaitedError, Part


class _Failing:
    """A source from which nothing comes: it raises `error`."""

    def __init__(self, error: Exception) -> None:
        self.error = error
        self.asked = 0

    def provide(self, path: str, parts: Sequence[Part]) -> None:
        self.asked += 1
        raise self.error

    def missing(self, path: str, parts: Sequence[Part]) -> Sequence[Part]:
        return parts

    def bring_behind(self, path: str, count: int) -> None: ...


def _read(source: _Failing) -> None:
    raise AwaitedError(source, "far", [(0, 10)])


def _blocking(source: _Failing) -> object:
    return once_there(lambda: _read(source), lambda: None)


def _stepping(source: _Failing) -> object:
    def steps() -> Iterator[None]:
        yield _read(source)

    return list(in_steps(steps))


@pytest.mark.parametrize("reading", [_blocking, _stepping])
@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(5, "it could not be fetched"), "it could not be fetched."),
        (ValueError("no whole answer"), "ValueError: no whole answer."),
    ],
)
def test_whatever_a_fetch_raises_is_said_once(
    reading: Callable[[_Failing], object], error: Exception, said: str
) -> None:
    """A blind test: after anything but an OSError it was asked again, for ever."""
    source = _Failing(error)
    with ends("fetching"), pytest.raises(TfdbgError) as caught:
        reading(source)
    assert caught.value.message == f"What this shows cannot be read: {said}"
    assert source.asked == 1
