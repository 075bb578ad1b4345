"""Which runs are taken."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tfdbg_cli.debugger.one_in_many import OneInMany


@given(st.integers(1, 9), st.lists(st.sampled_from("ab")))
def test_the_first_of_each_kind_and_every_nth_after_it(every: int, kinds: list[str]) -> None:
    which = OneInMany(every)
    taken = [which.next(kind) for kind in kinds]
    for kind in "ab":
        of_kind = [is_taken for is_taken, one in zip(taken, kinds, strict=True) if one == kind]
        assert of_kind == [number % every == 0 for number in range(len(of_kind))]
    assert which.counted == len(kinds)


class _Counting:
    """A kind that counts a run of another kind while one of it is counted, as a signal handler may."""

    def __init__(self, which: OneInMany) -> None:
        self._which = which

    def __hash__(self) -> int:
        assert self._which.next("other")
        return 1


def test_a_signal_handler_may_count_a_run_amid_another() -> None:
    """A blind test: with a plain lock its thread waits for itself."""
    which = OneInMany(1)
    assert which.next(_Counting(which))
    assert which.counted > 1
