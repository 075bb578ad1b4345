"""The most memory that a process had resident."""

from __future__ import annotations

import resource
import sys
from pathlib import Path


def peak() -> float:
    """The most memory that this process had resident so far, in MiB.

    Linux tells of this very program in VmHWM (proc(5)). ru_maxrss begins with that of the process which started it,
    and that one may have measured other things before.
    """
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        lines = []
    for line in lines:
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / (1 << 10)
    units = 1 << 20 if sys.platform == "darwin" else 1 << 10  # getrusage(2): bytes there, KiB elsewhere
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / units
