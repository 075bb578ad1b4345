"""What `origin` tells scripts: the fields of its JSON object."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from tfdbg_cli.analysis.batch.batch_rows import BatchRows
from tfdbg_cli.analysis.batch.replica import replica_given
from tfdbg_cli.analysis.origin.finding import Finding, Passed
from tfdbg_cli.analysis.origin.origin_found import Origin
from tfdbg_cli.commands.views.input_rows import input_data
from tfdbg_cli.commands.views.origin.around import after_data, intended_data, link_data
from tfdbg_cli.commands.views.origin.elements import element_data, first_elements
from tfdbg_cli.commands.views.origin.since import Since
from tfdbg_cli.model.runs import Run

_PLACE = ("tensor", "execution", "op_type", "device", "file", "line", "forward", "bad")
_TOLD = (
    "cause",
    "suggestion",
    "since",
    "grew",
    "nan",
    "intended",
    "guarded_by",
    "after",
    "harmless",
    "harmless_before",
    "batch",
)
_LISTS = ("inputs", "input_values", "elements", "batch_rows", "chain", "benign")


def nothing_data(passed: Passed) -> dict[str, Any]:
    """The JSON form when all is finite: every field is null or an empty list, but for infinities passed over."""
    told = {"benign": [intended_data(item) for item in passed.intended], "unread": passed.unread}
    told["ignored"] = list(passed.ignored)
    return {
        **dict.fromkeys((*_PLACE, *_TOLD)),
        **{name: [] for name in _LISTS},
        **told,
    }


def origin_data(run: Run, found: Finding, since: Since, grew: str, most: int) -> dict[str, Any]:
    """The JSON form of what was found in `run`, with the first `most` of the offending elements.

    `grew` says how what overflowed grew from run to run, if it did.
    """
    origin, passed, batch = found.origin, found.passed, found.in_batch.batch
    return {
        "tensor": str(origin.name),
        "execution": None if origin.index is None else run.tensors[origin.index].execution,
        "op_type": origin.op_type,
        "device": origin.device,
        "file": origin.frame.file if origin.frame else None,
        "line": origin.frame.line if origin.frame else None,
        "forward": origin.forward or None,
        "inputs": [str(item.name) for item in origin.inputs],
        "input_values": [input_data(item) for item in origin.inputs],
        "elements": [element_data(element) for element in first_elements(origin, most)],
        "bad": int(origin.bad.sum()),
        "batch_rows": list(batch.rows),
        "batch": _batch_data(run, batch) if batch.rows else None,
        "cause": since.cause or origin.cause.text,
        "suggestion": since.suggestion or origin.cause.suggestion,
        "since": since.when or None,
        "grew": grew or None,
        "nan": None if found.nan is None else _nan_data(found.nan),
        "intended": None if origin.intended is None else origin.intended.what,
        "guarded_by": found.after.asked_by if found.after.guarded else None,
        "chain": [link_data(link) for link in found.chain],
        "after": after_data(found.after),
        "harmless": found.harmless,
        "harmless_before": found.before,
        "benign": [intended_data(item) for item in passed.intended],
        "ignored": list(passed.ignored),
        "unread": passed.unread,
    }


def _batch_data(run: Run, batch: BatchRows) -> dict[str, Any]:
    replica = replica_given(run, batch.source)
    lookup = {} if batch.lookup is None else {"lookup": asdict(batch.lookup)}
    doubtful = {"doubtful": list(batch.doubtful)} if batch.doubtful else {}
    whose = {} if replica is None else {"replica": replica}
    return {"source": batch.source, "size": batch.size, **whose, **lookup, **doubtful}


def _nan_data(nan: Origin) -> dict[str, Any]:
    place = {"file": nan.frame.file if nan.frame else None, "line": nan.frame.line if nan.frame else None}
    return {"tensor": str(nan.name), "op_type": nan.op_type, **place, "cause": nan.cause.text}
