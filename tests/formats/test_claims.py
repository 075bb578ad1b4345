"""Small files that claim big tensors cost what they are, not what they claim."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

from support.dump_maker import dump_graph, dump_tensor
from support.prompt import Prompt

from tfdbg_cli.formats.messages import schema
from tfdbg_cli.formats.opening import open_path

COUNT = 1 << 26


def test_every_command_on_small_files_that_claim_much_is_cheap(tmp_path: Path) -> None:
    names = [f"c{i}" for i in range(12)]
    dump_graph(tmp_path, [(name, "Const", []) for name in names])
    for i, name in enumerate(names):
        path = dump_tensor(tmp_path, f"{name}:0", i, 1.0)
        event = schema.Event.FromString(path.read_bytes())
        tensor = event.summary.value[0].tensor
        tensor.ClearField("tensor_content")
        tensor.float_val.append(float("nan") if i == 11 else 1.0)
        tensor.tensor_shape.dim.add(size=COUNT)
        path.write_bytes(event.SerializeToString())
    prompt = Prompt(open_path(tmp_path))
    tracemalloc.start()
    try:
        assert len(prompt.data("lt --stats")["tensors"]) == 12
        assert len(prompt.data("lt -f has_inf_or_nan")["tensors"]) == 1
        assert prompt.data("origin")["tensor"] == "c11:0"
        assert f"{COUNT:,}" in prompt.show("pt c0")
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < COUNT + (64 << 20), "a mask is a byte an element, and made of one tensor at a time"
