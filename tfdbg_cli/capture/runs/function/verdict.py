"""The verdict on a run: whether the program got its own numbers, and whether the screen shows them."""

from __future__ import annotations

from dataclasses import replace

from tfdbg_cli.capture.functions.exact.agreement import Agreement
from tfdbg_cli.capture.functions.exact.proof import Proof
from tfdbg_cli.capture.runs.function.trials import Trials
from tfdbg_cli.model.exactness import Exactness, ExecutionWay

_IN_PLACE = (
    "Last digits may differ from those of an undebugged run: the values were taken in the program's own run, which "
    "can change what TensorFlow's optimizer makes of it{why}."
)
_SINCE = "; the run cannot be made again, since {}"
_UNTOLD = (
    "Last digits may differ from those of an undebugged run: TensorFlow does not tell what it makes of the function"
)
_MERGED = (
    "Last digits may differ from those of an undebugged run: with what was added to the function, TensorFlow makes "
    "other ops of it"
)
_TRIED = "{} runs from the same state, with and without us, gave the same bits."
_UNTRIED = "whether that changes a number could not be tried, since {}"
_NOT_YET = "no run was tried both ways yet"


def unchanged(shown: Agreement | None, note: str = "") -> Exactness:
    """The verdict on a run of the program's own function; `shown` compares it with the values on the screen."""
    return _with(Exactness(ExecutionWay.UNCHANGED, note=note), shown)


def in_place(reason: str, random: str = "") -> Exactness:
    """The verdict on a run whose values were taken while it happened; `reason` says why, empty: the user asked."""
    doubt = _IN_PLACE.format(why=_SINCE.format(reason) if reason else "")
    return Exactness(ExecutionWay.IN_PLACE, doubt=random or doubt)


def kept(proof: Proof, trials: Trials, reason: str) -> Exactness:
    """The verdict on a watched run that kept its values; `reason` says why, empty: the user asked for it."""
    found = beside(proof, trials, None)
    if not found.doubt or proof.instrumented.random_note:
        return found
    return replace(in_place(reason), strays=found.strays)


def beside(proof: Proof, trials: Trials, shown: Agreement | None, note: str = "") -> Exactness:
    """The verdict on a run of a function to which ops of ours were added; `shown` as in `unchanged`."""
    strays = tuple(trials.strays.values())
    found = Exactness(ExecutionWay.PROVEN if proof.holds else ExecutionWay.TRIED, strays=strays, note=note)
    random = proof.instrumented.random_note
    if random:
        found = Exactness(found.way, strays=strays, doubt=random, note=note)
    elif not proof.holds and not trials.sets_right and not _is_told_by(trials, proof):
        found = Exactness(found.way, strays=strays, doubt=_doubt(proof, trials), note=note)
    return _with(found, shown)


def _is_told_by(trials: Trials, proof: Proof) -> bool:
    """Whether trials can replace the proof: some were made, and the graphs, if known at all, show no difference."""
    return bool(trials.made) and (proof.comparison is None or proof.comparison.same)


def _doubt(proof: Proof, trials: Trials) -> str:
    what = _UNTOLD if proof.comparison is None or proof.comparison.same else _MERGED
    if trials.made:
        return f"{what}. {_TRIED.format(trials.made)}" if not trials.strays else f"{what}."
    return f"{what}, and {_UNTRIED.format(trials.reason) if trials.reason else _NOT_YET}."


def _with(found: Exactness, shown: Agreement | None) -> Exactness:
    if shown is None:
        return found
    return Exactness(found.way, shown.compared, shown.partings, found.strays, found.doubt, found.note)
