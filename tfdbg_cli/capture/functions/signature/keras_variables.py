"""The variables of Keras 3 behind those of TensorFlow, which do not know them."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any
from weakref import ref

from tfdbg_cli.capture.living_objects import living_objects
from tfdbg_cli.process.interruptions import OUR_ERRORS_SUPPRESSED

_NAME = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*")  # what TensorFlow takes for the name of an op


class KerasVariables:
    """Finds the variable of Keras to which one of TensorFlow belongs.

    `layer.trainable = False` reaches the variable of Keras alone, and of a subclassed model it alone has the names of
    the layers. All objects of the program are looked through for it, a tenth of a second, once for variables that
    were not asked about before.
    """

    def __init__(self) -> None:
        # By the id of a variable: it, and that of Keras, None for one of the program's own.
        self._known: dict[int, tuple[ref[Any], ref[Any] | None]] = {}

    def frozen(self, variables: Sequence[Any]) -> set[int]:
        """The ids of those of `variables` that Keras does not train."""
        return {number for number, own in self._behind(variables) if not own.trainable}

    def paths(self, variables: Collection[Any]) -> Mapping[int, str]:
        """By the ids of those of `variables` that Keras made their paths (`net/dense/kernel`), if fit for an op."""
        found = {number: own.path for number, own in self._behind(variables)}
        return {number: path for number, path in found.items() if isinstance(path, str) and _NAME.fullmatch(path)}

    def _behind(self, variables: Collection[Any]) -> Iterator[tuple[int, Any]]:
        """The ids of those that Keras made, with the variables of Keras."""
        kind = getattr(sys.modules.get("keras"), "Variable", None)
        if not isinstance(kind, type):
            return
        if not all(map(self._knows, variables)):
            self._look(kind, variables)
        for one in variables:
            of = self._known[id(one)][1] if self._knows(one) else None
            own = of() if of is not None else None
            if own is not None:
                yield id(one), own

    def _knows(self, variable: Any) -> bool:
        known = self._known.get(id(variable))
        return known is not None and known[0]() is variable

    def _look(self, kind: type, variables: Collection[Any]) -> None:
        found = {number: known for number, known in self._known.items() if known[0]() is not None}
        wanted = {id(one): one for one in variables}
        found |= {number: (ref(one), None) for number, one in wanted.items()}
        for one in living_objects(kind):
            with OUR_ERRORS_SUPPRESSED:  # it is of another backend
                # To ask for its `value` would make one where it has none yet, and cast it amid a layer.
                number = id(vars(one).get("_value"))
                if number in wanted:
                    found[number] = ref(wanted[number]), ref(one)
        self._known = found


KERAS_VARIABLES = KerasVariables()
