"""One stop on the screen: keys and clicks become actions, actions change the state, until there is a decision."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

import urwid

from tfdbg_cli.analysis.watch.filter import TensorFilter
from tfdbg_cli.commands.registry import Registry, UiAction
from tfdbg_cli.commands.service.prompt_service import PromptService
from tfdbg_cli.commands.typed_commands import History
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.document.document import Document
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.recording.stand_in import is_waiting
from tfdbg_cli.model.decision import Decision, Detach
from tfdbg_cli.model.runs import Stop
from tfdbg_cli.process.interruptions import our_errors
from tfdbg_cli.tui.actions.actions import Actions
from tfdbg_cli.tui.actions.busy import Busy
from tfdbg_cli.tui.actions.early_keys import NO_PAGE_YET, EarlyKeys
from tfdbg_cli.tui.actions.keyboard import Keyboard
from tfdbg_cli.tui.actions.new_runs import NewRuns
from tfdbg_cli.tui.between_keys import BetweenKeys
from tfdbg_cli.tui.keys.dialogs import leave_question
from tfdbg_cli.tui.keys.keymap import ACTIONS, KeyContext
from tfdbg_cli.tui.keys.preferences import Preferences, preferences
from tfdbg_cli.tui.panes.mouse import Mouse
from tfdbg_cli.tui.panes.view import View
from tfdbg_cli.tui.reading.encoding import encoded_for, kept_encoding
from tfdbg_cli.tui.state.bars import Message
from tfdbg_cli.tui.state.bugs import bug_document, bug_report
from tfdbg_cli.tui.state.pending import PendingAnswer, fetching, working
from tfdbg_cli.tui.state.prompt import TypedPrompt
from tfdbg_cli.tui.state.state import ScreenState
from tfdbg_cli.tui.terminal.interrupt_key import InterruptKey
from tfdbg_cli.tui.terminal.lending import Lending

_MESSAGE_SECONDS = 8.0
_AT_ONCE = 0.001  # seconds of work allowed before a frame is drawn
_HOUSEKEEPING = 1.0
_NOT_SCREENS = {"empty", "written", "mouse"}  # document kinds of one sentence: shown as a message, not as a page


class App:
    """The screen of one stop.

    `run(screen)` shows the stop and returns the decision. `housekeeping` is called about once a second, and returns
    whether the program has written something while the screen is up.
    """

    def __init__(
        self,
        event: Stop,
        registry: Registry,
        settings: Settings,
        filters: Mapping[str, TensorFilter],
        history: History,
        opening: str,
        *,
        housekeeping: Callable[[], bool] = lambda: False,
        notes: Sequence[str] = (),
    ) -> None:
        self.decision: Decision | None = None
        service = PromptService(event, registry, settings, filters, later=True, on_setting=self._settings_changed)
        self.state = ScreenState(service, TypedPrompt(history, service.complete), settings.mouse_mode)
        self.actions = Actions(self)
        self._registry = registry
        self._preferences = preferences(settings, registry, ACTIONS)
        self.view = View(self.state, self.actions, self.key, self.click, self.bug)
        self.mouse = Mouse(self.state, self.view, self.actions)
        self._new_runs = NewRuns(self.state, self.say)
        self.keyboard = Keyboard(self, self._type)
        self.busy = Busy(self._draw_busy)
        self.lending = Lending(lambda: self.loop)
        self._early_keys = EarlyKeys(self.state, self.key)
        self._between_keys = BetweenKeys(self.state, self.actions, self.view, self._early_keys, self._guarded)
        self.at_once = _AT_ONCE
        self.loop: urwid.MainLoop | None = None
        self._opening = opening
        self._housekeeping = housekeeping
        self._notes = notes
        self._wake: int | None = None
        self._heard: Callable[[], AbstractContextManager[None]] = nullcontext  # see `InterruptKey.heard`
        self._expiry: Any = None
        self._doing = ""

    def run(self, screen: Any) -> Decision:
        """Show the stop on `screen`, and return the decision: `Detach` if the screen ends without one."""
        with kept_encoding() as self._encoding:
            return self._run(screen)

    def _run(self, screen: Any) -> Decision:
        self._follow(self._preferences)
        colours = self._preferences.palette
        self.loop = loop = urwid.MainLoop(self.view, colours, screen=screen, handle_mouse=self.state.mouse)
        self._wake = loop.watch_pipe(self._woken)
        self.view.size = screen.get_cols_rows()
        keyboard = InterruptKey(screen.interrupt_typed) if getattr(screen, "hears_interrupts", False) else None
        self._heard = keyboard.heard if keyboard else nullcontext
        loop.set_alarm_in(_HOUSEKEEPING, self._housekeep)
        try:
            screen.start()  # before the opening command, so that a slow one can show its progress
            self.state.colors = getattr(screen, "colors", 1)  # screens that are no terminal have no colours
            self.perform(self._opening)
            notes = [*self._notes, *self.state.service.notes, *self._preferences.words, *getattr(screen, "notes", ())]
            if notes and self.state.message is None:
                self.say(Message(" ".join(notes)))
            if self.decision is None:
                self._guarded("counting what is in sight", self._count_in_sight)
                loop.run()
        finally:
            if keyboard is not None:
                keyboard.close()
            wake, self._wake = self._wake, None
            loop.remove_watch_pipe(wake)
            os.close(wake)
            self.loop = None
        return self.decision or Detach()

    def interrupt(self) -> None:
        """Called from the signal handler of Ctrl-C: interrupt the command that runs, or else wake the loop.

        Of what has the terminal meanwhile, Python's debugger and console are interrupted; an editor or a shell gets
        the signal itself.
        """
        if self.busy.running or self.lending.use == "talk" or (self._doing and is_waiting()):
            raise KeyboardInterrupt
        if self._wake is not None and not self.lending.use:
            os.write(self._wake, b"c")

    def key(self, key: str) -> None:
        """A key was pressed."""
        if key == "ctrl c":  # as the signal: nothing holds it back
            self._woken(b"c")
            return
        self._between_keys.answered()
        if self.view.too_small:
            self.actions.small_screen.pressed(key)
            return
        if not self._early_keys.hold(key):
            self._guarded(f"the key {key}", lambda: self.keyboard.pressed(key))
        self._guarded("counting what is in sight", self._count_in_sight)

    def _type(self, text: str) -> None:
        self._guarded(f"typing {text!r}", lambda: self.actions.typed(text))

    def click(self, what: str, col: int, row: int) -> None:
        """Handle a mouse event at a place of the screen; for the names see `Mouse.event`."""
        self._between_keys.answered()
        self._guarded(f"a click: {what}", lambda: self._clicked(what, col, row))

    def _clicked(self, what: str, col: int, row: int) -> None:
        if remark := self.mouse.event(what, col, row):
            self.say(Message(remark))
        self._count_in_sight()

    def perform(self, action: str) -> None:
        """Carry out the action of a key or link: a command string, `ui:NAME`, `edit:NAME` or `pane:NAME`."""
        if action != "ui:interrupt":
            self.actions.interruption.forget()
            message = self.state.message
            if not (action.startswith("edit:") and message is not None and message.error):  # it is being corrected
                self.say(None)
        self._guarded(action, lambda: self.actions.perform(action))

    def _guarded(self, what: str, work: Callable[[], None]) -> None:
        before, self._doing = self._doing, what
        try:
            with self._heard():
                work()
        except urwid.ExitMainLoop:
            raise
        except TfdbgError as error:
            self.say(Message(error.message, error=True, hint=error.hint))
        except KeyboardInterrupt:
            self.say(Message(f"Stopped: {self._doing}."))
        except our_errors() as error:  # a bug of ours must take neither the screen nor the program away
            self.bug(self._doing, error)
        finally:
            self._doing = before
        if not self.state.pages.all:
            self._show("", Document(NO_PAGE_YET, ()), replace=False)

    def bug(self, what: str, error: Exception) -> None:
        """Show the report of a bug of tfdbg's own as a page; if the page itself cannot be drawn, in its place."""
        report = self.state.report = bug_report(what, error)
        broken = what == "drawing the screen" and bool(self.state.pages.all)
        self.state.dialog = self.state.filter = None
        self.state.place = KeyContext.DOCUMENT
        command = self.state.page.command if broken else what
        label = self.state.pages.current.label if self.state.pages.all else "run"
        self.state.service.show(command, bug_document(what, report), replace=broken, label=label)

    def command(self, text: str, *, replace: bool = False, then: Callable[[], None] = lambda: None) -> None:
        """Run a command string and show its answer, on a new page or, with `replace`, in place of the current one.

        A slow command goes on between key presses; `then` is called once the answer is shown.
        """
        if self.state.filter is not None:
            self.actions.close()
        self._doing = text
        carry_out = partial(self._carry_out, text, replace)
        self.begin(fetching(text, self.state.service, carry_out, then, self.begin))

    def _carry_out(self, text: str, replace: bool) -> None:
        service = self.state.service
        service.width = self.view.page_cols
        with self.busy():
            outcome = service.execute(text)
            if service.way_back is not None:
                service.go_to(service.way_back)
                return
            if isinstance(outcome, Document) and (outcome.kind not in _NOT_SCREENS or not self.state.pages.all):
                self._show(text, outcome, replace)
                return
        if isinstance(outcome, Document):
            self.say(Message(" ".join(item.text for item in outcome.lines(None))))
        elif isinstance(outcome, UiAction):
            self._obey(outcome)
        else:
            self.leave(outcome)

    def _show(self, command: str, document: Document, replace: bool) -> None:
        replace = replace or (bool(self.state.pages.all) and self.state.page.document.kind == NO_PAGE_YET)
        with self.state.service.pages.undone_by_error():
            self.state.service.show(command, document, replace=replace)
            # Lay out and make the visible lines here rather than while drawing, so that Ctrl-C can interrupt it.
            self.view.arrange(self.view.size)
            view = self.state.page.view
            for index in view.visible():
                view.line(index)
        self.state.viewers.begin(self.state.page, self.state.service.settings)
        self.state.dialog, self.state.place = None, KeyContext.DOCUMENT

    def _obey(self, action: UiAction) -> None:
        if action is UiAction.LEAVE:
            self.ask_to_leave()
        elif action is UiAction.SHOW_AGAIN:
            self._show_again()
        elif action in {UiAction.BACK, UiAction.FORWARD}:
            self.actions.travel(-1 if action is UiAction.BACK else 1)
        elif action is UiAction.OUTPUT:
            self.lending.show()
            self.state.printed = False
        elif action is UiAction.SHELL:
            self.actions.perform("ui:shell")
        elif action is UiAction.PDB:
            self.lending.talk(self.state.service.talk_as_pdb)
        else:
            self.set_mouse(action is UiAction.MOUSE_ON)

    def _show_again(self) -> None:
        """Show the current page's command for the run looked at now, in its place, so that Esc leads out of it.

        If that fails, look at the page's run again.
        """
        page, service = self.state.pages.current, self.state.service
        before = self.state.viewed
        try:
            command = service.shown_again(page.command)
            self._carry_out(command, replace=command == page.command)
        except TfdbgError:
            service.look_at(page)
            raise
        if self.state.pages.current is not page:
            self.state.viewers.resemble(before, self.state.page, service.settings)

    def leave(self, decision: Decision) -> None:
        """End the stop with `decision`. Raises ExitMainLoop, which ends urwid's loop."""
        self.decision = decision
        raise urwid.ExitMainLoop

    def ask_to_leave(self) -> None:
        """Ask how to leave a program; a recording is just closed."""
        if self.state.service.recording is not None:
            self.leave(Detach())
        self.state.open_dialog(leave_question(), KeyContext.LEAVE)

    def say(self, message: Message | None) -> None:
        """Show `message` (an error until the next action, others for 8 seconds), or None to clear the last one."""
        self.state.message = message
        if message is not None and not message.passing:
            self.state.service.said(f"{message.text} {message.hint}".strip(), error=message.error)
        if self.loop is None:
            return
        if self._expiry is not None:
            self.loop.remove_alarm(self._expiry)
            self._expiry = None
        if message is not None and not message.error:
            self._expiry = self.loop.set_alarm_in(_MESSAGE_SECONDS, lambda loop, data: self.say(None))

    def go_on(self) -> None:
        """Schedule unfinished work (answers, searches, filters, visible cells) to go on between key presses."""
        self._between_keys.go_on(self.loop)

    def begin(self, pending: PendingAnswer) -> None:
        """Begin an answer, dropping the one under way: at once if that is quick, else between key presses."""
        self.drop()
        self._between_keys.begin(pending, self.at_once)
        self.go_on()

    def drop(self) -> bool:
        """Give up the answer that is under way; False if there is none."""
        pending, self.state.pending = self.state.pending, None
        if pending is not None:
            pending.give_up()
        return pending is not None

    def _count_in_sight(self) -> None:
        """Compute the cells that visible rows still lack: at once if that is quick, else between key presses."""
        if self.loop is not None and self.state.pages.all:
            self._between_keys.count_in_sight(self.at_once)
            self.go_on()

    def redraw(self) -> None:
        """Draw everything anew."""
        if self.loop is not None:
            self.loop.screen.clear()

    def set_mouse(self, on: bool) -> None:
        """Take the mouse, or leave it to the terminal's own selection."""
        self.state.mouse = on
        service = self.state.service
        service.settings = replace(service.settings, mouse_mode=on)
        if self.loop is not None:
            self.loop.handle_mouse = on
            self.loop.screen.set_mouse_tracking(on)
        self.say(Message("Mouse on: click links, turn the wheel." if on else "Mouse off: the terminal selects text."))

    def _settings_changed(self, settings: Settings) -> None:
        found, known = preferences(settings, self._registry, ACTIONS), self._preferences.faults
        if new := [fault for name, fault in found.faults.items() if str(known.get(name)) != str(fault)]:
            raise new[0]
        self._follow(found)
        if settings.mouse_mode != self.state.mouse:
            self.set_mouse(settings.mouse_mode)
        if self.loop is not None:
            self.loop.screen.register_palette(found.palette)
            urwid.CanvasCache.clear()  # cached rows may hold characters that the new theme does not use
            self.loop.screen.clear()

    def _follow(self, found: Preferences) -> None:
        self._preferences = found
        self.state.user_keys = found.bindings
        urwid.set_encoding(encoded_for(found.theme, self._encoding))

    def _woken(self, data: bytes) -> bool:
        self._between_keys.answered()  # Ctrl-C counts as a key, though it comes as a signal
        for _ in data:
            self.perform("ui:interrupt")
        self.go_on()
        return True

    def _housekeep(self, loop: urwid.MainLoop, data: Any) -> None:
        self.state.printed = self._housekeeping()
        self._guarded("listing new runs", self._new_runs.look)
        if self.state.message is None and (news := getattr(loop.screen, "news", str)()):  # urwid's others have none
            self.say(Message(news))
        if loop.screen_size and loop.screen.get_cols_rows() != loop.screen_size:
            # SIGWINCH reaches the main thread only, so elsewhere the size has to be polled.
            loop.screen_size = None
            loop.screen.clear()
        self.go_on()  # a larger screen shows more rows
        loop.set_alarm_in(_HOUSEKEEPING, self._housekeep)

    def _draw_busy(self, seconds: float) -> None:
        loop = self.loop
        if loop is not None and loop.screen.started:
            size = loop.screen.get_cols_rows()
            way_out = "Ctrl-C" if getattr(loop.screen, "hears_interrupts", True) else ""
            words = working(self._doing, f"{seconds:.0f} s", way_out, size[0] - 1)
            loop.screen.draw_screen(size, self.view.busy(size, words))
