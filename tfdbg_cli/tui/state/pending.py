"""An answer that takes its time: made between two keys, shown when it is there, unless something else is wanted."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from functools import partial

from tfdbg_cli.commands.service.prompt_service import PromptService
from tfdbg_cli.formats.recording.fetching import fetched, in_steps
from tfdbg_cli.formats.recording.stand_in import AwaitedError, beside
from tfdbg_cli.tui.reading.paint import columns


def working(words: str, so_far: str, way_out: str, cols: int) -> str:
    """The status line while the command `words` runs; if `cols` columns are too few, the command comes last.

    `way_out` is a key that stops it, empty where none does.
    """
    stops = f"{way_out} stops it" if way_out else ""
    said = f"{words}: working, {so_far}." + (f" {stops}." if stops else "")
    return said if columns(said) <= cols else f"{', '.join(filter(None, (so_far, stops)))}: {words}"


class PendingAnswer:
    """An answer to the command `words` that is being computed in steps.

    `steps` do the work; each yields the share done (0 to 1), or None if that is not known. Then `finish` shows the
    answer. `give_up` is called instead if the answer is not wanted any more.
    """

    def __init__(
        self,
        words: str,
        steps: Iterator[float | None],
        finish: Callable[[], None],
        give_up: Callable[[], None] = lambda: None,
    ) -> None:
        self.words = words
        self.finish = finish
        self.give_up = give_up
        self.ready = False
        self._steps = steps
        self._share: float | None = None
        self._begun = time.monotonic()

    def status(self, cols: int) -> str:
        """How far it is, and the way out, in `cols` columns."""
        seconds = time.monotonic() - self._begun
        return working(
            self.words, f"{self._share:.0%}" if self._share is not None else f"{seconds:.0f} s", "Esc", cols
        )

    def work(self, enough: Callable[[], bool]) -> None:
        """Go on until `enough`, or until it is `ready` to be shown."""
        for share in self._steps:
            self._share = share
            if enough():
                return
        self.ready = True


def fetching(
    words: str,
    service: PromptService,
    carry_out: Callable[[], None],
    then: Callable[[], None],
    begin: Callable[[PendingAnswer], None],
) -> PendingAnswer:
    """The pending answer to the command `words`: its steps in `service`, then `carry_out`, then `then`.

    Remote data are fetched in a thread while the screen answers keys. If data turn out to be missing in `carry_out`,
    what it did to the pages is undone, `begin` is given a Pending that fetches them, and it is carried out anew.
    """

    def finish(before: int = 0) -> None:
        back = service.marked()
        try:
            with beside():
                carry_out()
        except AwaitedError as awaited:
            back()
            begin(_closing(words, fetched(awaited, before), partial(finish, before + 1)))
        else:
            then()

    return _closing(words, in_steps(lambda: service.steps(words)), finish)


def _closing(words: str, steps: Generator[float | None, None, None], finish: Callable[[], None]) -> PendingAnswer:
    return PendingAnswer(words, steps, finish, steps.close)
