"""No fuzz test leaves files behind; how many inputs they tried together is said at the end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support.fuzzing import INPUTS, TIMES, Turns


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "here"
    place.mkdir()
    monkeypatch.chdir(place)


@pytest.fixture
def turns(record_property: Callable[[str, object], None]) -> Turns:
    """The turns of a test that tries `count` inputs, or a multiple of them."""

    def counted(count: int) -> range:
        record_property(INPUTS, count * TIMES)
        return range(count * TIMES)

    return counted


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many inputs were tried."""
    reports = [report for reports in terminalreporter.stats.values() for report in reports]
    told = [value for report in reports for name, value in getattr(report, "user_properties", ()) if name == INPUTS]
    if told:
        terminalreporter.write_line(f"{sum(told):,} inputs made by chance were tried")
