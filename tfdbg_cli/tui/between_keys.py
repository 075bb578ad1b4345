"""What goes on between two keys: answers, searches, filters, and what rows in sight lack, a little at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import urwid

from tfdbg_cli.tui.control.actions import Actions
from tfdbg_cli.tui.control.keymap import KeyContext
from tfdbg_cli.tui.control.pending import Pending
from tfdbg_cli.tui.control.state import State
from tfdbg_cli.tui.panes.view import View

_FRAME = 0.05  # seconds between two frames while something is looked for
_MANY_LINES = 1_000_000  # more than a slice can look at
_SLICE = 0.001  # seconds of looking between two looks at the keyboard
_TURN = 0.008  # seconds of looking, while no key comes, until urwid's loop has its turn
_FEW = 8  # rows that are counted before a frame; of a page of them as little is begun as would be seen
_PAUSE = 0.04  # seconds without a key before what is in sight is counted and previewed: longer than a key repeats


class BetweenKeys:
    """The work of one screen that must not keep a key waiting. `guarded` makes messages of what goes wrong in it."""

    def __init__(
        self, state: State, actions: Actions, view: View, guarded: Callable[[str, Callable[[], None]], None]
    ) -> None:
        self._state = state
        self._actions = actions
        self._view = view
        self._guarded = guarded
        self._alarm: Any = None  # of urwid's loop, when work is to go on
        self._drawn = 0.0  # when a frame was drawn in the middle of the work
        self._unseen = False  # whether there is something new to see since then
        self._pause_ends = 0.0  # when the keys will have rested for long enough to count what is in sight
        self._answered = True  # whether somebody waits for a frame before any work: the first, or that of a key

    def go_on(self, loop: urwid.MainLoop | None) -> None:
        """Let what is unfinished go on behind the keys: at once what was asked for, in a pause what is in sight."""
        if loop is None or not self._state.pages.all or (task := next(self._tasks(), None)) is None:
            return
        if self._alarm is not None and self._answered:
            loop.remove_alarm(self._alarm)  # counted anew from this key on
            self._alarm = None
        if self._alarm is None:
            rest = self._pause_ends - time.monotonic() if task == self._view.work and not self._answered else 0.0
            self._alarm = loop.set_alarm_in(max(0.0, rest), self._look_on)

    def answered(self) -> None:
        """A key was answered: its frame goes before any further work."""
        self._answered = True
        self._pause_ends = time.monotonic() + _PAUSE

    def begin(self, pending: Pending, at_once: float) -> None:
        """Begin with an answer, in the place of any other; what takes no longer than `at_once` is shown now."""
        self._state.pending = pending
        self._state.dialog, self._state.place = None, KeyContext.DOCUMENT  # it was asked for there
        end = time.monotonic() + at_once
        self._answer(lambda: time.monotonic() >= end)

    def count_in_sight(self, at_once: float) -> None:
        """Count what the rows in sight lack, for so many seconds; less where that is too much for one frame."""
        self._view.arrange(self._view.size)
        lacking = len(self._state.page.late.lacking())
        end = time.monotonic() + at_once * min(1.0, _FEW / max(1, lacking))
        self._view.work(lambda: time.monotonic() >= end)

    def _look_on(self, loop: Any, data: Any) -> None:
        self._alarm = None
        # While an alarm is due urwid does not draw: without this nothing would be seen before the search has ended.
        # A frame has a turn of its own, so that a key waits for one of both at most.
        if self._answered or (self._unseen and time.monotonic() - self._drawn >= _FRAME):
            if loop.screen.started:
                self._answered = self._unseen = False
                loop.draw_screen()
                self._drawn = time.monotonic()
        else:
            enough, told = _key_or_turn(loop.screen), self._told()
            self._guarded("looking for rows", lambda: self._look(enough))
            self._unseen = self._unseen or not told or self._told() != told
        self.go_on(loop)

    def _look(self, enough: Callable[[], bool]) -> None:
        """Go on with what is most wanted, until `enough`."""
        task = next(self._tasks(), None)
        if task is not None:
            task(enough)

    def _told(self) -> str:
        """All that a frame would tell of the work: how far an answer is; empty where it would tell more than that."""
        pending = self._state.pending
        alone = pending is not None and next(self._tasks(), None) == self._answer
        return pending.status(self._view.size[0]) if pending is not None and alone else ""

    def _tasks(self) -> Iterator[Callable[[Callable[[], bool]], None]]:
        """What is left to do, the most wanted first."""
        state, walking = self._state, self._actions.walking
        if state.dialog is not None and state.dialog.unfinished:
            yield state.dialog.work
        if self._view.looks_ahead:
            yield self._view.look_ahead
        if state.pending is not None and not (state.pending.ready and self._typing):
            yield self._answer
        if state.filter is not None and state.filter.running:
            yield state.filter.work
        if walking.running:
            yield walking.work
        if state.finder.running:
            yield lambda enough: state.finder.work(_MANY_LINES, enough)
        if self._view.running:
            yield self._view.work

    @property
    def _typing(self) -> bool:
        """Whether another page would take away what is being typed or chosen."""
        return self._state.place is not KeyContext.DOCUMENT or self._state.dialog is not None

    def _answer(self, enough: Callable[[], bool]) -> None:
        """Go on with the answer, and show it once it is there."""
        pending = self._state.pending
        assert pending is not None, "there is one"
        try:
            if not pending.ready:
                pending.work(enough)
        except BaseException:
            self._state.pending = None
            pending.give_up()
            raise
        if pending.ready and not self._typing:
            self._state.pending = None
            pending.finish()


def _key_or_turn(screen: Any) -> Callable[[], bool]:
    """What tells work that goes on from now when it is enough: a key came, or others have waited for long enough.

    A turn of urwid's loop takes a tenth of the time of a slice, so it is not taken for each. A screen that does not
    tell whether a key came has one for each all the same.
    """
    begun = time.monotonic()
    key_came = getattr(screen, "key_came", lambda: True)
    slice_ends = begun + _SLICE

    def enough() -> bool:
        nonlocal slice_ends
        now = time.monotonic()
        if now < slice_ends:
            return False
        slice_ends = now + _SLICE
        return now - begun >= _TURN or key_came()

    return enough
