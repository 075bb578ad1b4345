"""How much is tried with chance: little each time, TFDBG_FUZZ_TIMES times as much where somebody asks for it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeAlias

TIMES = int(os.environ.get("TFDBG_FUZZ_TIMES", "1"))
Turns: TypeAlias = Callable[[int], range]
INPUTS = "inputs"  # the property of a test that says how many it tried
