"""A program that is debugged on the screen: run by test_tui_terminal in a pseudo terminal.

python tui_host.py SCENARIO REPORT.json: stops as the scenario says, then writes what was different afterwards.
"""

from __future__ import annotations

import faulthandler
import json
import logging
import os
import signal
import sys
import termios
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from support import sample_run  # noqa: E402
from support.made_run import made_run, op  # noqa: E402
from support.screen_registry import small_registry  # noqa: E402
from tfdbg_cli.analysis.watch.filters import BUILT_IN_FILTERS  # noqa: E402
from tfdbg_cli.commands.registry import Command  # noqa: E402
from tfdbg_cli.commands.standard import standard_registry  # noqa: E402
from tfdbg_cli.config.settings import Settings  # noqa: E402
from tfdbg_cli.document.document import Document, text_document  # noqa: E402
from tfdbg_cli.document.rows import Rows  # noqa: E402
from tfdbg_cli.document.text import line  # noqa: E402
from tfdbg_cli.model.runs import Hit, RunEnd  # noqa: E402
from tfdbg_cli.tui.frontend import TuiFrontend  # noqa: E402

OPENINGS = {"slow": "slow", "hit": "origin", "exploded": "lt -f exploding_gradient"}
WATCHED = (signal.SIGINT, signal.SIGTERM, signal.SIGWINCH, signal.SIGTSTP, signal.SIGCONT, signal.SIGQUIT)


def state() -> dict[str, str]:
    """All that must be after a stop as it was before it."""
    try:
        tty = os.open("/dev/tty", os.O_RDWR)
        modes = repr(termios.tcgetattr(tty))
        os.close(tty)
    except OSError:
        modes = "the terminal is gone"
    return {
        "termios": modes,
        "handlers": repr([(int(number), signal.getsignal(number)) for number in WATCHED]),
        "printoptions": repr(np.get_printoptions()),
        "log level": repr(logging.getLogger("urwid").level),
        "descriptors": repr([str(os.fstat(fd).st_rdev) if os.isatty(fd) else "no terminal" for fd in (1, 2)]),
        "open": repr(sorted(os.listdir("/proc/self/fd"))) if Path("/proc/self/fd").exists() else "",
        "threads": repr(sorted(thread.name for thread in threading.enumerate() if thread.name != "tfdbg-busy")),
    }


def slow(context, options):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        time.sleep(0.01)
    return text_document("slow", line("done"))


def endless(context, options):
    """A text whose lines take so long to make that nobody sees the end of a search in it."""

    def make(i):
        time.sleep(0.01)
        return line(f"row {i}")

    return Document("endless", (Rows(60_000, make),))


def leaves(context, options):
    raise SystemExit(7)


def chatter(context, options):
    """What TensorFlow's C++ logs and other threads do while the screen is up."""
    os.write(1, b"spooled one\n")
    os.write(2, b"spooled two\n")
    print("spooled three", flush=False)
    os.system("echo spooled four >&2")
    return text_document("chatter", line("chattered"))


def arrays() -> RunEnd:
    """A run with a NaN in an array of four axes."""
    array = np.arange(4 * 20 * 6 * 3, dtype=np.float32).reshape(4, 20, 6, 3)
    array[3, 17, 4, 0] = np.nan
    return RunEnd(made_run(op("x", "Placeholder", value=array)))


def exploded() -> RunEnd:
    """A hit of `exploding_gradient`: two gradients are far larger than all else, the one made last the most."""
    kernel = np.full((4, 3), 2.0, np.float32)
    return RunEnd(
        made_run(
            op("x", "Placeholder", value=kernel),
            op("gradients/dense/MatMul_grad/MatMul_1", "MatMul", "x", value=kernel * 1e7),
            op("gradients/head/MatMul_grad/MatMul_1", "MatMul", "x", value=kernel * 1e9),
            op("update", "Mul", "gradients/head/MatMul_grad/MatMul_1", value=kernel * 1e3),
        ),
        Hit("exploding_gradient", "", 3),
    )


def at_home() -> RunEnd:
    """The sample run, as if this file were its program."""
    event = sample_run.run_end()
    tracebacks = {
        name: tuple(replace(frame, file=__file__) for frame in trace if frame.file.endswith("train.py"))
        for name, trace in event.run.tracebacks.items()
    }
    return replace(event, run=replace(event.run, tracebacks=tracebacks))


def frontend(opening: str = "lt", *, whole: bool = False) -> TuiFrontend:
    registry = standard_registry() if whole else small_registry()
    for name, handler in (("slow", slow), ("leaves", leaves), ("chatter", chatter), ("endless", endless)):
        registry.add(Command(name, (), name, handler))
    return TuiFrontend(registry, Settings(), BUILT_IN_FILTERS, opening=lambda event: opening)


def main() -> None:
    scenario, report = sys.argv[1], Path(sys.argv[2])
    np.set_printoptions(precision=3)
    facts: dict[str, object] = {"decisions": []}
    front = frontend(OPENINGS.get(scenario, "lt"), whole=scenario in {"arrays", "filter", "panes", "hit", "exploded"})
    if scenario == "handlers":
        signal.signal(signal.SIGINT, lambda number, frame: None)
        signal.signal(signal.SIGWINCH, lambda number, frame: facts.update(resized=True))
        signal.signal(signal.SIGTSTP, signal.SIG_IGN)
    if scenario == "faulthandler":
        faulthandler.register(signal.SIGUSR1, report.with_suffix(".faults").open("w"))
    if scenario == "logging":
        logging.basicConfig(level=logging.DEBUG, filename=str(report.with_suffix(".log")))
    before = state()
    print("before the stop", flush=True)

    def stop() -> None:
        stops = {"arrays": arrays, "panes": at_home, "hit": sample_run.run_hit, "exploded": exploded}
        facts["decisions"].append(repr(front.stop(stops.get(scenario, sample_run.run_end)())))

    try:
        if scenario == "thread":
            thread = threading.Thread(target=stop)
            thread.start()
            thread.join()
        else:
            stop()
            if scenario == "twice":
                stop()
    except BaseException as error:
        facts["raised"] = repr(error)
        raise
    finally:
        after = state()
        facts["different"] = {name: [before[name], after[name]] for name in before if before[name] != after[name]}
        report.write_text(json.dumps(facts))
        print("after the stop", flush=True)


if __name__ == "__main__":
    main()
