"""Cooperative background work of the screen: answers, searches, filters and visible cells, in slices between keys."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import urwid

from tfdbg_cli.tui.actions.actions import Actions
from tfdbg_cli.tui.actions.early_keys import EarlyKeys
from tfdbg_cli.tui.keys.keymap import KeyContext
from tfdbg_cli.tui.panes.view import View
from tfdbg_cli.tui.state.pending import PendingAnswer
from tfdbg_cli.tui.state.state import ScreenState

_FRAME = 0.05  # seconds between two frames while something is looked for
_MANY_LINES = 1_000_000  # more than can be searched in a slice: the time limits a slice, not the lines
_SLICE = 0.001  # seconds of work between two looks at the keyboard
_TURN = 0.008  # seconds of work, while no key comes, until control goes back to urwid's loop
_FEW = 8  # up to so many incomplete rows get all the time allowed before a frame; with more rows it shrinks
_PAUSE = 0.04  # seconds without a key before visible rows are completed and previewed; longer than a key's repeat


class BetweenKeys:
    """Does the slow work of one screen in slices, so that no key waits. `guarded` turns its errors into messages."""

    def __init__(
        self,
        state: ScreenState,
        actions: Actions,
        view: View,
        early: EarlyKeys,
        guarded: Callable[[str, Callable[[], None]], None],
    ) -> None:
        self._state = state
        self._actions = actions
        self._view = view
        self._early = early
        self._guarded = guarded
        self._alarm: Any = None  # of urwid's loop, when work is to go on
        self._drawn = 0.0  # when the last frame was drawn in the middle of the work
        self._unseen = False  # whether work since then has changed what a frame would show
        self._pause_ends = 0.0  # when the pause after the last key ends, so that visible rows may be completed
        self._answered = True  # whether a frame is due before any further work: the first one, or that of a key

    def go_on(self, loop: urwid.MainLoop | None) -> None:
        """Schedule unfinished work: what was asked for at once, completing visible rows after a pause of the keys."""
        if loop is None or not self._state.pages.all or (task := next(self._tasks(), None)) is None:
            return
        if self._alarm is not None and self._answered:
            loop.remove_alarm(self._alarm)  # the pause begins anew with this key
            self._alarm = None
        if self._alarm is None:
            rest = self._pause_ends - time.monotonic() if task == self._view.work and not self._answered else 0.0
            self._alarm = loop.set_alarm_in(max(0.0, rest), self._look_on)

    def answered(self) -> None:
        """Note that a key was handled: the next frame is drawn before any further work."""
        self._answered = True
        self._pause_ends = time.monotonic() + _PAUSE

    def begin(self, pending: PendingAnswer, at_once: float) -> None:
        """Begin an answer in place of any other; it is shown now if it takes no more than `at_once` seconds."""
        self._state.pending = pending
        self._state.dialog, self._state.place = None, KeyContext.DOCUMENT  # the answer will be a page
        end = time.monotonic() + at_once
        self._answer(lambda: time.monotonic() >= end)

    def count_in_sight(self, at_once: float) -> None:
        """Complete visible rows for at most `at_once` seconds; for less if more rows lack cells than fit in that."""
        self._view.arrange(self._view.size)
        lacking = len(self._state.page.late.lacking())
        end = time.monotonic() + at_once * min(1.0, _FEW / max(1, lacking))
        self._view.work(lambda: time.monotonic() >= end)

    def _look_on(self, loop: Any, data: Any) -> None:
        self._alarm = None
        # urwid does not draw while an alarm is due, so frames are drawn here; else none would show before the end.
        # A turn either draws or works, so that a key waits for one of the two at most.
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
        """Go on with the most urgent task until `enough()`."""
        task = next(self._tasks(), None)
        if task is not None:
            task(enough)

    def _told(self) -> str:
        """The status line, if progress of the pending answer is all that a new frame would show; else empty."""
        pending = self._state.pending
        alone = pending is not None and next(self._tasks(), None) == self._answer
        return pending.status(self._view.size[0]) if pending is not None and alone else ""

    def _tasks(self) -> Iterator[Callable[[Callable[[], bool]], None]]:
        """The unfinished tasks, the most urgent first."""
        state, walking = self._state, self._actions.walking
        if self._early.running:
            yield self._early.work
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
        if state.seeker.running:
            yield lambda enough: state.seeker.work(_MANY_LINES, enough)
        if self._view.running:
            yield self._view.work

    @property
    def _typing(self) -> bool:
        """Whether showing a page now would discard what the user is typing or choosing."""
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
    """Make the `enough` of a turn that begins now: true once a key has come, or when urwid's loop is due.

    A pass of urwid's loop costs a tenth of a slice, so a turn has several slices if the screen can tell whether a key
    came; without that (`key_came`), every slice ends the turn.
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
