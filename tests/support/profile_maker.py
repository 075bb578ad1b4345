"""Profiles as TensorFlow writes them, by hand: a host with a function, an eager op and two steps, and a GPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tfdbg_cli.formats.messages import schema

CPU, GPU = "/host:CPU", "/device:GPU:0"
TIME = "2026_01_02_03_04_05"


class PlaneMaker:
    """Adds a plane to a space. Texts stand once in it, and events say their numbers."""

    def __init__(self, space: Any, name: str) -> None:
        self.plane = space.planes.add(name=name.encode())
        self._events: dict[str, int] = {}
        self._stats: dict[str, int] = {}

    def line(self, name: str, start_ns: int = 1000) -> Any:
        return self.plane.lines.add(name=name.encode(), timestamp_ns=start_ns)

    def event(self, line: Any, name: str, at_us: float, spent_us: float, **stats: str | int) -> Any:
        """An event; a statistic that is a text is a reference, as TensorFlow writes it."""
        event = line.events.add(metadata_id=self._event(name))
        event.offset_ps, event.duration_ps = int(at_us * 1e6), int(spent_us * 1e6)
        self.add_stats(event, **stats)
        return event

    def add_stats(self, owner: Any, **stats: str | int) -> None:
        for key, value in stats.items():
            stat = owner.stats.add(metadata_id=self._stat(key))
            if isinstance(value, str):
                stat.ref_value = self._stat(value)
            else:
                stat.int64_value = value

    def metadata(self, name: str) -> Any:
        """What all events called `name` share."""
        number = self._event(name)
        return next(entry.value for entry in self.plane.event_metadata if entry.key == number)

    def _event(self, name: str) -> int:
        if name not in self._events:
            self._events[name] = len(self._events) + 1
            self.plane.event_metadata.add(key=self._events[name]).value.name = name.encode()
        return self._events[name]

    def _stat(self, name: str) -> int:
        if name not in self._stats:
            self._stats[name] = len(self._stats) + 1
            self.plane.stat_metadata.add(key=self._stats[name]).value.name = name.encode()
        return self._stats[name]


def profile_space() -> Any:
    space = schema.CLASSES["XSpace"](hostnames=[b"worker0"])
    host = PlaneMaker(space, CPU)
    python = host.line("python")
    host.event(python, "train", 0, 40, step_num=7, _r=1)
    host.event(python, "EagerLocalExecute: Fill", 1, 8)
    host.event(python, "EagerCopyToDevice", 2, 1)
    host.event(python, "EagerKernelExecute", 4, 3)
    host.event(python, "EagerLocalExecute: __inference_step_12", 11, 20)
    host.event(python, "EagerKernelExecute", 12, 18)
    host.event(python, "train", 50, 30, step_num=8, _r=1)
    pool = host.line("tf_Compute/1", start_ns=2000)
    host.event(pool, "ExecutorState::Process", 11, 9)
    host.event(pool, "net/dense/MatMul:MatMul", 12, 5)
    host.event(pool, "Iterator::Root::Prefetch", 17, 0.5)
    host.event(pool, "net/Relu:_FusedRelu", 18, 1)
    gpu = PlaneMaker(space, GPU)
    stream = gpu.line("Stream #13(Compute)", start_ns=3000)
    gpu.event(stream, "sgemm_128", 13, 4, tf_op="net/dense/MatMul:MatMul")
    gpu.event(stream, "loop_fusion", 18, 2, hlo_op="fusion.3")
    gpu.event(stream, "Memset", 21, 1)
    derived = gpu.line("TensorFlow Ops", start_ns=3000)
    gpu.event(derived, "net/dense/MatMul", 13, 4, tf_op="net/dense/MatMul:MatMul")
    return space


def write_profile(logdir: Path, host: str = "worker0", time: str = TIME, space: Any = None) -> Path:
    """A profile in a log directory; where it lies."""
    path = logdir / "plugins" / "profile" / time / f"{host}.xplane.pb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes((profile_space() if space is None else space).SerializeToString())
    return path
