"""What a watch has gone past: variables that runs left not finite without having computed that."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable

from tfdbg_cli.analysis.graph.flow.last_update import line_of
from tfdbg_cli.analysis.origin.carried_over import variables_among
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import LeftVariable, Run
from tfdbg_cli.model.values import Array, known_array

_MOST = 100  # variables of which it is known what they held


class GonePast:
    """The variables that one watch went past, each once: where a later run reads them is known, then, since when."""

    def __init__(self) -> None:
        self._told: set[tuple[Hashable, str]] = set()  # the calls, and the name that these have for the variable
        self._left: list[LeftVariable] = []

    @property
    def left(self) -> tuple[LeftVariable, ...]:
        """What runs left in them, the first run first."""
        return tuple(self._left)

    def new(self, run: Run, names: Iterable[TensorName]) -> list[str]:
        """Note the variables that the tensors `names` show, as `run` left them; the names of new ones."""
        found: dict[str, TensorName] = {}
        for name in names:
            for variable in variables_among(run, [name]):
                if (run.call.place, variable) not in self._told:
                    found.setdefault(variable, name)
        for variable, name in found.items():
            self._told.add((run.call.place, variable))
            rows = run.tensors.named(name.node, name.slot)
            value = known_array(run.tensors.value(rows[-1])) if rows and len(self._left) < _MOST else None
            if value is not None:
                frame = line_of(run, name.node)
                self._left.append(LeftVariable(run.call.number, variable, fingerprint(value), frame))
        return sorted(found)


def fingerprint(value: Array) -> bytes:
    """What tells `value` from any other: equal for the same bits in the same shape and dtype."""
    kind = f"{value.dtype.str} {value.shape}".encode()
    return hashlib.blake2b(kind + value.tobytes(), digest_size=16).digest()
