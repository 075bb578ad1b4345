"""What another worker or replica gave: said to come from there, or followed to the replica that is seen."""

from __future__ import annotations

import numpy as np
import pytest
from support.made_run import INF, NAN, Op, made_run, op

from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.model.runs import Run

GROUP, CALL = np.array(1, np.int32), np.array(101, np.int32)


def _reduced(name: str, given: str, value: list[float], call: np.ndarray = CALL) -> list[Op]:
    return [
        op(f"{name}/size", "Const", value=np.array(2, np.int32)),
        op(f"{name}/group", "Const", value=GROUP),
        op(f"{name}/call", "Placeholder", value=call),
        op(name, "CollectiveReduceV2", given, f"{name}/size", f"{name}/group", f"{name}/call", value=value),
    ]


def _told(run: Run) -> tuple[str, str]:
    search = OriginSearch(run)
    first = search.first()
    assert first is not None
    origin, _ = search.harmful(first)
    return origin.name.node, origin.cause.text


def test_a_nan_from_another_worker_is_said_to_come_from_there() -> None:
    run = made_run(op("g", "Mul", value=[1.0, 2.0]), *_reduced("all", "g", [1.0, NAN]))
    assert _told(run) == ("all", "It came from another worker or replica: what this one gave, g:0, is finite.")


def test_an_infinite_sum_may_be_too_large() -> None:
    run = made_run(op("g", "Mul", value=[3e38]), *_reduced("all", "g", [INF]))
    assert _told(run)[1].endswith("is finite, or the sum of all exceeds what the dtype holds.")


def test_what_began_here_is_the_origin() -> None:
    run = made_run(op("x", "Const", value=[0.0]), op("g", "Log", "x", value=[-INF]), *_reduced("all", "g", [-INF]))
    assert _told(run)[0] == "g"


@pytest.mark.parametrize("same", [True, False])
def test_the_replica_that_gave_it_is_followed_where_it_is_seen(same: bool) -> None:
    """Both replicas of a process are seen; what belongs to another call is no part of it."""
    run = made_run(
        op("g", "Mul", value=[1.0]),
        *_reduced("all", "g", [-INF]),
        op("x", "Const", value=[0.0]),
        op("replica_1/g", "Log", "x", value=[-INF]),
        *_reduced("all_1", "replica_1/g", [-INF], CALL if same else CALL + 1),
        op("out", "Neg", "all", value=[INF]),
    )
    assert _told(run)[0] == ("replica_1/g" if same else "all")
