"""What the stepper may draw, and what it would take from the program."""

from __future__ import annotations

import pytest

from tfdbg_cli.capture.what_if.random_draws import drawing_notes, require_drawable
from tfdbg_cli.errors import TfdbgError

pytestmark = pytest.mark.tf


@pytest.mark.parametrize(
    "op_type",
    [
        "RandomUniform", "Multinomial", "UniformCandidateSampler", "StatefulUniform", "Timestamp", "If", "MatMul",
        "RandomShuffleQueueV2", "RandomDatasetV2", "IteratorV2",
    ],
)  # fmt: skip
def test_what_takes_nothing_from_the_program_may_be_drawn(op_type: str) -> None:
    require_drawable("node", op_type)


@pytest.mark.parametrize("op_type", ["IteratorGetNext", "QueueDequeueV2", "EagerPyFunc", "RestoreV2"])
def test_what_the_program_would_miss_is_refused(op_type: str) -> None:
    with pytest.raises(TfdbgError, match="would take from the program"):
        require_drawable("node", op_type)


def test_the_notes_tell_what_is_drawn_from_what_is_not() -> None:
    random, missed = drawing_notes([("a", "RandomUniform"), ("b", "While"), ("c", "IteratorGetNext")])
    assert random.startswith("The random numbers of a, b are drawn here once")
    assert missed.startswith("c would take")
