"""tfdbg: the terminal debugger for TensorFlow."""

from __future__ import annotations

from tfdbg_cli.version import __version__

__all__ = ["__version__"]
