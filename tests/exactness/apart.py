"""Programs of the catalog in a process of its own, since only there TensorFlow can be told to use oneDNN or not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

_TESTS = Path(__file__).parent.parent
_ROOT = _TESTS.parent


def outcomes(group: str, pattern: str = "", *asked: str, onednn: bool, limit: float = 3600) -> list[dict[str, Any]]:
    """What `python -m exactness` says of each way of each program, after at most `limit` seconds.

    Raises:
        AssertionError: the process failed, or took no program.

    """
    *lines, counted = map(json.loads, python("exactness", group, pattern, *asked, onednn=onednn, limit=limit))
    print(counted)
    assert counted["programs"], f"no program of {group} has a name like {pattern!r}"
    return lines


def python(module: str, *arguments: str, onednn: bool, limit: float) -> list[str]:
    """The lines that `python -m module` prints, with or without oneDNN.

    Raises:
        AssertionError: it failed.

    """
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=_ROOT,
        env={
            **os.environ,
            "TF_ENABLE_ONEDNN_OPTS": str(int(onednn)),
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "PYTHONPATH": os.pathsep.join([str(_ROOT), str(_TESTS)]),
        },
        capture_output=True,
        text=True,
        timeout=limit,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout.splitlines()


def assert_same(found: list[dict[str, Any]], *, may_not_run: bool = False) -> None:
    """No way of any program gave another number. Where every program was left out, the test is skipped."""
    fine = {"same", "left out"} | ({"does not run"} if may_not_run else set())
    wrong = [f"{line['name']}: {line['why']}" for line in found if line["outcome"] not in fine]
    ways = [line for line in found if line["outcome"] != "left out"]
    assert not wrong, f"{len(wrong)} of {len(ways)} differ:\n" + "\n".join(wrong)
    if not ways:
        pytest.skip("; ".join(f"{line['name']}: {line['why']}" for line in found))
