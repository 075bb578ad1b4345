"""Running a command string: the one path for keys, clicks, scripts and prompts."""

from __future__ import annotations

from pathlib import Path
from typing import IO

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.registry import Command, Moment, Outcome, Registry
from tfdbg_cli.commands.syntax import CommandLine, parse_line, quoted
from tfdbg_cli.document.document import Document, text_document
from tfdbg_cli.document.text import line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.runs import Opened, RunEnd, RunStart

_MOMENT_OF = {RunStart: Moment.RUN_START, RunEnd: Moment.RUN_END, Opened: Moment.OPENED}


def moment_of(context: Context) -> Moment:
    """The kind of stop `context` is at, or that it is in the stepper."""
    if context.stepper is not None:
        return Moment.STEPPING
    stop = context.stop
    if isinstance(stop, RunEnd) and stop.run.frames and context.run is stop.run:
        return Moment.PAUSED
    return _MOMENT_OF[type(stop)]


def parsed_for(text: str, registry: Registry, moment: Moment) -> CommandLine:
    """`text` as words for a command of `registry`: behind one that takes what is typed as it is, as `py`, one word.

    Raises:
        TfdbgError: as `parse_line` does.

    """
    name, _, rest = text.strip().partition(" ")
    if rest and name in registry and registry.find(name, moment).verbatim:
        return CommandLine((name, rest.strip()))
    return parse_line(text)


def execute(text: str, context: Context, registry: Registry) -> Outcome:
    """Run the command string `text`.

    With `> FILE` the document goes to that file, written as the end of its name says, and the answer says so; a file
    that is there already is replaced by `>| FILE` only.

    Raises:
        TfdbgError: no such command here, wrong arguments, or what the command itself raises.

    """
    moment = moment_of(context)
    parsed = parsed_for(text, registry, moment)
    if not parsed.words:
        return text_document("empty", data={})
    command = registry.find(parsed.words[0], moment, parsed.words[1:])
    require_moment(command, context)
    require_values(command, context, text)
    options = command.parse(parsed.words[1:])
    if not parsed.redirect:
        return command.handler(context, options)
    on_show = answered(command, parsed, context)
    from tfdbg_cli.commands.whole_file import new_file  # few answers go to files

    path = new_file(parsed.redirect, replace=parsed.replace, way_out="Write `>| FILE` to replace it.")
    later, context.later = context.later, False  # nothing can be filled in later in a file
    try:
        outcome = command.handler(context, options) if on_show is None else on_show
    finally:
        context.later = later
    if not isinstance(outcome, Document):
        raise TfdbgError(f"{command.name} prints nothing that could go to {parsed.redirect}.")
    return _redirected(outcome, " ".join(map(quoted, parsed.words)), path)


def answered(command: Command, parsed: CommandLine, context: Context) -> Document | None:
    """What is on show, where that is to go to a file, and `command`, of which it is the answer, is made only once."""
    if not command.acts or not parsed.redirect or context.on_show is None:
        return None
    text, document = context.on_show
    return document if parse_line(text).words == parsed.words else None


def require_moment(command: Command, context: Context) -> None:
    """Raise a TfdbgError that says why, if the command makes no sense at this stop."""
    moment = moment_of(context)
    if moment in command.moments:
        return
    if moment is Moment.STEPPING:
        raise TfdbgError(f"`{command.name}` is not for the stepper.", hint="`exit` leaves the stepper.")
    if moment is Moment.OPENED:
        hint = (
            "`tfdbg replay BUNDLE` steps through a bundle." if Moment.STEPPING in command.moments else "See `help`."
        )
        raise TfdbgError(f"`{command.name}` needs a running program; this is a recording.", hint=hint)
    if command.moments == {Moment.STEPPING}:
        raise TfdbgError(f"`{command.name}` is for the stepper.", hint="`invoke_stepper` opens it.")
    if command.moments == {Moment.PAUSED}:
        raise TfdbgError(
            f"`{command.name}` is for the middle of a run of eager code; the program does not stand in one.",
            hint="`step`, `break PLACE` and `until PLACE` lead there.",
        )
    if moment is Moment.RUN_START:
        context.run  # noqa: B018  # raises the sentence that says there are no tensors yet
    if moment is Moment.PAUSED:
        raise TfdbgError(
            f"`{command.name}` is not for the middle of a run of eager code.", hint="`step` goes op by op."
        )
    raise TfdbgError(f"`{command.name}` is not for a run that is over.", hint="See `help`.")


def require_values(command: Command, context: Context, text: str) -> None:
    """Raise TfdbgError if the command needs what the recording lacks: values, or of a profile all but times.

    `text` is what was typed.
    """
    if not (command.values or command.graph) or not isinstance(context.stop, Opened):
        return
    run = context.run
    if run.call.kind is RunKind.PROFILE:
        raise TfdbgError(f"`{command.name}` has nothing to show. {run.lacks}", hint="`lp` lists the times.")
    if not command.values:
        return
    if run.is_graph_alone:
        hint = "`ln` lists its nodes; `tfdbg run` shows what the program computes."
        if _ends_with_variables(context):
            at = len(context.runs)
            hint = f"The values of its variables are run {at}: `runs {at}`, and then `{text.strip()}`. {hint}"
        raise TfdbgError(f"`{command.name}` is about values. {run.lacks}", hint=hint)


def _ends_with_variables(context: Context) -> bool:
    """Whether the last run of the recording is the variables of its graphs."""
    try:
        return context.runs[-1].call.kind is RunKind.CHECKPOINT
    except TfdbgError:  # they cannot be read, which is said where they are looked at
        return False


def _redirected(document: Document, command: str, path: Path) -> Document:
    from tfdbg_cli.commands.whole_file import write_whole
    from tfdbg_cli.document.exports.by_name import exported

    # Names and sources may hold what is no valid UTF-8.
    text = exported(document, command, path.name).encode("utf-8", "backslashreplace")

    def write(file: IO[bytes]) -> None:
        file.write(text)

    write_whole(path, write)
    data = {"path": str(path), "bytes": len(text)}
    return text_document("written", line(f"Wrote the screen to {path!s} ({len(text)} bytes)."), data=data)
