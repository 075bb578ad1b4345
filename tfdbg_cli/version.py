"""The version of tfdbg, and of what is installed beside it."""

from __future__ import annotations

__version__ = "0.1.0"


def installed_version(name: str) -> str | None:
    """The version of the installed distribution `name`, which is not imported; None when it is not installed."""
    # Takes 25 ms to import, which is much for a program that starts in a blink.
    from importlib import metadata

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
