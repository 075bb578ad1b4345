"""What only a screen can do: moving, searching, typing, copying. One method for each `ui:` action."""

from __future__ import annotations

from collections.abc import Callable

from tfdbg_cli.commands.folds import folds_at
from tfdbg_cli.commands.registry import LIVE
from tfdbg_cli.commands.service.pages import GOES_ON
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.decision import Abort, Continue, Detach
from tfdbg_cli.tui.actions.clipboard import Clipboard
from tfdbg_cli.tui.actions.ctrl_c import CtrlCPresses
from tfdbg_cli.tui.actions.element_walk import ElementKeys
from tfdbg_cli.tui.actions.filter_actions import FilterActions
from tfdbg_cli.tui.actions.find_dialog import FindDialog, key_of
from tfdbg_cli.tui.actions.folding import Folding
from tfdbg_cli.tui.actions.going_on import GoingOn
from tfdbg_cli.tui.actions.ignoring import ignoring
from tfdbg_cli.tui.actions.marks import Marks
from tfdbg_cli.tui.actions.moving import Moving
from tfdbg_cli.tui.actions.outside import OutsidePrograms
from tfdbg_cli.tui.actions.search_actions import SearchActions
from tfdbg_cli.tui.actions.settings_page import set_in_place
from tfdbg_cli.tui.actions.sharing import Sharing
from tfdbg_cli.tui.actions.small_screen import SmallScreen
from tfdbg_cli.tui.actions.sorting import Sorting
from tfdbg_cli.tui.actions.walking import Walking
from tfdbg_cli.tui.keys.dialogs import key_list
from tfdbg_cli.tui.keys.keymap import KeyContext
from tfdbg_cli.tui.reading.paint import LinkPlace
from tfdbg_cli.tui.state.bars import Message
from tfdbg_cli.tui.state.bugs import save_report
from tfdbg_cli.tui.state.line_editor import LineEditor
from tfdbg_cli.tui.state.screen import Screen

_STEPS_OF_ROWS = {"newer": "row --next", "older": "row --previous"}  # what ] and [ mean at a row of the batch
_OVERVIEWS = frozenset({"lt", "origin", "run_info", "layers", "tree", "runs", "diff"})  # asked again: one page
_OF_ONE_RUN = _OVERVIEWS - {"runs"} | {"row", "lt --role gradient -s worst"}  # of that of the chosen row
_JUMPS = frozenset({"top", "bottom", "search", "element", "next-bad", "previous-bad"})  # what '' comes back from


class Actions:
    """The `ui:` and `edit:` actions of one screen."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._state = screen.state
        self._moving = Moving(screen)
        self._filtering = FilterActions(screen)
        self._searching = SearchActions(screen)
        self._sorting = Sorting(screen)
        self._marks = Marks(screen)
        self._folding = Folding(screen)
        self._elements = ElementKeys(screen, self._searching)
        self.clipboard = Clipboard(screen)
        self.interruption = CtrlCPresses(screen)
        self.small_screen = SmallScreen(screen)
        self.sharing = Sharing(screen)
        self.walking = Walking(screen)
        self._outside = OutsidePrograms(screen, self.walking)
        self._going_on = GoingOn(screen)
        self._table: dict[str, Callable[[], None]] = {
            "down": lambda: self._moving.move(1),
            "up": lambda: self._moving.move(-1),
            "page-down": lambda: self._moving.page(1),
            "page-up": lambda: self._moving.page(-1),
            "half-down": lambda: self._moving.page(0.5),
            "half-up": lambda: self._moving.page(-0.5),
            "top": self._moving.top,
            "bottom": self._moving.bottom,
            "left": lambda: self._moving.beside(-1),
            "right": lambda: self._moving.beside(1),
            "scroll-left": lambda: self._moving.sideways(-1),
            "scroll-right": lambda: self._moving.sideways(1),
            "next-pane": lambda: self._next_pane(1),
            "previous-pane": lambda: self._next_pane(-1),
            "first-in-sight": lambda: self._moving.in_sight(0),
            "middle-in-sight": lambda: self._moving.in_sight(0.5),
            "last-in-sight": lambda: self._moving.in_sight(1),
            "again": self._again,
            "bundle": lambda: self.ask("bundle "),
            "set": lambda: self.ask(f"{self.walking.filled('set {tensor}')} "),
            "step": lambda: screen.command("step"),
            "until": lambda: self.ask("until "),
            "break": lambda: self.ask("break "),
            "export": lambda: self.ask(self._state.service.writing),
            "edit": self._outside.edit,
            "shell": self._outside.shell,
            "next-bad": lambda: self.walking.bad(1),
            "previous-bad": lambda: self.walking.bad(-1),
            "upstream": self.walking.upstream,
            "zoom": self.sharing.zoom,
            "side": self.sharing.side,
            "more-preview": lambda: self.sharing.resize(1),
            "less-preview": lambda: self.sharing.resize(-1),
            "follow": self._follow,
            "escape": self._escape,
            "prompt": lambda: self._go_to(KeyContext.PROMPT),
            "element": self._element,
            "view": self._elements.view,
            "submit": self._submit,
            "complete": lambda: self._complete(1),
            "complete-back": lambda: self._complete(-1),
            "history-back": self._state.prompt.older,
            "history-forward": self._state.prompt.newer,
            "close-prompt": self._drop,
            "search": self._searching.begin,
            "search-done": self._searching.done,
            "search-cancel": self._searching.cancel,
            "find": self._find,
            "filter": self._filtering.begin,
            "filter-keep": self._filtering.keep,
            "filter-cancel": self._filtering.cancel,
            "next-match": lambda: self._moving.often(lambda: self._searching.match(forward=True)),
            "previous-match": lambda: self._moving.often(lambda: self._searching.match(forward=False)),
            "sort": self._sorting.sort,
            "reverse": self._sorting.reverse,
            "worst": self._sorting.worst,
            "count": lambda: screen.command(self._state.service.list_commands.counted()),
            "fold": self._folding.turn,
            "fold-all": lambda: self._folding.turn_all(is_open=True),
            "unfold-all": lambda: self._folding.turn_all(is_open=False),
            "undo": self._sorting.undo,
            "mark": lambda: self._marks.ask("mark"),
            "to-mark": lambda: self._marks.ask("to-mark"),
            "watch": lambda: screen.perform(self._state.service.watching_on),
            "ignore": lambda: screen.command(ignoring(self._state)),
            "ignore-go": lambda: screen.command(f"{ignoring(self._state)} --go"),
            "copy": self.clipboard.copy,
            "copy-line": self.clipboard.copy_line,
            "mouse": lambda: screen.set_mouse(not self._state.mouse),
            "keys": self._keys,
            "close": self.close,
            "go-on": self._answered(self._going_on.agree),
            "save-first": self._answered(lambda: self.ask("bundle ")),
            "continue": lambda: screen.leave(Continue()),
            "detach": lambda: screen.leave(Detach()),
            "abort": lambda: screen.leave(Abort()),
            "interrupt": self.interruption.pressed,
            "redraw": screen.redraw,
            "save-report": self._save_report,
        }

    def names(self) -> frozenset[str]:
        """The `ui:` actions there are, beside `ui:page N`, `ui:mark LETTER` and `ui:to-mark LETTER`."""
        return frozenset(self._table)

    def perform(self, action: str) -> None:
        """Do what `action` says."""
        self.walking.drop()  # what was looked for is not wanted any more
        if self._state.place is KeyContext.DOCUMENT and self._going_on.asks(action):
            return
        if action == "step" and self._state.count > 1:
            action = f"step -t {self._state.count}"
        kind, _, name = action.partition(":")
        if kind == "edit":
            self._edit(name)
        elif kind == "pane" and self._state.focus is not None:
            self._state.focus.perform(name)
        elif kind != "ui":
            step = _STEPS_OF_ROWS.get(action) if self._state.pages.all else None
            if step is not None and self._state.page.document.kind == "row":
                self._screen.command(step, replace=True)
            else:
                command, there = self.walking.filled(action), self.walking.other_run
                if there and command in _OF_ONE_RUN:
                    self._screen.command(there, then=lambda: self._screen.command(command))
                else:
                    self._screen.command(command, replace=self._shows(command))
        elif name.startswith("page "):
            self.travel_to(int(name.removeprefix("page ")))
        elif name.startswith("mark "):
            self._marks.set(name.removeprefix("mark "))
        elif name.startswith("to-mark "):
            self._marks.go(name.removeprefix("to-mark "))
        else:
            if name in _JUMPS and self._state.dialog is None:
                self._marks.leave()
            self._table[name]()

    def _shows(self, command: str) -> bool:
        """Whether the page is the answer to `command` already, about the run looked at."""
        page = self._state.pages.current if self._state.pages.all and command in _OVERVIEWS else None
        return page is not None and page.command == command and page.run == self._state.service.run

    def typed(self, text: str) -> None:
        """Something was typed into the line at the bottom, or into the finder."""
        if text == ":" and self._state.place is KeyContext.PROMPT and self._state.prompt.refused:
            self.ask("")  # by habit: another command in the place of the one that failed
            return
        self._change_line(lambda line: line.insert(text))

    def go_on(self) -> None:
        """Let work on the present document or array go on between two keys."""
        self._screen.go_on()

    def travel(self, step: int) -> None:
        """One screen back (-1) or forward (1)."""
        if self.travel_to(self._state.pages.at + step):
            return
        if step < 0:
            self._screen.say(Message("This is the first screen.", passing=True))
            return
        service = self._state.service
        hint = GOES_ON if service.moment in LIVE and not service.sent else ""
        said = "This is the last screen: `next` comes back from where `prev` went."
        self._screen.say(Message(said, hint=hint, passing=True))

    def travel_to(self, at: int) -> bool:
        """To the screen numbered `at`, and the run it is about; False if there is none."""
        self._screen.drop()
        self._filtering.cancel()
        return self._state.service.go(at)

    def close(self) -> None:
        """Close what is open over or under the document; the prompt keeps its text, a filter its rows."""
        self._filtering.leave()
        self._state.prompt.touched()
        self._state.dialog = None
        self._state.place = KeyContext.DOCUMENT

    def _answered(self, then: Callable[[], None]) -> Callable[[], None]:
        """Close the question, `then` do what was answered."""

        def done() -> None:
            self.close()
            then()

        return done

    def _drop(self) -> None:
        self._state.prompt.editor.put("")
        self.close()

    def follow(self, link: LinkPlace) -> None:
        """Do what a link says. The head of a table sorts it and a scope of a tree folds, in the place of the page."""
        page = self._state.page
        if link.heading and link.link.split(" ", 1)[0] == page.command.split(" ", 1)[0]:
            self._sorting.in_place(link.link)
        elif folds_at(link.link):
            self._folding.follow(link.link, page.view.selected)
        elif page.document.kind == "config":
            set_in_place(self._screen, link.link)
        else:
            self._screen.perform(link.link)

    def _again(self) -> None:
        """What was done last, once more."""
        if not self._state.last_action:
            raise TfdbgError("Nothing was done yet that could be done again.")
        self.perform(self._state.last_action)

    def ask(self, begun: str) -> None:
        """Open the prompt with a command that is `begun`."""
        self._state.prompt.editor.put(begun)
        self._go_to(KeyContext.PROMPT)

    def _next_pane(self, step: int) -> None:
        """The next pane; where there is one only, the next link in it."""
        if self.sharing.several:
            self.sharing.next(step)
        else:
            self._moving.next_link(step)

    def _follow(self) -> None:
        link = self._state.front.chosen
        if link is None and self._state.dialog is None and self._elements.chosen:
            self._elements.open_viewer()
        elif link is None:
            hint = "j and k go on." if self.sharing.several else "Tab goes to the next one."
            self._screen.say(Message("There is no link on this line.", hint=hint, passing=True))
        elif self._state.dialog is not None:
            self.close()
            self._screen.perform(link.link)
        else:
            self.follow(link)

    def _escape(self) -> None:
        pending = self._state.pending
        if pending is not None:
            self._screen.drop()
            self._screen.say(Message(f"Stopped: {pending.words}."))
        elif self._state.seeker.active:
            self._state.seeker.stop()
        elif self._state.read is self._state.page and self._state.viewers.leads_back(self._state.pages.current):
            self._state.viewers.back(self._state.page, self._state.service.settings)
        elif self._state.pages.at == 0:
            self._screen.say(Message("This is the first screen.", hint="q leaves.", passing=True))
        else:
            self.travel(-1)

    def _go_to(self, place: KeyContext) -> None:
        self._state.place = place
        self._prompt_changed()

    def _element(self) -> None:
        self._state.prompt.editor.put("@[")
        self._go_to(KeyContext.PROMPT)

    def _edit(self, name: str) -> None:
        self._change_line(lambda line: line.edit(name))

    def _change_line(self, change: Callable[[LineEditor], None]) -> None:
        """Make `change` to the line that is being typed, and let the screen follow."""
        if isinstance(self._state.dialog, FindDialog):
            change(self._state.dialog.editor)
            self._found(self._state.dialog)
        elif self._state.filter is not None:
            change(self._state.filter.editor)
            self._filtering.changed()
        elif self._state.place is KeyContext.SEARCH:
            change(self._state.sought)
            self._searching.typed()
        else:
            change(self._state.prompt.editor)
            self._prompt_changed()

    def _prompt_changed(self) -> None:
        self._state.prompt.touched()
        self._state.hint = self._state.service.usage(self._state.prompt.editor.text)

    def _submit(self) -> None:
        """Do what was typed; where that fails at once the line stays open, to be corrected."""
        text = self._state.prompt.take()
        self.close()
        try:
            self._obey(text)
        except TfdbgError as error:
            self.ask(text)
            self._state.prompt.refused = True
            if len(text) == 1 and text.isalpha() and not self._state.service.usage(text):
                error.hint += f" Esc leaves this line, where {text} may be a key."
            raise

    def _obey(self, text: str) -> None:
        if text.startswith("/"):
            self._searching.look_for(text[1:])
        elif text.startswith("@"):
            self._elements.go(text)
        elif text:
            self._state.last_action = text
            self._screen.command(text)

    def _complete(self, step: int) -> None:
        if not self._state.prompt.complete(step):
            self._screen.say(Message("Nothing completes this.", passing=True))

    def _find(self) -> None:
        dialog = FindDialog(self._state.service.find(key_of(self._state)))
        self._state.dialog, self._state.place = dialog, KeyContext.FIND
        self._found(dialog)

    def _found(self, dialog: FindDialog) -> None:
        """Look for what is typed by now."""
        dialog.typed(self._screen.at_once)
        self._screen.go_on()

    def _keys(self) -> None:
        listed = key_list(self._state.service.moment, self._state.own_bindings)
        self._state.open_dialog(listed, KeyContext.KEYS)

    def _save_report(self) -> None:
        try:
            path = save_report(self._state.report)
        except OSError as error:
            raise TfdbgError(f"Cannot save the report: {error.strerror}.") from None
        self._screen.say(Message(f"Saved to {path}."))
