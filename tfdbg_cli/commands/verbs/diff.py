"""`diff`: two runs beside each other, and where they part."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from tfdbg_cli.analysis.difference.tolerance import EXACT, Tolerance
from tfdbg_cli.commands.asked.computed_again import base_at, base_of
from tfdbg_cli.commands.asked.run_choice import names_run, place_of_run
from tfdbg_cli.commands.context import HOW_TO_KEEP_RUNS, Context
from tfdbg_cli.commands.registry import WITH_TENSORS, Argument, ArgumentKind, Command
from tfdbg_cli.commands.replaying import how_to_replay
from tfdbg_cli.commands.views.difference.own_graphs import has_both_graphs, own_graphs_document
from tfdbg_cli.commands.views.difference.recordings import (
    DiffRequest,
    Recorded,
    compared,
    opened_recording,
    replicas_compared,
)
from tfdbg_cli.document.document import Document
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.runs import Opened, Run

_ONE_GRAPH = "There is no other run to compare with, and of this one no second graph is known."
_BOTH_GRAPHS = "`run --graph runtime` captures a run with both: as the program built it, and as it ran."
_OTHER_RECORDING = "`tfdbg diff A B --graphs` compares two recordings."


def _diff(context: Context, options: argparse.Namespace) -> Document:
    if options.graphs and not options.first and _is_alone(context):
        if has_both_graphs(context.run):
            return own_graphs_document(context.run)
        if len(context.runs) == 1:
            opened = isinstance(context.stop, Opened)
            raise TfdbgError(_ONE_GRAPH, hint=_OTHER_RECORDING if opened else _BOTH_GRAPHS)
    if options.replicas is not None:
        return _replicas(context, options)
    first, second = _asked_for(context, [word for word in (options.first, options.second) if word])
    tolerance = Tolerance(options.rtol, options.atol)
    if not tolerance.asked and any(_made_again(item.runs) for item in (first, second)):
        tolerance = EXACT  # what was not computed again is the same to the last bit
    asked = DiffRequest(tolerance, options.map, options.run, options.graphs, options.node_name_filter)
    return compared(first, second, asked, context.run)[0]


def _replicas(context: Context, options: argparse.Namespace) -> Document:
    """Replicas of the run that is named, else of the one looked at, or of each run of a recording."""
    if options.second:
        raise TfdbgError("Replicas of one run are compared.", hint="Write: diff 3 --replicas 0 1")
    word = options.first or ""
    recorded = opened_recording(word) if word and not names_run(word) else None
    if recorded is None:
        recorded = _numbered(context, word) if word else _here(context, context.current)
    asked = DiffRequest(
        Tolerance(options.rtol, options.atol), options.map, options.run, options.graphs, options.node_name_filter
    )
    return replicas_compared(recorded, options.replicas, asked, context.run)[0]


def _is_alone(context: Context) -> bool:
    """Whether the run looked at has no other that `diff` would compare it with; a graph of a file never has."""
    run = context.run
    alone = context.current == 0 and not run.what_if_title and not context.made_count
    return run.call.kind is RunKind.GRAPH or alone


def _made_again(runs: Sequence[Run]) -> bool:
    return isinstance(runs, tuple) and bool(runs[0].what_if_title)


def _asked_for(context: Context, words: list[str]) -> tuple[Recorded, Recorded]:
    """What to compare: two runs by number, two recordings by path, or the run looked at with one of them."""
    if not words:
        first, second = _pair(context)
        return _here(context, first), _here(context, second)
    if len(words) == 1 and names_run(words[0]):
        return _numbered(context, words[0]), _here(context, context.current)
    found = [_numbered(context, word) if names_run(word) else opened_recording(word) for word in words]
    if len(found) == 2:
        return found[0], found[1]
    return _here(context, context.current), _of_its_number(found[0], context.run)


def _of_its_number(recording: Recorded, run: Run) -> Recorded:
    """Of several runs of a recording that with the number of `run`; of one that one; checkpoints count otherwise."""
    if len(recording.runs) == 1 or recording.runs[-1].call.kind is RunKind.CHECKPOINT:
        return recording
    for other in recording.runs:
        if other.call.number == run.call.number:
            return Recorded((other,), recording.name)
    raise TfdbgError(
        f"There is no run #{run.call.number} in {recording.name}.", hint="`runs N` looks at another run first."
    )


def _numbered(context: Context, word: str) -> Recorded:
    place, count = place_of_run(context, word), len(context.runs)
    if not 0 <= place < count:
        raise TfdbgError(f"There is no run {word}: the last one here is {count}.", hint="`runs` lists them.")
    return _here(context, place)


def _here(context: Context, place: int) -> Recorded:
    return Recorded((context.runs[place],), "")


def _pair(context: Context) -> tuple[int, int]:
    """The places of the two runs that are meant: the one looked at and the one that it was made of, or before it."""
    if context.run.what_if_title:
        return base_of(context), context.current
    places = range(len(context.runs) - context.made_count, len(context.runs))
    made = [place for place in places if base_at(context, place) == context.current]
    if made:
        return context.current, made[-1]
    if context.current > 0:
        return context.current - 1, context.current
    if len(context.runs) > 1:
        hint = "`diff 1 2` compares it with the one after it."
        raise TfdbgError("There is no other run before this one to compare with.", hint=hint)
    hint = "`set TENSOR EXPRESSION` and `again` make one of this run."
    if context.run.what_if is None:
        hint = how_to_replay(context.run) if isinstance(context.stop, Opened) else HOW_TO_KEEP_RUNS
    raise TfdbgError("There is no other run to compare with.", hint=hint)


COMMAND = Command(
    "diff",
    ("compare", "cmp"),
    "Show where two runs, or recordings, part, and all that differs.",
    _diff,
    (
        Argument(
            ("first",),
            "a run, counted as `runs` does or by its number (#26), or a recording, or one run of it (old#26)",
            ArgumentKind.PATH,
            metavar="A",
            nargs="?",
        ),
        Argument(("second",), "another one", ArgumentKind.PATH, metavar="B", nargs="?"),
        Argument(
            ("-n", "--node_name_filter"), "list only these nodes", ArgumentKind.NODE, metavar="REGEX", default=""
        ),
        Argument(("--rtol",), "relative difference that does not count", metavar="R", type=float),
        Argument(("--atol",), "absolute difference that does not count", metavar="T", type=float),
        Argument(
            ("--map",),
            "a file of lines NAME_A NAME_B: nodes that are pairs",
            ArgumentKind.PATH,
            metavar="FILE",
            default="",
        ),
        Argument(("--graphs",), "list what sets the graphs apart, too", switch=True),
        Argument(("--run",), "of two recordings only the runs #N", metavar="N", type=int),
        Argument(("--replicas",), "two replicas of a run, counted from 0", metavar="K", type=int, nargs="*"),
    ),
    moments=WITH_TENSORS,
    graph=True,
    details="""\
Without A and B the run looked at is compared with the one it was made of by `again`, else with the one before it;
with one of them, that one is compared with the run looked at. Of recordings with several runs the first pair that
differs is shown.

Tensors are pairs by their names; where names differ, by their place in the graph, then by what they hold. The first
divergence is the first tensor, in the order of execution, that differs though its inputs do not, or by more than
rounding of its inputs can explain. Without --rtol and --atol a few steps of the coarser element type do not count; a
run made by `again` is compared to the last bit. A NaN equals a NaN.

A line of the map is two names. The first may be a regular expression that is all of a name, and \\1 in the second is
what its first group found: model/(.*) net/\\1

Of two runs of different workers of a job what all workers are to share is compared: what they get from one another,
the weights, and what is computed of these alone. What comes of the batch of each differs by nature, and is counted.

With --replicas the replicas of one run are compared, which tf.distribute's MirroredStrategy runs side by side: two
of them, one beside the first, or without numbers each one beside the first. What comes of the part of the batch that
each was given differs by nature, too; the reduced gradients, and the copies of each variable, are to be the same.

--graphs alone, where there is no other run, compares the graph that the program built with the one that TensorFlow
made of it: which ops it removed, folded into constants, fused or moved, and those it added. Beside a checkpoint the
variables of a run are compared.

Examples:
  diff                     the program's run and what `again` made of it
  diff 3 5 --rtol 1e-5     two of the runs that `runs` lists
  diff old#1 new#2         one run of each of two recordings
  diff --replicas          each replica of this run beside the first one
  diff 3 --replicas 0 2    two replicas of another run
  diff ../other/dump       this run and that of another recording
  diff model.ckpt-7        its variables and those of a checkpoint
  diff --graphs            what became of the program's graph""",
)
