"""A program with two stops at the line prompt, and a readline, a signal handler and a question of its own."""

from __future__ import annotations

import readline
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from support import sample_run
from tfdbg_cli.api.frontends import choose_frontend


def _theirs(text: str, state: int) -> str | None:
    return ["theirs"][state] if state == 0 else None


def _handler(number: int, frame: object) -> None:
    print("their handler")


readline.add_history("their line")
readline.set_completer(_theirs)
signal.signal(signal.SIGINT, _handler)
front = choose_frontend("line")
for event in (sample_run.run_start(), sample_run.run_end()):
    print("decision:", type(front.stop(event)).__name__)
    assert signal.getsignal(signal.SIGINT) is _handler
    assert readline.get_completer() is _theirs
    assert [readline.get_history_item(1), readline.get_current_history_length()] == ["their line", 1]
print("answer:", input("their question? "))
