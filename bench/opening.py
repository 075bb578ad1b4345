"""How fast recordings open: `tfdbg open DIR -c lt` as a whole process, against Python with NumPy alone."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from bench.timing import interleave
from tfdbg_cli.formats.dumps.writer import write_dump
from tfdbg_cli.model.calls import Call, RunKind
from tfdbg_cli.model.graph import Graph, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import MemoryTensorStore, describe

_DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"
_GOALS = {1_000: 0.4, 10_000: 0.4}


def _write(directory: Path, count: int) -> None:
    """A dump of `count` small tensors in a chain."""
    rng = np.random.default_rng(0)
    names = [TensorName(f"layer_{i // 20}/op_{i % 20}", 0) for i in range(count)]
    values = [rng.standard_normal((16, 8), np.float32) for _ in range(count)]
    nodes = [
        Node(name.node, "Add", _DEVICE, (names[i - 1],) if i else (), (), {"T": "float32"})
        for i, name in enumerate(names)
    ]
    tensors = [
        describe(name, value, device=_DEVICE, op_type="Add", dtype="float32", time_us=1_700_000_000_000_000 + 10 * i)
        for i, (name, value) in enumerate(zip(names, values, strict=True))
    ]
    call = Call(1, RunKind.SESSION, (str(names[-1]),), {})
    write_dump(Run(call, MemoryTensorStore(tensors, values), Graph(nodes)), directory)


def measure(rounds: int) -> None:
    """Measure and print."""
    print("\ntfdbg open DIR -c lt, whole process")
    with tempfile.TemporaryDirectory() as root:
        for count, goal in _GOALS.items():
            directory = Path(root, str(count))
            _write(directory, count)
            ways = {
                "python -c 'import numpy'": [sys.executable, "-c", "import numpy"],
                f"{count} tensors": [
                    sys.executable,
                    "-m",
                    "tfdbg_cli",
                    "open",
                    str(directory),
                    "-c",
                    "lt -n layer_7/",
                ],
            }
            timings = interleave(
                {name: lambda words=words: _call(words) for name, words in ways.items()}, max(3, rounds // 4), 1
            )
            for name, timing in timings.items():
                told = f"goal ≤ {goal} s" if name.endswith("tensors") else ""
                print(f"  {name:<44} {timing.median:>8.3f} s  {told}")


def _call(words: list[str]) -> None:
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
