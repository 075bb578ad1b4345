"""A program in a pseudo terminal that begins at once: Python, and what tfdbg or TensorFlow needs, are loaded."""

from __future__ import annotations

import sys
from pathlib import Path

from support.warm_python import HeavySpawn, WarmSpawn

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
from terminal_session import TerminalSession


class WarmSession(TerminalSession):
    """A session in the terminal whose command, if it is `python WORDS`, is a fork: see `warm_python`."""

    spawn = WarmSpawn


class HeavySession(TerminalSession):
    """The same for a program that needs TensorFlow."""

    spawn = HeavySpawn
