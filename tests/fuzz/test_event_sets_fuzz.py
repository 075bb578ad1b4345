"""An event set may hold anything. What a reader accepts never makes a command fail, hang or take much memory."""

from __future__ import annotations

import random
import shutil
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from support.asked import ask
from support.event_set_maker import EventSetMaker, proto, record, small_set
from support.fuzzing import Turns
from support.work import counted_calls

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.examining import examined
from tfdbg_cli.formats.messages import schema
from tfdbg_cli.formats.opening import open_path

_REGISTRY = standard_registry()
_MOST_CALLS = 400_000  # of functions for one command on files of some kilobytes: none needs a tenth of them
_MOST_MEMORY = 64 << 20  # bytes, for files of some kilobytes
_COMMANDS = (
    "runs", "lt --stats", "lt -f has_inf_or_nan", "origin", "origin --all", "alerts", "timeline", "ls", "run_info",
    "layers",
)  # fmt: skip
_ODD = (0, 1, 0x7F, 0x80, 0xFF, 0x0A, 0x12)


def _answered(folder: Path, label: str, places: int, commands: Sequence[str] = _COMMANDS) -> None:
    """Each of `commands` gives a document or a sentence, as text and as JSON, with bounded work, on `places` runs."""
    try:
        with _bounded(f"{label}: opening"):
            stop = open_path(folder)
            examined(folder)
    except TfdbgError as error:
        assert error.message.strip()
        return
    assert not any("\x1b" in note for note in map(ascii, stop.notes))
    context = Context(stop, width=80)
    for place in range(min(places, len(stop.runs))):
        context.select_run(len(stop.runs) - 1 - place)
        for command in commands:
            _ask(command, context, label)
        for index in range(min(2, len(context.run.tensors))):
            _ask(f"pt {context.run.tensors[index].name}", context, label)
            _ask(f"ni {context.run.tensors[index].node}", context, label)


def _ask(command: str, context: Context, label: str) -> None:
    with _bounded(f"{label}: {command!r}"):
        ask(command, context, label)


@contextmanager
def _bounded(what: str) -> Iterator[None]:
    """Fail where the block takes more work than any file of some kilobytes can be worth."""
    with counted_calls() as work:
        yield
    assert work.calls < _MOST_CALLS, f"{what} took {work.calls:,} calls"


def _broken(content: bytes, chance: random.Random) -> bytes:
    """`content` with bytes changed, cut off, repeated or left out."""
    changed = bytearray(content)
    for _ in range(chance.randrange(1, 4)):
        if changed:
            changed[chance.randrange(len(changed))] = chance.choice((*_ODD, chance.randrange(256)))
    turn = chance.random()
    if turn < 0.2:
        return bytes(changed[: chance.randrange(len(changed) + 1)])
    if turn < 0.3:
        at = chance.randrange(len(changed) + 1)
        return bytes(changed[:at] + changed[at : at + 40] + changed[at:])
    return bytes(changed)


def _damaged(tmp_path: Path, turns: range, seed: int, damage: Callable[[bytes, random.Random], bytes]) -> None:
    chance = random.Random(seed)
    small_set(tmp_path / "set")
    files = sorted((tmp_path / "set").iterdir())
    originals = {path: path.read_bytes() for path in files}
    for turn in turns:
        path = chance.choice([path for path in files if originals[path]])
        path.write_bytes(damage(originals[path], chance))
        some = chance.sample(_COMMANDS, 3)
        _answered(tmp_path / "set", f"seed {seed}, turn {turn}: {path.name}", chance.choice((1, 2)), some)
        path.write_bytes(originals[path])


def _reframed(content: bytes, chance: random.Random) -> bytes:
    """Records of which the contents are broken, while lengths and checksums fit."""
    parts, at = [], 0
    while at < len(content):
        length = int.from_bytes(content[at : at + 8], "little")
        parts.append(content[at + 12 : at + 12 + length])
        at += length + 16
    which = chance.randrange(len(parts))
    return b"".join(record(_broken(part, chance) if at == which else part) for at, part in enumerate(parts))


@pytest.mark.parametrize("seed", range(4))
def test_whatever_bytes_are_flipped_no_command_fails(tmp_path: Path, seed: int, turns: Turns) -> None:
    _damaged(tmp_path, turns(5), seed, _broken)


@pytest.mark.parametrize("seed", range(4))
def test_whatever_a_record_holds_no_command_fails(tmp_path: Path, seed: int, turns: Turns) -> None:
    _damaged(tmp_path, turns(5), 100 + seed, _reframed)


_TEXT = st.sampled_from(["", "g", "h", "x", "x:0", "while", "a/b/c", "\x1b[31m", "x:-1", ":", "x" * 300, "g/../.."])
_ID = st.sampled_from([0, 1, -1, 2, 3, 2**31 - 1, -(2**31)])
_NUMBERS = st.lists(st.sampled_from([0.0, 1.0, -1.0, 1e300, float("nan"), float("inf"), 2.0**53]), max_size=12)
_TOLD = _NUMBERS.map(lambda numbers: proto(np.array(numbers, np.float64)))
_EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("graph"), _TEXT, _TEXT, _TEXT),
        st.tuples(st.just("op"), _TEXT, _TEXT, st.sampled_from(["Log", "Placeholder", "While", ""]),
                  st.lists(_TEXT, max_size=3)),
        st.tuples(st.just("execution"), st.sampled_from(["Log", "__inference_x_1", "", "\x1b"]),
                  st.lists(_ID, max_size=3), st.lists(_ID, max_size=3), st.lists(_TOLD, max_size=3), _TEXT),
        st.tuples(st.just("trace"), _TEXT, _TEXT, _TOLD, _ID, _TEXT),
    ),
    max_size=14,
)  # fmt: skip


def test_whatever_events_there_are_no_command_fails(tmp_path: Path, turns: Turns) -> None:
    folder = tmp_path / "set"

    @example(
        [("trace", "", "", proto(np.array([np.nan])), 0, "\x1b[31m")], 7
    )  # the device is a text of the file, too
    @settings(max_examples=len(turns(10)), deadline=None, suppress_health_check=list(HealthCheck))
    @given(_EVENTS, st.sampled_from([0, 1, 2, 3, 4, 5, 6, 7, 8, 99]))
    def answered(events: list[Any], mode: int) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        made = EventSetMaker(folder, mode=mode)
        for name, *arguments in events:
            getattr(made, name)(*arguments)
        _answered(folder, str(events), 2)

    answered()


def test_what_small_files_claim_takes_no_memory(tmp_path: Path) -> None:
    """A shape of 2^40 elements, a rank of a million, a device with that number, a splat."""
    made = EventSetMaker(tmp_path, mode=7)
    huge = schema.TensorProto(dtype=1, float_val=[1.0])
    for _ in range(2):
        huge.tensor_shape.dim.add(size=1 << 20)
    made.execution("Log", [], [1], [huge])
    made.execution("Log", [], list(range(2, 500)), [huge])
    made.trace("g", "x", huge, slot=(1 << 31) - 1)
    tracemalloc.start()
    try:
        _answered(tmp_path, "claims", 3)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < _MOST_MEMORY
