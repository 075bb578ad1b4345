"""The inputs of tensors are kept as long as there is room for their values."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from support.made_run import made_run, op

from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.analysis.origin import inputs_read
from tfdbg_cli.analysis.origin.inputs_read import InputsRead


def test_of_large_values_the_last_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A blind test: the origin of a run of 1250 ops held a copy of each of their inputs, 1.4 GB."""
    monkeypatch.setattr(inputs_read, "_MOST_BYTES", 2_000)
    zeros = np.zeros(200, np.float32)
    names = ["x", *(f"y{i}" for i in range(5))]
    run = made_run(
        op("x", "Placeholder", value=zeros),
        *(op(name, "Exp", before, value=zeros) for before, name in itertools.pairwise(names)),
    )
    inputs = InputsRead(Lineage(run))
    found = [inputs.of(index) for index in range(6)]
    assert [str(item.name) for item in found[3]] == ["y1:0"]
    again = [inputs.of(index) is found[index] for index in (5, 4)]
    assert again == [True, True]
    assert inputs.of(1) is not found[1]
    assert [str(item.name) for item in inputs.of(1)] == ["x:0"]
