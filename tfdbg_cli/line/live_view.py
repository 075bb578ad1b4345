"""How a training goes, in the lowest lines of the terminal, while the program writes above them."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import hypot
from typing import Protocol
from weakref import ReferenceType, ref

import numpy as np

from tfdbg_cli.document.ansi import ansi_row, wants_color
from tfdbg_cli.document.sparkline import signs
from tfdbg_cli.document.summary import number_text
from tfdbg_cli.document.text import Line, Span, Style, line, plain_row
from tfdbg_cli.line.bottom_lines import BottomLines
from tfdbg_cli.model.beside import Observations
from tfdbg_cli.model.rules import RuleAlert
from tfdbg_cli.model.series import Quantity, Series
from tfdbg_cli.model.units import count_text
from tfdbg_cli.plain_text import printable
from tfdbg_cli.process.own_threads import OwnThread

_PAUSE = 1.0  # seconds between two looks
_RECENT = 10  # looks over which the pace is told
_BARS = 16  # of a curve
_NOTHING = "nothing is watched"


class Followed(Protocol):
    """A debugger."""

    @property
    def run_count(self) -> int:
        """How many runs have begun."""
        ...

    @property
    def beside(self) -> Observations | None:
        """What is gathered of them."""
        ...


class LiveView:
    """Lines about the runs of all debuggers that it follows, drawn once a second in `bottom`.

    It takes the place of the progress line of a watch (`debugger.progress_line.Progress`). `norms` and `alerts` say
    whether there are lines for those.
    """

    def __init__(self, bottom: BottomLines, *, norms: bool, alerts: bool) -> None:
        self._bottom = bottom
        self._norms = norms
        self._alerts = alerts
        self._followed: list[tuple[ReferenceType[Followed], list[int]]] = []  # with the runs that were counted last
        self._words = ""
        self._paces: deque[tuple[float, int]] = deque(maxlen=_RECENT + 1)
        self._lock = threading.Lock()
        self._hidden = 0
        self._process = os.getpid()
        self._ended = threading.Event()

    def follow(self, debugger: Followed) -> None:
        """Tell of `debugger`, too, which is not kept alive."""
        self._followed.append((ref(debugger), [0]))

    def begin(self, words: Callable[[], str]) -> None:
        """A watch begins."""
        self._words = words()

    def tick(self, words: Callable[[], str]) -> None:
        """Take how the watch goes, behind each run, so that it goes with the line above.

        Asked later it would count the run at which the watch stops among those in which nothing was found.
        """
        self._words = words()

    def start(self) -> None:
        """Draw from now on, in a thread that does not keep the program alive."""
        OwnThread(target=self._draw_on, name="tfdbg-live", daemon=True).start()

    def end(self) -> None:
        """Draw no more, and give the terminal back."""
        self._ended.set()
        if os.getpid() == self._process:  # a forked child ends here, too, and its parent goes on
            with self._lock:
                self._bottom.give_back()

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Leave the terminal alone for the duration of the context: a prompt is open."""
        if os.getpid() != self._process:  # a forked child draws nothing, and its copy of the lock may be held
            yield
            return
        with self._lock:
            self._hidden += 1
            self._bottom.give_back()
        try:
            yield
        finally:
            with self._lock:
                self._hidden -= 1
                self._words = ""
                self._paces.clear()

    def lines(self, now: float) -> list[Line]:
        """What is shown, at the time `now` in seconds."""
        found = []
        for reference, counted in self._followed:
            debugger = reference()
            if debugger is not None:
                counted[0] = debugger.run_count
                found.append(debugger.beside)
        runs = sum(counted[0] for _, counted in self._followed)
        self._paces.append((now, runs))
        shown = [_head(runs, self._paces), line(" ", self._words or _NOTHING)]
        if self._norms:
            shown.append(_norms([beside.trends for beside in found if beside is not None]))
        if self._alerts:
            shown.append(_alerts([alert for beside in found if beside is not None for alert in beside.alerts]))
        return shown

    def _draw_on(self) -> None:
        color = wants_color(os.environ, tty=True)
        while True:
            self._bottom.wait(_PAUSE)
            with self._lock:
                if self._ended.is_set():
                    return
                if not self._hidden:
                    columns = self._bottom.columns
                    self._bottom.draw([_fitted(one, columns, color) for one in self.lines(time.monotonic())])


def _head(runs: int, paces: Sequence[tuple[float, int]]) -> Line:
    (then, before), (now, _) = paces[0], paces[-1]
    pace = f", {(runs - before) / (now - then):.3g} a second now" if now > then else ""
    return Line(
        (Span("── tfdbg ", Style.DIM), Span(f"{count_text(runs, 'run')}{pace}", Style.TITLE), Span(" ", Style.DIM))
    )


def _norms(kept: Sequence[Mapping[Hashable, Sequence[Series]]]) -> Line:
    """The norm of each quantity over all layers, run by run."""
    spans = [Span(" ")]
    for quantity in Quantity:
        over_all: dict[int, float] = {}
        for series in (one for trends in kept for found in trends.values() for one in found):
            if series.quantity is quantity:
                for step, value in zip(series.steps[-_BARS:], series.values[-_BARS:], strict=True):
                    over_all[step] = hypot(over_all.get(step, 0.0), value)
        if over_all:
            values = [over_all[step] for step in sorted(over_all)][-_BARS:]
            curve = "".join(signs(np.array(values), _BARS))
            spans += [Span(f"{quantity} ", Style.LABEL), Span(f"{curve} {number_text(values[-1])}   ", Style.NUMBER)]
    if len(spans) > 1:
        return Line(tuple(spans))
    return line(" no norms in the runs so far: no gradients, no trained variables" if any(kept) else " no norms yet")


def _alerts(alerts: Sequence[RuleAlert]) -> Line:
    if not alerts:
        return line(" no alerts")
    last = max(alerts, key=lambda alert: max(alert.run, alert.last_run))
    told = f" {count_text(len(alerts), 'alert')}: "
    return line(Span(told, Style.WARNING), f"{last.rule} in run #{last.run}, {last.tensor}: {last.text}")


def _fitted(one: Line, columns: int, color: bool) -> str:
    """A line as the terminal gets it; the head is drawn to the edge."""
    room, spans = columns - 1, []
    for span in one.spans:
        text = printable(span.text)
        spans.append(Span(text if len(text) <= room else f"{text[: max(0, room - 1)]}…"[:room], span.style))
        room -= len(spans[-1].text)
    if spans[0].text.startswith("─"):
        spans.append(Span("─" * room, Style.DIM))
    return ansi_row(Line(tuple(spans))) if color else plain_row(Line(tuple(spans)))
