"""Documents and errors as JSON, one object a line (`--json`)."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np

from tfdbg_cli.document.document import Document
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.decision import (
    Abort,
    Continue,
    DebugRun,
    Decision,
    Detach,
    PlainRun,
    ProfileRun,
    RecordRun,
    RecordRuns,
    RunTo,
    RunUntil,
    StepOn,
)
from tfdbg_cli.model.exactness import Exactness
from tfdbg_cli.model.names import TensorName


def document_json(command: str, document: Document) -> str:
    """`{"command": …, "kind": …, …}`; NaN and infinities as the texts "nan", "inf", "-inf"."""
    return _dump({"command": command, "kind": document.kind, **document.data()})


_DECISIONS: dict[type, str] = {
    DebugRun: "run",
    RunUntil: "run_until",
    ProfileRun: "profile",
    PlainRun: "plain_run",
    RecordRun: "record",
    RecordRuns: "record_runs",
    StepOn: "step",
    RunTo: "until",
    Continue: "continue",
    Detach: "detach",
    Abort: "abort",
}


def decision_json(command: str, decision: Decision, exactness: Exactness | None = None) -> str:
    """`{"command": …, "kind": "decision", "decision": "run", …}` with what was decided in detail.

    Of a run that ended, `exactness` adds `exact` and `differs`, where it is known.
    """
    details = {**dataclasses.asdict(decision), **exactness_data(exactness)}
    return _dump({"command": command, "kind": "decision", "decision": _DECISIONS[type(decision)], **details})


def exactness_data(exactness: Exactness | None, *, values: bool = True) -> dict[str, Any]:
    """Whether a run is exact, and what differs, as JSON has it; nothing where that is not known.

    `values` says that the run shows some.
    """
    if exactness is None:
        return {}
    return {
        "exact": exactness.exact,
        "program_exact": exactness.program_exact,
        "how": exactness.told(values=values),
        "race": exactness.race,
        "differs": [
            {
                "tensor": parting.name,
                "of": of,
                "elements": parting.elements,
                "max_abs": parting.max_abs,
                "max_ulp": parting.max_ulp,
            }
            for of, partings in (("program", exactness.strays), ("values shown", exactness.differs))
            for parting in partings
        ],
    }


def error_json(command: str, error: TfdbgError) -> str:
    """`{"command": …, "error": …, "hint": …}`."""
    return _dump({"command": command, "error": error.message, "hint": error.hint})


def _dump(payload: dict[str, Any]) -> str:
    text = json.dumps(standard(payload), ensure_ascii=False, allow_nan=False)
    return text if text.isprintable() else "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    """A character that a terminal might obey (C1 controls, marks of direction) as JSON's escape for it.

    JSON's own syntax is printable ASCII, so such a character stands inside a string, where the escape means the same.
    """
    return json.dumps(character)[1:-1]


def standard(value: Any) -> Any:
    """`value` in JSON's own types: strict JSON has no NaN, no infinity, no complex numbers and no bytes."""
    if isinstance(value, dict):
        return {str(k): standard(v) for k, v in value.items()}
    if isinstance(value, TensorName):
        return str(value)
    if isinstance(value, list | tuple):
        return [standard(v) for v in value]
    if isinstance(value, np.ndarray):
        return standard(value.tolist())
    if isinstance(value, np.generic):
        return standard(value.item())
    if isinstance(value, float):
        return value if np.isfinite(value) else str(value)
    if isinstance(value, complex):
        return [standard(value.real), standard(value.imag)]
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return value if value is None or isinstance(value, str | int | bool) else str(value)
