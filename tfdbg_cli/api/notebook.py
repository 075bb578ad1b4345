"""`%load_ext tfdbg_cli`: the debugger in the cells of a notebook."""

from __future__ import annotations

import ast
import asyncio
import inspect
import io
import shlex
import tokenize
from collections.abc import Callable
from typing import Any, Protocol

from tfdbg_cli.api.frontends import user_settings
from tfdbg_cli.commands.service.prompt_service import PromptService
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.document.document import Document
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.line.notebook_output import WIDTH, NotebookOutput
from tfdbg_cli.raising_parser import RaisingParser

_USAGE = """\
%tfdbg open PATH            look at runs on disk
%tfdbg COMMAND              one command on them, such as `origin` or `lt -f has_inf_or_nan`
%%tfdbg [--until FILTER]    run the cell under the debugger; the prompt opens in it (--watch: --until bad_result)"""

_AWAITS = "Without the magic, put `with tfdbg_cli.debugging():` around what is to be debugged in it."
_USAGE_ERROR = "UsageError"  # of a magic that there is not


def _awaits(cell: str) -> bool:
    """Whether the cell awaits something outside of functions, as a notebook allows."""
    try:
        code = compile(cell, "<cell>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except (SyntaxError, ValueError):  # IPython will say so, or knows what it means
        return False
    return bool(code.co_flags & inspect.CO_COROUTINE)


_NO_CODE = frozenset({tokenize.ENDMARKER, tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT, tokenize.DEDENT})


def _is_silenced(cell: str) -> bool:
    """Whether the Python of a cell ends in `;`, by which a notebook does not show what it comes to."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(cell).readline))
    except (SyntaxError, tokenize.TokenError):  # IPython will say so
        return False
    return next((one.string for one in reversed(tokens) if one.type not in _NO_CODE), "") == ";"


def _loop_runs() -> bool:
    """Whether this thread is within an event loop, which cannot be entered again: the kernel of a notebook is."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


class Shell(Protocol):
    """What is needed of IPython's shell: to give a function a name behind % and %%, and to run the text of a cell.

    `transform_cell` makes Python of the magics in it.
    """

    register_magic_function: Callable[[Callable[..., Any], str, str], None]
    run_cell: Callable[..., Any]
    transform_cell: Callable[[str], str]


class _Parser(RaisingParser):
    """A parser of the words behind `%tfdbg`."""

    def failure(self, message: str) -> TfdbgError:
        return TfdbgError(super().failure(message).message, hint=_USAGE)


def _words(line: str) -> list[str]:
    """The words of a line, as a shell has them."""
    try:
        return shlex.split(line)
    except ValueError as error:
        raise TfdbgError(f"A closing quote is missing in {line.strip()!r}.", hint=_USAGE) from error


def _without_rows(raised: BaseException) -> BaseException:
    """What to raise in the place of `raised`, so that IPython shows nothing of it again.

    Of what is wrong with the text of a cell IPython shows all, whatever the exception says: then it is another one of
    that name.
    """
    if isinstance(raised, SyntaxError) or type(raised).__name__ == _USAGE_ERROR:
        raised = type(type(raised).__name__, (Exception,), {})(str(raised))
    raised._render_traceback_ = list  # type: ignore[attr-defined]  # what IPython asks for the rows to show
    return raised


class Notebook:
    """The magic `tfdbg` of one notebook, with the recording that is open in it."""

    def __init__(self, shell: Shell, output: NotebookOutput | None = None) -> None:
        self._shell = shell
        self._output = output or NotebookOutput()
        self._service: PromptService | None = None

    def magic(self, line: str, cell: str | None = None) -> None:
        """`%tfdbg LINE`, or `%%tfdbg LINE` above a cell. What goes wrong is said, not raised.

        What the cell itself raises, which IPython has shown, is raised again without being shown again, so that
        whoever runs all cells stops at it; so they do at a cell that was not run, for words that make no sense.
        """
        raised: BaseException | None = None
        try:
            if cell is None:
                self._command(line.strip())
            else:
                raised = self._run(_words(line), cell)
        except TfdbgError as error:
            self._output.error(line, error)
            raised = None if cell is None else error  # the cell was not run
        if raised is not None:
            raise _without_rows(raised)

    def _command(self, command: str) -> None:
        if not command:
            raise TfdbgError("Say what to do.", hint=_USAGE)
        verb, _, rest = command.partition(" ")
        if verb == "open":
            self._open(rest)
            return
        if self._service is None:
            raise TfdbgError("Nothing is open.", hint="`%tfdbg open PATH` opens runs on disk.")
        self._show(self._service, command)

    def _open(self, path: str) -> None:
        words = _words(path)
        if len(words) != 1:
            raise TfdbgError("`open` takes one path.", hint=_USAGE)
        stop = open_path(words[0])
        self._service = PromptService(stop, standard_registry(), user_settings(), width=WIDTH, interactive=False)
        self._output.title(self._service.title)
        for note in self._service.unseen_notes:
            self._output.note(note)
        self._show(self._service, self._service.opening)

    def _show(self, service: PromptService, command: str) -> None:
        outcome = service.execute(command)
        if not isinstance(outcome, Document):
            raise TfdbgError(f"`{command}` has no meaning in a cell.", hint="`%tfdbg help` lists the commands.")
        service.show(command, outcome)
        self._output.document(command, outcome)

    def _run(self, words: list[str], cell: str) -> BaseException | None:
        """Run a cell that is debugged; gives what it raised."""
        parser = _Parser(prog="%%tfdbg", add_help=False)
        parser.add_argument("--until", metavar="FILTER")
        parser.add_argument("--watch", dest="until", action="store_const", const="bad_result")
        until = parser.parse_args(words).until
        if _awaits(cell) and _loop_runs():
            raise TfdbgError("A cell that awaits something cannot be run by a magic.", hint=_AWAITS)
        # Recordings are looked at without TensorFlow.
        from tfdbg_cli.api.process import debugging, set_watch
        from tfdbg_cli.api.process_debugger import process_debugger

        with debugging("line"):
            if until is not None:
                set_watch(until)
            # IPython itself looks at the end of the last cell in its history, and this one is not in it.
            silent = _is_silenced(self._shell.transform_cell(cell))
            result = self._shell.run_cell(cell, store_history=False, silent=silent)
            self._output.note("\n".join(process_debugger().program_ends()))
        raised: BaseException | None = result.error_before_exec or result.error_in_exec
        return raised


def load_ipython_extension(shell: Shell) -> None:
    """What IPython calls for `%load_ext tfdbg_cli`."""
    shell.register_magic_function(Notebook(shell).magic, "line_cell", "tfdbg")
