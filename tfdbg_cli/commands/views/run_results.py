"""What the runs of a list gave the program, such as their loss: a cell each, on a screen found out later."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite, isnan

from tfdbg_cli.analysis.scalar_results import ScalarResult, scalar_results
from tfdbg_cli.commands.context import Context
from tfdbg_cli.document.summary import number_text
from tfdbg_cli.document.text import Span, Style
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.runs import Opened

_WIDEST = 40  # columns of a cell: what does not fit is left out
_SAMPLE = 9  # runs that are read to choose the width
_MOST_RUNS = 1_000  # that are read for a printed list: each takes two milliseconds or so
_CUT_OFF = f"The results of the first {_MOST_RUNS:,} are shown; `runs -q QUERY` narrows the list."
_TO_COME, _NOTHING = Span("…", Style.DIM), Span("")


class RunResults:
    """The results of the runs of `context` at `places`; what lies far away is not read.

    `width` is that of their column, as far as the first, the last and some between them tell; 0 where those have
    no number to show. `cut_off` says, where it is so, that only the first runs of a printed list are read.
    """

    def __init__(self, context: Context, places: Sequence[int]) -> None:
        self._runs, self._places, self._later = context.runs, places, context.later
        self._near = not (isinstance(context.stop, Opened) and context.stop.is_far)
        self._known: dict[int, Sequence[ScalarResult]] = {}
        last = len(places) - 1
        asked = {places[last * at // (_SAMPLE - 1)] for at in range(_SAMPLE)} if places and self._near else ()
        self.width = max((len(_cell(self._read(place)).text) for place in asked), default=0)
        cut_off = bool(self.width) and not self._later and len(places) > _MOST_RUNS
        self.cut_off = _CUT_OFF if cut_off else ""
        self._unasked = frozenset(places[:_MOST_RUNS]) if self._near else frozenset[int]()

    def cell(self, place: int) -> Span:
        """What a list says of the run at `place`: nothing of one that gave no number, or that is not read."""
        if place in (self._known if self._later else self._unasked):
            return _cell(self._read(place))
        return _TO_COME if self._later and self._near else _NOTHING

    def data(self, place: int) -> list[dict[str, object]] | None:
        """The JSON form of the results of the run at `place`; None where it is not read."""
        return results_data(self._read(place)) if place in self._unasked else None

    def missing(self, row: int) -> bool:
        """Whether the run of the row is still to be read. See `document.later.Later`."""
        return self._near and bool(self.width) and self._places[row] not in self._known

    def count(self, row: int) -> Iterator[None]:
        """Read the run of the row."""
        yield
        self._read(self._places[row])

    def _read(self, place: int) -> Sequence[ScalarResult]:
        if place not in self._known:
            try:
                self._known[place] = scalar_results(self._runs[place])
            except TfdbgError:  # deleted meanwhile, or not ours to read: the row says so
                self._known[place] = ()
        return self._known[place]


def results_data(results: Sequence[ScalarResult]) -> list[dict[str, object]]:
    """The JSON form: `name` as the program has it, null where it has none, `tensor` and `value`."""
    return [{"name": result.name or None, "tensor": str(result.tensor), "value": result.value} for result in results]


def _cell(results: Sequence[ScalarResult]) -> Span:
    """As many of the first results as fit, in the looks of the worst of all."""
    text = ""
    for at, result in enumerate(results):
        more = f"{', ' if at else ''}{f'{result.name} {number_text(result.value)}'.lstrip()}"
        if at and len(text) + len(more) > _WIDEST - 2 * (at + 1 < len(results)):
            text += " …"
            break
        text += more
    if all(isfinite(result.value) for result in results):
        return Span(text, Style.NUMBER)
    return Span(text, Style.NAN if any(isnan(result.value) for result in results) else Style.INF)
