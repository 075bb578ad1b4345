"""Somebody outside who had the program stop, and how it went on before they came."""

from __future__ import annotations

from tfdbg_cli.debugger.next_plan import State
from tfdbg_cli.model.decision import Decision, Detach, Resume, StopAtStart
from tfdbg_cli.model.pausing import Breakpoint, Breakpoints


class Visit:
    """One visit after another. `asked` is set by any thread; all else is done by the one that stops."""

    def __init__(self) -> None:
        self.asked = False  # a plain attribute, as it is read at each run
        self._before: Decision | None = None
        self._breakpoints: frozenset[Breakpoint] = frozenset()

    def begin(self, state: State, breakpoints: Breakpoints) -> None:
        """Note how the program went on, by `state` and `breakpoints`, unless a visit has not been resumed yet."""
        self.asked = False
        if self._before is None:
            self._before = Detach() if isinstance(state, StopAtStart) else state
            self._breakpoints = frozenset(breakpoints)

    def resumed(self, decision: Decision | Resume, breakpoints: Breakpoints) -> Decision:
        """`decision`, or what held before where that is to hold again; breakpoints of the visit are then removed."""
        if isinstance(decision, Resume):
            for breakpoint_ in breakpoints:
                if self._before is not None and breakpoint_ not in self._breakpoints:
                    breakpoints.remove(breakpoint_.number)
            decision = self._before or Detach()
            self._before = None
        elif isinstance(decision, Detach):
            self._before = None
        return decision
