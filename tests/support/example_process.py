"""Running an example the way a person does: in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys


def run_example(name: str, *flags: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """`python -m tfdbg_cli.examples.NAME FLAGS`, with `stdin` piped into it."""
    return subprocess.run(
        [sys.executable, "-m", f"tfdbg_cli.examples.{name}", *flags],
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
