"""A program that is debugged on the screen: run by test_tui_terminal in a pseudo terminal.

python tui_host.py SCENARIO REPORT.json: stops as the scenario says, then writes what was different afterwards.
"""

from __future__ import annotations

import curses
import faulthandler
import json
import logging
import os
import select
import signal
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from support import sample_run  # noqa: E402
from support.agreed_views import VIEWS  # noqa: E402
from support.checkpoint_maker import checkpoint  # noqa: E402
from support.held_run import Held  # noqa: E402
from support.made_run import made_run, op  # noqa: E402
from support.replica_steps import replicated_step  # noqa: E402
from support.screen_registry import small_registry  # noqa: E402
from support.trained_steps import trained_steps  # noqa: E402
from tfdbg_cli.analysis.watch.filters import BUILT_IN_FILTERS  # noqa: E402
from tfdbg_cli.commands.registry import Command  # noqa: E402
from tfdbg_cli.commands.standard import standard_registry  # noqa: E402
from tfdbg_cli.config.settings import Settings  # noqa: E402
from tfdbg_cli.document.document import Document, text_document  # noqa: E402
from tfdbg_cli.document.rows import Rows  # noqa: E402
from tfdbg_cli.document.text import line  # noqa: E402
from tfdbg_cli.formats.opening import open_path  # noqa: E402
from tfdbg_cli.model.runs import Hit, Opened, RunEnd, Stop  # noqa: E402
from tfdbg_cli.process.own_threads import all_threads  # noqa: E402
from tfdbg_cli.tui.frontend import TuiFrontend  # noqa: E402

AWAY = "away"  # beside the report: while it is there, what lies far away does not come
OPENINGS = {
    "far": "run_info",
    "held": "origin",
    "slow": "slow",
    "hit": "origin",
    "exploded": "lt -f exploding_gradient",
    "spoiled": "origin",
    "rows": "origin",
}
A_VIEW = "view:"  # begins a scenario that is one of the agreed views
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
        "threads": repr(sorted(thread.name for thread in all_threads() if thread.name != "tfdbg-busy")),
    }


def slow(context, options):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        time.sleep(0.01)
    return text_document("slow", line("done"))


def endless(context, options):
    """A text whose lines take so long to make that nobody sees the end of a search in it."""

    def make(i):
        time.sleep(0.002)
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


def mumble(context, options):
    """A progress bar of the program: a line without an end, on the last row of the terminal."""
    os.write(1, b"\n" * 40 + b"  4% ###")
    return text_document("mumble", line("mumbled"))


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


def spoiled() -> RunEnd:
    """A hit of `has_inf_or_nan`: a logarithm of 0, and of the gradients that it leads to the last holds the most."""
    kernel = np.array([[0, 1, 2], [3, 4, 5]], np.float32)
    one = np.where(kernel == 0, np.nan, kernel)
    return RunEnd(
        made_run(
            op("x", "Placeholder", value=kernel),
            op("log", "Log", "x", value=np.log(kernel, where=kernel > 0, out=np.full_like(kernel, -np.inf))),
            op("gradients/dense/MatMul_grad/MatMul_1", "MatMul", "log", value=one.astype(np.float32)),
            op("gradients/head/MatMul_grad/MatMul_1", "MatMul", "log", value=np.full_like(kernel, np.nan)),
        ),
        Hit("has_inf_or_nan", "", 1),
    )


def rows() -> RunEnd:
    """A hit in two rows of a batch of four."""
    batch = np.array([[1, 2], [0, 4], [5, 6], [7, 0]], np.float32)
    with np.errstate(divide="ignore"):
        run = made_run(op("x", "Placeholder", value=batch), op("log", "Log", "x", value=np.log(batch)))
    call = replace(run.call, fetches=("log:0",), feeds={"x:0": batch, "y:0": np.arange(4)})
    return RunEnd(replace(run, call=call), Hit("has_inf_or_nan", "", 1))


def held() -> RunEnd:
    """A hit whose state is held, so that a bundle can be written of it."""
    event = sample_run.run_hit()
    return replace(event, run=replace(event.run, replayable=Held()))


def far(folder: Path) -> Opened:
    """A checkpoint at an address whose server answers, but for the time that the file `away` is in `folder`."""
    from support.far_files import CountedFiles, put

    checkpoint(folder / "ckpt" / "model", {"weights": np.arange(5 << 20, dtype=np.float32)})
    stop = open_path(put(folder / "ckpt", "counted", "bucket/ckpt"))
    at_once = CountedFiles.cat_file

    def waiting(files: CountedFiles, path: str, *words: Any, **named: Any) -> bytes:
        while (folder / AWAY).exists():
            time.sleep(0.01)
        return at_once(files, path, *words, **named)

    CountedFiles.cat_file = waiting  # type: ignore[method-assign]
    return stop


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
    for name, handler in (
        ("slow", slow),
        ("leaves", leaves),
        ("chatter", chatter),
        ("mumble", mumble),
        ("endless", endless),
    ):
        registry.add(Command(name, (), name, handler))
    return TuiFrontend(registry, Settings(), BUILT_IN_FILTERS, opening=lambda event: opening)


def main() -> None:
    scenario, report = sys.argv[1], Path(sys.argv[2])
    np.set_printoptions(precision=3)
    facts: dict[str, object] = {"decisions": []}
    stops: dict[str, Callable[[], Stop]] = {
        "arrays": arrays, "exploded": exploded, "far": lambda: far(report.parent), "held": held,
        "hit": sample_run.run_hit, "panes": at_home, "replicas": lambda: RunEnd(replicated_step(forgotten=True)),
        "rows": rows, "spoiled": spoiled, "trained": trained_steps,
    }  # fmt: skip
    opening, whole = OPENINGS.get(scenario, "lt"), scenario == "filter" or scenario in stops
    if scenario.startswith(A_VIEW):
        view = VIEWS[scenario.removeprefix(A_VIEW)]
        stops, opening, whole = {scenario: view.stop}, view.opening, True
    front = frontend(opening, whole=whole)
    if scenario == "handlers":
        signal.signal(signal.SIGINT, lambda number, frame: None)
        signal.signal(signal.SIGWINCH, lambda number, frame: facts.update(resized=True))
        signal.signal(signal.SIGTSTP, signal.SIG_IGN)
    if scenario == "faulthandler":
        faulthandler.register(signal.SIGUSR1, report.with_suffix(".faults").open("w"))
    if scenario == "logging":
        logging.basicConfig(level=logging.DEBUG, filename=str(report.with_suffix(".log")))
    worker = None
    if scenario == "worker":
        worker = subprocess.Popen([sys.executable, "-S", "-c", "input()"], stdin=subprocess.PIPE)
    if scenario == "curses":
        screen = curses.initscr()
        curses.cbreak()
        screen.addstr(5, 0, "the screen of the program")
        screen.refresh()
    before = state()
    print("before the stop", flush=True)

    def stop() -> None:
        facts["decisions"].append(repr(front.stop(stops.get(scenario, sample_run.run_end)())))

    try:
        if scenario == "daemon":
            threading.Thread(target=stop, daemon=True).start()
            while not (report.parent / "goes on").exists():
                time.sleep(0.01)
            print("the main thread is at its end", flush=True)
        elif scenario in {"thread", "asked"}:
            thread = threading.Thread(target=stop)
            thread.start()
            while scenario == "asked" and thread.is_alive():
                select.select([0], [], [], 0.2)  # waits for keys as `input()` does, and takes none
            thread.join()
        else:
            stop()
            if scenario == "twice":
                stop()
    except BaseException as error:
        facts["raised"] = repr(error)
        raise
    finally:
        if worker is not None:
            worker.stdin.close()
            facts["signal that ended the worker"] = min(0, worker.wait())
            del before["open"]
        after = state()
        facts["different"] = {name: [before[name], after[name]] for name in before if before[name] != after[name]}
        unfinished = report.with_suffix(".unfinished")
        unfinished.write_text(json.dumps(facts))
        unfinished.replace(report)  # who waits for the report never sees half of it
        if scenario == "curses":
            curses.endwin()
        print("after the stop", flush=True)


if __name__ == "__main__":
    main()
