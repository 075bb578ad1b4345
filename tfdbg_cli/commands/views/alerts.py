"""What an alert says of its tensor, on the screen and as JSON."""

from __future__ import annotations

from typing import Any

from tfdbg_cli.analysis.graph.flow.last_update import line_of
from tfdbg_cli.analysis.many_runs.alerts import RULE, Alert
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.statistics import Summary


def nonfinite_text(summary: Summary) -> str:
    """What is not finite, counted: `NaN×3 -inf×1`; empty where all is."""
    if summary.spoiled:
        return "NaN or inf"
    counts = ((summary.nan, "NaN"), (summary.neg_inf, "-inf"), (summary.pos_inf, "+inf"))
    return " ".join(f"{word}×{count:,}" for count, word in counts if count)


def alert_data(run: Run, alert: Alert) -> dict[str, Any]:
    """The JSON form of one alert in `run`."""
    tensor = run.tensors[alert.index]
    frame = line_of(run, tensor.node)
    return {
        "rule": RULE,
        "run": run.call.number,
        "place": alert.run + 1,
        "tensor": str(tensor.name),
        "file": frame.file if frame else None,
        "line": frame.line if frame else None,
        "text": f"{tensor.op_type or 'An op'} gave {nonfinite_text(alert.summary)}",
        "execution": tensor.execution,
        "op_type": tensor.op_type,
        "nan": alert.summary.told("nan"),
        "neg_inf": alert.summary.told("neg_inf"),
        "pos_inf": alert.summary.told("pos_inf"),
        "size": alert.summary.told("size"),
    }
