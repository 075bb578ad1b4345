"""Scripts run in a process of their own, as a person runs them, with tfdbg or without."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def launched(script: Path, *arguments: str, timeout: int = 280) -> subprocess.CompletedProcess[str]:
    """The script run to its end, under `tfdbg run` with `arguments` if there are any; `timeout` is in seconds."""
    tool = ["-m", "tfdbg_cli", "run", *arguments] if arguments else []
    return subprocess.run(
        [sys.executable, *tool, str(script)],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        timeout=timeout,
        check=False,
    )
