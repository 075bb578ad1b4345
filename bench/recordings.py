"""How fast recordings open and are looked through: `tfdbg open PATH` as a whole process, and lists at its prompt."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from bench.timing import interleave
from tfdbg_cli.formats.container.writer import RecordingWriter
from tfdbg_cli.model.calls import Call, RunKind
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import MemoryTensorStore, describe

_DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"
# Tensors a run, runs, and what opening may take in seconds.
_SIZES = ((1_000, 1, 0.4), (1_000, 10, 0.4), (10_000, 10, 0.4), (1_000, 1_000, 1.0), (1_000_000, 1, 1.0))
_MEMORY_GOAL = 250  # MB
_SCAN_GOAL = 2.0  # GB/s
_OPEN = """
import sys
from bench.resident import peak
from tfdbg_cli.cli.main import main
code = main(sys.argv[1:])
print(int(peak()), file=sys.stderr)
sys.exit(code)
"""
_LISTS = ("lt -s dump_size -r", "lt -s op_type", "lt -s tensor_name", "lt -s shape", "lt -n op_7", "lt -t Mul",
          "lt --dtype float", "lt --shape '[20]'", "lt -q 'size>300 op=Mul'")  # fmt: skip


def _run(count: int, graph: Graph | None = None) -> Run:
    """A run of `count` small tensors in a chain."""
    rng = np.random.default_rng(0)
    names = [TensorName(f"layer_{i // 20}/op_{i % 20}", 0) for i in range(count)]
    values = [rng.standard_normal(16 + i % 64).astype(np.float32) for i in range(min(count, 1000))]
    nodes = [
        Node(name.node, ("Add", "Mul", "Relu")[i % 3], _DEVICE, (names[i - 1],) if i else ())
        for i, name in enumerate(names[:10_000])
    ]
    held = [values[i % len(values)] for i in range(count)]
    tensors = [
        describe(name, value, device=_DEVICE, op_type=("Add", "Mul", "Relu")[i % 3], dtype="float32", time_us=10 * i)
        for i, (name, value) in enumerate(zip(names, held, strict=True))
    ]
    call = Call(1, RunKind.SESSION, (str(names[-1]),), {})
    return Run(call, MemoryTensorStore(tensors, held), graph or Graph(nodes))


def _write(path: Path, count: int, runs: int) -> None:
    writer = RecordingWriter(path)
    run = _run(count)
    for number in range(runs):
        writer.write(replace(run, call=replace(run.call, number=number + 1)))
    writer.close()


def _opened(path: Path, *commands: str) -> tuple[float, int]:
    """Seconds and MB that `tfdbg open` takes to answer."""
    words = [word for command in commands for word in ("-c", command)]
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", _OPEN, "open", str(path), *words], check=True, capture_output=True, text=True
    )
    return time.perf_counter() - began, int(done.stderr.split()[-1])


def _listed(path: Path, commands: Sequence[str]) -> None:
    from tfdbg_cli.commands.context import Context
    from tfdbg_cli.commands.interpreter import execute
    from tfdbg_cli.commands.standard import standard_registry
    from tfdbg_cli.document.document import Document
    from tfdbg_cli.formats.opening import open_path

    registry = standard_registry()
    for command in commands:
        context = Context(open_path(path), width=120)
        began = time.perf_counter()
        outcome = execute(command, context, registry)
        assert isinstance(outcome, Document)
        outcome.lines(120)[:50]
        print(f"    {command:<42} {time.perf_counter() - began:>8.3f} s  goal ≤ 1.0 s")


def _scanned(root: Path) -> None:
    """`lt -f has_inf_or_nan` over large tensors, whose bytes are in the page cache."""
    values = [np.ones(1 << 24, np.float32) for _ in range(16)]
    names = [TensorName(f"large_{i}", 0) for i in range(16)]
    rows = [
        describe(name, value, device="", op_type="Add", dtype="float32")
        for name, value in zip(names, values, strict=True)
    ]
    writer = RecordingWriter(root / "large")
    began = time.perf_counter()
    writer.write(Run(Call(1, RunKind.SESSION, ()), MemoryTensorStore(rows, values)))
    writer.close()
    total = sum(value.nbytes for value in values)
    print(f"  {'written to disk, and flushed':<44} {total / 1e9 / (time.perf_counter() - began):>8.2f} GB/s")
    from tfdbg_cli.commands.context import Context
    from tfdbg_cli.commands.interpreter import execute
    from tfdbg_cli.commands.standard import standard_registry
    from tfdbg_cli.formats.opening import open_path

    best = 0.0
    for _ in range(5):
        context = Context(open_path(root / "large"), width=120)
        began = time.perf_counter()
        execute("lt -f has_inf_or_nan", context, standard_registry())
        best = max(best, total / 1e9 / (time.perf_counter() - began))
    print(f"  {'lt -f has_inf_or_nan, from page cache':<44} {best:>8.2f} GB/s  goal ≥ {_SCAN_GOAL} GB/s")


def measure(rounds: int) -> None:
    """Measure and print."""
    print("\ntfdbg open RECORDING, whole process to its first screen")
    with tempfile.TemporaryDirectory() as root:
        for count, runs, goal in _SIZES:
            path = Path(root, f"{count}x{runs}")
            _write(path, count, runs)
            memory = 0

            def look(path: Path = path) -> None:
                nonlocal memory
                memory = max(memory, _opened(path, "lt -n layer_7/")[1])

            timing = interleave({"open": look}, max(3, rounds // 4), 1)["open"]
            size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file()) / 1e6
            name = f"{runs:,} runs of {count:,} tensors ({size:,.0f} MB)"
            print(f"  {name:<44} {timing.median:>8.3f} s  goal ≤ {goal} s   {memory} MB  goal ≤ {_MEMORY_GOAL} MB")
            _listed(path, _LISTS)
        _scanned(Path(root))
