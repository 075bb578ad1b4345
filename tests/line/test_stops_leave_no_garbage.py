"""What was looked at goes when the stop is over: a run with all its values may take gigabytes."""

from __future__ import annotations

import gc
import io
import weakref
from collections.abc import Iterator
from dataclasses import replace

import pytest
from support import sample_run

from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.line.frontend import LineFrontend
from tfdbg_cli.line.input import Input, ScriptInput
from tfdbg_cli.line.script import Script
from tfdbg_cli.model.tensors import MemoryTensorStore

_REGISTRY = standard_registry()
_GIVEN = {
    "print_tensor": "print_tensor loss/Log:0", "node_info": "node_info loss/Log", "eval": "eval `loss/Log:0`",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _nothing_is_collected() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


class _Store(MemoryTensorStore):
    """A store that weak references are made to."""


class _Person(ScriptInput):
    """Commands that somebody types."""

    interactive = True


def _left_behind(*commands: str, source: Input | None = None) -> weakref.ref[_Store]:
    """The tensors of a run that was looked at with `commands`, at a stop that is over."""
    plain = sample_run.store()
    rows = range(len(plain))
    store = _Store([plain[row] for row in rows], [plain.value(row) for row in rows])
    end = sample_run.run_hit()
    script = None if source else Script(list(commands))
    front = LineFrontend(_REGISTRY, Settings(), script=script, source=source, output=io.StringIO())
    front.stop(replace(end, run=replace(end.run, tensors=store)))
    return weakref.ref(store)


@pytest.mark.parametrize("name", _REGISTRY.names())
def test_no_command_leaves_the_run_in_a_circle(name: str) -> None:
    assert _left_behind(_GIVEN.get(name, name))() is None


def test_what_a_person_went_through_is_collected() -> None:
    """There may be circles, such as that of the completion of what is typed: none is left."""
    gc.enable()
    commands = "lt", "origin", "prev", "next", "ni loss/Log", "detach"
    assert _left_behind(source=_Person(Script(list(commands))))() is None
