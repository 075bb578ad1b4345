"""Two workers on this machine: where it began the line is named, and elsewhere that it came from another."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest
from support.launched import begun

pytestmark = pytest.mark.tf

PROGRAM = Path(__file__).parent / "worker_program.py"


def _free_ports() -> str:
    sockets = [socket.socket() for _ in range(2)]
    for each in sockets:
        each.bind(("localhost", 0))
    ports = ",".join(str(each.getsockname()[1]) for each in sockets)
    for each in sockets:
        each.close()
    return ports


def _origins() -> list[dict[str, Any]]:
    """What `origin` says in each of both workers."""
    ports = _free_ports()
    command = ["-m", "tfdbg_cli", "run", "--json", "--until", "has_inf_or_nan", "-c", "origin"]
    workers = [begun(*command, PROGRAM, index, ports) for index in range(2)]
    done = [worker.communicate(timeout=200) for worker in workers]
    rows = [[json.loads(row) for row in out.splitlines() if row.startswith("{")] for out, _ in done]
    return [
        next((row for row in found if row["kind"] == "origin"), {"said": done[i]}) for i, found in enumerate(rows)
    ]


def test_a_nan_of_one_worker() -> None:
    began, received = _origins()
    line = next(i for i, row in enumerate(PROGRAM.read_text().splitlines(), 1) if row.endswith("# the line"))
    assert (began["file"], began["line"]) == (str(PROGRAM), line), began
    assert received["op_type"].startswith("CollectiveReduce"), received
    assert received["cause"].startswith("It came from another worker or replica: what this one gave,")
    assert received["file"] == str(PROGRAM)
