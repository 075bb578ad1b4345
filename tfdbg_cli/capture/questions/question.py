"""What may be asked of the tensors of a run, inside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property

from tfdbg_cli.analysis.watch.filter import Among, Filter
from tfdbg_cli.capture.questions.recipe import AnswerRecipe, RecipeStep
from tfdbg_cli.model.values import Array
from tfdbg_cli.ops.transparency import CHECKABLE
from tfdbg_cli.ops.transparent_shapes import Shape


class Covering(Enum):
    """How the answer for a tensor follows from those for others."""

    READERS = auto()  # what is found in a tensor is found in that of an op that reads it (ops/transparency.py)
    READERS_KEEPING = auto()  # the same, of ops that make no NaN of an infinity
    # What is not found in the inputs of an op is not found in its output (ops/element_bounds.py). Signs may change.
    BOUNDS = auto()  # of ops that give elements of their inputs, or smaller ones
    COPIES = auto()  # of ops that give all elements of their inputs, and no others
    NOTHING = auto()  # no answer follows from others: every tensor is asked


@dataclass(frozen=True)
class Question:
    """What is asked of each tensor inside a run: the same as `asked`, a filter of ours.

    The answer for a tensor is a vector of `width` float32 counts; the answers for all tensors are added up. A count
    that is not zero at one of the places `sure` says that the filter passes; at one of `unsure` that it may, so that
    it has to be asked of the values. `by_shape` says whether the question makes use of the shapes of tensors.
    """

    asked: Filter
    covering: Covering
    width: int = 1
    sure: tuple[int, ...] = (0,)
    unsure: tuple[int, ...] = ()
    by_shape: bool = True

    @property
    def name(self) -> str:
        """What the filter is called."""
        return self.asked.name

    @property
    def among(self) -> Among:
        """Which tensors are asked."""
        return self.asked.among

    @property
    def sees_nan(self) -> bool:
        """Whether NaN in any tensor is certainly found."""
        return self.covering is Covering.READERS and self.among is Among.ALL

    @property
    def sees_finite(self) -> bool:
        """Whether a tensor of finite elements is never found."""
        return self.covering in (Covering.READERS, Covering.READERS_KEEPING)

    @property
    def compares(self) -> bool:
        """Whether the question compares variables with their values before the update, and asks nothing else."""
        return self.asked.compares

    def concerns(self, op_type: str, dtype: str, shape: Shape) -> bool:
        """Whether a tensor of an op of that type may pass, by what is known before the run.

        By default all tensors of a dtype that can hold NaN may, complex and 8 bit floats included.
        """
        return dtype in CHECKABLE

    def askable(self, dtype: str, shape: Shape) -> bool:
        """Whether ops can answer for a tensor of this dtype and static shape inside a run."""
        return True

    def answer(self, dtype: str, shape: Shape, recipe: AnswerRecipe) -> None:
        """Add to `recipe` the steps that answer for the tensor `ASKED`, of that dtype; the last gives the counts."""
        raise NotImplementedError

    def steps(self, dtype: str, shape: Shape) -> Sequence[RecipeStep]:
        """The steps of `answer` in a graph; found out once for each dtype and shape."""
        found = self._steps.get((dtype, shape))
        if found is None:
            recipe = AnswerRecipe()
            self.answer(dtype, shape, recipe)
            found = self._steps[dtype, shape] = recipe.steps
        return found

    @cached_property
    def _steps(self) -> dict[tuple[str, Shape], list[RecipeStep]]:
        return {}

    def asked_of(self, array: Array) -> bool:
        """Whether `array`, the value of a tensor that is concerned, passes; when it is not known (None), it may."""
        return True

    def found_in(self, counts: Array) -> bool:
        """Whether something was, or may have been, found, by the sum of all answers (an array)."""
        return any(counts[place] != 0 for place in (*self.sure, *self.unsure))

    def sure_of(self, counts: Array) -> bool:
        """Whether something was certainly found, by the sum of all answers."""
        return any(counts[place] != 0 for place in self.sure)


def element_count(shape: Shape) -> int | None:
    """The number of elements, where the shape is known."""
    if shape is None:
        return None
    size = 1
    for length in shape:
        if length is None:
            return 0 if 0 in shape else None
        size *= length
    return size
