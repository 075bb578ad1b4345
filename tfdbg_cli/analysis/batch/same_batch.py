"""What belongs to one batch, of what an eager run was given several times by one name.

A turn of a loop may take several batches, as one that trains a critic more often than the generator, or adds up
the gradients of parts of a batch. What the program calls `x` each time is `x`, `x_1` and so on in the run.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping

from tfdbg_cli.analysis.batch.alongside import Alongside
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.names import tensor_name_of
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.values import Array

_NUMBERED = re.compile(r"_\d+(?=:|$)")
_NAMELESS = "input"  # what the program has no name for is called that


def of_same_batch(run: Run, source: str, given: Mapping[str, Array], beside: Alongside) -> dict[str, Array]:
    """`given` without what belongs to other batches than `source`; all of it in a run that is not eager.

    Of several by one name it is what meets the batch, and else the one that is read nearest in time to the batch, if
    that is read no nearer to another one.
    """
    if run.call.kind is not RunKind.EAGER:
        return dict(given)
    groups: dict[tuple[str, str, object], list[str]] = defaultdict(list)
    for name, value in given.items():
        groups[_called(name, given), str(value.dtype), value.shape].append(name)
    batch = next((name for name in given if tensor_name_of(name) == tensor_name_of(source)), None)
    mates = next((group for group in groups.values() if batch in group), [])
    others: set[str] = set()
    for group in groups.values():
        if batch is not None and len(group) > 1:
            meet = {name for name in group if name == batch or beside.meets(name)}
            others.update(set(group) - (meet or _nearest(run, batch, mates, group)))
    return {name: value for name, value in given.items() if name not in others}


def _called(name: str, given: Mapping[str, Array]) -> str:
    """What the program calls it: `x` of `x_1`, where something is called `x`; the name itself of what has none."""
    own = _NUMBERED.sub("", name)
    return own if own in given and tensor_name_of(own).node != _NAMELESS else name


def _nearest(run: Run, batch: str, mates: list[str], group: list[str]) -> set[str]:
    """What of `group` belongs to `batch`, by the time at which each is read; `mates` are all batches."""
    read_at = {name: _read_at(run, name) for name in (*mates, *group)}
    found = {
        name
        for name in group
        if batch == min(mates, key=lambda mate: abs(read_at[mate] - read_at[name]), default=batch)
    }
    return {min(found, key=lambda name: abs(read_at[batch] - read_at[name]))} if found else set()


def _read_at(run: Run, name: str) -> int:
    """The place in the run of the first tensor that is made of it."""
    readers = run.graph.consumers(tensor_name_of(name).node)
    return min((made for reader, _ in readers for made in run.tensors.named(reader.name)), default=0)
