"""The table of a document as CSV (RFC 4180), its numbers unrounded."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

from tfdbg_cli.document.jsonlines import standard
from tfdbg_cli.errors import TfdbgError


def csv_text(data: Mapping[str, Any], name: str) -> str:
    """The rows in `data`, which is the JSON form of a document called `name`.

    There is a column for each field, called `summary.nan` where one lies in another. A curve has a row for each step.

    Raises:
        TfdbgError: there are no rows in it, or several tables.

    """
    tables = {key: value for key, value in data.items() if _is_table(value)}
    if len(tables) != 1:
        what = f"{len(tables)} tables ({', '.join(tables)})" if tables else "no table"
        raise TfdbgError(f"There is {what} in `{name}` to write as CSV.", hint="Write to .json, .html or .txt.")
    rows = [dict(_flat(one)) for row in next(iter(tables.values())) for one in _by_step(row)]
    columns = dict.fromkeys(column for row in rows for column in row)
    file = io.StringIO()
    writer = csv.DictWriter(file, columns, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


def _is_table(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(row, Mapping) for row in value)


def _by_step(row: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """`row`, or a row for each part of it.

    A curve (`steps` and `values`) has a `step` and its `value` in each, what has `traces` a `trace`, without lists. A
    device with `executions` is told beside each of them; what adds them up is left out.
    """
    if _is_table(row.get("executions")):
        for execution in row["executions"]:
            yield {**{key: value for key, value in _without_lists(row).items() if key not in execution}, **execution}
        return
    if _is_table(row.get("traces")):
        for trace in row["traces"]:
            yield {**_without_lists(row), "trace": _without_lists(trace)}
        return
    steps, values = row.get("steps"), row.get("values")
    if not isinstance(steps, list | tuple) or not isinstance(values, list | tuple) or len(steps) != len(values):
        yield row
        return
    rest = {key: value for key, value in row.items() if key not in {"steps", "values"}}
    for step, value in zip(steps, values, strict=True):
        yield {**rest, "step": step, "value": value}


def _without_lists(row: Mapping[str, Any]) -> Mapping[str, Any]:
    return {key: value for key, value in row.items() if value is not None and not isinstance(value, list | tuple)}


def _flat(row: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in row.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", _cell(standard(value))


def _cell(value: Any) -> Any:
    """A list as its items, parted by blanks, so that a shape is one cell; what is not known is empty."""
    if isinstance(value, list):
        return " ".join("" if item is None else str(item) for item in value)
    return "" if value is None else value
