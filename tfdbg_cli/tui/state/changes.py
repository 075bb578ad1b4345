"""What became of lists: which page a filter or a sort made of which, so that it can be taken back."""

from __future__ import annotations

from dataclasses import dataclass

from tfdbg_cli.commands.service.pages import Page

_MOST_KEPT = 50


@dataclass(frozen=True, slots=True)
class ListChange:
    """A list that was sorted or filtered: its page before, and the one that came of it."""

    before: Page
    after: Page


class Changes:
    """The last filters and sorts of one stop; what is taken back is forgotten."""

    def __init__(self) -> None:
        self._all: list[ListChange] = []

    def add(self, before: Page, after: Page) -> None:
        """Keep that `after` was made of `before`."""
        if after is not before:
            self._all.append(ListChange(before, after))
            del self._all[:-_MOST_KEPT]

    def take(self, page: Page) -> Page | None:
        """What `page` was before its last filter or sort; None where there was none."""
        for at in range(len(self._all) - 1, -1, -1):
            if self._all[at].after is page:
                return self._all.pop(at).before
        return None
