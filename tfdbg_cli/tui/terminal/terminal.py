"""The terminal under the screen: taken over at a stop, and given back exactly as it was, on every way out."""

from __future__ import annotations

import atexit
import base64
import errno
import logging
import os
import select
import signal
import subprocess
import termios
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from types import FrameType, TracebackType
from typing import IO, Any, Self, TextIO

import urwid
from urwid.util import get_encoding

from tfdbg_cli.collection import count_as_old
from tfdbg_cli.document.ansi import wants_color
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.plain_text import PLAIN
from tfdbg_cli.process.curses_screen import CursesScreen
from tfdbg_cli.terminal_facts import CONTROLLING_TERMINAL
from tfdbg_cli.tui.terminal.deadly_signals import DEADLY, Terminated, ends_the_program, terminated
from tfdbg_cli.tui.terminal.encoded_rows import EncodedRows
from tfdbg_cli.tui.terminal.other_readers import readers_of, warning_of
from tfdbg_cli.tui.terminal.spool import Spool
from tfdbg_cli.tui.terminal.terminal_group import foreground_taken_back
from tfdbg_cli.tui.terminal.typed_ahead import TypedAhead

_CLIPBOARD_LIMIT = 74_000  # base64 bytes; many terminals take no more in one OSC 52

_CTRL_C = 3  # the byte
_A_KEY = 64  # bytes of the longest sequence that one key sends
_ANY_KEY = "\r\x1b[7mtfdbg: any key comes back\x1b[m"
_LAST_ROW = "\x1b[999H"
_STANDARD_INPUT = 0
_ANY_KEY_GONE = "\r\x1b[K"
# A row below is made, for which others may move up, and the place in a line that is not at its end is kept.
_ROW_BELOW = "\x1bD\x1b[A\x1b7\x1b[B"
_BACK_UP = "\x1b8"


class TtyScreen(urwid.display.raw.Screen):
    """urwid's screen, in any thread, with handlers of the program's own put back as they were."""

    def __init__(
        self,
        terminal_in: IO[bytes],
        terminal_out: IO[str],
        spool: Spool,
        *,
        own_signals: bool,
        ahead: TypedAhead | None = None,
        program_screen: CursesScreen | None = None,
    ) -> None:
        self._encoded = EncodedRows(self._attr_to_escape)
        # Asked for in any case: not every terminal that can tell what is pasted says that it can.
        super().__init__(input=terminal_in, output=terminal_out, bracketed_paste_mode=True)
        if not wants_color(os.environ, tty=True):  # urwid takes 16 colours for the least that a terminal has
            self.set_terminal_properties(colors=1)
        self.notes: tuple[str, ...] = ()
        self._ahead = ahead or TypedAhead()
        self._begun = False
        self._warned = False  # of others that read what is typed
        self._spool = spool
        self._program_screen = program_screen or CursesScreen()
        self._terminal = terminal_in, terminal_out
        self._own_signals = own_signals
        self._handlers: dict[int, Any] = {}
        self._interrupted = False  # since the last frame
        self._reading = threading.Lock()
        self._reads = False  # whether what is typed is for the screen
        self.is_given_up = False  # the program ends, and nothing is to be drawn any more
        self._descriptors: Sequence[Any] = ()  # of what brings keys, clicks and new sizes, while it is started

    def signal_init(self) -> None:
        """Listen to resizes and Ctrl-Z; only the main thread can."""
        if self._own_signals:
            for number, handler in (
                (signal.SIGWINCH, self._sigwinch_handler),
                (signal.SIGTSTP, self._sigtstp_handler),
            ):
                # A handler that C code installed is None here, and could not be put back.
                if number not in self._handlers and signal.getsignal(number) is not None:
                    self._handlers[number] = signal.signal(number, handler)
            # The program's own handler hears of a new size too.
            self._prev_sigwinch_handler = self._handlers.get(signal.SIGWINCH)

    def signal_restore(self) -> None:
        """Put the handlers of the program back."""
        while self._handlers:
            signal.signal(*self._handlers.popitem())

    def _start(self, *args: Any, **kwargs: Any) -> None:
        if not self._begun:
            self._begun = True
            lost = self._ahead.begin(self._terminal[0].fileno())
            self.notes = (lost,) if lost else ()
        super()._start(*args, **kwargs)
        self._descriptors = self.get_input_descriptors()  # which takes longer than to look at them
        # Ctrl-\\ would leave the screen as it is, and Ctrl-C end other processes of the program: see `InterruptKey`.
        # Off the main thread nobody would handle Ctrl-Z.
        keys: dict[str, Any] = {} if self._own_signals else {"susp": "undefined"}
        self.tty_signal_keys(quit="undefined", intr="undefined", **keys, fileno=self._input_fileno())
        self._reads = True

    def news(self) -> str:
        """A warning to show once: another process reads our terminal. Empty where none does. Asked now and then."""
        if self._warned:
            return ""
        warning = warning_of(readers_of(_STANDARD_INPUT))
        self._warned = bool(warning)
        return warning

    def _stop(self) -> None:
        with self._reading:
            self._reads = False
            self._ahead.add_waiting(self._terminal[0].fileno())
        super()._stop()
        self._descriptors = ()

    def hook_event_loop(self, event_loop: urwid.EventLoop, callback: Callable[[Any, list[int]], Any]) -> None:
        """Have `callback` called with keys, first with those that were pressed ahead of the screen.

        Those behind a key that ends the screen wait for the next one. What the terminal reports of itself is none, as
        where its cursor is, for which another program asked.
        """

        def each(keys: Any, raw: list[int]) -> None:
            for number, key in enumerate(keys):
                if not (isinstance(key, str) or urwid.util.is_mouse_event(key)):
                    continue
                try:
                    callback([key], raw)
                except urwid.ExitMainLoop:
                    self._ahead.add_keys(keys[number + 1 :])
                    raise

        super().hook_event_loop(event_loop, each)
        if self._ahead.waits:

            def begin() -> None:
                each(self._ahead.taken_keys(), [])
                self.parse_input(event_loop, each, self.get_available_raw_input())

            event_loop.alarm(0, begin)

    def _get_input_codes(self) -> list[int]:
        with self._reading:
            return [*self._ahead.taken_codes(), *super()._get_input_codes()]

    @property
    def hears_interrupts(self) -> bool:
        """Whether SIGINT is ours while the screen is up."""
        return self._own_signals

    def interrupt_typed(self) -> bool:
        """Whether Ctrl-C was pressed and not read; for another thread, while ours works. Other keys wait."""
        with self._reading:
            if not self._reads:  # somebody else has the terminal
                return False
            if self._ahead.add_waiting(self._terminal[0].fileno()):
                with suppress(BlockingIOError):  # it has been woken often enough
                    self._resize_pipe_wr.send(b"R")  # wakes urwid's loop, which cannot see that there are keys
            return self._ahead.take(_CTRL_C)

    def draw_screen(self, size: tuple[int, int], canvas: urwid.Canvas) -> None:
        """Draw a frame. What was made for frames is not searched for garbage: none of it refers to itself."""
        if self.is_given_up:
            return
        super().draw_screen(size, self._encoded.canvas(canvas))
        self._interrupted = False
        count_as_old()

    def clear(self) -> None:
        """Draw everything anew in the next frame."""
        self._encoded.forget()
        super().clear()

    def set_terminal_properties(self, *args: Any, **kwargs: Any) -> None:
        """The colours that the terminal has, and how it shows them."""
        self._encoded.forget()
        super().set_terminal_properties(*args, **kwargs)

    def register_palette_entry(self, *args: Any, **kwargs: Any) -> None:
        """How a palette name looks."""
        self._encoded.forget()
        super().register_palette_entry(*args, **kwargs)

    def interrupt(self) -> None:
        """Ctrl-C came, as a signal: `key_came` tells of it until there is a frame."""
        self._interrupted = True

    def key_came(self) -> bool:
        """Whether somebody waits: there is something to read (a key, a click, a new size), or Ctrl-C came."""
        return self._interrupted or bool(select.select(self._descriptors, (), (), 0)[0])

    def get_available_raw_input(self) -> list[int]:
        """What was typed.

        Raises:
            OSError: the terminal is gone.

        """
        try:
            return super().get_available_raw_input()
        except RuntimeError as error:  # urwid's word for the end of the input
            raise OSError(errno.EIO, os.strerror(errno.EIO)) from error

    def run(self, command: Sequence[str]) -> int:
        """Run another program on the terminal, while the screen is stopped; gives its exit status.

        Raises:
            OSError: it cannot be run.

        """
        terminal_in, terminal_out = self._terminal
        self._ahead.drop()
        with foreground_taken_back(terminal_in.fileno()):
            return subprocess.run(
                command, stdin=terminal_in, stdout=terminal_out, stderr=terminal_out, check=False
            ).returncode

    def show_terminal(self) -> None:
        """While the screen is stopped, show what the program has written, until a key is pressed."""
        terminal_in, terminal_out = self._terminal
        descriptor = terminal_in.fileno()
        self._ahead.drop()
        self._spool.stop()
        before = termios.tcgetattr(descriptor)
        try:
            is_drawn = self._program_screen.show()
            terminal_out.write(_LAST_ROW if is_drawn else _ROW_BELOW)
            modes = termios.tcgetattr(descriptor)
            modes[3] &= ~(termios.ICANON | termios.ECHO | termios.ISIG)  # one key, whatever it is
            termios.tcsetattr(descriptor, termios.TCSADRAIN, modes)
            terminal_out.write(_ANY_KEY)
            terminal_out.flush()
            os.read(descriptor, _A_KEY)
            terminal_out.write(_ANY_KEY_GONE if is_drawn else _ANY_KEY_GONE + _BACK_UP)
            terminal_out.flush()
        finally:
            self._program_screen.hide()
            termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
            self._spool.start()

    def talk(self, talk: Callable[[TextIO, TextIO], None]) -> None:
        """Have `talk` read and write on the terminal, while the screen is stopped."""
        self._ahead.drop()
        terminal_in, terminal_out = self._terminal
        with (
            os.fdopen(os.dup(terminal_in.fileno()), encoding="utf-8", errors="surrogateescape") as given,
            os.fdopen(os.dup(terminal_out.fileno()), "w", encoding="utf-8", errors="backslashreplace") as shown,
        ):
            talk(given, shown)

    def close(self) -> None:
        """Give up what the screen holds beside the terminal, without waiting for the garbage collector."""
        self.stop()
        self._resize_pipe_rd.close()
        self._resize_pipe_wr.close()

    def copy(self, text: str) -> bool:
        """Put `text` on the clipboard of the terminal (OSC 52); False when it is more than terminals take."""
        encoded = base64.b64encode(text.encode("utf-8", "replace")).decode("ascii")
        if len(encoded) > _CLIPBOARD_LIMIT:
            return False
        self.write(f"\x1b]52;c;{encoded}\x07")
        self.flush()
        return True


class Terminal:
    """A context: the terminal is ours inside it.

    `screen` draws on the controlling terminal, wherever standard input and output lead. Inside, file descriptors 1
    and 2 are spooled, Ctrl-C calls `on_interrupt`, and `last_words` are written to the terminal at the end. `ahead`
    are the keys that were pressed before.

    Raises:
        TfdbgError: there is no terminal.

    """

    screen: TtyScreen

    def __init__(self, on_interrupt: Callable[[], None], ahead: TypedAhead | None = None) -> None:
        self._on_interrupt = on_interrupt
        self._ahead = ahead
        self._stack = ExitStack()
        self.spool = Spool()
        self._program_screen = CursesScreen()
        self.last_words = ""
        self.main_thread = threading.current_thread() is threading.main_thread()
        self._at_end: Callable[[], None] = _nothing

    def __enter__(self) -> Self:
        try:
            terminal_in = open(CONTROLLING_TERMINAL, "rb", buffering=0)  # noqa: PTH123
            terminal_out = open(CONTROLLING_TERMINAL, "w", encoding=get_encoding(), errors="replace")  # noqa: PTH123
        except OSError as error:
            raise TfdbgError(
                f"There is no terminal to draw on: {error.strerror}.",
                hint="Use the line prompt (--ui line).",
                exit_code=2,
            ) from None
        urwid.set_ascii_fallbacks(PLAIN)
        with ExitStack() as stack:
            stack.enter_context(self._program_screen)
            stack.callback(terminal_in.close)
            stack.callback(_close, terminal_out)
            stack.callback(self._say_last_words, terminal_out)
            before = termios.tcgetattr(terminal_in.fileno())
            stack.callback(_put_back, terminal_in.fileno(), before)
            stack.callback(self.spool.stop)
            self.spool.start()
            stack.callback(logging.getLogger("urwid").setLevel, logging.getLogger("urwid").level)
            # A program that logs at level DEBUG would get every key pressed here.
            logging.getLogger("urwid").setLevel(logging.CRITICAL)
            own = self.main_thread and self._take_signals(stack)
            self.screen = TtyScreen(
                terminal_in,
                terminal_out,
                self.spool,
                own_signals=own,
                ahead=self._ahead,
                program_screen=self._program_screen,
            )
            stack.callback(self.screen.close)
            self._stack = stack.pop_all()
        if not self.main_thread:
            self._at_end = partial(self._give_up, terminal_in.fileno(), before)
            atexit.register(self._at_end)
        return self

    def _give_up(self, descriptor: int, modes: list[Any]) -> None:
        """Give the terminal back: the main thread has come to its end, and the thread of the screen ends with it."""
        self.screen.is_given_up = True
        self.screen.stop()
        _put_back(descriptor, modes)
        self.spool.stop()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        atexit.unregister(self._at_end)
        if isinstance(error, Terminated):
            self._program_screen.give_up()
        try:
            self._stack.__exit__(kind, error, trace)
        finally:
            if isinstance(error, Terminated):
                os.kill(os.getpid(), error.number)

    def _take_signals(self, stack: ExitStack) -> bool:
        """Handle Ctrl-C, and the signals that would end the program with the screen up."""
        interrupt = signal.getsignal(signal.SIGINT)
        if interrupt is None:  # a handler of C code, which could not be put back: Ctrl-C comes as a key
            return False
        stack.callback(signal.signal, signal.SIGINT, interrupt)
        signal.signal(signal.SIGINT, self._interrupt)
        for number in filter(self._is_deadly, DEADLY):
            stack.callback(signal.signal, number, signal.SIG_DFL)
            signal.signal(number, terminated)
        return True

    def _is_deadly(self, number: int) -> bool:
        return ends_the_program(number) or (number == signal.SIGTERM and self._program_screen.is_left)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if "screen" in vars(self):  # else it is about to be
            self.screen.interrupt()
        self._on_interrupt()

    def _say_last_words(self, terminal_out: IO[str]) -> None:
        if self.last_words:
            with suppress(OSError):  # the terminal is gone, and nobody reads them
                terminal_out.write(f"{self.last_words}\n")
                terminal_out.flush()


def _put_back(descriptor: int, modes: list[Any]) -> None:
    with suppress(termios.error):  # the terminal is gone
        termios.tcsetattr(descriptor, termios.TCSADRAIN, modes)


def _nothing() -> None: ...


def _close(stream: IO[str]) -> None:
    with suppress(OSError):  # what it held back cannot be written any more: the terminal is gone
        stream.close()
