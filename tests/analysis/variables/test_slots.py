"""What an optimizer keeps of a variable, by the names that optimizers give."""

from __future__ import annotations

import pytest

from tfdbg_cli.analysis.variables.slots import slots_of


@pytest.mark.parametrize(
    "slot",
    [
        "dense/kernel/Momentum",
        "dense/kernel/Adam_1",
        "training/Adam/dense/kernel/m",
        "Adam/m/dense/kernel",
        "adam/dense_kernel_velocity",
        "adam/dense_kernel_velocity_hat",
    ],
)
def test_names_of_slots(slot: str) -> None:
    assert slots_of({"dense/kernel": "f", slot: "f"}) == {slot: "dense/kernel"}
    assert slots_of({"dense/kernel": "f", slot: "another shape"}) == {}


def test_other_names_are_no_slots() -> None:
    names = ("kernel", "encoder/kernel", "kernel/part_0", "kernel_1", "other/gamma", "dense/kernel")
    assert slots_of(dict.fromkeys(names, "f")) == {}


def test_what_is_kept_of_a_slot_is_none() -> None:
    assert slots_of(dict.fromkeys(("w", "w/Adam", "w/Adam/Adam"), "f")) == {"w/Adam": "w"}
