"""What a command sees: the stop, the run looked at, filters and settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from tfdbg_cli.analysis.filters import BUILT_IN_FILTERS, TensorFilter
from tfdbg_cli.analysis.tensor_query import Answers
from tfdbg_cli.config import Settings, save_setting, settable
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.graph import Graph
from tfdbg_cli.model.runs import Call, Opened, Run, RunEnd, RunStart, Stop
from tfdbg_cli.model.sources import Sources, Traceback
from tfdbg_cli.model.statistics import Summary, summarize
from tfdbg_cli.model.values import NoValue


@dataclass
class Memory:
    """What was computed at this prompt and would be computed again by a click on a column's head.

    `answers` holds what a filter said of tensors, by run, filter (its id, since it need not be hashable) and index;
    `summaries` are by run and index.
    """

    answers: dict[tuple[int, int], tuple[TensorFilter, Answers]] = field(default_factory=dict)
    summaries: dict[tuple[int, int], Summary | None] = field(default_factory=dict)


@dataclass
class Context:
    """The state of one prompt. `width` is the terminal's, None where output is not laid out for one.

    `on_setting` is called with the new settings after `config set`, so that a front end follows at once.
    """

    stop: Stop
    settings: Settings = field(default_factory=Settings)
    filters: Mapping[str, TensorFilter] = field(default_factory=lambda: BUILT_IN_FILTERS)
    width: int | None = None
    interactive: bool = True
    on_setting: Callable[[Settings], None] = lambda settings: None
    current: int = field(init=False)
    memory: Memory = field(default_factory=Memory, repr=False)

    def __post_init__(self) -> None:
        self.current = self.stop.current if isinstance(self.stop, Opened) else 0

    @property
    def run(self) -> Run:
        """The run looked at.

        Raises:
            TfdbgError: the run has not happened yet.

        """
        if isinstance(self.stop, RunEnd):
            return self.stop.run
        if isinstance(self.stop, Opened):
            return self.stop.runs[self.current]
        raise TfdbgError("This run has not happened yet, so there are no tensors.", hint="`run` (r) runs it.")

    @property
    def call(self) -> Call:
        """The call stopped at, before or after it ran."""
        return self.stop.call if isinstance(self.stop, RunStart) else self.run.call

    @property
    def graph(self) -> Graph:
        """The graph on show: before a run the program's, after it the one the tensors belong to."""
        return self.stop.graph if isinstance(self.stop, RunStart) else self.run.graph

    @property
    def tracebacks(self) -> Mapping[str, Traceback]:
        """Creation stacks by node name."""
        return self.stop.tracebacks if isinstance(self.stop, RunStart) else self.run.tracebacks

    @property
    def sources(self) -> Sources:
        """The source files on show."""
        return self.stop.sources if isinstance(self.stop, RunStart) else self.run.sources

    def answers(self, tensor_filter: TensorFilter) -> Answers:
        """What `tensor_filter` has said so far of the tensors of the run looked at."""
        return self.memory.answers.setdefault((self.current, id(tensor_filter)), (tensor_filter, {}))[1]

    def summary(self, index: int) -> Summary | None:
        """The summary of the tensor at `index`, computed once; None where there is no array."""
        key = self.current, index
        if key not in self.memory.summaries:
            value = self.run.tensors.value(index)
            self.memory.summaries[key] = None if isinstance(value, NoValue) else summarize(value)
        return self.memory.summaries[key]

    def filter(self, name: str) -> TensorFilter:
        """The filter called `name`.

        Raises:
            TfdbgError: there is none; the hint lists them.

        """
        found = self.filters.get(name)
        if found is None:
            raise TfdbgError(f"There is no filter {name!r}.", hint=f"Filters: {', '.join(sorted(self.filters))}.")
        return found

    def select_run(self, index: int) -> None:
        """Look at the run at `index` (0-based) of a recording.

        Raises:
            TfdbgError: not a recording, no such run in it, or it cannot be read.

        """
        if not isinstance(self.stop, Opened):
            raise TfdbgError("Only a recording holds several runs.", hint="`run` goes on to the next run.")
        if not 0 <= index < len(self.stop.runs):
            raise TfdbgError(f"There is no run {index + 1}: this recording holds {len(self.stop.runs)}.")
        self.stop.runs[index]  # where it cannot be read, the run looked at stays the one before
        self.current = index

    def set(self, name: str, text: str) -> None:
        """Change a setting for this program and keep it in the file.

        Raises:
            TfdbgError: no such setting, not a value of its type, or the file cannot be written.

        """
        self.settings = replace(self.settings, **{name: settable(name, text)})  # type: ignore[arg-type]
        self.on_setting(self.settings)
        save_setting(self.settings, name)
