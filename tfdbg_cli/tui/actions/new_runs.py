"""Runs that came while the screen was up: the list of runs shows them, whatever else is on show is left as it is."""

from __future__ import annotations

from collections.abc import Callable
from weakref import WeakKeyDictionary

from tfdbg_cli.commands.service.pages import Page
from tfdbg_cli.document.document import Document
from tfdbg_cli.tui.state.bars import Message
from tfdbg_cli.tui.state.state import ScreenState

_LIST = "runs"  # the kind of the page that lists them, all or those that a query leaves


class NewRuns:
    """What is done about new runs, once a second: `say` is how a message is shown."""

    def __init__(self, state: ScreenState, say: Callable[[Message], None]) -> None:
        self._state = state
        self._say = say
        self._listed: WeakKeyDictionary[Page, int] = WeakKeyDictionary()  # how many runs there were for a list

    def look(self) -> None:
        """Say what is new, and have the list on show list it; the cursor stays where it is."""
        if not self._state.service.followed or not self._state.pages.all or self._busy:
            return
        following = self._state.service.following
        page, news = self._state.pages.current, following.news()
        if page.document.kind != _LIST:
            if news and self._state.message is None:
                self._say(Message(news))
        elif self._listed.get(page) != following.count:
            self._listed[page] = following.count
            self._list_anew(page)

    @property
    def _busy(self) -> bool:
        """Whether a user types or chooses something over the list, or waits for another page."""
        state = self._state
        return state.dialog is not None or state.filter is not None or state.pending is not None

    def _list_anew(self, page: Page) -> None:
        document = self._state.service.execute(page.command)
        if isinstance(document, Document):
            self._state.page.renew(document)
