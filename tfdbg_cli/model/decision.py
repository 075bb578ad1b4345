"""What the person at a stop decided: how the program goes on."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from tfdbg_cli.model.pausing import Pace, Place


class GraphChoice(StrEnum):
    """Which graph a capture shows."""

    AUTO = "auto"
    RUNTIME = "runtime"
    PYTHON = "python"


@dataclass(frozen=True, slots=True)
class CaptureRequest:
    """Which tensors of a run to take. The regexes search anywhere in the name; empty ones admit everything."""

    node_name_filter: str = ""
    op_type_filter: str = ""
    tensor_dtype_filter: str = ""
    graph: GraphChoice = GraphChoice.AUTO

    @property
    def narrowed(self) -> bool:
        """Whether a filter leaves tensors out."""
        return bool(self.node_name_filter or self.op_type_filter or self.tensor_dtype_filter)


class Values(StrEnum):
    """How the values of a captured run, or of the run that a watch ends at, come to be there."""

    AUTO = "auto"
    KEEP = "keep"  # they are taken while the run happens; in a watch, of every run, and thrown away by the next one
    REPLAY = "replay"  # the state before the run is held, and the run is made again


class OnBenign(StrEnum):
    """What a watch does at a run in which all that is not finite is meant so, or nothing comes of it."""

    SKIP = "skip"  # go on, and leave those places out from then on
    STOP = "stop"


@dataclass(frozen=True, slots=True)
class DebugRun:
    """Run with capture and stop at the end; before it, `times - 1` runs are left alone."""

    capture: CaptureRequest = CaptureRequest()
    times: int = 1
    force: bool = False  # capture even though the estimate exceeds the budget
    values: Values = Values.AUTO


@dataclass(frozen=True, slots=True)
class RunUntil:
    """Run again and again until a tensor passes `filter_name`.

    `keep` more runs before the hit keep their values. With `bundle` the run is written there, a new folder, before
    the prompt opens. With `skip_update` the variables are put back as they were before the run. `benign` is about
    has_inf_or_nan.
    """

    filter_name: str
    exclude_node_names: str = ""
    capture: CaptureRequest = CaptureRequest()
    force: bool = False
    values: Values = Values.AUTO
    keep: int = 0
    bundle: str = ""
    skip_update: bool = False
    benign: OnBenign = OnBenign.STOP


@dataclass(frozen=True, slots=True)
class RecordRun:
    """Save the next run, with what it takes to make it again, in the new folder `path`, without a stop.

    With `force` it may overrun the budgets.
    """

    path: str
    force: bool = False


class Full(StrEnum):
    """What a recording does that has taken its budget."""

    DROP = "drop"  # the oldest runs give way
    STOP = "stop"  # no more is recorded


@dataclass(frozen=True, slots=True)
class RecordRuns:
    """Run on without stopping, and record the first run and every `every`-th after it in the new folder `path`.

    With `only` (a regex, searched in node names) or `layer` values of those tensors alone are recorded, and
    statistics of the others. With `stats_only` TensorFlow computes these where it can, and without a selection there
    are no values. `budget` are the bytes that the recording may take (0: half of what is free), `full` says what
    happens when it has. `worker` is what this process is called among the workers of a job, which share the folder;
    empty where TF_CONFIG says it, or it is none.
    """

    path: str
    every: int = 1
    only: str = ""
    layer: str = ""
    stats_only: bool = False
    budget: int = 0
    full: Full = Full.DROP
    compress: bool = False
    worker: str = ""


@dataclass(frozen=True, slots=True)
class ProfileRun:
    """Run once with timings instead of values."""


@dataclass(frozen=True, slots=True)
class PlainRun:
    """Run once without debugging and stop before the next run."""


@dataclass(frozen=True, slots=True)
class StepOn:
    """Run on in code that runs eagerly, in this thread, and stop in its middle after a step; before a run of another
    kind, if one comes first.
    """

    pace: Pace = Pace.OP


@dataclass(frozen=True, slots=True)
class RunTo:
    """Run on, and stop behind the next op at `place` that runs eagerly."""

    place: Place


@dataclass(frozen=True, slots=True)
class Continue:
    """Run on without stopping; an error of an op still opens the prompt."""


@dataclass(frozen=True, slots=True)
class Detach:
    """Run on as if the debugger were not there."""


@dataclass(frozen=True, slots=True)
class Abort:
    """End the program, as Ctrl-C would: KeyboardInterrupt in the thread that called the run."""


@dataclass(frozen=True, slots=True)
class StopAtStart:
    """Stop before the next run: where a program begins, and where `run -n` leads. `notes` are shown there."""

    notes: tuple[str, ...] = ()


Decision: TypeAlias = (
    DebugRun | RunUntil | RecordRun | RecordRuns | ProfileRun | PlainRun | StepOn | RunTo | Continue | Detach | Abort
)
