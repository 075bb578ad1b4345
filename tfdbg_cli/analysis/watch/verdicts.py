"""Which tensors of a run are bad: each value is read at most once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np

from tfdbg_cli.model.dtypes import element_type_named, is_inexact
from tfdbg_cli.model.repeated_element import of_each
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import TensorStore
from tfdbg_cli.model.values import LOST, Array, NoValue
from tfdbg_cli.ops.undefined_outputs import is_undefined_in

BadMask: TypeAlias = Callable[[Array], Array]


def nan_mask(array: Array) -> Array:
    """True where an element is NaN; infinities pass."""
    return of_each(np.isnan, array) if is_inexact(array.dtype) else np.zeros(array.shape, np.bool_)


def row_holds_nan(store: TensorStore, row: int) -> bool:
    """Whether the tensor at `row` has a value, and a NaN in it."""
    value = store.value(row)
    return not isinstance(value, NoValue) and bool(nan_mask(value).any())


def alike(one: Array, two: Array) -> Array:
    """Where two arrays of one shape hold the same number, or both NaN."""
    return np.asarray((one == two) | (nan_mask(one) & nan_mask(two)))


def holding(values: Iterable[Array]) -> str:
    """Which non-finite numbers there are in `values`, in words: `-inf`, `inf and NaN`."""
    found: dict[str, None] = {}
    for value in values:
        if not is_inexact(value.dtype):
            continue
        if value.dtype.kind == "c":
            found |= {"inf": None} if np.isinf(value).any() else {}
        else:
            infinite = value[np.isinf(value)]  # of some types NumPy warns where NaN is compared
            found |= {"-inf": None} if (infinite < 0).any() else {}
            found |= {"inf": None} if (infinite > 0).any() else {}
        found |= {"NaN": None} if nan_mask(value).any() else {}
    return " and ".join(found) or "inf or NaN"


class Verdicts:
    """Which tensors of `run` are bad: they hold an element that `mask` marks.

    Nodes whose name matches the regular expression `exclude_node_names` are fine. Tensors can be excused for a while,
    or dismissed for good. `unread` are those whose value is lost: they count as fine, though it is not known.
    """

    def __init__(self, run: Run, mask: BadMask, exclude_node_names: str) -> None:
        self._run = run
        self._mask = mask
        self._excluded = re.compile(exclude_node_names) if exclude_node_names else None
        self._known: dict[int, bool] = {}
        self._excused: set[int] = set()
        self._dismissed: set[int] = set()
        self.unread: set[int] = set()

    def bad(self, index: int) -> bool:
        """Whether the tensor at `index` holds an offending element, and is neither excused nor dismissed."""
        return index not in self._excused and index not in self._dismissed and self.offends(index)

    def offends(self, index: int) -> bool:
        """Whether the tensor at `index` holds an offending element, even if it is excused or dismissed."""
        known = self._known.get(index)
        if known is None:
            known = self._known[index] = self._look(index)
        return known

    @property
    def excused(self) -> frozenset[int]:
        """The tensors that count as fine by `excuse`."""
        return frozenset(self._excused)

    @property
    def dismissed(self) -> frozenset[int]:
        """The tensors that count as fine by `dismiss`."""
        return frozenset(self._dismissed)

    def excuse(self, tensors: Iterable[int]) -> None:
        """Let `tensors` count as fine from now on."""
        self._excused.update(tensors)

    def excuse_none(self) -> None:
        """Take all excuses back; dismissed tensors stay dismissed."""
        self._excused.clear()

    def dismiss(self, tensors: Iterable[int]) -> None:
        """Let `tensors` count as fine for good, since the user ignores them."""
        self._dismissed.update(tensors)

    def _look(self, index: int) -> bool:
        tensor = self._run.tensors[index]
        if self._excluded is not None and self._excluded.search(tensor.node):
            return False
        element = element_type_named(tensor.dtype)
        if element is not None and (element.numpy is None or not is_inexact(element.numpy)):
            return False
        value = self._run.tensors.value(index)
        if isinstance(value, NoValue):
            if value.lack in LOST:
                self.unread.add(index)
            return False
        return bool(self._mask(value).any()) and not is_undefined_in(self._run.graph, tensor.name)
