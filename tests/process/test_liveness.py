"""A process has ended when nobody has its number, or when it only waits to be waited for."""

from __future__ import annotations

import os
import subprocess
import sys

from tfdbg_cli.process.liveness import has_ended


def test_a_process_ends() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as running:
        assert not has_ended(running.pid) and not has_ended(os.getpid())
        assert running.stdin is not None
        running.stdin.write(b"\n")
        running.stdin.close()
        os.waitid(os.P_PID, running.pid, os.WEXITED | os.WNOWAIT)
        assert has_ended(running.pid)  # though its exit code is still there for us
        running.wait()
        assert has_ended(running.pid)
