"""A recording may hold anything. What a reader accepts never makes a command fail."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.asked import ask
from support.fuzzing import Turns
from support.profile_maker import profile_space, write_profile
from support.sample_run import TRACEBACKS, TRAIN_PY, sample_run
from support.saved_sources import SavedSources

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.bundles.reader import read_bundle
from tfdbg_cli.formats.bundles.writer import write_bundle
from tfdbg_cli.formats.messages import schema
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.calls import CallArgument, RunError, RunKind
from tfdbg_cli.model.profile import NodeTime, Profile
from tfdbg_cli.model.replay import InputRole, ReplayInput, ReplaySpec

_REGISTRY = standard_registry()
_COMMANDS = (
    "runs", "run_info", "lt", "lt --stats", "lt -s dump_size", "lt -f has_inf_or_nan", "origin", "origin --all",
    "error_info", "ll", "lp", "lp -s op_time", "placement", "ls", "ps train.py", "ps train.py --cost_type=exec_time",
    "pf x:0", "pf y:0", "pt loss/Log:0", "pt step/while/Add:0", "ni -a -d -t loss/Log", "li -r loss/Mean",
    "history loss/Log:0", "timeline",
)  # fmt: skip
_OF_A_CALL = ("runs", "run_info", "lt", "pf x:0", "error_info", "history loss/Log:0", "timeline")
_WRONG = (
    None, 1, -1, 0.5, "x", "", [], {}, [1], ["x"], [None], {"a": 1}, {"a": []}, "\ud800", "\x1b[2J", 1e400, -1e400,
    float("nan"), True, [[]], 2**70, -(2**70), 2**63, "9" * 400, [1] * 7, ["x"] * 4, [[1, 2, 3, 4]], "x" * 5000,
)  # fmt: skip


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    path = tmp_path / "run_1700000000000000_3"
    run = sample_run()
    arguments = (CallArgument("x", "float32", (None, 3)), CallArgument("w", "float32", None, captured=True))
    run = replace(
        run,
        call=replace(run.call, function="step", arguments=arguments, notes=("a note",), thread="MainThread"),
        tracebacks=TRACEBACKS,
        sources=SavedSources({"/home/ada/train.py": TRAIN_PY}),
        profile=Profile((NodeTime("loss/Log", "Log", "", 0.0, 1.0, 2.0), NodeTime("x", "Placeholder", "", 1, 1, 2))),
        python_graph=run.graph,
        error=RunError("InvalidArgumentError", "a message", "loss/Log", "no inputs"),
        notes=("a note",),
    )
    inputs = (ReplayInput("x", InputRole.GIVEN, "float32", sample_run().tensors.value(0)),)  # type: ignore[arg-type]
    write_bundle(run, ReplaySpec(RunKind.FUNCTION, b"\x0a\x03abc", "step", (), inputs), path)
    return path


def _answered(path: Path, label: str, commands: Sequence[str] = _COMMANDS) -> None:
    """Each of `commands` gives a document or a sentence, as text and as JSON."""
    try:
        stop = open_path(path)
    except TfdbgError:
        return
    context = Context(stop, width=80)
    for command in commands:
        ask(command, context, label)


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from _places(inner, (*path, key))


@pytest.mark.parametrize("name", ["case.json", "profile.json", "tracebacks.json"])
def test_whatever_stands_in_a_description_no_command_fails(bundle: Path, name: str, turns: Turns) -> None:
    path = bundle / "_tfdbg_cli" / name
    original = json.loads(path.read_text())
    chance = random.Random(name)
    everywhere = list(_places(original))
    for turn in turns(8):
        fields = json.loads(json.dumps(original))
        place = chance.choice(everywhere)
        wrong = chance.choice(_WRONG)
        at = fields
        for key in place[:-1]:
            at = at[key]
        if not place:
            fields = wrong
        elif chance.random() < 0.1:
            del at[place[-1]]
        else:
            at[place[-1]] = wrong
        path.unlink()  # runs of one graph share the file
        path.write_text(json.dumps(fields))
        _answered(bundle, f"{name}, turn {turn}: {place} = {str(wrong)[:40]!r}")


def test_whatever_bytes_a_file_holds_no_command_fails(bundle: Path, turns: Turns) -> None:
    chance = random.Random(3)
    files = [path for path in sorted(bundle.rglob("*")) if path.is_file() and "repetition" not in str(path)]
    odd = (0, 1, 0x7F, 0x80, 0xFF, 0x0A, 0x12)
    for turn in turns(15):
        path = chance.choice(files)
        original = path.read_bytes()
        content = bytearray(original)
        for _ in range(chance.randrange(1, 4)):
            if content:
                content[chance.randrange(min(len(content), 200))] = chance.choice(odd)
        path.unlink()
        path.write_bytes(content[: chance.choice((len(content), len(content), len(content) // 2))])
        _answered(bundle, f"turn {turn}: {path.relative_to(bundle)}")
        path.write_bytes(original)


def test_whatever_the_ops_of_the_graph_are_no_command_fails(bundle: Path, turns: Turns) -> None:
    path = bundle / "_tfdbg_cli" / "python_graph.pb"
    graph = schema.GraphDef.FromString(path.read_bytes())
    chance = random.Random(5)
    ops = ("LoopVariable", "Conv2D", "IsFinite", "Transpose", "Sum", "AssignVariableOp", "_Recv", "While", "Identity")
    for turn in turns(8):
        changed = schema.GraphDef.FromString(graph.SerializeToString())
        for node in chance.sample(list(changed.node), 6):
            if chance.random() < 0.6:
                node.op = chance.choice(ops)
            if chance.random() < 0.5:
                del node.input[chance.randrange(len(node.input) + 1) :]
            if chance.random() < 0.5:
                node.input.append(chance.choice([node.name, "^", "", ":0", "x:99999999999999999999", "^x", "x:-1"]))
        path.unlink()
        path.write_bytes(changed.SerializeToString())
        for device in bundle.glob("_tfdbg_device_*"):
            for partition in device.glob("_tfdbg_graph_*"):
                event = schema.Event.FromString(partition.read_bytes())
                event.graph_def = changed.SerializeToString()
                partition.write_bytes(event.SerializeToString())
        _answered(bundle, f"turn {turn}")


def test_whatever_bytes_a_profile_holds_no_command_fails(tmp_path: Path, turns: Turns) -> None:
    path = write_profile(tmp_path)
    original = profile_space().SerializeToString()
    chance = random.Random(11)
    odd = (0, 1, 0x08, 0x0A, 0x12, 0x1A, 0x22, 0x7F, 0x80, 0xFF)
    for turn in turns(15):
        content = bytearray(original)
        for _ in range(chance.randrange(1, 5)):
            content[chance.randrange(len(content))] = chance.choice(odd)
        if chance.random() < 0.2:
            at = chance.randrange(len(content))
            content[at:at] = chance.randbytes(chance.randrange(1, 20))
        path.write_bytes(content[: chance.choice((len(content), len(content), chance.randrange(len(content))))])
        _answered(path, f"turn {turn}")


@pytest.mark.parametrize(
    "sizes", [[2**62] * 254, [0] + [2**62] * 100, [2**40, 2**40], [1] * 254, [-1], [2**63 - 1, 2]]
)
def test_whatever_shape_a_tensor_claims_no_command_fails(bundle: Path, sizes: list[int]) -> None:
    for path in sorted(bundle.rglob("Log_0_DebugIdentity_*")):
        event = schema.Event.FromString(path.read_bytes())
        shape = event.summary.value[0].tensor.tensor_shape
        del shape.dim[:]
        for size in sizes:
            shape.dim.add(size=size)
        path.write_bytes(event.SerializeToString())
    _answered(bundle, f"{len(sizes)} dimensions of {sizes[0]}")


def test_whatever_stands_in_the_metadata_of_tensorflow_no_command_fails(bundle: Path) -> None:
    (bundle / "_tfdbg_cli" / "case.json").unlink()
    path = bundle / "_tfdbg_core_metadata_sessionrun0_1"
    seen = set()  # nothing else changes: what is read as before is answered as before
    for wrong in _WRONG:
        for key in ("session_run_index", "input_names", "output_names", "target_nodes"):
            event = schema.Event()
            text = json.dumps({"session_run_index": 1, "input_names": ["x:0"], key: wrong})
            event.log_message.message = text
            path.write_bytes(event.SerializeToString())
            try:
                stop = open_path(bundle)
            except TfdbgError:
                continue
            read = repr((stop.notes, [(run.call, run.notes) for run in stop.runs]))
            if read not in seen:
                seen.add(read)
                _answered(bundle, f"{key} = {str(wrong)[:40]!r}", _OF_A_CALL)
    assert len(seen) > 10


def test_whatever_stands_in_a_bundle_it_is_read_or_refused(bundle: Path) -> None:
    path = bundle / "repetition" / "repetition.json"
    original = path.read_text()
    for place in [place for place in _places(json.loads(original)) if place]:
        for wrong in _WRONG:
            fields = json.loads(original)
            at = fields
            for key in place[:-1]:
                at = at[key]
            at[place[-1]] = wrong
            path.write_text(json.dumps(fields))
            try:
                read_bundle(bundle)
            except TfdbgError as error:
                assert error.message.strip()
