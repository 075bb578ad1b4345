"""The sample run, asked what if: what depends on `prob` is computed again with NumPy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from support.sample_run import run_end
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Change, RunEnd
from tfdbg_cli.model.tensors import MemoryTensorStore


class Arithmetic:
    """Computes loss/Log, loss/mul and loss/Mean of the sample run again."""

    def require_replaceable(self, run, name):
        if name.node == "w":
            raise TfdbgError("w:0 is a handle: it holds no numbers to replace.")

    def again(self, run, replaced):
        values = {name: run.tensors.value(run.tensors.named(name, 0)[0]) for name in run.tensors.nodes()}
        values |= {name.node: value for name, value in replaced.items()}
        made = 0
        with np.errstate(all="ignore"):
            for name, compute in (
                ("loss/Log", lambda: np.log(values["prob"])),
                ("loss/mul", lambda: values["y"] * values["loss/Log"]),
                ("loss/Mean", lambda: np.asarray(values["loss/mul"].mean(dtype=np.float32))),
            ):
                if TensorName(name, 0) not in replaced:
                    values[name] = compute()
                    made += 1
        rows = range(len(run.tensors))
        changed = {"prob", "loss/Log", "loss/mul", "loss/Mean"}
        found = [
            values[run.tensors[row].node] if run.tensors[row].node in changed else run.tensors.value(row)
            for row in rows
        ]
        store = MemoryTensorStore([run.tensors[row] for row in rows], found)
        notes = ("Nothing was written: update did not run.", *run.notes)
        return replace(run, tensors=store, change=Change(run, dict(replaced), made), notes=notes)


def changeable() -> RunEnd:
    """The end of the sample run, some of which can be computed again."""
    end = run_end()
    return replace(end, run=replace(end.run, what_if=Arithmetic()))
