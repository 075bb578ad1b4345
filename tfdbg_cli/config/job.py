"""Which worker of a job this process is, as the launcher of the job told TensorFlow."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

_VARIABLE = "TF_CONFIG"


@dataclass(frozen=True, slots=True)
class Cluster:
    """The processes of a job: this one's name (`chief0`, `worker1`), the names of all, and what no other job has."""

    worker: str
    workers: tuple[str, ...]
    digest: str


def cluster_of(environment: Mapping[str, str]) -> Cluster | None:
    """The job of TF_CONFIG; None where it makes this process no worker of any.

    What TensorFlow itself would refuse tells nothing: it will say so.
    """
    try:
        told = json.loads(environment.get(_VARIABLE) or "{}")
        kind, index, tasks_of = told["task"]["type"], int(told["task"]["index"]), told.get("cluster")
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
        return None
    if not tasks_of or not isinstance(kind, str):
        return None
    own = f"{kind}{index}"
    kinds = tasks_of.items() if isinstance(tasks_of, dict) else ()
    names = [f"{kind}{index}" for kind, tasks in kinds for index in _indices(tasks)]
    if own not in names:  # such as an evaluator, which is of no cluster
        names.append(own)
    digest = hashlib.sha256(json.dumps(tasks_of, sort_keys=True).encode()).hexdigest()[:24]
    return Cluster(own, tuple(names), digest)


def _indices(tasks: object) -> list[str]:
    """The numbers of the processes of one kind, which may be their places in a list."""
    match tasks:
        case dict():
            return [str(index) for index in tasks]
        case list():
            return [str(place) for place in range(len(tasks))]
        case _:
            return []


def workers_beside(environment: Mapping[str, str]) -> int:
    """How many processes the job has by TF_CONFIG, this one included; 0 where it makes this one no worker."""
    cluster = cluster_of(environment)
    return 0 if cluster is None else len(cluster.workers)


def worker_of(environment: Mapping[str, str]) -> str:
    """The worker that TF_CONFIG makes of a process: `chief0`, `worker1`; empty where it is of no cluster."""
    cluster = cluster_of(environment)
    return "" if cluster is None else cluster.worker
