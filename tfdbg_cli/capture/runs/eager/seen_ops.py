"""How many ops that ran eagerly were looked at."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class SeenOps:
    """Counts of ops, of sections that have ended: all of them, and those `outside` of runs."""

    every: int = 0
    outside: int = 0
    _before: int = 0  # the watch that is on

    @property
    def by_watch(self) -> int:
        """How many the watch that is on has looked at."""
        return self.every - self._before

    def section_ends(self, count: int, *, is_run: bool) -> None:
        """Note that a section of `count` ops has ended."""
        self.every += count
        self.outside += 0 if is_run else count

    def watch_begins(self, count: int) -> None:
        """Note that a watch takes the place of another one, after `count` ops of the section that is under way."""
        self._before = self.every + count
