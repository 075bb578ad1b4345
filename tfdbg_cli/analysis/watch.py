"""A watch: a filter asked after each of many runs, until a tensor passes."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from tfdbg_cli.analysis.datum import datum_of
from tfdbg_cli.analysis.filters import TensorFilter
from tfdbg_cli.model.runs import Run

_SECONDS_BETWEEN_WORDS = 30.0


class Watch:
    """Counts the runs it saw. Speaks by `say` every half minute, and once when the filter fails."""

    def __init__(
        self,
        filter_name: str,
        tensor_filter: TensorFilter,
        exclude_node_names: str,
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.filter_name = filter_name
        self.exclude_node_names = exclude_node_names
        self.runs = 0
        self._filter = tensor_filter
        self._excluded = re.compile(exclude_node_names) if exclude_node_names else None
        self._say = say
        self._clock = clock
        self._spoke = clock()
        self._complained = False

    def sees(self, run: Run) -> bool:
        """Whether a tensor of `run` passes the filter. A filter that raises does not pass, and is told of once."""
        self.runs += 1
        tensors = run.tensors
        passed = any(self._passes(run, index) for index in range(len(tensors)))
        if not passed and self._clock() - self._spoke >= _SECONDS_BETWEEN_WORDS:
            self._spoke = self._clock()
            self._say(f"{self.runs} runs watched, no tensor has passed {self.filter_name} yet.")
        return passed

    def _passes(self, run: Run, index: int) -> bool:
        tensor = run.tensors[index]
        if self._excluded is not None and self._excluded.search(tensor.node):
            return False
        value = run.tensors.value(index)
        try:
            return bool(self._filter(datum_of(run, index), value))
        except Exception as error:  # noqa: BLE001  # the filter is the user's
            if not self._complained:
                self._complained = True
                self._say(
                    f"The filter {self.filter_name} raised {type(error).__name__} on {tensor.name}: {error}. "
                    "Such tensors count as not passing."
                )
            return False
