"""Graphs and values of any kind, as a damaged file may hold or one of another program: `origin` has an answer."""

from __future__ import annotations

import random

import ml_dtypes
import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.made_run import Op, made_run, op

from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.analysis.graph.making.parts import ELEMENTWISE, MATMUL, REDUCTIONS, ROWS, SAMPLES
from tfdbg_cli.analysis.graph.ways.chain import chain_to
from tfdbg_cli.analysis.graph.ways.element_way import element_way
from tfdbg_cli.analysis.origin.finding import Finding, look_for
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.model.values import Array
from tfdbg_cli.ops.kinds import TRUTHS

_KINDS = sorted(
    ELEMENTWISE | REDUCTIONS | MATMUL | ROWS | SAMPLES | TRUTHS
    | {"Einsum", "Where", "GatherV2", "Const", "Placeholder", "Reshape", "ReadVariableOp", "UpdatedVariable", "Pack"}
)  # fmt: skip
_DTYPES = (np.float32, np.float16, np.int32, np.bool_, np.complex64, np.object_, ml_dtypes.bfloat16, np.uint8)
_NUMBERS = (0.0, 1.0, -1.0, 1e20, np.inf, -np.inf, np.nan)


def _value(chance: random.Random) -> Array:
    shape = tuple(chance.choice((0, 1, 2, 3)) for _ in range(chance.choice((0, 1, 1, 2, 2, 3))))
    dtype = np.dtype(chance.choice(_DTYPES))
    if dtype.hasobject:
        return np.full(shape, b"text", np.object_)
    whole = dtype.kind in "iub"
    numbers = [chance.choice((0, 1, 2) if whole else _NUMBERS) for _ in range(int(np.prod(shape)))]
    with np.errstate(all="ignore"):
        return np.array(numbers, np.int64 if whole else np.float64).reshape(shape).astype(dtype)


def _op(chance: random.Random, name: str, before: list[str], everything: list[str]) -> Op:
    makers = everything if chance.random() < 0.1 else before
    read = (
        [chance.choice(makers) + chance.choice(("", "", ":1")) for _ in range(chance.randrange(4))] if makers else []
    )
    value = None if chance.random() < 0.1 else _value(chance)
    return op(name, chance.choice(_KINDS), *read, value=value)


@given(st.integers(0, 2**32))
@example(115518)  # a NaN compared with a text
@example(27946)  # texts beside infinities of a sum
@settings(max_examples=300, deadline=None)
def test_the_search_and_the_way_back_end_with_an_answer(seed: int) -> None:
    chance = random.Random(seed)
    names = [f"n{number}" for number in range(chance.randint(2, 9))]
    run = made_run(*(_op(chance, name, names[:at], names) for at, name in enumerate(names)))
    lineage = Lineage(run)
    for row in range(len(run.tensors)):
        value, node = run.tensors.value(row), lineage.node(row)
        assert isinstance(value, np.ndarray) and node is not None
        if value.size:
            element = tuple(chance.randrange(size) for size in value.shape)
            way = element_way(run, lineage, row, element, chance.choice((None, 0, 1, 5)))
            assert way.keys() <= set(names)
            chain_to(run, lineage, node, 0, way)
    found = look_for(run, OriginSearch(run))
    if isinstance(found, Finding):
        assert found.origin.cause.text
