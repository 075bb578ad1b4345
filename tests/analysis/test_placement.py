"""Devices, copies and fallbacks, by hand-made runs with an accelerator that nobody has."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from support.made_run import CPU, made_graph, made_run, op
from support.prompt import Prompt

from tfdbg_cli.analysis.placement import (
    DeviceCopy,
    DeviceLoad,
    Fallback,
    Known,
    device_type,
    has_several_cpus,
    placement_of,
)
from tfdbg_cli.model.graph import GraphKind
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run

GPU = "/job:localhost/replica:0/task:0/device:GPU:0"
FOUR = np.ones(4, np.float32)


def gpu_run(**more: object) -> Run:
    run = made_run(
        op("x", "Placeholder", value=FOUR, device=CPU),
        op("a", "MatMul", "x", "x", value=FOUR, device=GPU),
        op("b", "Relu", "a", value=FOUR, device=GPU),
        op("c", "Unique", "b", values=(FOUR, FOUR), device=CPU),
        op("d", "Add", "c", "b", value=FOUR, device=GPU),
        op("also", "Abs", "c", device=GPU),
    )
    return replace(run, **more)  # type: ignore[arg-type]


def test_loads_copies_and_fallbacks_of_a_runtime_graph() -> None:
    found = placement_of(gpu_run())
    assert found.known is Known.RUNTIME
    assert found.devices == (DeviceLoad(GPU, 4, 3, 48), DeviceLoad(CPU, 2, 3, 48))
    assert found.copies == (
        DeviceCopy(TensorName("c", 0), CPU, GPU, 32),
        DeviceCopy(TensorName("x", 0), CPU, GPU, 16),
        DeviceCopy(TensorName("b", 0), GPU, CPU, 16),
    )
    assert found.fallbacks == (Fallback("c", "Unique", "", CPU),)


def test_sends_and_receives_are_seen_through_and_counted_nowhere() -> None:
    key = {"tensor_name": "e", "send_device": CPU, "recv_device": GPU}
    run = made_run(
        op("a", "Relu", value=FOUR, device=CPU),
        op("a/send", "_Send", "a", device=CPU, **key),
        op("a/recv", "_Recv", device=GPU, **key),
        op("b", "Relu", "a/recv", value=FOUR, device=GPU),
    )
    found = placement_of(run)
    assert [copy.tensor.node for copy in found.copies] == ["a"]
    assert {load.device: load.ops for load in found.devices} == {CPU: 1, GPU: 1}


def test_a_requested_accelerator_that_was_not_given() -> None:
    """Soft placement: the program says GPU, the op runs on the CPU."""
    asked = made_graph(
        op("b", "Relu", device="/device:GPU:0"), op("c", "Const", device="/gpu:0"), kind=GraphKind.PYTHON
    )
    run = replace(
        made_run(op("a", "Relu", value=FOUR), op("b", "Relu", "a", value=FOUR), op("c", "Const", value=FOUR)),
        python_graph=asked,
    )
    assert placement_of(run).fallbacks == (Fallback("b", "Relu", "/device:GPU:0", CPU),)


def test_a_function_runs_where_its_values_lie() -> None:
    run = made_run(
        op("x", "Placeholder", value=FOUR, device=CPU), op("y", "Relu", "x", value=FOUR, device=GPU), times=False
    )
    asked = made_graph(op("x", "Placeholder", device=""), op("y", "Relu", "x", device=""), kind=GraphKind.PYTHON)
    found = placement_of(replace(run, graph=asked))
    assert found.known is Known.VALUES
    assert [(copy.source, copy.target) for copy in found.copies] == [(CPU, GPU)]


def test_without_devices_of_values_only_requests_are_known() -> None:
    run = made_run(op("a", "Relu", value=FOUR, device=""), op("b", "Relu", "a", value=FOUR, device=""), times=False)
    asked = made_graph(op("a", "Relu", device="/gpu:0"), op("b", "Relu", "a", device=""), kind=GraphKind.PYTHON)
    found = placement_of(replace(run, graph=asked))
    assert found.known is Known.REQUESTED
    assert [(load.device, load.ops) for load in found.devices] == [("/gpu:0", 1), ("", 1)]
    assert found.fallbacks == () and found.copies == ()


def test_narrowed_to_devices() -> None:
    found = placement_of(gpu_run(), re.compile("GPU"))
    assert [load.device for load in found.devices] == [GPU]
    assert len(found.copies) == 3 and found.fallbacks == ()


def test_a_run_of_nothing() -> None:
    found = placement_of(replace(gpu_run(), graph=made_graph(), tensors=made_run(op("a", "NoOp")).tensors))
    assert (found.devices, found.copies, found.fallbacks) == ((), (), ())


@pytest.mark.parametrize(
    ("device", "kind"),
    [(GPU, "GPU"), ("/gpu:0", "GPU"), ("/device:XLA_CPU:0", "XLA_CPU"), ("/job:worker/task:1", ""), ("", "")],
)
def test_device_types(device: str, kind: str) -> None:
    assert device_type(device) == kind


def test_few_values_on_a_device_do_not_tell_where_the_others_were() -> None:
    run = made_run(
        op("x", "Placeholder", value=FOUR, device=""), op("a", "MatMul", "x", value=FOUR, device=GPU),
        op("b", "Relu", "a", value=FOUR, device=""),
    )  # fmt: skip
    graph = made_graph(op("x", "Placeholder", device=""), op("a", "MatMul", "x", device=GPU),
                       op("b", "Relu", "a", device=""), kind=GraphKind.PYTHON)  # fmt: skip
    found = placement_of(replace(run, graph=graph))
    assert found.known is Known.REQUESTED
    assert {load.device: load.tensors for load in found.devices} == {GPU: 1, "": 2}


def test_by_values_nothing_is_told_of_copies_between_cpus() -> None:
    """A blind test: TensorFlow says of values of any CPU that they lie on the first one, so copies were made up."""
    other = CPU.replace("CPU:0", "CPU:1")
    run = made_run(
        op("x", "Placeholder", value=1.0, device=CPU), op("y", "Exp", "x", value=1.0, device=other),
        op("z", "Log", "y", value=1.0, device=CPU),
    )  # fmt: skip
    ops = op("x", "Placeholder"), op("y", "Exp", "x"), op("z", "Log", "y")
    run = replace(run, graph=made_graph(*ops, kind=GraphKind.PYTHON))
    found = placement_of(run)
    assert (found.known, found.copies) == (Known.VALUES, ())
    assert has_several_cpus(run) and not has_several_cpus(gpu_run())
    assert "CPU:0 may be another one" in Prompt(run).show("placement", 200)
