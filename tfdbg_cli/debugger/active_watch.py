"""The watch that is on: what its runs are checked for, which of them are kept, what is done at a hit."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace

from tfdbg_cli.analysis.origin.benign import judged
from tfdbg_cli.analysis.origin.carried_over import CarriedOver
from tfdbg_cli.analysis.origin.dismissed import dismissed_in
from tfdbg_cli.analysis.origin.gone_past import GonePast
from tfdbg_cli.analysis.origin.ignoring import ignored_place
from tfdbg_cli.analysis.origin.origin_found import OnIntended
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.analysis.watch.filter import Among, Bad, TensorFilter
from tfdbg_cli.analysis.watch.filters import BUILT_IN_FILTERS, our_filter
from tfdbg_cli.analysis.watch.kept_runs import KeptRuns
from tfdbg_cli.analysis.watch.outcome import Harm, stop_after
from tfdbg_cli.analysis.watch.verdicts import nan_mask
from tfdbg_cli.analysis.watch.watch import Watch
from tfdbg_cli.capture.budget import memory_budget
from tfdbg_cli.capture.controller import WatchRequest
from tfdbg_cli.capture.failures import failed_times, report
from tfdbg_cli.capture.stores import without_files
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.debugger.interruption import CTRL_C
from tfdbg_cli.debugger.progress_line import Progress
from tfdbg_cli.debugger.run_saving import bundled_in_words
from tfdbg_cli.errors import TfdbgError, reason_of
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.decision import OnBenign, RunUntil, Values
from tfdbg_cli.model.exactness import Exactness
from tfdbg_cli.model.ignored import Ignored, IgnoredBy
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.other_processes import STARTED_ANEW
from tfdbg_cli.model.runs import Hit, Run, RunEnd
from tfdbg_cli.model.statistics import nonfinite_mask
from tfdbg_cli.model.units import bytes_text, count_text
from tfdbg_cli.model.updates import UPDATED_VARIABLE
from tfdbg_cli.model.values import NoValue
from tfdbg_cli.process.interruptions import our_errors

_EAGER = 20  # so many eager ops for each run of a session or function mean that the program computes eagerly
_VARIABLES_ALONE = " Of code that runs eagerly it asks the variables alone: `--until has_inf_or_nan` asks every op."
_FROM_BEFORE = "that was there before the run, or that the program wrote down"  # see `CarriedOver`
_MAY_BE_MEANT = (
    "In eager code it is not known yet whether the program makes finite numbers of this infinity, as by a maximum:"
    " `ignore` has the watch go past it."
)

# The request for a run that is only to be saved: hold the state from before it, check nothing in it.
RECORDED = WatchRequest("record", lambda datum, tensor: True, replayable=True)

# Exceptions by which a program learns that its data have ended or a worker is gone: a watch does not stop at them.
SIGNALS = frozenset({"OutOfRangeError", "AbortedError", "UnavailableError", "CancelledError"})


class ActiveWatch:
    """One watch, from the decision that began it to the stop that ends it.

    `line` shows its progress, `say` shows single messages. `ignored` are the ignored places of the process: those of
    the user apply to every watch, and with `benign` "skip" the watch adds harmless ones and applies those, too.
    `earlier` are runs from before the watch, which count among the `keep` runs that it keeps.
    """

    def __init__(
        self,
        decision: RunUntil,
        tensor_filter: TensorFilter,
        settings: Settings,
        line: Progress,
        say: Callable[[str], None],
        ignored: Ignored,
        earlier: Sequence[Run] = (),
    ) -> None:
        self.decision = decision
        self.watch = Watch(decision, tensor_filter, say, behind=stop_after(earlier[-1]) if earlier else None)
        self.watched = WatchRequest(
            decision.filter_name,
            tensor_filter,
            decision.exclude_node_names,
            Values.KEEP if decision.keep else decision.values,
            replayable=bool(decision.bundle) or decision.skip_update,
            all_runs=decision.keep > 0,
        )
        self._say = say
        self.harm: Harm | None = None  # why the last hit was not benign
        # What is benign is known for our own filter only, not for one of the user's that replaces has_inf_or_nan.
        skips = decision.benign is OnBenign.SKIP and our_filter(tensor_filter) is BUILT_IN_FILTERS["has_inf_or_nan"]
        self._ignored = ignored
        self._gone_past = GonePast()  # variables that were said to hold what they held before a run
        self._skips = skips
        ours = our_filter(tensor_filter)
        self._finds = Bad.NONE if ours is None else ours.finds
        self.watched = replace(self.watched, skips_intended=skips)
        self._leave_out()
        self._settings = settings
        self._kept = KeptRuns(decision.keep, memory_budget(settings), without_files) if decision.keep else None
        self._goes_on = bool(earlier)  # behind a stop
        self._failed_before = failed_times()
        for run in earlier:
            self.keep(run)
        self._line = line
        # Set when a run has begun since Ctrl-C: if it ends without values, the prompt opens before the next run.
        self.ends_without_values = False
        self._samples = self._makes = True
        line.begin(lambda: self.watch.words)

    def begins(self, number: int) -> WatchRequest:
        """Note that run `number` is about to be made, and return what to check in it."""
        self.watch.progress.begins(number)
        return self.watched

    def asks_as(self, other: WatchRequest | None) -> bool:
        """Whether this watch has the same filter and exclusions as `other`, the request of a run under way."""
        return other is not None and other.asks_as(self.watched)

    def sees(self, run: Run) -> Hit | None:
        """Count `run`, and return the hit to stop for, if there is one that is neither ignored nor benign."""
        if run.error is not None and run.error.type_name in SIGNALS:
            return None
        hit = self.watch.sees(run)
        if hit is not None and run.error is None and self._goes_past(run):
            hit = None
            self.watch.skipped(run)
        self.watch.progress.hear(run.exactness)
        if hit is not None:
            return replace(hit, left=self._gone_past.left)
        if self.watch.progress.wants_sample:
            self._sample(lambda: run)
        self._line.tick(lambda: self.watch.words)
        return None

    def _goes_past(self, run: Run) -> bool:
        """Whether what was found in `run` is nothing to stop for."""
        return self._is_fine_by_word(run) or self._is_as_before(run) or self._is_benign(run)

    def _is_as_before(self, run: Run) -> bool:
        """Whether what was found in `run` is only what its variables held before it."""
        ours = our_filter(self.watched.tensor_filter)
        if ours is None or ours.among is not Among.OUTCOME or not len(run.tensors):
            return False
        try:
            found = [row for row in range(len(run.tensors)) if self.watch.asks_for(run, row)]
            as_before = CarriedOver(run).names(found) if found else ()
        except our_errors() as error:  # then the hit is one
            report("look whether variables of a run hold what they held before", error)
            return False
        if not found or any(run.tensors[row].name not in as_before for row in found):
            return False
        self._say_as_before(run, as_before)
        return True

    def _say_as_before(self, run: Run, names: Iterable[TensorName]) -> None:
        """Say which variables hold bad numbers that `run` did not make, each once in a watch."""
        new = self._gone_past.new(run, names)
        if new:
            held = f"{', '.join(new)} hold{'s' * (len(new) == 1)} NaN or infinity"
            self._say(f"Run #{run.call.number}: {held} {_FROM_BEFORE}. The watch goes on.")

    def _is_benign(self, run: Run) -> bool:
        """Whether what was found in `run` is benign and to be skipped; if so, say so and ignore it from now on."""
        ignored = self._ignored
        self.harm = None
        if not self._skips or run.frames:  # in the middle of a run its consequences are not known yet
            return False
        try:
            judgement = judged(run, self.decision.exclude_node_names, dismissed_in(run, ignored.by_hand))
        except our_errors() as error:  # then the hit is one
            report("look whether a run was harmed", error)
            return False
        self.harm = judgement.harm
        if judgement.as_before:
            self._say_as_before(run, judgement.as_before)
        eager = run.call.kind is RunKind.EAGER  # names of eager ops vary from run to run, so lines identify places
        told = {place.title for place in ignored.places}
        new = () if judgement.harm else ignored.add(judgement.places, by_line=eager)
        if not new:
            return not judgement.harm and (eager or bool(judgement.as_before))
        if not eager:
            self._leave_out()
        self.watch.progress.said = ignored.words
        news = [place for place in new if place.title not in told]  # not those of other traces of a function
        if news:
            self._say(f"Run #{run.call.number}: {Ignored(news).words}. The watch goes on.")
        return True

    def _is_fine_by_word(self, run: Run) -> bool:
        """Whether what was found in `run` is there only because of what the user ignores."""
        by_hand = self._ignored.by_hand
        if self._finds is Bad.NONE or run.frames or not len(run.tensors):
            return False
        dismissed = dismissed_in(run, by_hand)
        if not dismissed:
            return False
        try:
            search = OriginSearch(
                run,
                nan_only=self._finds is Bad.NAN,
                exclude_node_names=self.decision.exclude_node_names,
                benign=OnIntended.SHOW,
                dismissed=dismissed,
            )
            search.all()  # finds what has a cause that is ignored
            left = any(self.watch.asks_for(run, row) for row in search.bad_rows())
        except our_errors() as error:  # then the hit is one
            report("look whether a run holds anything but what is ignored", error)
            return False
        held = {(run.call.place, run.tensors[row].node) for row in search.dismissals.rows}
        # If all that is dismissed had been ignored in this run already, the hit came from something else.
        if left or search.unread or held <= self.watch.ignored:
            return False
        for place in by_hand:
            if place.function == run.call.place:
                caused = tuple(node for node, key in search.dismissals.caused.items() if key == place.name)
                named = (*place.named, *caused) if place.by is IgnoredBy.CAUSE else place.named
                self._ignored.say(ignored_place(run, place.by, place.name, named, place.why, dismissed.held))
        self._leave_out()
        return True

    def _leave_out(self) -> None:
        """Apply the places that are ignored by now to the runs to come."""
        by_hand = self._ignored.by_hand
        places = self._ignored.places if self._skips else by_hand
        nodes = frozenset(
            (place.calls, node)
            for place in places
            for node in (place.nodes if self._finds is not Bad.NONE else place.named)
        )
        self.watch.ignored = nodes
        self.watched = replace(self.watched, ignored=nodes, by_hand=by_hand)

    def passed(
        self, number: int, make: Callable[[], Run], exactness: Exactness | None = None, looked_at: Hashable = None
    ) -> None:
        """Count run `number`, in which the checks inside it found nothing; `make` builds its Run, which may be slow.

        `exactness` is what is known of its numbers; `looked_at` is its `Call.looks_at`.
        """
        self.watch.passed(number, looked_at)
        self.watch.progress.ends(number)
        self.watch.progress.hear(exactness)
        if self._samples and self.watch.progress.wants_sample:
            self._sample(make)
        self._line.tick(lambda: self.watch.words)

    @property
    def room(self) -> int:
        """The bytes that values may take which are held beyond their run."""
        return memory_budget(self._settings)

    @property
    def keeps(self) -> bool:
        """Whether values of runs without a hit are kept, too."""
        return self._kept is not None

    def made(self, make: Callable[[], Run]) -> Run | None:
        """The run that `make` builds; None if it raises, which is reported the first time only."""
        try:
            return make()
        except our_errors() as error:  # the program goes on, and so does the watch
            if self._makes:
                report("keep the values of a watched run", error)
            self._makes = False
            return None

    def keep(self, run: Run) -> None:
        """Keep the values of a run in which nothing was found."""
        if self._kept is not None:
            self._kept.add(run)

    def end(self, run: Run, hit: Hit | None, interrupted: str = "") -> RunEnd:
        """The stop after `run`, with the runs kept before it; first write the bundle, and at a hit undo updates.

        `interrupted` says who ended the watch, if somebody did: Ctrl-C, which writes no bundle, or another worker.
        """
        notes: list[str] = []
        if interrupted and hit is None:
            notes.append(self.interrupted_words(interrupted))
        if hit is not None:
            notes += [f"The watch stopped here, since {self.harm.words}"] if self.harm else []
            notes += [_MAY_BE_MEANT] if self._skips and _stands_at_infinity(run) else []
            notes += self._inexact_before(run)
            notes += self._done(hit.noted(run))
        elif interrupted != CTRL_C and (interrupted or run.error is not None):
            notes += self._bundled(run)
        kept = () if self._kept is None else self._kept.runs
        if kept:
            runs = "The run before it is" if len(kept) == 1 else f"The {len(kept)} runs before it are"
            notes.append(f"{runs} kept: `older` steps back, `history TENSOR` shows one tensor over all.")
        if self._kept is not None and self._kept.crowded_out:
            notes.append(_too_few(self._kept))
        return RunEnd(run, hit, kept, tuple(notes))

    def _inexact_before(self, run: Run) -> list[str]:
        """That the program's own numbers differ, or may, since a run before `run`, where `run` does not tell so."""
        words, doubt = self.watch.progress.inexact, self.watch.progress.doubt
        if not words or (run.exactness is not None and run.exactness.words == words):
            return []
        return [f"The program's own numbers, by runs before this one: {words}. {doubt}".rstrip()]

    def seen_in_words(self, ops: int, elsewhere: int = 0, passed_over: int = 0) -> str:
        """A sentence on what was seen: runs of this watch, `ops` eager ops, `elsewhere` runs of other debuggers.

        Of the ops, `passed_over` passed the filter in the run in which the watch had stopped before.
        """
        name, runs = self.decision.filter_name, self.watch.runs + elsewhere
        if not runs and not ops:
            since = " since the last stop" if self._goes_on else ""
            return (
                f"Nothing was watched for {name}{since}: no run of a session or a function came to its end, "
                f"initializers aside, and no op of the program's own ran eagerly. {STARTED_ANEW}"
            )
        of_ops = f"{count_text(ops, 'op')} that ran eagerly"
        parts = [count_text(runs, "run")] * bool(runs) + [of_ops] * bool(ops)
        words, doubt = self.watch.progress.inexact, self.watch.progress.doubt
        inexact = f" The program's own numbers: {words}. {doubt}".rstrip() if words else ""
        # `fit` runs a few ops eagerly beside each of its steps: then they are not what the program computes with.
        few = _EAGER * (runs - self.watch.eager_runs)
        ours = our_filter(self.watched.tensor_filter) if ops > few else None
        alone = _VARIABLES_ALONE if ours is not None and ours.among is Among.OUTCOME else ""
        nothing = "Since the last stop nothing" if self._goes_on else "Nothing"
        failed = failed_times() - self._failed_before
        times = count_text(failed, "time")
        blind = f" tfdbg failed itself {times} meanwhile, as told above: it may not have seen all." if failed else ""
        but = f", but for {count_text(passed_over, 'op')} of the run in which it had stopped" if passed_over else ""
        return f"{nothing} passed {name} in {' and '.join(parts)}{but}{self._but_ignored}.{alone}{inexact}{blind}"

    def interrupted_words(self, by: str) -> str:
        """The last words of the watch that was ended by Ctrl-C, or by what else `by` names."""
        runs = self.watch.runs
        return (
            f"{by} ended the watch: nothing passed {self.decision.filter_name} in {count_text(runs, 'run')}"
            f"{self._but_ignored}."
        )

    @property
    def _but_ignored(self) -> str:
        """The ignored places in parentheses, for the end of a sentence; empty if there are none."""
        return f" ({self._ignored.words})" if self._ignored else ""

    def _sample(self, make: Callable[[], Run]) -> None:
        try:
            self.watch.progress.sample(make)
        except our_errors() as error:  # figures are worth less than the run
            self._samples = False
            report("look at the values of a watched run", error)

    def _done(self, run: Run) -> list[str]:
        """Write the bundle and put the variables back, as asked; sentences that say what was done or failed."""
        notes = self._bundled(run)
        if self.decision.skip_update:
            try:
                notes += _undone(run)
            except our_errors() as error:  # the program goes on
                notes.append(f"The variables are as the run left them: {reason_of(error)}")
        return notes

    def _bundled(self, run: Run) -> list[str]:
        run = replace(run, ignored=self._ignored.places)
        return list(bundled_in_words(run, self.decision, disk_budget=self._settings.disk_budget))


def _stands_at_infinity(run: Run) -> bool:
    """Whether the program stands amid `run` behind an op that gave an infinity, and no NaN: it may be meant so."""
    last = len(run.tensors) - 1
    if run.call.kind is not RunKind.EAGER or not run.unfinished or last < 0:
        return False
    rows = run.tensors.named(run.tensors[last].node)
    values = [value for row in rows if not isinstance(value := run.tensors.value(row), NoValue)]
    bad = [value for value in values if nonfinite_mask(value).any()]
    updated = run.tensors[last].op_type == UPDATED_VARIABLE  # then it is harmed
    return bool(bad) and not updated and not any(nan_mask(value).any() for value in bad)


def _undone(run: Run) -> tuple[str, ...]:
    """Put the variables back as they were before `run`."""
    if run.replayable is None:
        raise TfdbgError("The state from before this run was not held.")
    return ("The variables are as before this run.", *run.replayable.undo())


def _too_few(kept: KeptRuns) -> str:
    return (
        f"Memory was too little for {kept.most} runs: the values of one take up to {bytes_text(kept.largest)}, "
        f"and all may take {bytes_text(kept.room)}. `config set memory_budget` raises that."
    )
