"""The fewest rows that explain all that is bad, where each bad thing was made of a few rows, as of a pair of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

_MOST_LOOKED_AT = 150_000  # groups, all searches together; so they stay shallow, too
_LISTED = 8  # rows of a set that is named
_Group = frozenset[int]


@dataclass(frozen=True)
class Explanation:
    """The `rows` that explain what is bad; without any two of the `sets` of the fewest, where there are several."""

    rows: tuple[int, ...] = ()
    sets: Sequence[tuple[int, ...]] = ()

    @property
    def why_none(self) -> str:
        """Why no rows are told, in words."""
        if not self.sets:
            return "rows are compared with rows, and what is bad does not tell which of them are to blame"
        one, other = map(_listed, self.sets)
        return f"rows are compared with rows, and what is bad is explained by {one}, as well as by {other}"


def _listed(rows: Sequence[int]) -> str:
    more = len(rows) - _LISTED
    numbers = ", ".join(map(str, rows[:_LISTED])) + (f" and {more} more" if more > 0 else "")
    return f"{'row' if len(rows) == 1 else 'rows'} {numbers}"


def explaining_rows(groups: Iterable[Iterable[int]]) -> Explanation:
    """The smallest set of rows that has one of each group; none where there are several, or too many to search.

    Where groups are pairs, and all rows of some are bad beside each other and no others (equal rows, say), each of
    them is to blame as much as the others: then it is all.
    """
    pairs = {frozenset(group) for group in groups}
    alone = {row for pair in pairs if len(pair) == 1 for row in pair}
    left = [pair for pair in pairs if not pair & alone]
    if not left:
        return Explanation(tuple(sorted(alone)))
    if _are_all_together(left):
        return Explanation(tuple(sorted(alone.union(*left))))
    search = _Search()
    for size in range(_apart(left), len(frozenset().union(*left))):
        search.look(left, frozenset(), size)
        if search.found or search.given_up:
            break
    found = sorted(tuple(sorted(alone | one)) for one in search.found)
    if len(found) > 1:
        return Explanation(sets=found[:2])
    return Explanation() if search.given_up or not found else Explanation(found[0])


def _are_all_together(pairs: Sequence[_Group]) -> bool:
    """Whether rows fall into sets in which each is paired with all others, and with none of another set."""
    beside: dict[int, set[int]] = {}
    for pair in pairs:
        for row in pair:
            beside.setdefault(row, set()).update(pair)
    return all(len(pair) == 2 for pair in pairs) and all(
        beside[row] == beside[other] for pair in pairs for row in pair for other in pair
    )


def _apart(groups: Sequence[_Group]) -> int:
    """A number of groups that have no row in common: at least so many rows it takes."""
    met: set[int] = set()
    count = 0
    for group in groups:
        if not group & met:
            met |= group
            count += 1
    return count


@dataclass
class _Search:
    """Looks for sets of one size, until there are two."""

    found: list[_Group] = field(default_factory=list)
    given_up: bool = False
    _looked_at: int = 0

    def look(self, groups: Sequence[_Group], chosen: _Group, size: int) -> None:
        """Add to what was `found` the sets of `size` rows more than `chosen` that have one of each of `groups`."""
        while groups and size:
            self._looked_at += len(groups)
            if self._looked_at > _MOST_LOOKED_AT:
                self.given_up = True
                return
            counts = Counter(row for group in groups for row in group)
            in_pairs = Counter(row for group in groups if len(group) == 2 for row in group)
            row = next((group for group in groups if len(group) == 1), None)
            # Without it, each of the others in its pairs would be needed.
            needed = next(iter(row)) if row else next((one for one, n in in_pairs.items() if n > size), None)
            if needed is None:
                if sum(n for _, n in counts.most_common(size)) < len(groups):
                    return
                needed = counts.most_common(1)[0][0]
                self.look([group - {needed} for group in groups], chosen, size)  # that is, without it
                if len(self.found) > 1 or self.given_up:
                    return
            groups = list({group for group in groups if needed not in group})
            chosen, size = chosen | {needed}, size - 1
        if not groups:
            self.found.append(chosen)
