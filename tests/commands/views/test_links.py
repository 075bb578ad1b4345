"""Links to tensors."""

from __future__ import annotations

import numpy as np
from support.made_run import CPU, OTHER

from tfdbg_cli.commands.views.links import source_link, tensor_link
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.tensors import MemoryTensorStore, describe


def _store(*places: tuple[str, int, str]) -> MemoryTensorStore:
    one = np.ones(1, np.float32)
    executions: dict[tuple[str, int, str], int] = {}
    tensors = []
    for place in places:
        node, slot, device = place
        execution = executions[place] = executions.get(place, -1) + 1
        name = TensorName(node, slot)
        tensors.append(describe(name, one, device=device, op_type="Add", dtype="float32", execution=execution))
    return MemoryTensorStore(tensors, [one] * len(tensors))


def test_a_name_alone_where_it_is_enough() -> None:
    store = _store(("a", 0, CPU), ("a", 1, CPU))
    assert [tensor_link(store, i) for i in range(2)] == ["pt a:0", "pt a:1"]


def test_executions_are_counted_on_each_device() -> None:
    store = _store(("a", 0, CPU), ("a", 0, OTHER), ("a", 0, CPU))
    assert [tensor_link(store, i) for i in range(3)] == [
        f"pt a:0 -n 0 --device {CPU}", f"pt a:0 --device {OTHER}", f"pt a:0 -n 1 --device {CPU}",
    ]  # fmt: skip


def test_a_loop_of_many_executions_is_counted_once() -> None:
    store = _store(*[("a", 0, CPU)] * 20_000)
    assert [tensor_link(store, i) for i in range(20_000)][-1] == "pt a:0 -n 19999"


def test_names_and_paths_with_blanks_are_quoted() -> None:
    assert tensor_link(_store(("a b", 0, CPU)), 0) == "pt 'a b:0'"
    assert source_link("/home/my file.py", 3) == "ps '/home/my file.py' -b 3"
