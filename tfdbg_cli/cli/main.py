"""The program `tfdbg`: the one place where errors become messages and exit codes.

Little is imported here: a program that sets environment variables for NumPy or TensorFlow must come first.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Sequence
from contextlib import suppress

from tfdbg_cli.cli.parser import Parser
from tfdbg_cli.cli.verbs import VERBS, verb_named
from tfdbg_cli.errors import AfterAnswerError, TfdbgError
from tfdbg_cli.plain_text import safe
from tfdbg_cli.process.streams import discard_output, to_stderr
from tfdbg_cli.version import __version__

_INTERRUPTED = 130  # 128 + SIGINT, as shells have it
_ANSWERS = ("diff", "checkpoint")  # the verbs of which 1 is an answer, so that every failure is 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line asks; 0 when fine, 1 for the user's mistake, 2 when tfdbg could not work.

    `diff` has 1 for a difference, `checkpoint` for what is wrong with one, too, and both 2 where they cannot tell.

    A program under `tfdbg run` ends as it would without us: its exceptions and exit code pass through.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    could_not = 2 if words and words[0] in _ANSWERS else 0
    options = argparse.Namespace()
    try:
        options = _parsed(words)
        if sys.stdout is None and "program" not in options:  # a program may do without
            raise TfdbgError("Standard output is closed, so nothing can be shown.", exit_code=2)
        done = verb_named(options.verb).run(options)
        if isinstance(done, int):
            sys.stdout.flush()
            return done
    except TfdbgError as error:
        as_json = options.json if "json" in options else _asks_for_json(words)
        if as_json and sys.stdout is not None and not isinstance(error, AfterAnswerError):
            _tell_scripts(words, error)
        return max(_failed(error), could_not)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:  # nobody reads our output any more (`| head`)
        discard_output()
        return 0
    except OSError as error:  # such as a full disk behind `> FILE`
        discard_output()
        return _failed(TfdbgError(f"Cannot go on: {error.strerror or error}.", exit_code=2))
    return done()


def _parsed(words: list[str]) -> argparse.Namespace:
    """What `words` ask for, with the name of the `verb`.

    Raises:
        TfdbgError: they make no sense.

    """
    if words and words[0] not in VERBS and not words[0].startswith("-"):
        raise TfdbgError(f"There is no verb {words[0]!r}.", hint=_meant(words[0]))
    known = words[:1] == ["--version"] or (words and words[0] in VERBS)
    parser = parser_of([word for word in words[:1] if word in VERBS] if known else VERBS)
    options = parser.parse_args(words)
    if options.verb is None:
        parser.print_help(sys.stderr)
        raise TfdbgError("Nothing to do.", hint="Write: tfdbg run SCRIPT, or tfdbg open PATH.")
    return options


def _asks_for_json(words: Sequence[str]) -> bool:
    """Whether `--json` is among `words` that could not be read; those of a program do not count."""
    if words[:1] != ["run"]:
        return "--json" in words
    parser = Parser()
    verb_named("run").prepare_parser(parser)
    own, _ = parser.split(words[1:])
    return "--json" in own


def parser_of(names: Sequence[str]) -> Parser:
    """The parser of a command line with one of the verbs `names`; no other verb is loaded."""
    parser = Parser(prog="tfdbg", description="The terminal debugger for TensorFlow.", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"tfdbg {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", parser_class=Parser)
    for name in names:
        verb = verb_named(name)
        verb.prepare_parser(verbs.add_parser(name, allow_abbrev=False, help=verb.HELP))
    return parser


def _meant(word: str) -> str:
    """What somebody may have wanted who began with `word` instead of a verb."""
    if os.path.isdir(word):  # noqa: PTH112  # pathlib costs a tenth of the start
        return f"Did you mean `tfdbg open {shlex.quote(word)}`?"
    if os.path.exists(word):  # noqa: PTH110
        return f"Did you mean `tfdbg run {shlex.quote(word)}`?"
    return f"Verbs: {', '.join(VERBS)}."


def _tell_scripts(words: Sequence[str], error: TfdbgError) -> None:
    """Write `error` where scripts look for the answer, as that of a command at the prompt is."""
    from tfdbg_cli.document.jsonlines import error_json

    with suppress(OSError):  # it is told on standard error as well
        sys.stdout.write(error_json(shlex.join(words), error) + "\n")
        sys.stdout.flush()


def _failed(error: TfdbgError) -> int:
    to_stderr("\n".join(map(safe, error.lines)))  # a name in it may look like further lines of ours
    return error.exit_code
