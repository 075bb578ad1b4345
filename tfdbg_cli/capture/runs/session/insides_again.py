"""What the functions that a run calls computed, put among values that were kept: of the run made once more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from tfdbg_cli.capture.controller import WatchRequest
from tfdbg_cli.capture.failures import report_bug
from tfdbg_cli.capture.replay.replayed import Replayed, difference
from tfdbg_cli.capture.runs.session.in_memory import shown_beside
from tfdbg_cli.capture.runs.watch_policy import fits, passes
from tfdbg_cli.capture.sessions.invocation import Invocation
from tfdbg_cli.capture.state.run_snapshot import RunSnapshot
from tfdbg_cli.capture.stores import asked_for, gathered
from tfdbg_cli.model.decision import CaptureRequest
from tfdbg_cli.model.gathered import Row
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Estimate, Run
from tfdbg_cli.model.tensors import TensorStore
from tfdbg_cli.model.values import NoValue
from tfdbg_cli.process.interruptions import our_errors

_AGAIN = (
    "What the functions that the run calls computed is of the same run made once more, from the state that was held "
    "before it; all else was kept while the run happened."
)
_MISSING = "What the functions that the run calls computed was checked, but it is not among the values that were kept"
_BY_REPLAY = "`run -f … --values replay` shows it, where the run can be made again."
NOT_KEPT = f"{_MISSING}. {_BY_REPLAY}"
_NOT_LOOKED_AT = f"What functions that the run calls computed is not among the values that were kept. {_BY_REPLAY}"
NO_WAY = _MISSING + ", and the run cannot be made again: {}."
_OTHERWISE = f"{_MISSING}: made once more, the run gave nothing that the watch asks for."
_FAILED = _MISSING + ": made once more, the run failed with {}."


@dataclass(frozen=True)
class WithInsides:
    """Values of a run with those from inside its calls, and what the screen says of that; or why they are missing.

    `lacks` is the sentence about what is missing; empty where nothing is.
    """

    tensors: TensorStore
    notes: tuple[str, ...] = ()
    lacks: str = ""


@dataclass(frozen=True)
class InsidesAgain:
    """Puts what the functions of a watched run computed among values that were looked at one by one.

    `needed` estimates the size of all values; where memory has no room for them, those that were kept stay alone.
    """

    invocation: Invocation
    watched: WatchRequest
    asked: CaptureRequest
    needed: Callable[[], Estimate]

    def put_among(self, run: Run, held: RunSnapshot) -> Run:
        """`run`; if it is a hit and each run is kept, with those values of the run made again from `held`."""
        if not self.watched.all_runs:
            return replace(run, inside_lacks=_NOT_LOOKED_AT)
        if not passes(run, self.watched.tensor_filter) or not fits(self.needed()):
            return run

        def replay() -> Replayed:
            replayed = held.replayed()
            return replace(replayed, tensors=asked_for(replayed.tensors, self.asked))

        def finds(again: Replayed) -> bool:
            return passes(replace(run, tensors=again.tensors), self.watched.tensor_filter)

        shown = shown_beside(self.invocation)
        run = replace(run, graph=shown.graph, tracebacks=shown.tracebacks)
        found = insides_of_hit(run.tensors, replay, finds)
        return replace(run, tensors=found.tensors, notes=(*run.notes, *found.notes), inside_lacks=found.lacks)


def insides_of_hit(
    kept: TensorStore, replay: Callable[[], Replayed], finds: Callable[[Replayed], bool]
) -> WithInsides:
    """The values `kept` of a hit, and among them those from inside its calls, which `replay` makes.

    `finds` is asked whether the run made again holds what the watch looks for: if not, it shows another run.
    """
    try:
        replayed = replay()
    except our_errors() as failure:  # what was kept is worth showing without them, too
        report_bug("make a run again", failure)
        return _without(kept, _FAILED.format(failure))
    if replayed.error is not None:
        return _without(kept, _FAILED.format(f"{replayed.error.type_name}: {replayed.error.message}"))
    if not finds(replayed):
        return _without(kept, _OTHERWISE)
    other = difference(kept, replayed.tensors)
    return WithInsides(merged(kept, replayed.tensors), (_AGAIN, other) if other else (_AGAIN,))


def merged(kept: TensorStore, again: TensorStore) -> TensorStore:
    """The tensors of `again` in their order, those that were `kept` with the values that they had then.

    What was kept alone stands before what stands behind it among the others that were kept.
    """
    places = {kept[row].name: row for row in range(len(kept))}
    alone = [row for row in range(len(kept)) if not again.named(kept[row].node, kept[row].slot)]
    rows: list[Row] = []
    for row in range(len(again)):
        place = _place(places, again[row].name, again[row].execution)
        while place is not None and alone and alone[0] < place:
            rows.append((kept, alone.pop(0)))
        known = place is not None and not isinstance(kept.value(place), NoValue)
        rows.append((kept, place) if place is not None and known else (again, row))
    return gathered([*rows, *((kept, row) for row in alone)])


def _place(places: dict[TensorName, int], name: TensorName, execution: int) -> int | None:
    return None if execution else places.get(name)


def _without(kept: TensorStore, why: str) -> WithInsides:
    return WithInsides(kept, (why,), why)
