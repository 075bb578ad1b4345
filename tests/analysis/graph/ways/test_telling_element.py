"""Which element a sum, a product, an extreme or what was added up so far owes most to."""

from __future__ import annotations

import numpy as np
import pytest

from tfdbg_cli.analysis.graph.making.parts import Part
from tfdbg_cli.analysis.graph.ways.telling_element import telling_element
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.values import Array


def _told(
    op_type: str, values: Array | list[float], *, at: int = 0, negative: bool = False, **attributes: str
) -> int:
    node = Node("made", op_type, "", (), (), attributes)
    return telling_element(node, (at,), Part((None,), np.asarray(values, np.float32)), negative)[0]


@pytest.mark.parametrize(
    ("op_type", "values", "place"),
    [
        ("Sum", [1.0, -9.0, 3.0], 1),
        ("Max", [1.0, -9.0, 3.0], 2),
        ("Min", [1.0, -9.0, 3.0], 1),
        ("Prod", [2.7, 0.0, 2.7], 1),
        ("Prod", [1e-3, 1e-30, 10.0], 1),
        ("Prod", [0.1, 1e30, -1e20], 1),
    ],
)
def test_of_many(op_type: str, values: list[float], place: int) -> None:
    """A blind test: of a product of factors one of which was 0 it was the largest."""
    assert _told(op_type, values) == place


@pytest.mark.parametrize(("op_type", "place"), [("Sum", 2), ("Prod", 2), ("Max", 0)])
def test_why_it_is_negative(op_type: str, place: int) -> None:
    assert _told(op_type, [-1.0, -40.0, -50.0] if op_type == "Max" else [1.0, 40.0, -30.0], negative=True) == place


@pytest.mark.parametrize(
    ("at", "attributes", "place"),
    [
        (3, {}, 1),
        (0, {}, 0),
        (1, {"exclusive": "true"}, 0),
        (2, {"exclusive": "true"}, 1),
        (3, {"reverse": "true"}, 4),
        (4, {"reverse": "true"}, 4),
        (0, {"reverse": "true"}, 1),
        (1, {"reverse": "true", "exclusive": "true"}, 4),
    ],
)
def test_only_what_was_multiplied_so_far(at: int, attributes: dict[str, str], place: int) -> None:
    values = [2.0, 0.0, 3.0, 4.0, 1e-9] if place != 4 else [2.0, 0.0, 3.0, 4.0, 0.0]
    assert _told("Cumprod", values, at=at, **attributes) == place


def test_what_is_no_number_with_a_fraction_is_told_by_its_place() -> None:
    node = Node("made", "Sum", "", (), (), {})
    assert telling_element(node, (), Part((None,), np.array([1, 2, 3])), False) == (0,)
