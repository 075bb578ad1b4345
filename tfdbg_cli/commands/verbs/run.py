"""`run`: how the program goes on."""

from __future__ import annotations

import argparse

from tfdbg_cli.commands.asked.arguments import excluded_nodes
from tfdbg_cli.commands.asked.patterns import search_text
from tfdbg_cli.commands.asked.watch_decision import watch_decision
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.registry import LIVE, Argument, ArgumentKind, Command
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.decision import (
    CaptureRequest,
    DebugRun,
    Decision,
    GraphChoice,
    OnBenign,
    PlainRun,
    ProfileRun,
    Values,
)

_WRITE_FILTER = "Write: run -f FILTER …"


def _run(context: Context, options: argparse.Namespace) -> Decision:
    _refuse_contradictions(options)
    capture = CaptureRequest(
        search_text(options.node_name_filter),
        search_text(options.op_type_filter),
        search_text(options.tensor_dtype_filter),
        GraphChoice(options.graph or context.settings.graph),
    )
    if options.no_debug:
        return PlainRun()
    if options.profile:
        return ProfileRun()
    if options.till_filter_pass:
        context.filter(options.till_filter_pass)
        return watch_decision(
            options.till_filter_pass,
            options.filter_exclude_node_names,
            capture,
            force=options.force,
            values=options.values,
            keep=options.keep,
            bundle=options.bundle,
            skip_update=options.skip_update,
            benign=options.benign,
        )
    return DebugRun(capture, options.times, options.force, Values(options.values))


def _refuse_contradictions(options: argparse.Namespace) -> None:
    if options.times < 1:
        raise TfdbgError(f"-t counts runs from 1; {options.times} is too few.", hint="`run -t 10` stops at the 10th.")
    if options.filter_exclude_node_names and not options.till_filter_pass:
        raise TfdbgError("-fenn narrows a filter, and none is given.", hint="Write: run -f FILTER -fenn REGEX")
    of_watch = {
        "--keep": options.keep,
        "--bundle": options.bundle,
        "--skip-update": options.skip_update,
        "--benign": options.benign,
    }
    for flag, given in of_watch.items():
        if given and not options.till_filter_pass:
            raise TfdbgError(
                f"{flag} is about the run that a filter stops at, and none is given.", hint=_WRITE_FILTER
            )
    ways = {
        "-n": options.no_debug,
        "-p": options.profile,
        "-f": bool(options.till_filter_pass),
        "-t": options.times != 1,
    }
    chosen = [flag for flag, given in ways.items() if given]
    if len(chosen) > 1:
        raise TfdbgError(f"{' and '.join(chosen)} exclude each other.", hint="Give one of -n, -t, -f, -p.")
    narrowed = options.node_name_filter or options.op_type_filter or options.tensor_dtype_filter
    if narrowed and (options.no_debug or options.profile):
        raise TfdbgError(f"{chosen[0]} captures no tensors, so there is nothing to filter.")


COMMAND = Command(
    "run",
    ("r",),
    "Run the program on, and say where to stop next.",
    _run,
    (
        Argument(("-n", "--no_debug"), "run once without debugging; stop before the next run", switch=True),
        Argument(("-t", "--times"), "stop at the end of the N-th run from here", metavar="N", type=int, default=1),
        Argument(
            ("-f", "--till_filter_pass"),
            "run until a tensor passes FILTER",
            ArgumentKind.FILTER,
            metavar="FILTER",
            default="",
        ),
        excluded_nodes("nodes that the filter is not asked about"),
        Argument(
            ("--keep",),
            "with -f: the values of the N runs before the hit stay, as far as memory allows",
            metavar="N",
            type=int,
            default=0,
        ),
        Argument(
            ("--values",),
            "how the values come to be there: taken while the program's run happens (of every run, with -f), or of "
            "the run made again on a copy of its state",
            choices=tuple(map(str, Values)),
            default=Values.AUTO.value,
        ),
        Argument(
            ("--bundle",),
            "with -f: write the bad run to the new folder PATH, with what it takes to make it again",
            ArgumentKind.PATH,
            metavar="PATH",
            default="",
        ),
        Argument(("--skip-update",), "with -f: put the variables back as they were before the bad run", switch=True),
        Argument(
            ("--benign",),
            "with -f has_inf_or_nan: go on where all that is not finite is made on purpose, or what comes out is "
            "finite all the same, and leave those places out (`ignored`); or stop there, as without it",
            choices=tuple(map(str, OnBenign)),
            default="",
        ),
        Argument(("--node_name_filter",), "capture only these nodes", ArgumentKind.NODE, metavar="REGEX", default=""),
        Argument(
            ("--op_type_filter",), "capture only these op types", ArgumentKind.OP_TYPE, metavar="REGEX", default=""
        ),
        Argument(
            ("--tensor_dtype_filter",), "capture only these dtypes", ArgumentKind.DTYPE, metavar="REGEX", default=""
        ),
        Argument(("-p", "--profile"), "time every op instead of capturing values", switch=True),
        Argument(
            ("--graph",),
            "which graph to show: the one the runtime executes (inside loops too, slower), the one the program "
            "built, or auto",
            choices=("auto", "runtime", "python"),
            default="",
        ),
        Argument(("--force",), "capture although the estimate exceeds the budget", switch=True),
    ),
    moments=LIVE,
    section="Go on",
    details="""\
Without flags the next run is captured and the prompt opens when it is over.
Where it is stopped in the middle, as by a breakpoint in eager code, `run` goes on to its end, or to that of the run
of a function or session that begins before.
Regexes search anywhere in the name.

While runs are watched, Ctrl-C opens the prompt after the current run. tfdbg's own filters are checked inside the run:
bad_result, has_inf_or_nan, has_nan and those of training at little cost, the others in up to twice the time of the
run. A filter of the program's own is asked of all values of every run, which takes several times as long. `filters`
lists them all.

Examples:
  run                        capture the next run
  run -t 10                  leave 9 runs alone, capture the 10th
  run -f bad_result          run until a result, an applied gradient or an updated variable is NaN or infinite
                             (not one that only holds what it held before; what is put into a queue is a result)
  run -f has_inf_or_nan      run until any tensor is
  run -f has_nan --keep 5    the same for NaN; the 5 runs before it stay (`older`, `history`)
  run -f has_nan --bundle b  and write the bad run to the folder b (`tfdbg replay b`)
  run --node_name_filter '^loss/' --tensor_dtype_filter float""",
)
