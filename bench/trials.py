"""Which steps of a watch are trials: made plainly, too, to see whether they give the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def counted_trials() -> Iterator[Callable[[], int]]:
    """Count the trials of this process, of functions and of sessions: a call that gives how many there were."""
    from tfdbg_cli.capture.runs.function.trials import Trials
    from tfdbg_cli.capture.state.run_snapshot import RunSnapshot

    made = 0

    def counting(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **keywords: Any) -> Any:
            nonlocal made
            made += 1
            return original(*arguments, **keywords)

        return call

    tried, plain_again = Trials.tried, RunSnapshot.plain_again
    Trials.tried, RunSnapshot.plain_again = counting(tried), counting(plain_again)  # type: ignore[method-assign]
    try:
        yield lambda: made
    finally:
        Trials.tried, RunSnapshot.plain_again = tried, plain_again  # type: ignore[method-assign]
