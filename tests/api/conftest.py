"""A front end that answers by a script, in the place of the one that the debugger of the process would choose."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.scripted import ScriptedFrontend

import tfdbg_cli as tf_debug


@pytest.fixture
def front(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedFrontend]:
    """The front end of a debugger of its own, which leaves the program alone at the end."""
    from tfdbg_cli.api import process_debugger

    scripted = ScriptedFrontend()
    process_debugger.process_debugger.cache_clear()
    monkeypatch.setattr(process_debugger, "choose_frontend", lambda *_, **__: scripted)
    yield scripted
    tf_debug.stop_recording()
    tf_debug.disable()
    process_debugger.process_debugger.cache_clear()
