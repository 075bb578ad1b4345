"""The JSON form of a difference."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tfdbg_cli.analysis.difference.compared import Gap, TensorFate, Verdict
from tfdbg_cli.analysis.difference.compared_recordings import Compared
from tfdbg_cli.analysis.difference.comparison import Comparison
from tfdbg_cli.analysis.difference.graph_changes import GraphChange
from tfdbg_cli.analysis.graph.flow.last_update import line_of


def difference_data(compared: Compared, listed: Sequence[Verdict], graphs: bool) -> Mapping[str, Any]:
    """`first`, the counts `different` and `equal`, the names `only_a` and `only_b`, and `pairs`, the worst first."""
    comparison = compared.comparison
    counts, pairs = comparison.counts, comparison.pairs
    different = len(comparison.differing)
    first, second = comparison.runs
    data: dict[str, Any] = {
        "first": None if comparison.first is None else _first(comparison, comparison.first),
        "different": different,
        "equal": len(pairs.rows) - different - counts[TensorFate.UNKNOWN],
        "only_a": [str(first.tensors[row].name) for row in pairs.only_first],
        "only_b": [str(second.tensors[row].name) for row in pairs.only_second],
        "zeros": len(comparison.judge.signed_zeros),
        "rounding": counts[TensorFate.ROUNDED],
        "grown": counts[TensorFate.GROWN],
        "other_way": counts[TensorFate.OTHER_WAY],
        "own_data": counts[TensorFate.OWN_DATA],
        "unknown": counts[TensorFate.UNKNOWN],
        "damaged": [one.name for one in compared.damaged],
        "runs_damaged": sorted({number for one in compared.damaged for number in one.runs}),
        "growth": [
            {"a": _name(comparison, one, 0), "relative": one.gap.errors.relative, "factor": one.growth}
            for one in comparison.way_of_growth()
            if one.gap is not None
        ],
        "precision": None if comparison.precision is None else _precision(comparison),
        "run_a": first.call.number,
        "run_b": second.call.number,
        "runs_compared": compared.count,
        "runs_paired": compared.pairs,
        "runs_single": compared.single,
        "runs_untold": compared.silent,
        "unused_map_lines": list(compared.unused_lines),
        "pairs": [_pair(comparison, one) for one in listed],
    }
    if graphs:
        data["graphs"] = graph_data(comparison.graph_changes)
    return data


def graph_data(changes: Iterable[GraphChange]) -> list[dict[str, Any]]:
    """What sets two graphs apart, in JSON's form."""
    return [
        {
            "what": str(change.what),
            "a": change.first or None,
            "b": change.second or None,
            "op_type": change.op_type,
            "text": change.text,
        }
        for change in changes
    ]


def _first(comparison: Comparison, one: Verdict) -> dict[str, Any]:
    places: dict[str, Any] = {}
    for side, run, row in zip("ab", comparison.runs, one.rows, strict=True):
        frame = line_of(run, run.tensors[row].node)
        places[f"file_{side}"] = frame.file if frame else None
        places[f"line_{side}"] = frame.line if frame else None
    return {
        **_pair(comparison, one),
        **places,
        "inputs": [
            {"a": item.names[0], "b": item.names[1], "is": str(item.state), "other": item.other, **_errors(item.gap)}
            for item in comparison.inputs(one)
        ],
    }


def _pair(comparison: Comparison, one: Verdict) -> dict[str, Any]:
    first, second = (run.tensors[row] for run, row in zip(comparison.runs, one.rows, strict=True))
    return {
        "a": str(first.name),
        "b": str(second.name),
        "execution": first.execution,
        "device_a": first.device,
        "device_b": second.device,
        "op_type": first.op_type,
        "is": str(one.state),
        **_errors(one.gap),
    }


def _errors(gap: Gap | None) -> dict[str, Any]:
    if gap is None:
        return {}
    errors = gap.errors
    # Where all that differs is NaN or infinite on one side, no number says how far: 0 would say that they are equal.
    told = not errors.beyond or errors.max_abs > 0
    return {
        "change": str(gap.change),
        "differing": errors.beyond,
        "size": errors.size,
        "max_abs": errors.max_abs if told else None,
        "max_rel": errors.max_rel if told else None,
        "max_ulp": errors.max_ulp if told else None,
    }


def _precision(comparison: Comparison) -> dict[str, Any]:
    assert comparison.precision is not None
    found: dict[str, Any] = {}
    for side, run, row in zip("ab", comparison.runs, comparison.precision, strict=True):
        tensor = run.tensors[row]
        found |= {side: str(tensor.name), f"dtype_{side}": tensor.dtype}
    return found


def _name(comparison: Comparison, one: Verdict, side: int) -> str:
    return str(comparison.runs[side].tensors[one.rows[side]].name)
