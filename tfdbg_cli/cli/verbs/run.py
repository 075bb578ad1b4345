"""`tfdbg run`: running a program and debugging it."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

from tfdbg_cli.api.attendance import attended
from tfdbg_cli.cli import launch
from tfdbg_cli.cli.launched_streams import launched_error, launched_output
from tfdbg_cli.cli.listen_options import add_listen_options, exit_code_of, reception_of
from tfdbg_cli.cli.live_lines import add_live_option, live_lines
from tfdbg_cli.cli.no_front_end import refuse_untold
from tfdbg_cli.cli.on_hit import add_on_hit_option, on_hit_of
from tfdbg_cli.cli.parser import Parser
from tfdbg_cli.cli.program_end import FIRED, ProgramEnd
from tfdbg_cli.cli.prompt import add_prompt_options, options_given
from tfdbg_cli.cli.record_options import add_record_options, record_of
from tfdbg_cli.cli.unattended import Unattended, add_unattended_option, bundle_for, unattended_of
from tfdbg_cli.cli.verbs import Program
from tfdbg_cli.commands.asked.rules_file import EVERY, STANDARD_RULES, rules_in
from tfdbg_cli.commands.asked.watch_decision import NO_FILTER, SKIPPING, watch_decision
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.decision import OnBenign, OnHit, RunUntil
from tfdbg_cli.process.standard_input import notice_readers
from tfdbg_cli.process.streams import say_on

HELP = "run a program and debug it"
_OTHER_FILTERS = "A filter of your own (`add_tensor_filter`) can ask for both."


def prepare_parser(parser: Parser) -> None:
    """Take a program, with what to watch it for."""
    parser.usage = (
        "tfdbg run --watch [OPTION]… SCRIPT [ARG]…\n       tfdbg run [OPTION]… SCRIPT [ARG]…\n"
        "       tfdbg run [OPTION]… -m MODULE [ARG]…"
    )
    parser.description = "Run a program as `python` would. Its functions, Keras models and sessions can be debugged."
    parser.takes_program = True
    parser.add_argument(
        "--watch",
        action="store_true",
        help="stop at the first run with a result, an applied gradient or an updated variable that is NaN or"
        " infinite: short for --until bad_result",
    )
    parser.add_argument(
        "--until",
        "-f",
        metavar="FILTER",
        action=_Once,
        default="",
        help="stop at the first run with a tensor that passes; -f, as `run -f` at the prompt, is the same",
    )
    add_prompt_options(parser)
    watch = parser.add_argument_group("with --watch or --until, as for `run -f` at the prompt")
    watch.add_argument("-fenn", metavar="REGEX", default="", help="nodes that the filter is not asked about")
    watch.add_argument("--keep", metavar="N", type=int, default=0, help="the values of the N runs before stay")
    watch.add_argument("--values", metavar="HOW", default="auto", help="auto, keep or replay")
    watch.add_argument("--bundle", metavar="PATH", default="", help="write the bad run to the new folder PATH")
    watch.add_argument("--skip-update", action="store_true", help="put the variables back as before the bad run")
    watch.add_argument(
        "--benign",
        metavar="skip|stop",
        default="",
        help="with --until has_inf_or_nan, at a run in which all that is not finite is made on purpose, or nothing"
        " comes of it: go on and leave those places out (skip, as without it), or stop",
    )
    rules = parser.add_argument_group("to have runs judged, while the program goes on")
    rules.add_argument(
        "--rules",
        metavar="FILE",
        default=None,
        help="the rules of this TOML file, a table a rule ([exploding_gradient] and the like); an empty one means"
        f" {', '.join(STANDARD_RULES[:-1])} and {STANDARD_RULES[-1]}. One run in {EVERY} is judged, or in N with"
        f" --every N; exit code {FIRED} when one fired and nobody was at a prompt",
    )
    rules.add_argument(
        "--trends",
        action="store_true",
        help=f"keep the norms of gradients, weights and updates of one run in {EVERY}, or in N with --every N, for"
        " `trends` at a prompt",
    )
    add_record_options(parser)
    add_live_option(parser)
    add_listen_options(parser)
    add_unattended_option(parser)
    add_on_hit_option(parser)
    parser.add_argument("-m", "--module", metavar="MODULE", help="run a module, as python -m does")


class _Once(argparse.Action):
    """Takes an option that can be given only once, since the second would replace the first."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        before = getattr(namespace, self.dest)
        if before and before != values:
            raise TfdbgError(f"{option_string} is given twice: a watch has one filter.", hint=_OTHER_FILTERS)
        setattr(namespace, self.dest, values)


def run(options: argparse.Namespace) -> Program:
    """The program, which ends as it would without us.

    Raises:
        TfdbgError: there is no such program, or the options make no sense.

    """
    program = options.program
    if options.module is None and not program:
        raise TfdbgError("No program is named.", hint="Write: tfdbg run SCRIPT [ARG]…, or tfdbg run -m MODULE [ARG]…")
    if options.module is not None:
        start = launch.module_program(options.module, program)
    else:
        start = launch.script_program(program[0], program[1:])
    rules = None if options.rules is None else rules_in(options.rules, options.every)
    if (rules is not None or options.trends) and options.stats_only:
        word = "--trends" if rules is None else "--rules"
        raise TfdbgError(f"{word} asks for values, and --stats-only leaves them out.")
    trends = (EVERY if options.every is None else options.every) if options.trends else 0
    if options.trends and trends < 1:
        raise TfdbgError(f"Of one run in {trends} no norms can be kept.", hint="--every 1 keeps those of every run.")
    unattended, on_hit = unattended_of(options), on_hit_of(options)
    refuse_untold(options)
    asked = options_given(options, watch_of(options, _bundle(options, unattended)), record_of(options))
    output = launched_output()  # the program may lead its own elsewhere
    asked = replace(asked, rules=rules, trends=trends, output=output)
    asked = replace(asked, live=live_lines(options), on_hit=on_hit)
    reception = reception_of(options, waits=unattended is Unattended.WAIT)
    if reception is not None:
        asked = replace(asked, seat=reception.seat)

    def debugged() -> int:
        say_on(launched_error())
        if reception is not None:
            reception.open()
        elif asked.script is None:
            notice_readers()
        if reception is not None and reception.dormant:
            launch.debug_on_demand(asked, reception.tensorflow_is_there)
        else:
            launch.debug_process(asked)
        end = ProgramEnd(asked, reception)
        end.expect()
        error: BaseException | None = None
        try:
            start()
        except SystemExit as ended:
            error = ended
            if rules is None or exit_code_of(ended) != 0:
                raise
        except BaseException as raised:
            error = raised
            raise
        finally:
            end.main_module_ends(error)
        return end.exit_code()

    return debugged


def _bundle(options: argparse.Namespace, unattended: Unattended) -> str:
    """The folder that the bad run is written to; empty for none."""
    if unattended is not Unattended.RECORD:
        return str(options.bundle)
    there = attended(options.ui or None) and options.listen is None and options.on_hit != OnHit.NONE
    return "" if there else bundle_for(options.module or options.program[0])


def watch_of(options: argparse.Namespace, bundle: str) -> RunUntil | None:
    """The watch that a program begins with, which writes the bad run to the folder `bundle` unless that is empty.

    Raises:
        TfdbgError: its options make no sense.

    """
    if options.watch and options.until:
        raise TfdbgError("--watch and --until exclude each other.", hint="--watch is short for --until bad_result.")
    if options.watch or options.until:
        name = options.until or "bad_result"
        if ":" in name:
            _require_parameter(name)
        return watch_decision(
            name,
            options.fenn,
            values=options.values,
            keep=options.keep,
            bundle=bundle,
            skip_update=options.skip_update,
            benign=options.benign or (OnBenign.SKIP.value if name == SKIPPING else ""),
        )
    described = options.fenn or options.keep or options.bundle or options.skip_update or options.benign
    if described or options.values != "auto":
        raise TfdbgError(
            NO_FILTER,
            hint="Write: tfdbg run --watch …, or tfdbg run --until FILTER …",
        )
    return None


def _require_parameter(name: str) -> None:
    """Raises TfdbgError where `name` is one of our filters with what is no number behind it."""
    from tfdbg_cli.analysis.watch.filters import BUILT_IN_FILTERS, filter_named  # NumPy comes with it

    if name.rpartition(":")[0] in BUILT_IN_FILTERS:
        filter_named(BUILT_IN_FILTERS, name)
