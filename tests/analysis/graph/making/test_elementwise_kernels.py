"""Ops that count as elementwise, run by TensorFlow: an output element depends on the same ones of the inputs."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from tfdbg_cli.analysis.graph.making.parts import ELEMENTWISE
from tfdbg_cli.capture.tf import compat

pytestmark = pytest.mark.tf

NO_EAGER_KERNEL = {"_UnaryOpsComposition"}  # Grappler makes it
VECTOR = {"BiasAdd": 1}  # the input that is a vector: an element belongs to a whole column
BOOLEAN = {"Select": 0, "SelectV2": 0}
COMPLEX = {"Angle", "ComplexAbs", "Conj", "Imag", "Real"}
SHAPE = (2, 3)


def _inputs(op_type: str) -> list[np.ndarray]:
    definition = compat.op_definition(op_type)
    counts = [2 if argument.number_attr else 1 for argument in definition.input_arg]
    kind = np.complex64 if op_type in COMPLEX else np.float32
    # Between 0 and 1 all these functions change, and are real.
    values = iter(np.linspace(0.15, 0.85, sum(counts) * 6))
    arrays = [np.array([next(values) for _ in range(6)], kind).reshape(SHAPE) for _ in range(sum(counts))]
    if op_type in BOOLEAN:
        arrays[BOOLEAN[op_type]] = np.array([[True, False, True], [False, True, False]])
    if op_type in VECTOR:
        arrays[VECTOR[op_type]] = arrays[VECTOR[op_type]][0]
    if op_type in ("Acosh", "Zeta", "Polygamma"):
        arrays[0] = {"Acosh": arrays[0] + 1, "Zeta": arrays[0] + 2, "Polygamma": np.ones(SHAPE, kind)}[op_type]
    if op_type == "ClipByValue":
        arrays[1:] = [np.full(SHAPE, 0.0, kind), np.full(SHAPE, 1.0, kind)]
    return arrays


def _run(op_type: str, arrays: list[np.ndarray]) -> np.ndarray:
    definition = compat.op_definition(op_type)
    given = {}
    left = list(arrays)
    for argument in definition.input_arg:
        name = {"t": "x", "e": "y"}.get(argument.name, argument.name) if op_type == "Select" else argument.name
        given[name] = [left.pop(0), left.pop(0)] if argument.number_attr else left.pop(0)
    attributes = {"DstT": tf.float64} if op_type == "Cast" else {}
    return np.asarray(getattr(tf.raw_ops, op_type)(**given, **attributes))


@pytest.mark.parametrize("op_type", sorted(ELEMENTWISE - NO_EAGER_KERNEL))
def test_an_element_depends_on_the_same_elements_alone(op_type) -> None:
    arrays = _inputs(op_type)
    before = _run(op_type, arrays)
    assert before.shape == SHAPE
    assert np.isfinite(before).all()
    for position, array in enumerate(arrays):
        for index in np.ndindex(array.shape):
            changed = [one.copy() for one in arrays]
            changed[position][index] = ~array[index] if array.dtype == bool else array[index] + np.float32(0.07)
            differs = _run(op_type, changed) != before
            column = (slice(None), *index) if array.ndim == 1 else index
            differs[column] = False
            assert not differs.any(), f"input {position} at {index} reaches further"
