"""Two workers that recorded at an address are compared as those in a folder are."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.job_maker import record_job

from tfdbg_cli.commands.views.difference.recordings import opened_workers

pytest.importorskip("fsspec")


@pytest.mark.parametrize("form", ["{}", "file://{}", "file://{}/"])
def test_a_worker_is_found_below_the_address(tmp_path: Path, form: str) -> None:
    """A blind test: `file:///job` became the path `file:/job/chief0`, which is not there."""
    job = record_job(tmp_path / "job", {"chief0": [1], "worker1": [1, 2]})
    one, other = opened_workers(form.format(job), "chief0", "worker1")
    assert (len(one.runs), len(other.runs)) == (1, 2)
    assert other.runs[1].call.worker == "worker1"
