"""Somebody outside who had the program stop, and how it went on before they came."""

from __future__ import annotations

from collections.abc import Iterable

from tfdbg_cli.debugger.next_plan import State
from tfdbg_cli.model.decision import ByVisitor, Decision, Detach, Outcome, Resume, StopAtStart
from tfdbg_cli.model.pausing import Breakpoint, Breakpoints


class Visit:
    """One visit after another. `asked` is set by any thread; all else is done by the one that stops."""

    def __init__(self) -> None:
        self.asked = False  # a plain attribute, as it is read at each run
        self._before: Decision | None = None
        self._breakpoints: frozenset[Breakpoint] = frozenset()

    def begin(self, state: State, breakpoints: Iterable[Breakpoint]) -> None:
        """Note how the program went on, by `state` and `breakpoints`, unless a visit has not been resumed yet."""
        self.asked = False
        if self._before is None:
            self._before = _going_on(state)
            self._breakpoints = frozenset(breakpoints)

    def decided(
        self, outcome: Outcome, state: State, known: frozenset[Breakpoint], breakpoints: Breakpoints
    ) -> Decision:
        """The decision of a stop, of which `outcome` came; `Resume` has hold again what held before the visit.

        `state` and `known` are how the program went on before the stop. Breakpoints of the visit are removed.
        """
        match outcome:
            case ByVisitor(decision):
                if self._before is None:  # they came when the stop was about to open, and were not called for
                    self.begin(state, known)
            case Resume():
                for breakpoint_ in breakpoints:
                    if self._before is not None and breakpoint_ not in self._breakpoints:
                        breakpoints.remove(breakpoint_.number)
                decision, self._before = self._before or _going_on(state), None
            case _:
                decision = outcome
        if isinstance(decision, Detach):
            self._before = None
        return decision


def _going_on(state: State) -> Decision:
    """How a program goes on without the stop that `state` may be."""
    return Detach() if isinstance(state, StopAtStart) else state
