"""Which part of an array is on show: two of its axes, an index along each of the others, and the cursor in it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tfdbg_cli.model.values import Array

Index = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Plane:
    """The element at `cursor` and all that differ from it along the axes `down` and `across` alone.

    An axis is None where the array has too few. `stepped` is the frozen axis that stepping moves along, None where no
    axis is frozen. Each method gives another plane whose cursor is an element of the array.
    """

    shape: Index
    cursor: Index
    down: int | None
    across: int | None
    stepped: int | None = None

    @classmethod
    def of(cls, shape: Index) -> Plane:
        """The last two axes of an array of this shape, which has elements, at its first one."""
        rank = len(shape)
        down = rank - 2 if rank > 1 else 0 if rank else None
        across = rank - 1 if rank > 1 else None
        return cls(shape, (0,) * rank, down, across, rank - 3 if rank > 2 else None)

    @property
    def frozen(self) -> Index:
        """The axes that are not on show."""
        return tuple(axis for axis in range(len(self.shape)) if axis not in {self.down, self.across})

    @property
    def _is_swapped(self) -> bool:
        """Whether the rows lie along a later axis of the array than the columns."""
        return self.down is not None and self.across is not None and self.down > self.across

    @property
    def height(self) -> int:
        return 1 if self.down is None else self.shape[self.down]

    @property
    def width(self) -> int:
        return 1 if self.across is None else self.shape[self.across]

    @property
    def row(self) -> int:
        """Where the cursor stands, from the top."""
        return 0 if self.down is None else self.cursor[self.down]

    @property
    def col(self) -> int:
        """Where the cursor stands, from the left."""
        return 0 if self.across is None else self.cursor[self.across]

    @property
    def key(self) -> tuple[int | None, int | None, Index]:
        """What tells this part of the array from others, wherever the cursor stands in it."""
        return self.down, self.across, tuple(self.cursor[axis] for axis in self.frozen)

    def elements(self, array: Array) -> Array:
        """The part of `array` (of this shape) that is on show, as rows and columns; nothing of it is copied."""
        whole = slice(None)
        index = tuple(whole if axis in {self.down, self.across} else at for axis, at in enumerate(self.cursor))
        found = array[(*index, ...)]
        if self.down is None or self.across is None:
            return found.reshape(1, 1) if found.ndim == 0 else found[None, :] if self.down is None else found[:, None]
        return found.T if self._is_swapped else found

    def at(self, index: Index) -> Plane:
        """The cursor at `index`, as near to it as the array has an element."""
        inside = tuple(min(max(0, i), length - 1) for i, length in zip(index, self.shape, strict=True))
        return replace(self, cursor=inside)

    def along(self, axis: int | None, place: int) -> Plane:
        """The cursor at `place` of `axis`, or at the end of the axis that is nearest to it."""
        if axis is None:
            return self
        return self.at((*self.cursor[:axis], place, *self.cursor[axis + 1 :]))

    def step(self, steps: int) -> Plane:
        """The frozen index `steps` on along the stepped axis; past its end the frozen axes before it go on."""
        if self.stepped is None:
            return self
        moving = [axis for axis in self.frozen if axis <= self.stepped]
        lengths = [self.shape[axis] for axis in moving]
        at = int(np.ravel_multi_index([self.cursor[axis] for axis in moving], lengths)) + steps
        total = int(np.prod(lengths))
        places = np.unravel_index(min(max(0, at), total - 1), lengths)
        cursor = list(self.cursor)
        for axis, place in zip(moving, places, strict=True):
            cursor[axis] = int(place)
        return replace(self, cursor=tuple(cursor))

    def stepping(self, axes: int) -> Plane:
        """Stepping moves along the frozen axis so many further on, behind the last one along the first."""
        frozen = self.frozen
        if self.stepped is None:
            return self
        return replace(self, stepped=frozen[(frozen.index(self.stepped) + axes) % len(frozen)])

    def swapped(self) -> Plane:
        """Rows as columns, and columns as rows."""
        return replace(self, down=self.across, across=self.down)

    def turned(self) -> Plane:
        """The next two axes on show, in the order of the array; with two axes or fewer they are swapped."""
        rank = len(self.shape)
        if rank < 3 or self.down is None or self.across is None:
            return self.swapped()
        pairs = [(down, across) for down in range(rank) for across in range(down + 1, rank)]
        low, high = sorted((self.down, self.across))
        return self.showing(*pairs[(pairs.index((low, high)) + 1) % len(pairs)])

    def showing(self, down: int, across: int) -> Plane:
        """These two axes on show."""
        shown = replace(self, down=down, across=across)
        return replace(shown, stepped=shown.frozen[-1] if shown.frozen else None)

    @property
    def where(self) -> str:
        """The index with a colon for each axis on show, and how far along the stepped axis it is.

        Swapped axes are told as NumPy has them: `[0, :, :].T`.
        """
        parts = (":" if axis not in self.frozen else str(at) for axis, at in enumerate(self.cursor))
        words = f"[{', '.join(parts)}]{'.T' if self._is_swapped else ''}"
        if self.stepped is None:
            return words
        return f"{words}  axis {self.stepped} {self.cursor[self.stepped]}/{self.shape[self.stepped]}"
