"""When something was written, in words."""

from __future__ import annotations

from datetime import UTC, datetime


def date_text(seconds: float) -> str:
    """`2026-11-23 08:14:09 UTC` for seconds since 1970; a file may claim any number of them."""
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (OverflowError, ValueError, OSError):
        return "at an unknown time"
