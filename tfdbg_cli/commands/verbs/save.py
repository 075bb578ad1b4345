"""`save`: the runs of a stop, taken home as a recording."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.file_name import named_file
from tfdbg_cli.commands.registry import WITH_TENSORS, Argument, ArgumentKind, Command
from tfdbg_cli.commands.views.given_instead import pending_instead
from tfdbg_cli.document.document import Document, text_document
from tfdbg_cli.document.text import line
from tfdbg_cli.model.runs import Run

_NOT_THE_PROGRAMS = "This is no run of the program: somebody asked what another value would have given."


def _save(context: Context, options: argparse.Namespace) -> Document:
    path = named_file(options.path)
    from tfdbg_cli.formats.container.saving import save_runs  # few prompts write: the start does without

    runs = [_told_apart(context.to_save(run)) for run in ([context.run] if options.one else context.runs)]
    said: Sequence[str] = save_runs(
        runs,
        path,
        compressed=options.compress,
        disk_budget=context.settings.disk_budget,
        force=options.force,
    )
    said = [*said, *(one.text for run in runs for one in pending_instead(run))]
    made = sum(bool(run.what_if_title) for run in runs)
    if made:
        are = "is no run" if made == 1 else "are no runs"
        said = [*said, f"{made:,} of them {are} of the program, but of `again`."]
    data = {"path": str(path.absolute()), "runs": len(runs), "notes": list(said[1:])}
    return text_document("save", *map(line, said), data=data, title=options.path)


def _told_apart(run: Run) -> Run:
    """`run`, which says in its first notes what `set` changed, and in its call if it is not the program's own."""
    told = tuple(one.text for one in pending_instead(run))
    if told:
        run = replace(run, notes=(*told, *run.notes))
    if run.change is None:
        return run
    call = replace(run.call, replaced=tuple(map(str, run.change.replaced)))
    return replace(run, call=call, notes=(_NOT_THE_PROGRAMS, *run.notes))


COMMAND = Command(
    "save",
    (),
    "Save the runs of this stop as a recording.",
    _save,
    (
        Argument(("path",), "a folder that does not exist yet, or is empty", ArgumentKind.PATH, metavar="PATH"),
        Argument(("--one",), "only the run looked at", switch=True),
        Argument(("--compress",), "compress the values: slower to write and to read", switch=True),
        Argument(("--force",), "overrun the disk budget", switch=True),
    ),
    moments=WITH_TENSORS,
    section="Keep",
    details="""\
A recording holds every value that was captured, the graphs, tracebacks and sources, what the runs were fed, and their
errors. `tfdbg open PATH` shows it without TensorFlow. `docs/format.md` describes its files: the values lie in
safetensors files, which other tools read, too. A run cannot be made again from it, as it can from a `bundle`.

Examples:
  save ~/nan-in-step-1207
  run -f has_inf_or_nan --keep 5       then `save case` takes the five runs before the hit and the hit""",
    acts=True,
)
