"""What is known of very many tensors is gone through in steps, too: nobody waits for all of them."""

from __future__ import annotations

import numpy as np
import pytest
from support import sample_run

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.service.prompt_service import PromptService
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run, RunEnd
from tfdbg_cli.model.statistics import Summary
from tfdbg_cli.model.tensors import MemoryTensorStore, Tensor

_COUNT = 2000


def _stop() -> RunEnd:
    tensors = [Tensor(TensorName(f"n{i}", 0), "", 0, "float32", (1,), 4, i, "Mul") for i in range(_COUNT)]
    values = [np.full(1, i, np.float32) for i in range(_COUNT)]
    return RunEnd(Run(sample_run.run_end().run.call, MemoryTensorStore(tensors, values), Graph([])))


def test_the_worst_are_looked_for_again_in_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    service = PromptService(_stop(), standard_registry())
    for _ in service.steps("lt -s worst"):
        pass
    looked_up = [0]
    summary, in_steps = Context.summary, Context.summary_in_steps

    def counted(self: Context, index: int) -> Summary | None:
        looked_up[-1] += 1
        return summary(self, index)

    def counted_in_steps(self: Context, index: int):
        looked_up[-1] += 1
        return in_steps(self, index)

    monkeypatch.setattr(Context, "summary", counted)
    monkeypatch.setattr(Context, "summary_in_steps", counted_in_steps)
    for _ in service.steps("lt -s worst -t Mul"):
        looked_up.append(0)
    assert sum(looked_up) >= _COUNT
    assert max(looked_up) <= 256 + 1024, "the last that are known, and the first that are sorted"
    assert looked_up.count(256) >= _COUNT // 256
