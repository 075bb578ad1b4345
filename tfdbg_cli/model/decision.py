"""What the user at a stop decided: how the program goes on."""

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
    """How to get the values of a captured run, or of the run at which a watch stops."""

    AUTO = "auto"
    KEEP = "keep"  # taken during the run itself; a watch takes those of every run and drops them at the next one
    REPLAY = "replay"  # hold the state from before the run, and make the run again


class OnBenign(StrEnum):
    """What a watch does at a run whose NaN and infinities are all intended or harmless."""

    SKIP = "skip"  # go on, and ignore those places from then on
    STOP = "stop"


class OnHit(StrEnum):
    """Which workers of a job stop where the watch of one finds something."""

    ALL = "all"
    ONE = "one"  # that one
    NONE = "none"  # it is printed, and nobody is asked


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

    `keep` is how many runs before the hit keep their values, besides the hit. `bundle` is a new folder into which the
    bad run is saved before the prompt opens; empty for none. With `skip_update` the variables are then put back as
    they were before the run. `benign` applies to has_inf_or_nan only.
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
    """Save the next run as a bundle, from which it can be made again, in the new folder `path`, without a stop.

    With `force` it may exceed the budgets.
    """

    path: str
    force: bool = False


class Full(StrEnum):
    """What a recording does when its budget is used up."""

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
    """Run on in this thread, and stop in the middle of eager code after a step of `pace`; or before the next run of a
    session or function, if that comes first.
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


@dataclass(frozen=True, slots=True)
class Resume:
    """Run on as before somebody came from outside and had the program stop."""


@dataclass(frozen=True, slots=True)
class ByVisitor:
    """What somebody from outside has decided; what held before holds again when they have gone (`Resume`)."""

    decision: Decision


Decision: TypeAlias = (
    DebugRun | RunUntil | RecordRun | RecordRuns | ProfileRun | PlainRun | StepOn | RunTo | Continue | Detach | Abort
)
Outcome: TypeAlias = Decision | Resume | ByVisitor
