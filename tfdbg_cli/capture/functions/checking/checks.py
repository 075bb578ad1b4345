"""The ops that ask a question of the tensors of a function, and add up the answers.

The sum, branches and turns of loops included, is one more output of the function.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfdbg_cli.capture.functions.definition.edit import Edit
from tfdbg_cli.capture.questions.question import Question
from tfdbg_cli.capture.questions.recipe import ASKED, BEFORE, AnswerRecipe, RecipeStep
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.attributes import set_attribute
from tfdbg_cli.model.dtypes import FLOAT, element_type
from tfdbg_cli.ops.transparent_shapes import Shape


class SummedAnswers:
    """The answers in one function that is being rewritten, and their sum."""

    def __init__(self, edit: Edit, question: Question, compiled: bool) -> None:
        """Ask `question` in the function of `edit`; `compiled` if XLA compiles it."""
        self._edit = edit
        self._question = question
        self._compiled = compiled
        self._counts: list[str] = []
        self._flags: list[str] = []  # rows of length 1

    @property
    def dtype(self) -> int:
        """The element type of what `total` gives."""
        return FLOAT

    @property
    def width(self) -> int:
        """The length of a vector of counts."""
        return self._question.width

    def include(self, counts: str) -> None:
        """Add `counts`, the sum that a called function gave."""
        self._counts.append(counts)

    def check(self, tensor: str, dtype: int, shape: Shape, device: str, *, before: str = "", asked: str = "") -> None:
        """Add the ops that ask `question` of the reference `tensor`; for a variable, `before` is its old value.

        `asked` is the program's value that `tensor` is, or whose twin it is; empty if it is none of the program's.
        """
        recipe = AnswerRecipe(self._compiled)
        self._question.answer(element_type(dtype).name, shape, recipe)
        references = {ASKED: tensor, BEFORE: before}
        for number, step in enumerate(recipe.steps):
            references[number] = self._added(step, [references[at] for at in step.inputs], device)
            if asked and ASKED in step.inputs:
                node = self._edit.nodes[references[number].split(":")[0]]
                self._edit.tell_reads(node, [asked if at == ASKED else "" for at in step.inputs])
        answer = references[len(recipe.steps) - 1]
        (self._counts if recipe.whole else self._flags).append(answer)

    def zeros(self) -> str:
        """A constant of zero counts."""
        value = np.zeros(self._question.width, np.float32)
        return self._added(RecipeStep("Const", (), {"dtype": element_type(FLOAT), "value": value}), [], "")

    def total(self) -> str:
        """Add the ops that sum all answers so far; returns the reference of the sum."""
        found = self._summed(self._counts) if self._counts else self.zeros()
        if not self._flags:
            return found
        step = RecipeStep("AddV2", (), {"T": element_type(FLOAT)})
        return self._added(step, [found, self._summed(self._flags)], "")

    def _summed(self, terms: list[str]) -> str:
        if len(terms) == 1:
            return terms[0]
        return self._added(RecipeStep("AddN", (), {"T": element_type(FLOAT), "N": len(terms)}), terms, "")

    def _added(self, step: RecipeStep, inputs: list[str], device: str) -> str:
        return added(self._edit, "tfdbg_check", step, inputs, device)


def added(edit: Edit, name: str, step: RecipeStep, inputs: Sequence[str], device: str) -> str:
    """Add the op of `step` to the function of `edit`, as `name` and a number; returns the reference of its output."""
    node = edit.add(name, step.op_type, inputs, "" if step.op_type == "Const" else device)
    for attribute, value in step.attributes.items():
        set_attribute(node.attr[attribute], value)
    return f"{node.name}:{compat.op_definition(step.op_type).output_arg[0].name}:0"
