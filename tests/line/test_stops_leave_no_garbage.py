"""What was looked at goes when the stop is over: a run with all its values may take gigabytes."""

from __future__ import annotations

import gc
import io
import weakref
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from support import sample_run

from tfdbg_cli.commands.registry import Moment
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.line.frontend import LineFrontend
from tfdbg_cli.line.input import Input, ScriptInput
from tfdbg_cli.line.script import Script
from tfdbg_cli.model.tensors import MemoryTensorStore

_REGISTRY = standard_registry()
_ARGUMENTS = {
    "bundle": "--values {folder}/bundle", "eval": "`loss/Log:0`", "export": "{folder}/all.npz", "find": "loss",
    "history": "loss/Log:0", "list_inputs": "loss/Log", "list_outputs": "loss/Log", "node_info": "loss/Log",
    "path": "loss/Log loss/Mean", "preview": "ni loss/Log", "print_feed": "x:0", "print_source": "train.py",
    "print_tensor": "loss/Log:0", "record": "{folder}/recording", "save": "{folder}/saved",
}  # fmt: skip
_REFUSED = {
    "no other run": ("diff", "older", "newer"),
    "not profiled": ("list_profile",),
    "no error": ("error_info",),
    "not held or replaced": ("again", "original", "undo"),
    "no Python of the program": ("frames", "up", "down", "locals", "py", "pdb", "here", "finish", "until"),
    "not in the stepper": ("invoke_stepper", "list_sorted_nodes", "step", "cont", "inject_value", "leave_stepper"),
    "no page before, nor a person": ("prev", "next", "output", "shell"),
}


@pytest.fixture(autouse=True)
def _nothing_is_collected() -> Iterator[None]:
    collects = gc.isenabled()
    gc.disable()
    yield
    if collects:
        gc.enable()
    else:
        gc.disable()


class _Store(MemoryTensorStore):
    """A store that weak references are made to."""


class _Person(ScriptInput):
    """Commands that somebody types."""

    interactive = True


def _left_behind(*commands: str, source: Input | None = None) -> tuple[weakref.ref[_Store], int]:
    """The tensors of a run that was looked at with `commands`, at a stop that is over, and how many failed."""
    plain = sample_run.store()
    rows = range(len(plain))
    store = _Store([plain[row] for row in rows], [plain.value(row) for row in rows])
    end = sample_run.run_hit()
    script = None if source else Script(list(commands))
    front = LineFrontend(_REGISTRY, Settings(), script=script, source=source, output=io.StringIO())
    front.stop(replace(end, run=replace(end.run, tensors=store)))
    return weakref.ref(store), front.failures


@pytest.mark.parametrize("name", _REGISTRY.names())
def test_no_command_leaves_the_run_in_a_circle(name: str, tmp_path: Path) -> None:
    command = _REGISTRY.find(name, Moment.RUN_END).name
    left, failures = _left_behind(f"{name} {_ARGUMENTS.get(command, '').format(folder=tmp_path)}".strip())
    assert left() is None
    assert failures == any(command in refused for refused in _REFUSED.values())


def test_what_a_person_went_through_is_collected() -> None:
    """There may be circles, such as that of the completion of what is typed: none is left."""
    gc.enable()
    commands = "lt", "origin", "prev", "next", "ni loss/Log", "detach"
    left, failures = _left_behind(source=_Person(Script(list(commands))))
    assert left() is None and not failures
