"""The calls that are under way."""

from __future__ import annotations

from tfdbg_cli.capture.tf.callers import live_frames


def test_a_call_that_is_at_no_line_is_where_it_begins() -> None:
    """A blind test: a signal handler may find one so, and linecache then raised."""

    def called() -> int | None:
        return live_frames()[-1].place.line

    code = called.__code__
    called.__code__ = code.replace(co_linetable=b"")
    assert called() == code.co_firstlineno
