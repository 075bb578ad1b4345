"""Which worker of a job this process is, as the launcher of the job told TensorFlow."""

from __future__ import annotations

import json
from collections.abc import Mapping

_VARIABLE = "TF_CONFIG"


def workers_beside(environment: Mapping[str, str]) -> int:
    """How many processes the job has by TF_CONFIG, this one included; 0 where it makes this one no worker."""
    if not worker_of(environment):
        return 0
    told = json.loads(environment[_VARIABLE])
    cluster = told["cluster"] if isinstance(told["cluster"], dict) else {}
    counts = [len(tasks) for tasks in cluster.values() if isinstance(tasks, list | dict)]
    return sum(counts) + (told["task"]["type"] not in cluster)


def worker_of(environment: Mapping[str, str]) -> str:
    """The worker that TF_CONFIG makes of a process: `chief0`, `worker1`; empty where it is of no cluster.

    What TensorFlow itself would refuse tells nothing: it will say so.
    """
    try:
        told = json.loads(environment.get(_VARIABLE) or "{}")
        kind, index = told["task"]["type"], int(told["task"]["index"])
        among_others = bool(told.get("cluster"))
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
        return ""
    return f"{kind}{index}" if among_others and isinstance(kind, str) else ""
