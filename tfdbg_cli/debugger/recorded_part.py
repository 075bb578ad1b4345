"""What of a run is recorded: the nodes whose values are asked for, and a copy that lasts until it is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tfdbg_cli.analysis.layers.node_selection import NodeSelection
from tfdbg_cli.capture.stores import without_files
from tfdbg_cli.formats.container.run_rows import Selection
from tfdbg_cli.model.calls import Call
from tfdbg_cli.model.decision import RecordRuns
from tfdbg_cli.model.names import node_of
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import Tensor
from tfdbg_cli.model.values import NoValue


def selection_of(asked: RecordRuns) -> Selection | None:
    """Which tensors have their values recorded; None for all.

    Raises:
        TfdbgError: the regex cannot be read.

    """
    nodes = nodes_of(asked)
    nodes.check()
    if nodes == NodeSelection():
        return None

    def selected(run: Run) -> Callable[[Tensor], bool]:
        chosen = nodes.tester(run.graph)
        return lambda tensor: chosen(tensor.node)

    return selected


def named(asked: RecordRuns) -> str:
    """The words for the nodes whose values are asked for: `in layer head`, `with 'Log' in its name`."""
    words = [f"in layer {asked.layer}"] * bool(asked.layer) + [f"with {asked.only!r} in its name"] * bool(asked.only)
    return " and ".join(words)


def nodes_of(asked: RecordRuns) -> NodeSelection:
    """The nodes whose values are recorded."""
    return NodeSelection(asked.only, asked.layer, none=asked.stats_only and not asked.only and not asked.layer)


def lasting_copy(run: Run, statistics: NodeSelection | None) -> Run:
    """A copy of `run` that does not change when the program goes on, since it is written later. If only statistics
    are recorded, it has feed values for the nodes selected by `statistics` only.
    """
    run = without_files(run)
    chosen = None if statistics is None else statistics.tester(run.graph)
    call = replace(run.call, feeds=_fed(run.call, chosen))
    return replace(run, call=call, what_if=None, frames=(), paused=None)


def _fed(call: Call, chosen: Callable[[str], bool] | None) -> Mapping[str, Any]:
    """The feeds of `call`; the value is None for nodes that are not `chosen` (if None, all are).

    A session's feeds are the program's own arrays, which it may overwrite: they are copied.
    """
    own = call.kind.of_session
    fed: dict[str, Any] = {}
    for name in call.feeds:
        if chosen is not None and not chosen(node_of(name)):
            fed[name] = None
            continue
        value = call.feeds[name]
        fed[name] = value.copy() if own and isinstance(value, np.ndarray) else value
        if isinstance(value, NoValue):
            fed[name] = None
    return fed
