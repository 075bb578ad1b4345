"""Rules judge one run in many while the program trains on: what they find is told at once, and at the end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from tfdbg_cli.analysis.graph.flow.last_update import line_of
from tfdbg_cli.analysis.origin.benign import judged as harm_judged
from tfdbg_cli.analysis.watch.filter import TensorFilter
from tfdbg_cli.analysis.watch.filters import BUILT_IN_FILTERS, filter_named, our_filter
from tfdbg_cli.analysis.watch.judging import Judging, looks_for_nan
from tfdbg_cli.debugger.one_in_many import OneInMany
from tfdbg_cli.errors import TfdbgError, reason_of
from tfdbg_cli.model.rules import JudgeRuns, Rule, RuleAlert
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.units import count_text
from tfdbg_cli.model.values import Value
from tfdbg_cli.process.interruptions import our_errors
from tfdbg_cli.process.streams import to_stderr

_MOST_ALERTS = 1_000
_NONE_JUDGED = (
    "Rules judged nothing: no run came of a function, of a session that the program has not wrapped itself, or of a"
    " loop that runs eagerly."
)


class RuleWatch:
    """Judges the runs that it takes. See `run_taker.RunTaker`."""

    unattended = False
    statistics = None  # a rule asks for values

    def __init__(
        self,
        filters: Callable[[], Mapping[str, TensorFilter]],
        stops: Callable[[Run, tuple[str, ...]], bool],
        describe: Callable[[Value, str], str],
        say: Callable[[str], None] | None = None,
    ) -> None:
        """Make one that judges by `filters()`, and tells what it finds by `say`, by default on standard error.

        `stops` opens the prompt on a run with sentences that say why, if somebody is there, and tells whether it did.
        `describe` says in a few words what a value with that dtype is.
        """
        self.unanswered = False  # whether a rule fired while nobody was at a prompt, or cannot be asked
        self._filters = filters
        self._stops = stops
        self._describe = describe
        self._say = say or to_stderr
        self._lock = threading.RLock()
        self._asked: JudgeRuns | None = None
        self._which = OneInMany(1)
        self._alerts: dict[tuple[str, str, str], RuleAlert] = {}  # by rule, function and tensor
        self._said: set[str] = set()
        self._began = False
        self._judged = 0
        self._left_out = 0  # alerts beyond the most
        self._unasked: dict[str, str] = {}  # by rule, why it cannot be asked

    def begin(self, asked: JudgeRuns) -> None:
        """Judge runs from now on."""
        self._asked, self._began, self._which = asked, True, OneInMany(asked.every)

    def end(self) -> None:
        """Judge no more runs; what was found is kept."""
        self._asked = None

    @property
    def on(self) -> bool:
        """Whether runs are judged."""
        return self._asked is not None

    @property
    def takes_some(self) -> bool:
        """Whether runs are left between those that are judged."""
        return self._which.some

    @property
    def alerts(self) -> tuple[RuleAlert, ...]:
        """What the rules have found, in the order in which it was."""
        with self._lock:
            return tuple(self._alerts.values())

    def wants(self, kind: object) -> bool:
        """Count a run that begins now; whether it is one of those that are judged."""
        return self._asked is not None and self._which.next(kind)

    def take(self, run: Run) -> None:
        """Ask all rules of `run`, and tell what is the first of its kind. Never raises."""
        asked = self._asked
        if asked is None:
            return
        self._judged += 1
        new: list[str] = []
        judging = Judging(run)
        for rule in sorted(asked.rules, key=self._comes_later):
            try:
                found = list(self._found(rule, run, judging))
            except TfdbgError as error:
                self._unasked[rule.name] = error.message
                self.unanswered = True  # a job must not pass for a rule that is misspelled
                self._tell_once(f"{rule.name}!", f"The rule {rule.name} is not asked: {error}")
            except our_errors() as error:  # a bug of ours must not end a training
                self._tell_once(f"{rule.name}!", f"The rule {rule.name} could not judge a run: {reason_of(error)}")
            else:
                new += self._noted(rule, found)
        if new:
            self._show(run, new)

    def _show(self, run: Run, sentences: list[str]) -> None:
        """Tell what fired for the first time: at the prompt if somebody is there, else on the way."""
        if run.error is None and self._stops(run, tuple(sentences)):
            return
        self.unanswered = True
        for sentence in sentences:
            self._say(sentence)

    def failed(self, run: Run) -> None:
        """Nothing: the debugger tells errors."""

    def missed(self, sentence: str) -> None:
        """Report why a run was not judged; the first time only."""
        self._tell_once("missed", f"{sentence} No rule has judged it.")

    def summary(self) -> str:
        """What the rules have found altogether, in a few lines; empty where none was to be asked."""
        if not self._judged:
            return _NONE_JUDGED if self._began else ""
        of = f"{self._judged:,} of {count_text(self._which.counted, 'run')}"
        if not self._alerts and not self._unasked:
            return f"Rules: none fired in {of}."
        lines = [f"Rules judged {of}:", *(f"  {name}: not asked. {why}" for name, why in self._unasked.items())]
        by_rule: dict[str, list[RuleAlert]] = {}
        for alert in self.alerts:
            by_rule.setdefault(alert.rule, []).append(alert)
        for rule, alerts in by_rule.items():
            first = min(alerts, key=lambda alert: alert.run)
            lines.append(f"  {rule}: {count_text(len(alerts), 'tensor')}, the first {_words(first)}")
        if self._left_out:
            lines.append(f"  {self._left_out:,} more were not kept.")
        return "\n".join(lines)

    def _comes_later(self, rule: Rule) -> bool:
        """Whether the rule comes behind those about NaN, since it leaves out what they tell."""
        try:
            return not looks_for_nan(filter_named(self._filters(), rule.filter_name))
        except TfdbgError:
            return True  # told when it is asked

    def _found(self, rule: Rule, run: Run, judging: Judging) -> Iterator[RuleAlert]:
        """The alerts of `rule` in `run`."""
        asked = filter_named(self._filters(), rule.filter_name)
        judged, store = judging.ask(rule, asked), run.tensors
        if judged.raised.count:
            first, error = judged.raised.first, judged.raised.error
            self._tell_once(f"{rule.name}!", f"The rule {rule.name} raised an error on {first}: {error}")
        whole = not rule.only and our_filter(asked) is BUILT_IN_FILTERS["has_inf_or_nan"]
        if whole and judged.passed and not _does_harm(run, rule):
            return
        for index in judged.passed:
            tensor, frame = store[index], line_of(run, store[index].node)
            yield RuleAlert(
                rule.name,
                run.call.number,
                run.call.place,
                str(tensor.name),
                tensor.execution,
                tensor.op_type,
                frame.file if frame else None,
                frame.line if frame else None,
                self._describe(store.value(index), tensor.dtype)
                + (f", {judged.scaled[index]} without the loss scale" if index in judged.scaled else ""),
                last_run=run.call.number,
            )

    def _noted(self, rule: Rule, found: list[RuleAlert]) -> list[str]:
        """Keep what was `found`; the sentence that says it if it is the first of the rule."""
        with self._lock:
            is_new = bool(found) and rule.name not in self._said
            self._said |= {rule.name} if is_new else set()
            for alert in found:
                key = alert.rule, alert.call, alert.tensor
                known = self._alerts.get(key)
                if known is not None:
                    if known.last_run != alert.run:
                        self._alerts[key] = replace(known, runs=known.runs + 1, last_run=alert.run)
                elif len(self._alerts) < _MOST_ALERTS:
                    self._alerts[key] = alert
                else:
                    self._left_out += 1
        more = f"; {count_text(len(found) - 1, 'more tensor')} of that run" if len(found) > 1 else ""
        return [f"Rule {rule.name}: {_words(found[0])}{more}."] if is_new else []

    def _tell_once(self, key: str, sentence: str) -> None:
        with self._lock:
            if key in self._said:
                return
            self._said.add(key)
        self._say(sentence)


def _does_harm(run: Run, rule: Rule) -> bool:
    """Whether not all NaN and infinities of `run` are made on purpose, or nothing comes of them, as a watch asks."""
    return bool(harm_judged(run, rule.exclude).harm)


def _words(alert: RuleAlert) -> str:
    """`MatMul:0 in run #3 (train.py:12): float32[3,2] …`."""
    place = "" if alert.file is None else f" ({alert.file.replace(chr(92), '/').rpartition('/')[2]}:{alert.line})"
    return f"{alert.tensor} in run #{alert.run}{place}, {alert.holds}"
