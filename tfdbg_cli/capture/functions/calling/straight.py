"""Calls all of whose values come from the body of the function, none from a branch or a loop.

The order of their values is the same in all calls of a function, so it is found once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import overload

from tfdbg_cli.capture.functions.calling.executions import ValueExecutions
from tfdbg_cli.capture.functions.calling.recomputed import LazyTensor, Recent, made_of
from tfdbg_cli.capture.functions.definition.mergeable import SAME
from tfdbg_cli.capture.functions.definition.shown_values import Item, Shown, ValueRecipe
from tfdbg_cli.capture.tf.types import EagerTensor
from tfdbg_cli.model.names import TensorName

_NONE = 0  # the place that stands for None: for values without numbers, and for those still to be computed


class Straight:
    """The order of the values of such calls: `arguments`, then those of `items`.

    A value that would be computed from a missing one is left out, as by `Unrolled`. `shown` describes all others,
    `executions` numbers them, and `at_hand` has the places of those that need not be computed.
    """

    def __init__(self, arguments: Iterable[Shown], items: Iterable[Item]) -> None:
        self.shown: list[Shown] = []
        self.computed: dict[
            int, tuple[ValueRecipe, tuple[int, ...]]
        ] = {}  # how, and the places of what it is made of
        self._known: list[EagerTensor | None] = [None]
        self._sources: list[int] = []  # places in [*_known, *given]; below 0 for `given` at first
        self._by_name: dict[TensorName, int] = {}
        self._given = 0
        for shown in arguments:
            self._show(shown, self._next_given())
        for item in items:
            if item.shown is not None:
                self._add(item, item.shown)
        first = len(self._known) - 1
        self._sources = [first - source if source < 0 else source for source in self._sources]
        self.at_hand = [at for at, source in enumerate(self._sources) if source != _NONE]
        self.executions = ValueExecutions(self.shown)

    def tensors(self, given: Sequence[EagerTensor]) -> StraightTensors:
        """The values of one call; `given` are its shown arguments, and then the values that it returned, in order."""
        return StraightTensors(self, list(map([*self._known, *given].__getitem__, self._sources)))

    def _add(self, item: Item, shown: Shown) -> None:
        if item.known is not None:
            self._known.append(item.known)
            self._show(shown, len(self._known) - 1)
        elif item.recipe is not None:
            self._add_computed(shown, item.recipe)
        elif item.reference is not None:
            self._show(shown, self._next_given())
        else:
            self.shown.append(shown)
            self._sources.append(_NONE)

    def _add_computed(self, shown: Shown, recipe: ValueRecipe) -> None:
        inputs = [at for name in recipe.inputs if (at := self._by_name.get(name)) is not None]
        if len(inputs) < len(recipe.inputs):
            return
        passed_on = self._sources[inputs[0]] if recipe.node.op in SAME else _NONE
        if passed_on == _NONE:
            self.computed[len(self.shown)] = recipe, tuple(inputs)
        self._show(shown, passed_on)

    def _next_given(self) -> int:
        self._given += 1
        return -self._given

    def _show(self, shown: Shown, source: int) -> None:
        self._by_name[shown.name] = len(self.shown)
        self.shown.append(shown)
        self._sources.append(source)


class StraightTensors(Sequence["LazyTensor | None"]):
    """The values of one call in the order of `straight`; those to be computed become `Recomputed` when asked for."""

    def __init__(self, straight: Straight, tensors: list[LazyTensor | None]) -> None:
        self.straight = straight
        self._tensors = tensors
        self._recent = Recent()

    def __len__(self) -> int:
        return len(self._tensors)

    @overload
    def __getitem__(self, index: int) -> LazyTensor | None: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[LazyTensor | None]: ...
    def __getitem__(self, index: int | slice) -> LazyTensor | Sequence[LazyTensor | None] | None:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        found = self._tensors[index]
        if found is None and (at := range(len(self))[index]) in self.straight.computed:
            self._make_with_inputs(at)
            return self._tensors[at]
        return found

    def __iter__(self) -> Iterator[LazyTensor | None]:
        for at in self.straight.computed:  # inputs first, as they stand
            if self._tensors[at] is None:
                self._make(at)
        return iter(self._tensors)

    def at_hand(self) -> Iterable[tuple[int, EagerTensor]]:
        """The values that need not be computed, each behind its place."""
        return zip(self.straight.at_hand, map(self._tensors.__getitem__, self.straight.at_hand), strict=True)

    def _make_with_inputs(self, at: int) -> None:
        open_ = [at]
        while open_:  # inputs first: chains can be long
            one = open_[-1]
            unmade = [place for place in self.straight.computed[one][1] if self._tensors[place] is None]
            if unmade:
                open_ += unmade
                continue
            if self._tensors[one] is None:
                self._make(one)
            open_.pop()

    def _make(self, at: int) -> None:
        recipe, inputs = self.straight.computed[at]
        found = [tensor for one in inputs if (tensor := self._tensors[one]) is not None]
        self._tensors[at] = made_of(recipe, found, self._recent)
