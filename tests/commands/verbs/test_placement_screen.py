"""`placement` on the screen and in JSON."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from support import sample_run, sample_step
from support.golden import check_golden
from support.made_run import CPU, made_graph, made_run, op
from support.prompt import Prompt

from tfdbg_cli.model.graph import GraphKind
from tfdbg_cli.model.runs import RunEnd

GPU = "/job:localhost/replica:0/task:0/device:GPU:0"
ONES = np.ones((64, 4), np.float32)


def gpu_prompt() -> Prompt:
    run = made_run(
        op("x", "Placeholder", value=ONES, device=CPU),
        op("dense/MatMul", "MatMul", "x", value=ONES, device=GPU),
        op("dense/Relu", "Relu", "dense/MatMul", value=ONES, device=GPU),
        op("top", "Unique", "dense/Relu", value=ONES, device=CPU),
        op("out", "Softmax", "top", value=ONES, device=GPU),
    )
    asked = made_graph(op("top", "Unique", device="/device:GPU:0"), kind=GraphKind.PYTHON)
    return Prompt(RunEnd(replace(run, python_graph=asked)))


def test_screen() -> None:
    check_golden("commands/placement", gpu_prompt().show("placement"))
    check_golden("commands/placement_sample", Prompt(sample_run.run_end()).show("pl"))


def test_json() -> None:
    data = gpu_prompt().data("pl")
    assert data["kind"] == "placement" and data["known"] == "runtime"
    assert data["devices"][0] == {"device": GPU, "ops": 3, "tensors": 3, "nbytes": 3072}
    assert {"tensor": "top:0", "from": CPU, "to": GPU, "nbytes": 1024} in data["copies"]
    assert data["fallbacks"] == [{"node": "top", "op_type": "Unique", "requested": "/device:GPU:0", "device": CPU}]


def test_links_lead_to_values_nodes_and_lists() -> None:
    prompt = gpu_prompt()
    links = prompt.links("pl")
    assert links
    for link in links:
        prompt.document(link)
    on_gpu = next(link for link in links if link.startswith("lt"))
    assert len(prompt.data(on_gpu)["tensors"]) == 3


def test_a_device_that_nothing_ran_on() -> None:
    shown = gpu_prompt().show("pl --device TPU")
    assert "No op is on such a device." in shown and "copied" not in shown


def test_a_python_graph_knows_only_requests() -> None:
    run = sample_run.sample_run(graph=sample_run.graph(GraphKind.PYTHON))
    prompt = Prompt(RunEnd(replace(run, tensors=made_run(op("x", "Relu", value=ONES, device="")).tensors)))
    shown = prompt.show("pl")
    assert shown.startswith("Where the program wants ops to run") and "run --graph runtime" in shown
    assert "run --graph" not in Prompt(RunEnd(sample_step.step_run())).show("pl")
