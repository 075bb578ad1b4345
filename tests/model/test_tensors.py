from dataclasses import replace

import numpy as np
import pytest
from support import sample_run

from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.tensors import MemoryTensorStore, Tensor, describe, described_with_size, gone, nbytes_of, repeats
from tfdbg_cli.model.values import Lack, NoValue


def test_executions_of_a_loop_tensor_come_in_order():
    store = sample_run.store()
    assert [store[i].execution for i in store.named("step/while/Add")] == [0, 1, 2]
    assert [int(store.value(i)) for i in store.named("step/while/Add", 0)] == [1, 2, 3]
    assert store.named("grad/unique", 1) and not store.named("grad/unique", 2)
    assert store.named("nobody") == []


def test_the_size_of_strings_is_told_by_their_value_where_a_store_does_not_know_it() -> None:
    name, words = TensorName("x", 0), np.array([b"abc", b"de"], object)
    unread = Tensor(name, "", 0, "string", (2,), None, None, "Const")
    store = MemoryTensorStore([unread, unread], [words, gone("It is gone.")])
    assert described_with_size(store, 0) == replace(unread, nbytes=5)
    assert described_with_size(store, 1) == unread


def test_sizes_are_those_of_the_values_not_of_a_file():
    """TensorFlow's tfdbg: dump size was the file's, a 2-float tensor showed 180 B."""
    value = np.zeros(2, np.float32)
    assert describe(TensorName("x", 0), value, device="", op_type="Add", dtype="float32").nbytes == 8
    assert nbytes_of(np.array([b"abc", "de"], object)) == 5
    assert nbytes_of(np.array(["abc", "é"], object)) == 5
    assert nbytes_of(np.array(["abc", "é"])) == nbytes_of(np.array([b"abc", b"de"])) == 5


def test_a_tensor_without_a_value_has_no_shape():
    tensor = describe(TensorName("x", 0), gone("dropped"), device="", op_type="Add", dtype="float32")
    assert tensor.shape is None and tensor.nbytes is None
    assert isinstance(gone("dropped"), NoValue) and gone("dropped").lack is Lack.GONE


def test_tensors_and_values_must_pair():
    with pytest.raises(ValueError, match="1 tensors but 0 values"):
        MemoryTensorStore([describe(TensorName("x", 0), gone(""), device="", op_type="", dtype="")], [])


def test_whether_a_tensor_stands_twice_is_told_where_each_node_has_one():
    def store(*names):
        one = np.ones(1)
        made = [describe(TensorName(*name), one, device="", op_type="", dtype="float64") for name in names]
        return MemoryTensorStore(made, [one] * len(made))

    assert repeats(store(("a", 0), ("b", 1))) is False
    assert repeats(store(("a", 0), ("a", 0))) is None
    assert repeats(store(("a", 0), ("a", 1))) is None, "two outputs of one node"
