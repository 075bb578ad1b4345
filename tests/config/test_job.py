"""Which worker a process is, by TF_CONFIG."""

from __future__ import annotations

import json

import pytest

from tfdbg_cli.config.job import worker_of, workers_beside

_CLUSTER = {"chief": ["a:1"], "worker": ["b:1", "c:1"]}


@pytest.mark.parametrize(
    ("told", "worker"),
    [
        ({"cluster": _CLUSTER, "task": {"type": "chief", "index": 0}}, "chief0"),
        ({"cluster": _CLUSTER, "task": {"type": "worker", "index": "1"}}, "worker1"),
        ({"cluster": _CLUSTER, "task": {"type": "evaluator", "index": 0}}, "evaluator0"),
        ({"task": {"type": "worker", "index": 0}}, ""),
        ({"cluster": _CLUSTER}, ""),
        ({"cluster": _CLUSTER, "task": {"type": "worker"}}, ""),
        ({"cluster": _CLUSTER, "task": {"type": 3, "index": 0}}, ""),
        ({"cluster": _CLUSTER, "task": {"type": "worker", "index": float("inf")}}, ""),
        ([1], ""),
        ("worker", ""),
        (None, ""),
    ],
)
def test_the_task_is_the_worker(told: object, worker: str) -> None:
    assert worker_of({"TF_CONFIG": json.dumps(told)}) == worker


@pytest.mark.parametrize(
    ("told", "count"),
    [
        ({"cluster": _CLUSTER, "task": {"type": "chief", "index": 0}}, 3),
        ({"cluster": _CLUSTER, "task": {"type": "evaluator", "index": 0}}, 4),
        ({"cluster": {"worker": {"0": "a:1", "7": "b:1"}}, "task": {"type": "worker", "index": 7}}, 2),
        ({"cluster": ["a:1"], "task": {"type": "worker", "index": 0}}, 1),
        ({"cluster": {"worker": 3}, "task": {"type": "ps", "index": 0}}, 1),
        ({"cluster": _CLUSTER}, 0),
        (None, 0),
    ],
)
def test_how_many_work_together(told: object, count: int) -> None:
    assert workers_beside({"TF_CONFIG": json.dumps(told)}) == count


def test_nothing_told_and_nothing_readable() -> None:
    assert worker_of({}) == worker_of({"TF_CONFIG": ""}) == worker_of({"TF_CONFIG": "{"}) == ""
