"""What a watch of eager code lets pass since the user ignores it: ops, and bad values that follow from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from tfdbg_cli.analysis.watch.verdicts import nan_mask
from tfdbg_cli.capture.runs.eager.intended_infinities import place_of_stack
from tfdbg_cli.capture.runs.eager.log.noted_ops import Noted, Taken
from tfdbg_cli.capture.tf.compat import EagerTensor, dtype_number, host_array, tensor_id
from tfdbg_cli.capture.tf.types import OpInput
from tfdbg_cli.model.dtypes import HANDLE_NUMBERS
from tfdbg_cli.model.ignored import IgnoredBy, IgnoredPlace

_MOST_KNOWN = 50_000


class IgnoredOps:
    """Follows the outputs of ignored ops from op to op, by the ids of tensors and of handles of variables.

    An op counts as ignored if it has the type and the source line of one that the user ignored, or the name of one,
    or is in the scope of an ignored layer.
    """

    def __init__(self, places: Iterable[IgnoredPlace], is_bad: Callable[[OpInput], bool]) -> None:
        """Ignore `places`; `is_bad` says whether an input of an op holds non-finite numbers."""
        self._lines: set[tuple[str, int, str]] = set()
        self._names: set[str] = set()
        self._layers: list[tuple[str, ...]] = []
        self._functions: set[str] = set()
        for place in places:
            self._functions.add(place.function)
            if place.by is IgnoredBy.LAYER:
                self._layers.append(tuple(place.name.split("/")))
            elif place.file and place.line is not None:
                self._lines.add((place.file, place.line, place.op_type))
            self._names.update(place.named)
        self._is_bad = is_bad
        self._fine: set[int] = set()
        self._before: set[int] = set()

    def __bool__(self) -> bool:
        return bool(self._names or self._layers)

    def excuses(self, op: Noted, inputs: Sequence[OpInput], outputs: Sequence[Taken]) -> bool:
        """Whether the bad values in `outputs` of `op` count as fine; if so, note it, for the ops that read them.

        They do where `op` is ignored, or where every bad input counts as fine already. But NaN that `op` made out of
        infinities does not: that is a new fault.
        """
        if not self.means(op):
            makes_nan = any(_has_nan(value) for _, _, value in outputs)
            if not self.are_to_blame(inputs) or (makes_nan and not any(map(_given_nan, inputs))):
                return False
        self._note(key for key, _, _ in outputs)
        return True

    def excuses_variable(self, op: Noted, inputs: Sequence[OpInput], handle: EagerTensor) -> bool:
        """Whether the bad values that `op` left in the variable of `handle` count as fine; if so, note it."""
        others = [given for given in inputs if given is not handle]
        if not self.means(op) and not self.are_to_blame(others):
            return False
        self._note([tensor_id(handle)])
        return True

    def gave(self, function: str, outputs: Iterable[Taken]) -> None:
        """Count the outputs of a call of the graph function `function` as fine if a place in it is ignored."""
        if function in self._functions:
            self._note(key for key, _, _ in outputs)

    def follows(self, inputs: Sequence[OpInput]) -> bool:
        """Whether something that counts as fine is among `inputs`."""
        return any(self._is_fine(given) for given in inputs)

    def are_to_blame(self, inputs: Sequence[OpInput]) -> bool:
        """Whether all that is bad among `inputs` counts as fine, and something is."""
        return self.follows(inputs) and not any(self._is_bad(given) and not self._is_fine(given) for given in inputs)

    def means(self, op: Noted) -> bool:
        """Whether `op` itself is one that the user ignores."""
        if self._lines and (*place_of_stack(op.stack), op.op_type) in self._lines:
            return True
        name = op.name
        parts = tuple(name.split("/"))
        return name in self._names or any(
            parts[at : at + len(layer)] == layer for layer in self._layers for at in range(len(parts))
        )

    def _is_fine(self, given: OpInput) -> bool:
        tensor = given if type(given) is EagerTensor else getattr(given, "handle", None)
        if type(tensor) is not EagerTensor:
            return False
        key = tensor_id(tensor)
        return key in self._fine or key in self._before

    def _note(self, keys: Iterable[int]) -> None:
        self._fine.update(keys)
        if len(self._fine) > _MOST_KNOWN:  # those that are known longest are forgotten
            self._before, self._fine = self._fine, set()


def _given_nan(given: OpInput) -> bool:
    if type(given) is EagerTensor:
        return dtype_number(given) not in HANDLE_NUMBERS and _has_nan(host_array(given))
    return hasattr(given, "handle") or _has_nan(given)  # a variable: what is in it was judged at its update


def _has_nan(value: Any) -> bool:
    try:
        return value is not None and bool(nan_mask(np.asarray(value)).any())
    except (TypeError, ValueError):  # no numbers
        return False
