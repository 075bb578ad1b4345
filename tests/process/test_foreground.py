"""Other processes at the terminal are interrupted, and this one is not."""

from __future__ import annotations

import signal
import subprocess
import sys

SCRIPT = """
import signal, subprocess, sys
from tfdbg_cli.process.foreground import interrupt_others
worker = subprocess.Popen([sys.executable, "-S", "-c", "print('up', flush=True); input()"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
worker.stdout.readline()
before = signal.signal(signal.SIGINT, lambda number, frame: print("not spared"))
handler = signal.getsignal(signal.SIGINT)
interrupt_others()
print(-worker.wait(), signal.getsignal(signal.SIGINT) is handler)
"""


def test_workers_are_interrupted_and_the_program_keeps_its_handler() -> None:
    """A blind test: after `abort` the program waited for ever for a worker that had got no Ctrl-C."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        capture_output=True,
        text=True,
        timeout=60,
        start_new_session=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, f"{int(signal.SIGINT)} True\n"), done.stderr
