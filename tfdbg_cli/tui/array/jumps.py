"""Going to elements of an array that are looked for beside the screen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from tfdbg_cli.document.array_words import is_text
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.values import Array
from tfdbg_cli.tui.array.condition import ElementCondition, condition, nonfinite
from tfdbg_cli.tui.array.places import next_extreme, next_place
from tfdbg_cli.tui.array.plane import Index
from tfdbg_cli.tui.array.scan import Scan, Steps

AT_ONCE = 4  # steps that are done before the screen is drawn


class Walker(Protocol):
    """Who goes through an array: where that is, and how it gets elsewhere."""

    @property
    def here(self) -> Index:
        """The element with the cursor."""
        ...

    def go(self, index: Index) -> None:
        """Put the cursor on this element."""
        ...


class Jumps:
    """Jumps of `walker` in `array`: `notice` is what there is to say of the last one, `failed` whether that is bad.

    `aside` is other work on the array, done while no jump waits for an element; `halted` says that the user wants
    none of it until the next key.
    """

    def __init__(self, array: Array, walker: Walker) -> None:
        self.notice = ""
        self.failed = False
        self.aside: Scan[Any] | None = None
        self.halted = False
        self._array = array
        self._walker = walker
        self._condition: ElementCondition | None = None
        self._scan: Scan[int | None] | None = None
        self._what = ""
        self._origin: Index = walker.here

    # What a search is asked for; see `Seeker`.

    @property
    def active(self) -> bool:
        """Whether there is a search to go on with, or a jump that is not over."""
        return self._condition is not None or self._jumping

    @property
    def text(self) -> str:
        """The condition that is looked for."""
        return self._condition.text if self._condition is not None else ""

    @property
    def running(self) -> bool:
        """Whether there is something left to do."""
        return self._jumping or self.busy_aside

    @property
    def busy_aside(self) -> bool:
        """Whether other work on the array is not done yet."""
        return self.aside is not None and self.aside.running

    def begin(self) -> None:
        """Remember where the cursor is, to come back to on `cancel`."""
        self._origin = self._walker.here

    def look_for(self, text: str) -> None:
        """Go to the first element that meets the condition, from where the search began.

        Raises:
            TfdbgError: `text` is no condition.

        """
        self.stop()
        if text:
            self._condition = condition(text, self._array)
            self._walker.go(self._origin)
            here = self._place(self._origin)
            self._seek(f"/{text}", next_place(self._array, here - 1, self._condition.test), here - 1)

    def cancel(self) -> None:
        """Forget the search, and go back to where it began."""
        self.stop()
        self._walker.go(self._origin)

    def stop(self) -> None:
        """Forget the search; stay here."""
        self._condition = None
        self._end()
        self.notice, self.failed = "", False

    def forget(self) -> None:
        """Say no more of a jump that is over: the user went on."""
        if not self._jumping:
            self.notice, self.failed = "", False

    def halt(self) -> None:
        """Look no further, whatever it is."""
        if self._jumping:
            self.notice = f"{self._what}: stopped"
        self._end()
        self.halted = True
        if self.aside is not None:
            self.aside.stop()

    def next(self) -> None:
        """Go to the next element that meets the condition, round the end if need be."""
        self._again(ahead=True)

    def previous(self) -> None:
        """Go to the one before."""
        self._again(ahead=False)

    def work(self, lines: int = AT_ONCE, enough: Callable[[], bool] = lambda: False) -> None:
        """Do at most so many steps, until it is `enough`."""
        if self._scan is not None and self._scan.running:
            self._scan.work(lines, enough)
            if self._scan.running:
                self.notice = f"{self._what}: {self._scan.share:.0%} looked at, Ctrl-C stops"
        elif self.aside is not None:
            self.aside.work(lines, enough)

    # Other jumps.

    def to_nonfinite(self, *, ahead: bool) -> None:
        """Go to the next element that is NaN or infinite, or to the one before."""
        here = self._place(self._walker.here)
        what = "next NaN or infinity" if ahead else "NaN or infinity before"
        self._seek(what, next_place(self._array, here, nonfinite, ahead=ahead), here, ahead=ahead)

    def to_extreme(self, *, highest: bool) -> None:
        """Go to the next of the greatest finite elements, or of the least.

        Raises:
            TfdbgError: the elements have no order.

        """
        if is_text(self._array) or self._array.dtype.kind == "c":
            raise TfdbgError("These elements have no greatest and no least.")
        here = self._place(self._walker.here)
        self._seek("maximum" if highest else "minimum", next_extreme(self._array, here, highest=highest), here)

    @property
    def _jumping(self) -> bool:
        return self._scan is not None and self._scan.running

    def _again(self, *, ahead: bool) -> None:
        if self._condition is not None:
            here = self._place(self._walker.here)
            steps = next_place(self._array, here, self._condition.test, ahead=ahead)
            self._seek(f"/{self._condition.text}", steps, here, ahead=ahead)

    def _seek(self, what: str, steps: Steps[int | None], start: int, *, ahead: bool = True) -> None:
        """Begin to look, and go there at once if it is near."""
        self._end()
        self._what = what
        self.failed = False

        def arrive(place: int | None) -> None:
            self.failed = place is None
            if place is None:
                self.notice = f"{what}: there is none"
                return
            self._walker.go(tuple(int(i) for i in np.unravel_index(place, self._array.shape)))
            passed = place <= start if ahead else place >= start
            only = ", the only one" if place == start else ""
            wrapped = ", past the end" if ahead else ", past the beginning"
            self.notice = what + (only or wrapped if passed else "")

        self._scan = Scan(steps, arrive)
        self.work()

    def _end(self) -> None:
        if self._scan is not None:
            self._scan.stop()
            self._scan = None

    def _place(self, index: Index) -> int:
        return int(np.ravel_multi_index(index, self._array.shape)) if index else 0
