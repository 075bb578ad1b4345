"""Recordings from a thousand tensors to a million: bytes, memory, and CPU seconds of what is asked of them.

Bytes of two real programs stand first: a GPT step and a Keras fit, whose tensors have the sizes that tensors have.

Beside them what TensorFlow has: DebugDumpDir over the same tensors as dumps, and its reader of event sets.
CPU seconds are those of all threads, so that a busy machine hardly changes them. Each question is asked with an empty
cache: what a filter said before is not known.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bench.recordings import _run
from tfdbg_cli.formats.container.writer import RecordingWriter
from tfdbg_cli.formats.dumps.writer import write_dump
from tfdbg_cli.model.calls import Call, RunKind
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import MemoryTensorStore, describe

_COUNTS = (1_000, 10_000, 100_000, 1_000_000)
_MOST_DUMPS = 10_000  # a file each
_LARGE = (1 << 10, 1 << 15, 1 << 20)  # elements of the tensors that are scanned
_SCANNED = 1 << 30  # bytes
_EVENTS = 100_000
_PROGRAMS = {"gpt": "GPT training step", "fit": "Keras fit of a convolutional network"}
_DISK_GOAL, _SCAN_GOAL = 1.02, 2.0
_ASKED = ("lt", "lt -s dump_size -r", "lt -n op_7", "lt -f has_inf_or_nan")

# Words are those of one process, so that its memory is that of one question.
_RECORD = """
import sys
from bench import fit, gpt
from tfdbg_cli import record
step = {"gpt": gpt, "fit": fit}[sys.argv[1]].build_step()
step()
with record(sys.argv[2], every=1):
    step()
"""
_ASK = """
import sys, time
from bench.resident import peak
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.interpreter import execute
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.formats.opening import open_path
began = time.process_time()
execute(sys.argv[2], Context(open_path(sys.argv[1]), width=120), standard_registry()).lines(120)[:50]
print(time.process_time() - began, int(peak()))
"""
_SCAN = """
import sys, time
from bench.resident import peak
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.interpreter import execute
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.formats.opening import open_path
context, registry = Context(open_path(sys.argv[1]), width=120), standard_registry()
began = time.process_time()
execute("lt -f has_inf_or_nan", context, registry)
print(time.process_time() - began, int(peak()))
"""
_DEBUG_DUMP_DIR = """
import sys, time
from bench.resident import peak
from tensorflow.python.debug.lib import debug_data
began = time.process_time()
dump = debug_data.DebugDumpDir(sys.argv[1], validate=False)
if sys.argv[2] == "scan":
    dump.find(debug_data.has_inf_or_nan)
print(time.process_time() - began, int(peak()))
"""
_EVENTS_READER = """
import sys, time
from bench.resident import peak
from tensorflow.python.debug.lib import debug_events_reader
began = time.process_time()
with debug_events_reader.DebugDataReader(sys.argv[1]) as reader:
    reader.update()
    reader.executions(digest=True)
print(time.process_time() - began, int(peak()))
"""
_WRITE_EVENTS = """
import sys
import tensorflow as tf
tf.debugging.experimental.enable_dump_debug_info(sys.argv[1], "CURT_HEALTH", circular_buffer_size=-1)
x = tf.constant(1.0)
for _ in range(int(sys.argv[2])):
    x = x * 1.0
"""


def measure(rounds: int) -> None:
    """Measure and print."""
    rounds = max(3, rounds // 5)
    with tempfile.TemporaryDirectory() as root:
        print("\nbytes on disk of real programs, all values recorded")
        for program, name in _PROGRAMS.items():
            _of_a_program(Path(root, program), program, name)
        for count in _COUNTS:
            _of_a_run(Path(root, str(count)), count, rounds)
        print(f"\nlt -f has_inf_or_nan: GB scanned in a CPU second, of {_SCANNED / 1e9:.2f} GB in the page cache")
        for elements in _LARGE:
            _scan(Path(root, f"scan{elements}"), elements, rounds)
        _events(Path(root, "events"), rounds)


def _of_a_program(path: Path, program: str, name: str) -> None:
    """What a program's tensors take on disk; those that share memory have their elements there once."""
    subprocess.run([sys.executable, "-c", _RECORD, program, str(path)], check=True, capture_output=True)
    index = sqlite3.connect(path / "index.sqlite")
    (count,), (nbytes,) = index.execute("SELECT count(*) FROM tensors UNION ALL SELECT sum(bytes) FROM tensors")
    parts = " UNION ".join(f"SELECT file, offset, stored FROM {table}" for table in ("tensors", "feeds"))
    (stored,) = index.execute(f"SELECT sum(stored) FROM ({parts})").fetchone()
    index.close()
    on_disk = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    shutil.rmtree(path)
    told = f"{count:,} tensors, {nbytes / 1e6:,.0f} MB; of what is not shared {on_disk / stored:.4f}"
    print(f"  {name:<44} {on_disk / nbytes:>8.4f}    goal ≤ {_DISK_GOAL}   {told}")


def _of_a_run(path: Path, count: int, rounds: int) -> None:
    run = _run(count)
    writer = RecordingWriter(path)
    writer.write(run)
    writer.close()
    stored = sum(run.tensors[i].nbytes or 0 for i in range(count))
    print(f"\none run of {count:,} tensors, {stored / 1e6:,.1f} MB")
    elements = sum(file.stat().st_size for file in path.glob("data/*"))
    every = elements + sum(file.stat().st_size for file in path.iterdir() if file.is_file())
    told = f"with the index {every / stored:.3f}; tensors of {stored // count} bytes"
    print(f"  {'elements on disk over their bytes':<44} {elements / stored:>8.3f}    {told}")
    for command in _ASKED:
        _print(f"open, {command}", lambda command=command: _asked(_ASK, str(path), command), rounds)
    if count <= _MOST_DUMPS:
        dumps = path.with_name(f"{count}-dumps")
        write_dump(run, dumps)
        _print("the same dumped: open, lt", lambda: _asked(_ASK, str(dumps), "lt"), rounds)
        _print("the same dumped: lt -f has_inf_or_nan", lambda: _asked(_ASK, str(dumps), _ASKED[-1]), rounds)
        _print("DebugDumpDir", lambda: _asked(_DEBUG_DUMP_DIR, str(dumps), "open"), rounds)
        _print("DebugDumpDir, find(has_inf_or_nan)", lambda: _asked(_DEBUG_DUMP_DIR, str(dumps), "scan"), rounds)


def _scan(path: Path, elements: int, rounds: int) -> None:
    """What a filter takes that reads all of very many tensors of one size."""
    count = _SCANNED // (4 * elements)
    value = np.random.default_rng(0).standard_normal(elements).astype(np.float32)
    rows = [describe(TensorName(f"n{i}", 0), value, device="", op_type="Add", dtype="float32") for i in range(count)]
    writer = RecordingWriter(path)
    writer.write(Run(Call(1, RunKind.SESSION, ()), MemoryTensorStore(rows, [value] * count)))
    writer.close()
    bytes_on_disk = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    seconds = sorted(_asked(_SCAN, str(path))[0] for _ in range(rounds))[rounds // 2]
    goal = f"goal ≥ {_SCAN_GOAL}" if elements >= 1 << 15 else ""
    name = f"{count:,} tensors of {4 * elements:,} bytes"
    share = f"on disk {bytes_on_disk / _SCANNED:.4f}, goal ≤ {_DISK_GOAL}"
    print(f"  {name:<44} {_SCANNED / 1e9 / seconds:>8.2f} GB / CPU s  {goal}  {share}")


def _events(path: Path, rounds: int) -> None:
    """A set of Debugger V2 with very many events of eager ops."""
    subprocess.run([sys.executable, "-c", _WRITE_EVENTS, str(path), str(_EVENTS)], check=True, capture_output=True)
    size = sum(file.stat().st_size for file in path.iterdir())
    print(f"\nan event set of {_EVENTS:,} executions ({size / 1e6:,.0f} MB)")
    _print("open, runs", lambda: _asked(_ASK, str(path), "runs"), rounds)
    _print("open, alerts", lambda: _asked(_ASK, str(path), "alerts"), rounds)
    _print("DebugDataReader, executions", lambda: _asked(_EVENTS_READER, str(path)), rounds)


def _asked(script: str, *words: str) -> tuple[float, int]:
    """CPU seconds without what is loaded first, and MB of the process."""
    with tempfile.TemporaryDirectory() as cache:
        environ = {**os.environ, "XDG_CACHE_HOME": cache}
        asked = [sys.executable, "-c", script, *words]
        done = subprocess.run(asked, check=True, capture_output=True, text=True, env=environ)
    seconds, memory = done.stdout.split()[-2:]
    return float(seconds), int(memory)


def _print(name: str, ask: Callable[[], tuple[float, int]], rounds: int) -> None:
    told = sorted(ask() for _ in range(rounds))[rounds // 2]
    print(f"  {name:<44} {told[0]:>8.3f} CPU s  {told[1]:>5} MB")
