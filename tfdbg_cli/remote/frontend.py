"""The front end of a program that listens: stops go to whoever is attached, and keep nobody waiting without them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tfdbg_cli.analysis.watch.filter import TensorFilter
from tfdbg_cli.collection import collect_circles
from tfdbg_cli.commands.registry import Registry
from tfdbg_cli.commands.service.prompt_service import PromptService
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.line.conversation import Conversation
from tfdbg_cli.line.frontend import LineFrontend
from tfdbg_cli.line.json_output import JsonOutput
from tfdbg_cli.model.decision import ByVisitor, Detach, Outcome, Resume, RunUntil, StepOn
from tfdbg_cli.model.runs import RunEnd, RunStart, Stop
from tfdbg_cli.process.streams import to_stderr
from tfdbg_cli.remote.prompt import VisitorInput, output_for
from tfdbg_cli.remote.seat import Seat
from tfdbg_cli.remote.visitor import Visitor

_MOST_PAGES = 50  # as in the line front end
STAYS = "Left: the program still waits for somebody to decide how it goes on."
DETACHED = "Detached: the program goes on undebugged."


class RemoteFrontend:
    """Shows stops to the visitor in `seat`, as lines of text or JSON.

    Without one the finding of a watch is printed by what `alone` makes of the settings, and the program goes on, or
    waits for somebody.
    `first` is the watch of the command line, which the program begins with. `check` is that of the line front end.
    """

    failures = 0
    broken = False

    def __init__(
        self,
        seat: Seat,
        registry: Registry,
        settings: Settings,
        filters: Mapping[str, TensorFilter],
        *,
        alone: Callable[[Settings], LineFrontend],
        first: RunUntil | None = None,
        check: Callable[[Settings, Settings], None] = lambda before, settings: None,
    ) -> None:
        self._seat = seat
        self._registry = registry
        self._settings = settings
        self._filters = filters
        self._alone = alone
        self._first = first
        self._check = check
        self._served = False  # whether what holds now was decided by a visitor

    @property
    def settings(self) -> Settings:
        """The settings that hold now."""
        return self._settings

    def stop(self, event: Stop) -> Outcome:
        """Talk about `event` with who is attached until there is a decision; alone, go on as before."""
        stays = self._seat.waits and isinstance(event, RunEnd) and (event.hit or event.run.error) is not None
        visitor = self._seat.visitor
        if visitor is not None and not visitor.gone:
            outcome = self._met(visitor, event, stays=stays)
            if outcome is not None:
                return outcome
        if stays:
            return self._awaited(event)
        first, self._first = self._first, None
        if isinstance(event, RunStart):
            served, self._served = self._served, False
            return Resume() if served or first is None else first
        if self._served and isinstance(event, RunEnd):
            self._served = False
            what = "was captured for" if event.hit is None and event.run.error is None else "stopped for"
            to_stderr(f"Run #{event.run.call.number} {what} somebody who has left: the program goes on as before.")
            return Resume()
        return self._alone(self._settings).stop(event)

    def _awaited(self, event: Stop) -> Outcome:
        """Print what was found, and wait until somebody who is attached has decided."""
        self._alone(self._settings).stop(event)
        self._seat.standing = True
        try:
            to_stderr(f"The program waits here until somebody attaches and decides how it goes on: {self._seat.how}")
            outcome: Outcome | None = None
            while outcome is None:
                outcome = self._met(self._seat.awaited(), event, stays=True)
            return outcome
        finally:
            self._seat.standing = False

    def _met(self, visitor: Visitor, event: Stop, *, stays: bool) -> Outcome | None:
        """What `visitor` decides; None if they had gone before, or went without a decision and the stop `stays`."""
        with visitor.talking:
            if visitor.gone:
                return None
            visitor.farewell = STAYS if stays else ""
            outcome = self._talk(visitor, event)
            if not (isinstance(outcome, ByVisitor) and isinstance(outcome.decision, StepOn)):
                collect_circles()
            if not isinstance(outcome, Resume):
                visitor.farewell = ""
                return outcome
            return None if stays else outcome

    def notify(self, message: str) -> None:
        """Say `message` on standard error, and to who is attached."""
        to_stderr(message)
        visitor = self._seat.visitor
        if visitor is not None:
            visitor.tell("note", text=message)

    def _talk(self, visitor: Visitor, event: Stop) -> Outcome:
        self._first, self._served = None, True
        visitor.decides = False
        wishes = visitor.wishes
        width = None if wishes.json else visitor.width
        output = output_for(visitor, width)
        service = PromptService(
            event,
            self._registry,
            self._settings,
            self._filters,
            width=width,
            interactive=wishes.interactive,
            on_setting=self._set,
            most_pages=_MOST_PAGES,
        )
        try:
            if isinstance(output, JsonOutput):
                output.run_ended(event.run.exactness if isinstance(event, RunEnd) else None)
            conversation = Conversation(service, VisitorInput(visitor), output, elsewhere=True)
            decision = conversation.hold(opening=wishes.opening and not wishes.json, titled=not wishes.json)
            visitor.send("goes_on", failures=visitor.failures)
            if isinstance(decision, Detach):
                self._served = False
                visitor.send("bye", text=DETACHED)
                visitor.dismiss()
            else:
                visitor.decides = True
        except BrokenPipeError:
            self._served = False
            return Resume()
        return ByVisitor(decision)

    def _set(self, settings: Settings) -> None:
        self._check(self._settings, settings)
        self._settings = settings
