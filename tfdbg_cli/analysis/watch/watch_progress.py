"""How a watch goes: how many runs, how fast, for how long, and how large the numbers have become."""

from __future__ import annotations

import time
from collections.abc import Callable

from tfdbg_cli.model.dtypes import is_inexact
from tfdbg_cli.model.exactness import Exactness
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.statistics import largest_magnitude
from tfdbg_cli.model.units import count_text
from tfdbg_cli.model.values import NoValue

_BETWEEN_SAMPLES = 30.0  # seconds; more where a sample takes long
_LEAST_PAUSE = 100  # samples may take at most a hundredth of the time
_MOST_UNDER_WAY = 100  # runs whose start is remembered; bounded, as a run that is abandoned never ends
_WORTH_A_WORD = 0.1  # if the filter takes at least this share of the time, that is mentioned


class WatchProgress:
    """The figures of one watch. `clock` gives seconds."""

    def __init__(self, filter_name: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._filter_name = filter_name
        self._clock = clock
        self._begun = clock()
        self._next_sample = self._begun + _BETWEEN_SAMPLES
        self._under_way: dict[int, float] = {}  # when runs began, by number
        self._longest = 0.0  # seconds that the longest run took, which includes preparing its graph
        self._asking = 0.0
        self._looked_at = 0  # runs
        self._largest = -1.0
        self._where = ""
        self.inexact = ""  # how the numbers differ, or may differ, from undebugged ones (`Exactness.words`)
        self.doubt = ""  # why they may, a sentence
        self.said = ""  # one more remark for the sentence

    @property
    def wants_sample(self) -> bool:
        """Whether it is time to look at the values of a run.

        Getting them may mean making the run again, which takes about as long as the longest run so far.
        """
        return self._clock() >= max(self._next_sample, self._begun + _LEAST_PAUSE * self._longest)

    def begins(self, number: int) -> None:
        """Hear that the run with that number begins."""
        self._under_way[number] = self._clock()
        while len(self._under_way) > _MOST_UNDER_WAY:
            self._under_way.pop(next(iter(self._under_way)))

    def hear(self, exactness: Exactness | None) -> None:
        """Note how exact a run is; None where that is not asked."""
        words = "" if exactness is None else exactness.words
        # "may not be" does not replace "not".
        known = self.inexact.startswith("not ") and not words.startswith("not ")
        if exactness is not None and words and not known:
            self.inexact, self.doubt = words, exactness.doubt

    def ends(self, number: int) -> None:
        """Hear that the run with that number has ended."""
        now = self._clock()
        self._longest = max(self._longest, now - self._under_way.pop(number, now))

    def sample(self, make: Callable[[], Run]) -> None:
        """Look at all values of the run that `make` gives, and remember the largest finite magnitude so far."""
        begun = self._clock()
        try:
            self._look(make())
        finally:
            now = self._clock()
            self._next_sample = now + max(_BETWEEN_SAMPLES, _LEAST_PAUSE * (now - begun))

    def asked(self, seconds: float) -> None:
        """Add the seconds that applying the filter to the values of a run took."""
        self._asking += seconds

    def words(self, runs: int) -> str:
        """One sentence, the most important first, since a line may cut it off."""
        seconds = self._clock() - self._begun
        parts = [count_text(runs, "run"), *filter(None, (self.inexact, self.said))]
        if seconds >= 1:
            parts += [f"{runs / seconds:.3g}/s", _duration(seconds)]
        if self._largest >= 0:
            runs_looked_at = count_text(self._looked_at, "run")
            parts.append(f"largest {self._largest:.3g} in {runs_looked_at} looked at ({self._where})")
        if seconds and self._asking / seconds >= _WORTH_A_WORD:
            parts.append(f"{self._asking / seconds:.0%} of the time for the filter")
        return f"no {self._filter_name} in {', '.join(parts)}"

    def _look(self, run: Run) -> None:
        self._looked_at += 1
        for index in range(len(run.tensors)):
            value = run.tensors.value(index)
            if isinstance(value, NoValue) or not is_inexact(value.dtype) or not value.size:
                continue
            found = largest_magnitude(value)
            if found > self._largest:
                self._largest = found
                self._where = f"#{run.call.number} {run.tensors[index].name}"


def _duration(seconds: float) -> str:
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02} h" if hours else f"{minutes}:{rest:02} min"
