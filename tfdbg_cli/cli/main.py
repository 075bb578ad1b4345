"""The program `tfdbg`: the one place where errors become messages and exit codes.

Little is imported here: a program that sets environment variables for NumPy or TensorFlow must come first.
"""

from __future__ import annotations

import argparse
import gc
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NoReturn

from tfdbg_cli.api.launch_options import LaunchOptions, set_launch_options
from tfdbg_cli.commands.views.watch_decision import SKIPPING, watch_decision
from tfdbg_cli.document.plain import harmless
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.line.script import Script
from tfdbg_cli.line.stream import to_stderr, write
from tfdbg_cli.model.decision import OnBenign, RunUntil
from tfdbg_cli.version import __version__

if TYPE_CHECKING:
    from tfdbg_cli.model.runs import Opened

Job = Callable[[], int]

_UIS = ("tui", "line", "none")
_VERBS = ("run", "open", "replay", "info")
_PLANNED = ("diff", "attach", "listen")
_OF_WATCH = ("-fenn", "--keep", "--values", "--bundle", "--benign")  # go with --until, and have a value
_WITH_VALUE = ("--ui", "-c", "--command", "--until", *_OF_WATCH, "-m", "--module")
_INTERRUPTED = 130  # 128 + SIGINT, as shells have it
_MANY_OBJECTS = 100_000
_MOST_COMMANDS = 3  # named of those that were not used


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line asks; 0 when fine, 1 for the user's mistake, 2 when tfdbg could not work.

    A program under `tfdbg run` ends as it would without us: its exceptions and exit code pass through.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        job = _job(words)
    except TfdbgError as error:
        return _failed(error)
    if words[0] == "run":
        return job()
    if sys.stdout is None:
        return _failed(TfdbgError("Standard output is closed, so nothing can be shown.", exit_code=2))
    try:
        code = job()
        sys.stdout.flush()
        return code
    except TfdbgError as error:
        return _failed(error)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:  # nobody reads our output any more (`| head`)
        _discard_output()
        return 0
    except OSError as error:  # such as a full disk behind `> FILE`
        _discard_output()
        return _failed(TfdbgError(f"Cannot go on: {error.strerror or error}.", exit_code=2))


def _job(words: list[str]) -> Job:
    """What `words` ask for.

    Raises:
        TfdbgError: they make no sense.

    """
    if words and words[0] in _PLANNED:
        raise TfdbgError(f"`tfdbg {words[0]}` does not exist yet.", hint="See `tfdbg --help`.", exit_code=2)
    if words and words[0] not in _VERBS and not words[0].startswith("-"):
        raise TfdbgError(f"There is no verb {words[0]!r}.", hint=_meant(words[0]))
    own, program = _split(words)
    options = _parser().parse_args(own)
    if options.verb == "run":
        return _run(options, program)
    if options.verb == "open":
        return lambda: _open(options)
    if options.verb == "replay":
        return lambda: _replay(options)
    if options.verb == "info":
        return _info
    _parser().print_help(sys.stderr)
    raise TfdbgError("Nothing to do.", hint="Write: tfdbg run SCRIPT, or tfdbg open PATH.")


def _meant(word: str) -> str:
    """What somebody may have wanted who began with `word` instead of a verb."""
    if os.path.isdir(word):  # noqa: PTH112  # pathlib costs a tenth of the start
        return f"Did you mean `tfdbg open {shlex.quote(word)}`?"
    if os.path.exists(word):  # noqa: PTH110
        return f"Did you mean `tfdbg run {shlex.quote(word)}`?"
    return f"Verbs: {', '.join(_VERBS)}."


def _split(words: list[str]) -> tuple[list[str], list[str]]:
    """The words of ours and, after `run`, those of the program: its options are none of our business."""
    if words[:1] != ["run"]:
        return words, []
    at = 1
    while at < len(words) and words[at].startswith("-") and words[at] != "-":
        word = words[at]
        if word == "--":
            return words[:at], words[at + 1 :]
        at += 2 if word in _WITH_VALUE else 1
        if word.startswith(("-m", "--module")):
            break
    return words[:at], words[at:]


class _Parser(argparse.ArgumentParser):
    """argparse whose errors are those of tfdbg."""

    def error(self, message: str) -> NoReturn:
        raise TfdbgError(f"{message[:1].upper()}{message[1:]}.", hint=f"See `{self.prog} --help`.")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="tfdbg", description="The terminal debugger for TensorFlow.", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"tfdbg {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", parser_class=_Parser)
    run = verbs.add_parser(
        "run",
        allow_abbrev=False,
        help="run a program and debug it",
        usage="tfdbg run --watch [OPTION]… SCRIPT [ARG]…\n       tfdbg run [OPTION]… SCRIPT [ARG]…\n"
        "       tfdbg run [OPTION]… -m MODULE [ARG]…",
        description="Run a program as `python` would. Its functions, Keras models and sessions can be debugged.",
    )
    run.add_argument(
        "--watch",
        action="store_true",
        help="stop at the first run with a result, an applied gradient or an updated variable that is NaN or"
        " infinite: short for --until bad_result",
    )
    run.add_argument("--until", metavar="FILTER", default="", help="stop at the first run with a tensor that passes")
    _add_prompt_options(run)
    watch = run.add_argument_group("with --watch or --until, as for `run -f` at the prompt")
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
    run.add_argument("-m", "--module", metavar="MODULE", help="run a module, as python -m does")
    opened = verbs.add_parser(
        "open",
        allow_abbrev=False,
        help="look at runs on disk",
        description="Look at runs on disk. TensorFlow is not needed.",
    )
    opened.add_argument("path", metavar="PATH", help="a dump directory of one run, or a folder of many")
    _add_prompt_options(opened)
    replay = verbs.add_parser(
        "replay",
        allow_abbrev=False,
        help="make the run of a bundle again and look at it",
        description="Make the run of a bundle again, on copies of its variables, and look at its values."
        " The exit code is 1 when it does not come out as it was. A bundle whose ops may reach files, the network,"
        " Python or other processes is refused unless it is trusted.",
    )
    replay.add_argument("path", metavar="BUNDLE", help="a folder that `bundle`, `run --bundle` or `record` wrote")
    replay.add_argument("--trust", action="store_true", help="run what may reach outside, too: I know who made it")
    replay.add_argument("--eager", action="store_true", help="walk through it, op by op")
    _add_prompt_options(replay)
    verbs.add_parser("info", help="print versions, paths and what is known about the terminal")
    return parser


def _add_prompt_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ui", choices=_UIS, default="", help="full screen, line prompt, or -c commands only")
    parser.add_argument(
        "-c", "--command", action="append", metavar="CMD", dest="commands", help="run CMD at the prompt; repeatable"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object a line for each command")


def _launch_options(options: argparse.Namespace) -> LaunchOptions:
    script = Script(options.commands) if options.commands else None
    until = _until(options) if options.verb == "run" else None
    return LaunchOptions(options.ui, script, until, options.json, sys.stdout)


def _until(options: argparse.Namespace) -> RunUntil | None:
    """The watch that a program begins with.

    Raises:
        TfdbgError: its options make no sense.

    """
    if options.watch and options.until:
        raise TfdbgError("--watch and --until exclude each other.", hint="--watch is short for --until bad_result.")
    if options.watch or options.until:
        name = options.until or "bad_result"
        return watch_decision(
            name,
            options.fenn,
            values=options.values,
            keep=options.keep,
            bundle=options.bundle,
            skip_update=options.skip_update,
            benign=options.benign or (OnBenign.SKIP.value if name == SKIPPING else ""),
        )
    described = options.fenn or options.keep or options.bundle or options.skip_update or options.benign
    if described or options.values != "auto":
        raise TfdbgError(
            "A watch is described, and no filter named.",
            hint="Write: tfdbg run --watch …, or tfdbg run --until FILTER …",
        )
    return None


def _run(options: argparse.Namespace, program: list[str]) -> Job:
    from tfdbg_cli.cli import launch

    if options.module is None and not program:
        raise TfdbgError("No program is named.", hint="Write: tfdbg run SCRIPT [ARG]…, or tfdbg run -m MODULE [ARG]…")
    if options.module is not None:
        start = launch.module_program(options.module, program)
    else:
        start = launch.script_program(program[0], program[1:])
    asked = _launch_options(options)

    def job() -> int:
        launch.debug_process(asked)
        try:
            start()
        finally:
            said = launch.program_ended()
            if said:
                to_stderr(said)
            if asked.script is not None and asked.script.left:
                to_stderr(f"The program ended before these commands were used: {_first_of(asked.script.left)}.")
        return 0

    return job


def _first_of(commands: Sequence[str]) -> str:
    """The first of `commands`, and how many more there are."""
    more = len(commands) - _MOST_COMMANDS
    return "; ".join(commands[:_MOST_COMMANDS]) + (f"; … {more} more" if more > 0 else "")


def _open(options: argparse.Namespace) -> int:
    # A recording is many small objects that stay: looking through them for garbage takes a tenth of the time.
    gc.set_threshold(_MANY_OBJECTS)
    from tfdbg_cli.formats.opening import open_path

    set_launch_options(_launch_options(options))
    return _looked_at(open_path(options.path))


def _replay(options: argparse.Namespace) -> int:
    from tfdbg_cli.cli.replay import STEPPER, replayed, steps_of

    if options.eager:
        options.commands = options.commands and [STEPPER, *options.commands]
        set_launch_options(_launch_options(options))
        return _looked_at(steps_of(options.path, trust=options.trust))
    set_launch_options(_launch_options(options))
    made = replayed(options.path, trust=options.trust)
    if options.commands or options.json or options.ui == "none":
        to_stderr(made.said)  # others see it on the first screen
    return _looked_at(made.stop) or (0 if made.same else 1)


def _looked_at(stop: Opened) -> int:
    """Open the prompt on `stop`; 1 when a command failed."""
    from tfdbg_cli.api.frontends import choose_frontend
    from tfdbg_cli.model.decision import Abort

    frontend = choose_frontend()
    decision = frontend.stop(stop)
    if isinstance(decision, Abort):
        raise KeyboardInterrupt
    if getattr(frontend, "broken", False):
        raise BrokenPipeError
    return 1 if getattr(frontend, "failures", 0) else 0


def _info() -> int:
    from tfdbg_cli.cli.info import info_lines

    for row in info_lines():
        write(sys.stdout, harmless(row) + "\n")
    return 0


def _failed(error: TfdbgError) -> int:
    to_stderr(str(error))
    return error.exit_code


def _discard_output() -> None:
    """Throw away what is still to be written, lest the interpreter complain about it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
