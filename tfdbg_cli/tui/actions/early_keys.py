"""Keys typed while the first page of a stop is still being made: those that act on a page wait for it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from tfdbg_cli.tui.keys.keymap import KeyContext, action_of
from tfdbg_cli.tui.state.state import ScreenState

NO_PAGE_YET = "nothing"
"""The document kind of the placeholder page, before there is a first answer."""
_END_THE_WAIT = frozenset({"ui:escape", "ui:interrupt", "exit"})
_NEED_NO_PAGE = _END_THE_WAIT | {"ui:prompt", "ui:keys", "ui:find", "ui:shell", "ui:mouse"}


class EarlyKeys:
    """Holds back the keys of one screen that would act on a page that is not there yet; `press` presses one."""

    def __init__(self, state: ScreenState, press: Callable[[str], None]) -> None:
        self._state = state
        self._press = press
        self._keys: deque[str] = deque()

    def hold(self, key: str) -> bool:
        """Whether `key` has to wait; then it is kept, and so are all behind it but those that end the wait."""
        if not self._awaited or self._state.place is not KeyContext.DOCUMENT:
            return False
        action = action_of(key, KeyContext.DOCUMENT, self._state.service.moment, self._state.own_bindings)
        acts_on_page = (action.startswith("ui:") and action not in _NEED_NO_PAGE) or "{" in action
        waits = action not in _END_THE_WAIT if self._keys else acts_on_page
        if waits:
            self._keys.append(key)
        return waits

    @property
    def running(self) -> bool:
        """Whether held keys can be pressed now."""
        if self._awaited:
            return False
        if self._keys and self._state.page.document.kind == NO_PAGE_YET:  # its command was stopped, or failed
            self._keys.clear()
        return bool(self._keys)

    def work(self, enough: Callable[[], bool]) -> None:
        """Press them, in their order, until `enough()`."""
        while self._keys:
            self._press(self._keys.popleft())
            if enough():
                return

    @property
    def _awaited(self) -> bool:
        """Whether the first page is being made."""
        state = self._state
        return state.pending is not None and bool(state.pages.all) and state.page.document.kind == NO_PAGE_YET
