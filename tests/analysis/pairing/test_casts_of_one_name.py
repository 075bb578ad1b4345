"""Casts of one tensor in two runs: which is which, where a cast more has counted up the names."""

from __future__ import annotations

import numpy as np
from support.made_run import made_run, op

from tfdbg_cli.analysis.pairing.renames import Renames
from tfdbg_cli.analysis.pairing.tensor_pairs import paired_tensors
from tfdbg_cli.model.runs import Run

X = np.array([1.5, 2.5], np.float32)


def _run(*casts: tuple[str, str]) -> Run:
    """A run that casts `x`, by name and dtype."""
    return made_run(
        op("x", "Placeholder", value=X), *(op(name, "Cast", "x", value=X.astype(dtype)) for name, dtype in casts)
    )


def _pairs(first: Run, second: Run) -> dict[str, str]:
    found = paired_tensors(first, second, Renames())
    return {first.tensors[a].node: second.tensors[b].node for a, b in found.rows}


def test_casts_that_give_another_kind_of_numbers_are_no_pair_by_their_name() -> None:
    """A blind test: int32 was compared with complex64, both `Cast_1`, and was said to be where two runs part."""
    first = _run(("Cast", "complex64"), ("Cast_1", "int32"))
    second = _run(("Cast", "float32"), ("Cast_1", "complex64"), ("Cast_2", "int32"))
    assert _pairs(first, second) == {"x": "x", "Cast": "Cast_1", "Cast_1": "Cast_2"}
    assert _pairs(second, first) == {"x": "x", "Cast_1": "Cast", "Cast_2": "Cast_1"}


def test_casts_of_one_kind_are_pairs_by_their_names_also_in_another_precision() -> None:
    first = _run(("Cast", "float32"), ("Cast_1", "int32"), ("Cast_2", "float64"))
    second = _run(("Cast_2", "float16"), ("Cast_1", "int64"), ("Cast", "float16"))
    assert _pairs(first, second) == {"x": "x", "Cast": "Cast", "Cast_1": "Cast_1", "Cast_2": "Cast_2"}


def test_a_cast_that_was_changed_is_compared_all_the_same() -> None:
    assert _pairs(_run(("Cast", "int32")), _run(("Cast", "float16"))) == {"x": "x", "Cast": "Cast"}
    changed = _pairs(
        _run(("Cast", "int32"), ("Cast_1", "complex64")), _run(("Cast", "float16"), ("Cast_1", "complex64"))
    )
    assert changed == {"x": "x", "Cast": "Cast", "Cast_1": "Cast_1"}
