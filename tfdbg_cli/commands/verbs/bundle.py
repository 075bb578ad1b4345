"""`bundle`, `record` and `undo`: taking a run home, and taking it back."""

from __future__ import annotations

import argparse
import functools
import itertools
from dataclasses import replace
from pathlib import Path

from tfdbg_cli.commands.asked.record_decision import record_decision
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.file_name import named_file
from tfdbg_cli.commands.registry import LIVE, WITH_TENSORS, Argument, ArgumentKind, Command, Moment, Outcome
from tfdbg_cli.document.document import Document, text_document
from tfdbg_cli.document.text import line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.bundles.writer import refuse_unless_free
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.decision import RecordRun
from tfdbg_cli.model.runs import Opened

_PATH = Argument(("path",), "a folder that does not exist yet, or is empty", ArgumentKind.PATH, metavar="PATH")
_PATH_OR_NONE = replace(_PATH, help=f"{_PATH.help}; without one bundle_of_run_N, here", nargs="?", default="")
_FORCE = Argument(("--force",), "overrun the disk budget, and replace a bundle that is there", switch=True)


def _bundle(context: Context, options: argparse.Namespace) -> Document:
    path = named_file(options.path or _free_name(context.call.number))
    if isinstance(context.stop, Opened) and context.run.replayable is None and not options.values:
        raise TfdbgError(
            "This is a recording, from which its run cannot be made again.",
            hint="A bundle is copied as the folder that it is; `bundle --values PATH` saves the values of one run.",
        )
    if not options.values:
        context.require_program("A bundle needs", hint="`bundle --values PATH` saves what was sent of this run.")
    # Few prompts write: the start does without.
    from tfdbg_cli.analysis.origin.blamed import blamed_in
    from tfdbg_cli.formats.bundles.saving import save_bundle, save_values

    save = save_values if options.values else functools.partial(save_bundle, blame=blamed_in)
    change = None if options.values else context.run.change
    run = context.to_save(context.run if change is None else change.base)
    run = replace(run, ignored=context.ignored.places)
    said = save(run, path, disk_budget=context.settings.disk_budget, force=options.force)
    if change is not None:
        said = (*said, "It is the run of the program: what `set` replaced is not in it.")
    data = {"path": str(path.absolute()), "repeatable": not options.values, "notes": list(said[1:])}
    return text_document("bundle", *map(line, said), data=data, title=options.path or path.name)


def _free_name(run: int) -> str:
    """A name that nothing here has yet."""
    plain = f"bundle_of_run_{run}"
    further = (f"{plain}_{number}" for number in itertools.count(2))
    return next(name for name in itertools.chain([plain], further) if not Path(name).exists())


def _record(context: Context, options: argparse.Namespace) -> Outcome:
    path = str(named_file(options.path))
    every, some = options.every, options.only or options.layer or options.stats_only
    if every is None and not (some or options.budget or options.compress or options.worker):
        refuse_unless_free(Path(path), replace=options.force)
        return RecordRun(path, options.force)
    if options.force:
        raise TfdbgError("--force is for a bundle of one run.", hint="--budget says how much a recording may take.")
    return record_decision(
        path,
        every=1 if every is None else every,
        only=options.only,
        layer=options.layer,
        stats_only=options.stats_only,
        budget=options.budget,
        compress=options.compress,
        worker=options.worker,
    )


def _undo(context: Context, options: argparse.Namespace) -> Document:
    held = context.run.replayable
    if held is None and context.run.call.kind is RunKind.EAGER:
        raise TfdbgError(
            "What ran eagerly is not undone: between its ops ran Python.",
            hint="In the middle of a run `set VARIABLE VALUE` gives a variable another value.",
        )
    if held is None:
        context.require_program("To put variables back takes")
        raise TfdbgError(
            "The state from before this run was not held, so it cannot be put back.",
            hint="`run -f FILTER --skip-update` holds it, and puts it back at a hit.",
        )
    lacks = held.undo()
    done = f"The variables are as they were before run #{context.call.number}."
    if lacks:
        done = f"The variables are as they were before run #{context.call.number}, but for this:"
    lines = [line(done), *(line(f"  {lack}") for lack in lacks)]
    return text_document("undo", *lines, data={"run": context.call.number, "not_undone": list(lacks)}, title="undo")


COMMANDS = (
    Command(
        "bundle",
        (),
        "Save this run with all that it takes to make it again.",
        _bundle,
        (
            _PATH_OR_NONE,
            _FORCE,
            Argument(("--values",), "save what was recorded only; the run cannot be made again from it", switch=True),
        ),
        moments=WITH_TENSORS,
        section="Keep",
        details="""\
A bundle is a folder: the arguments or feeds, the variables from before the run, random numbers and batches that it
drew, the graph, the sources, every value that was captured, and a short script. `tfdbg replay PATH` makes the run
again, on another machine too, and opens the debugger; `tfdbg open PATH` shows it without TensorFlow.

Examples:
  bundle                                in a new folder here, by the number of the run
  bundle ~/nan-in-step-1207
  run -f has_inf_or_nan --bundle nan    write it at the hit, before the prompt opens""",
        acts=True,
    ),
    Command(
        "record",
        (),
        "Run on; save the next run as a bundle, or record runs, without a stop.",
        _record,
        (
            _PATH,
            _FORCE,
            Argument(("--every",), "the next run and every N-th after it", metavar="N", type=int, default=None),
            Argument(("--only",), "values of these nodes alone", ArgumentKind.NODE, metavar="REGEX", default=""),
            Argument(("--layer",), "values of this layer alone", ArgumentKind.LAYER, metavar="NAME", default=""),
            Argument(
                ("--stats-only",), "statistics by TensorFlow; no values but those of --only and --layer", switch=True
            ),
            Argument(("--budget",), "bytes that a recording may take, such as 4G", metavar="SIZE", default=""),
            Argument(("--compress",), "compress the values of a recording", switch=True),
            Argument(
                ("--worker",), "which worker of a job this is, if TF_CONFIG does not say", metavar="NAME", default=""
            ),
        ),
        moments=LIVE,
        section="Keep",
        details="""\
Of a run that cannot be made again the values are saved, and why is said. Then the program runs on, as after
`continue`.

With --every, or another of the options behind it, runs are recorded from the next one on: their values, or statistics
and the values of a selection. With --stats-only TensorFlow computes the statistics of functions while they run, which
costs far less than to capture every value and count. `tfdbg open PATH` shows them, while the program runs, too. When
the budget is used up the oldest runs give way. Workers of one job record in the same PATH, and open as one recording.

Examples:
  record case                          the next run, with what it takes to make it again
  record runs --every 100              one run in a hundred, all values
  record runs --every 1 --only grad    every run: values of gradients, statistics of the rest
  record runs --stats-only --only grad    the same, with statistics that TensorFlow computes""",
        acts=True,
    ),
    Command(
        "undo",
        (),
        "Put the variables back as they were before this run.",
        _undo,
        moments=frozenset({Moment.RUN_END, Moment.PAUSED}),
        section="Keep",
        details="The program sees them so when it goes on: after a poisoned update it can train on, or be saved.",
        acts=True,
    ),
)
