"""A listing of many dumped tensors opens no more files than it shows, however often each was produced."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.prompt import ask

from tfdbg_cli.formats.dumps import store as dump_store
from tfdbg_cli.formats.dumps.reader import read_dump
from tfdbg_cli.formats.messages.event_file import tensor_facts


@pytest.mark.parametrize(("nodes", "executions"), [(1, 2_000), (20, 100), (2_000, 1)])
def test_what_is_shown_alone_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nodes: int, executions: int
) -> None:
    from support.dump_maker import dump_tensor

    for k in range(executions):
        for node in range(nodes):
            dump_tensor(tmp_path, f"layer_{node}/MatMul", 3 * (k * nodes + node), [1.0])
    read: set[str] = set()

    def facts(path: str) -> object:
        read.add(path)
        return tensor_facts(path)

    monkeypatch.setattr(dump_store, "tensor_facts", facts)
    run = read_dump(tmp_path)
    lines = ask("lt", run).lines(100)
    shown = [lines[i].text for i in range(30)]
    assert "MatMul:0" in shown[-1]
    assert len(read) < 500, "the rows shown, and samples of all for the columns and their widths"
