"""Choosing and sorting tensors, asking filters."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pytest
from support import sample_run

from tfdbg_cli.analysis.choosing.tensor_query import SortKey, TensorQuery, admitted, ordered, shape_matcher
from tfdbg_cli.analysis.watch.answers import Answers, ask
from tfdbg_cli.analysis.watch.datum import datum_of
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.statistics import Summary
from tfdbg_cli.model.tensors import MemoryTensorStore, Tensor, TensorStore, summary_of


def select(store: TensorStore, graph: Graph, query: TensorQuery) -> Sequence[int]:
    return ordered(store, admitted(store, graph, query), query, lambda index: summary_of(store, index))


def test_without_a_question_nothing_is_looked_at() -> None:
    assert select(sample_run.store(), Graph(), TensorQuery()) == range(20)
    assert select(sample_run.store(), Graph(), TensorQuery(reverse=True)) == range(20)[::-1]


@pytest.mark.parametrize("key", list(SortKey))
def test_sorting_is_stable_in_both_directions(key: SortKey) -> None:
    store = sample_run.store()
    for reverse in (False, True):
        found = list(select(store, Graph(), TensorQuery(sort_by=key, reverse=reverse)))
        assert sorted(found) == list(range(20))
        if key is SortKey.DTYPE:
            names = [store[i].dtype for i in found]
            assert names == sorted(names, reverse=reverse)
            floats = [i for i in found if store[i].dtype == "float32"]
            assert floats == sorted(floats)


def test_the_graph_tells_op_types() -> None:
    store = sample_run.store()
    found = select(store, Graph(), TensorQuery(op_type=re.compile("Unique")))
    assert list(found) == list(select(store, sample_run.graph(), TensorQuery(op_type=re.compile("Unique"))))
    assert [store[i].slot for i in found] == [0, 1]


@pytest.mark.parametrize(
    ("text", "shape", "fits"),
    [
        ("5,?,3", (5, 9, 3), True),
        ("5,?,3", (5, 3), False),
        ("(5, ?, 3)", (5, 1, 3), True),
        ("5,", (5,), True),
        ("*", (), True),
        ("*,3", (3,), True),
        ("1,*,3", (1, 2, 2, 3), True),
        ("?", (), False),
        ("-1,2", (7, 2), True),
        ("[]", (), True),
        ("", (), True),
        ("12", (1, 2), False),
        ("?", None, False),
    ],
)
def test_shapes(text: str, shape: tuple[int, ...] | None, fits: bool) -> None:
    assert shape_matcher(text)(shape) is fits


@pytest.mark.parametrize("text", ["a", "3,,4", "3.5", "3;4", "-2", "²", "[", "]", ",", "[5,3", "5,3]", "[5,3)"])
def test_bad_shapes(text: str) -> None:
    with pytest.raises(TfdbgError):
        shape_matcher(text)


def test_answers_are_remembered_and_errors_counted() -> None:
    asked: list[str] = []

    def picky(datum: object, tensor: object) -> object:
        asked.append(datum.tensor_name)  # type: ignore[attr-defined]
        if isinstance(tensor, np.ndarray):
            return np.any(tensor < 0) if tensor.dtype.kind == "f" else []
        raise ValueError("no numbers")

    known: Answers = {}
    first = ask(sample_run.sample_run(), range(20), picky, known)
    again = ask(sample_run.sample_run(), range(20), picky, known)
    assert first == again and len(asked) == 20
    assert (first.raised.count, first.raised.first, first.raised.error) == (2, "cold:0", "ValueError: no numbers")
    assert sample_run.store()[first.passed[0]].node == "w"


def test_a_keyboard_interrupt_ends_a_long_filter() -> None:
    def interrupted(datum: object, tensor: object) -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask(sample_run.sample_run(), range(20), interrupted, {})


def test_a_datum_has_the_old_names() -> None:
    datum = datum_of(sample_run.sample_run(), 11)
    assert (datum.node_name, datum.output_slot, datum.debug_op) == ("loss/Log", 0, "DebugIdentity")
    assert (datum.tensor_name, datum.watch_key) == ("loss/Log:0", "loss/Log:0:DebugIdentity")
    assert datum.device_name == sample_run.CPU0 and datum.timestamp == sample_run.T0 + 2750
    assert datum.dump_size_bytes == 32 and datum.file_path is None
    assert datum.get_tensor() is sample_run.LOG or np.array_equal(datum.get_tensor(), sample_run.LOG)


def test_the_worst_stand_on_top() -> None:
    store = sample_run.store()
    found = [str(store[i].name) for i in select(store, Graph(), TensorQuery(sort_by=SortKey.WORST))]
    bad = ["loss/Log:0", "half/Cast:0", "loss/mul:0", "loss/Mean:0", "spectrum:0"]
    assert found[:6] == [*bad, "dense/MatMul:0"]  # the most NaN and infinities; then by magnitude
    assert found[-3:] == ["cold:0", "table:0", "names:0"]


def test_among_the_worst_the_most_bad_elements_come_first_then_the_larger_share_then_the_first() -> None:
    told = {
        "one": Summary(32, nan=1), "many": Summary(1000, nan=30, pos_inf=2), "half": Summary(64, neg_inf=32),
        "spoiled": Summary(9, spoiled=True, unknown=frozenset({"nan", "neg_inf", "pos_inf"})),
        "again": Summary(1000, nan=32), "large": Summary(4, pos=4, min=1.0, max=9e9), "all": Summary(0, spoiled=True),
    }  # fmt: skip
    names = list(told)
    store = MemoryTensorStore(
        [Tensor(TensorName(name, 0), "", 0, "float32", (), 4, 0, "Log") for name in names],
        [np.zeros(())] * len(names),
    )
    query = TensorQuery(sort_by=SortKey.WORST)
    found = ordered(store, range(len(names)), query, lambda index: told[names[index]])
    assert [names[index] for index in found] == ["half", "many", "again", "one", "spoiled", "all", "large"]


def test_names_sort_by_node_and_then_by_the_number_of_the_slot() -> None:
    names = [("a", 10), ("a", 9), ("a/b", 0), ("a", 123456), ("ab", 1), ("a", 0), ("a", 11), ("a", 99)]
    store = MemoryTensorStore(
        [Tensor(TensorName(*name), "", 0, "float32", (), 4, 0, "Log") for name in names], [np.zeros(())] * len(names)
    )
    found = ordered(store, range(len(names)), TensorQuery(sort_by=SortKey.TENSOR_NAME), lambda _: None)
    assert [names[index] for index in found] == sorted(names)
