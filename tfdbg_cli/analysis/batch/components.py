"""The components of a batch: all that came in with it, row for row, such as inputs, labels and weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfdbg_cli.analysis.batch.batch_roles import BatchRoles
from tfdbg_cli.analysis.batch.rows import BatchRows
from tfdbg_cli.analysis.graph.lineage import tensor_name_of
from tfdbg_cli.model.names import parse_tensor_name
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.values import Array, NoValue, as_array

_FEWEST, _MOST_CHANNELS = 4, 4  # pixels of a side of what looks like an image; channels: grey, with alpha, RGB, RGBA


@dataclass(frozen=True)
class Component:
    """One part of a batch: what it is called, its value, what it is to the program where that is known.

    `fed` says that it is a feed or an argument; else it is a tensor of the run.
    """

    name: str
    value: Array
    role: str
    fed: bool

    def row(self, at: int) -> Array:
        """Its row at that place."""
        return self.value[at : at + 1].reshape(self.value.shape[1:])


def components(run: Run, batch: BatchRows) -> list[Component]:
    """What came in together with the batch: what was fed, or what the pipeline gave beside it, of as many rows.

    Of a sparse or ragged batch (`stored`), whose rows do not stand one below the other, there is none.
    """
    if batch.stored:
        return []
    captured = frozenset(argument.name for argument in run.call.arguments if argument.captured)
    roles = BatchRoles(run.graph, captured)
    found: list[Component] = []
    for text in run.call.given:
        value = _array(run.call.given[text])
        if value is not None and value.shape[:1] == (batch.size,):
            found.append(Component(text, value, _role(roles, text), fed=True))
    if found:
        return found
    source = parse_tensor_name(batch.source)
    rows = [] if source is None else run.tensors.named(source.node)
    last = {run.tensors[row].name: row for row in rows}
    for name, row in last.items():
        given = run.tensors.value(row)
        if not isinstance(given, NoValue) and given.shape[:1] == (batch.size,):
            found.append(Component(str(name), given, _role(roles, str(name)), fed=False))
    return found


def _array(fed: Any) -> Array | None:
    try:
        return None if fed is None or isinstance(fed, NoValue) else as_array(fed)
    except (ValueError, TypeError):  # rows of unequal length, or no array at all
        return None


def _role(roles: BatchRoles, text: str) -> str:
    role = roles.role(tensor_name_of(text))
    return "" if role is None else role.value


def looks_like_image(row: Array) -> bool:
    """Whether `row`, of one component, looks like a picture: height, width, and channels if it has any."""
    if row.dtype.kind not in "fiu" or row.ndim not in {2, 3} or min(row.shape[:2]) < _FEWEST:
        return False
    return row.ndim == 2 or row.shape[2] <= _MOST_CHANNELS
