"""NaN whose bits say that NumPy is to warn of it: a file may hold them, and no command says more for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from support.asked import ask
from support.sample_run import sample_run

from tfdbg_cli.commands.context import Context
from tfdbg_cli.model.runs import Opened, Run
from tfdbg_cli.model.tensors import MemoryTensorStore

_COMMANDS = (
    "lt --stats", "lt -f has_inf_or_nan", "lt -f bad_result", "lt -f all_zeros", "lt -f large_gradient",
    "lt -f dead_relu",
    "origin", "origin --all", "origin --explain", "trends", "diff 1 2", "history loss/Log:0", "ni -a -d -t loss/Log",
    "pt loss/Log:0", "pt x:0 -s", "preview pt x:0", "row x:0 0", "eval np.sum(`x:0`)", "lt -s max -r", "frequencies",
    "lt -q max>0", "alerts", "pf x:0",
)  # fmt: skip


@pytest.fixture
def runs() -> Sequence[Run]:
    run = sample_run()
    store = run.tensors
    values = [store.value(place) for place in range(len(store))]
    for place, value in enumerate(values):
        if isinstance(value, np.ndarray) and value.dtype == np.float32 and value.size:
            loud = value.copy()
            loud.reshape(-1).view(np.uint32)[0] = 0x7F800001 + place
            values[place] = loud
    tensors = MemoryTensorStore([store[place] for place in range(len(store))], values)
    return (run, replace(run, tensors=tensors))


@pytest.mark.parametrize("command", _COMMANDS)
def test_no_command_warns(runs: Sequence[Run], command: str) -> None:
    context = Context(Opened("runs", tuple(runs), noun="run"), width=80)
    context.select_run(1)
    ask(command, context, "loud")
