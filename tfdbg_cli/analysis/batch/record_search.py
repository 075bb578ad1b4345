"""Rows looked for among the records of some data by what they hold, to the last bit, block by block."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tfdbg_cli.model.records import SoughtRow
from tfdbg_cli.model.values import Array

_WORD = 8  # bytes
_SEED = 20  # any will do: what it draws only spreads the sums


@dataclass(slots=True)
class RecordMatch:
    """The first record that holds what was looked for, and how many do."""

    first: int
    alike: int = 1


class RecordSearch:
    """Compares blocks of records with rows. NaN is equal to NaN of the same bits, 0.0 is not equal to -0.0.

    Compared are those of the parts that `rows` have which the blocks have, too. A part of another type of numbers is
    cast to that of the rows, as a pipeline would have done.
    """

    def __init__(self, rows: Sequence[SoughtRow], parts: Sequence[int]) -> None:
        self.parts = tuple(parts)
        self.matches: dict[int, RecordMatch] = {}
        self._dtypes = {part: rows[0].parts[part].dtype for part in self.parts} if rows else {}
        self._sizes = {part: rows[0].parts[part].size for part in self.parts} if rows else {}
        self._wanted: dict[int, list[tuple[list[Hashable], list[int]]]] = {}  # by sum, what is held and by which rows
        for row in rows:
            block = {part: row.parts[part][np.newaxis] for part in self.parts}
            plain = self._plain(block)
            if plain is None:
                continue
            held = [_held(plain[part], 0) for part in self.parts]
            alike = self._wanted.setdefault(int(_sums(plain)[0]), [])
            same = next((which for there, which in alike if there == held), None)
            if same is None:
                alike.append((held, [row.row]))
            else:
                same.append(row.row)
        self._sought = np.array(sorted(self._wanted), np.uint64)

    def fits(self, block: Mapping[int, Array]) -> bool:
        """Whether the records of `block` are of as many elements as the rows, so that they can be compared."""
        return all(part in block and block[part][:1].size == size for part, size in self._sizes.items())

    def look(self, block: Mapping[int, Array], numbers: Array) -> None:
        """Look at the records of `block`, some parts row for row, which have these `numbers`."""
        plain = self._plain(block) if self.parts and self.fits(block) else None
        if plain is None:
            return
        sums = _sums(plain)
        for place in np.flatnonzero(np.isin(sums, self._sought)).tolist():
            alike = self._wanted[int(sums[place])]
            held = [_held(plain[part], place) for part in self.parts]
            for there, rows in alike:
                if there == held:
                    self._note(rows, int(numbers[place]))

    def _note(self, rows: Sequence[int], number: int) -> None:
        for row in rows:
            known = self.matches.get(row)
            if known is None:
                self.matches[row] = RecordMatch(number)
            else:
                known.alike += 1

    def _plain(self, block: Mapping[int, Array]) -> dict[int, Array] | None:
        """Each part as a table of words, a record a line, or of texts; None where it cannot be cast."""
        found = {}
        for part in self.parts:
            value, dtype = block[part], self._dtypes[part]
            if _is_text(dtype) != _is_text(value.dtype):
                return None
            found[part] = _texts(value) if _is_text(dtype) else _words(value, dtype)
        return found


def _is_text(dtype: np.dtype[np.generic]) -> bool:
    return dtype.kind in "OSU"


def _words(value: Array, dtype: np.dtype[np.generic]) -> Array:
    with np.errstate(all="ignore"):
        cast = np.ascontiguousarray(value if value.dtype == dtype else value.astype(dtype))
    raw = cast.reshape(len(cast), -1).view(np.uint8) if cast.size else np.zeros((len(cast), 0), np.uint8)
    missing = -raw.shape[1] % _WORD
    if missing:
        raw = np.concatenate([raw, np.zeros((len(raw), missing), np.uint8)], axis=1)
    return np.ascontiguousarray(raw).view(np.uint64) if raw.size else np.zeros((len(cast), 0), np.uint64)


def _texts(value: Array) -> Array:
    found = np.empty(value.shape, object)
    flat = found.reshape(-1)
    for at, one in enumerate(value.reshape(-1)):
        flat[at] = (
            one.encode() if isinstance(one, str) else bytes(one) if isinstance(one, bytes) else repr(one).encode()
        )
    return found.reshape(len(value), -1)


def _held(part: Array, place: int) -> Hashable:
    """What a record holds of a part, to be compared."""
    line = part[place]
    return tuple(line) if line.dtype == object else line.tobytes()


def _sums(plain: Mapping[int, Array]) -> Array:
    """A sum of each record that differs for nearly all that differ; those of equal ones are equal."""
    total: Array | None = None
    for number, part in enumerate(plain.values()):
        if part.dtype == object:
            hashed = [hash(tuple(line)) & 0xFFFFFFFFFFFFFFFF for line in part]
            sums = np.array(hashed, np.uint64) * np.uint64(2 * number + 1)
        else:
            # A generator of its own: the program's draws go on as they were.
            factors = np.random.default_rng(_SEED + number).integers(1, 1 << 63, part.shape[1], np.uint64)
            sums = part @ (factors * np.uint64(2) + np.uint64(1))
        total = sums if total is None else total + sums
    return np.zeros(0, np.uint64) if total is None else total
