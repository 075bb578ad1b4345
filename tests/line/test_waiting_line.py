"""How far a long command is: said on a terminal while it goes on, and wiped when it is done."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest

from tfdbg_cli.line import waiting_line
from tfdbg_cli.line.output import TextOutput
from tfdbg_cli.line.waiting_line import WaitingLine


def test_a_short_wait_says_nothing() -> None:
    stream = io.StringIO()
    line = WaitingLine(stream, iter([0.0, 0.1, 0.2]).__next__)
    line.tell(0.1)
    line.tell(0.9)
    line.wipe()
    assert stream.getvalue() == ""


def test_a_long_one_says_how_far_it_is_and_leaves_nothing() -> None:
    stream = io.StringIO()
    line = WaitingLine(stream, iter([0.0, 0.6, 0.7, 0.9, 1.2]).__next__)
    for share in (0.05, 0.1, 0.42, None):
        line.tell(share)
    line.wipe()
    told = [part for part in stream.getvalue().split("\r") if part.strip()]
    assert [part.split("  ")[0] for part in told] == [
        "reading values … 5%",
        "reading values … 42%",
        "reading values …",
    ]
    assert stream.getvalue().endswith("\r")


@pytest.mark.parametrize("width", [None, 80])
def test_only_a_terminal_is_told_and_ctrl_c_wipes_the_line(
    width: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def steps() -> Iterator[float | None]:
        yield 0.5
        raise KeyboardInterrupt

    monkeypatch.setattr(waiting_line, "_PATIENCE", 0)
    stream = io.StringIO()
    output = TextOutput(stream, color=False, width=width)
    if width is None:
        output.wait(steps())
        assert stream.getvalue() == ""
        return
    with pytest.raises(KeyboardInterrupt):
        output.wait(steps())
    assert "50%" in stream.getvalue() and stream.getvalue().endswith("\r")
