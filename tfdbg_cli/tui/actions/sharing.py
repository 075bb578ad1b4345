"""The `ui:` actions of the panes of the middle: which has the focus, where they stand, how large they are."""

from __future__ import annotations

from dataclasses import replace

from tfdbg_cli.config.settings import PREVIEW_SHARES
from tfdbg_cli.tui.state.bars import Message
from tfdbg_cli.tui.state.screen import Screen

_SIDES = ("auto", "right", "left", "below", "off")
_STEP = 5  # percent


class Sharing:
    """How the panes of one screen share it. What a user chooses is kept with the other settings."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._state = screen.state

    @property
    def several(self) -> bool:
        """Whether more than one pane stands in the middle."""
        return len(self._state.panes) > 1

    def next(self, step: int) -> None:
        """Give the focus to the next pane (`step` 1) or to the one before (-1)."""
        panes = self._state.panes
        at = next((n for n, pane in enumerate(panes) if pane is self._state.focus), 0)
        self._state.focus = panes[(at + step) % len(panes)]

    def zoom(self) -> None:
        """Show the pane with the focus alone, or all again."""
        if not self.several and not self._state.zoomed:
            room = self._state.room_from
            hint = f"One has room {room}." if room else "`config set preview` says where one stands."
            self._screen.say(Message("There is no other pane.", hint=hint))
            return
        self._state.zoomed = not self._state.zoomed
        if self._state.zoomed:
            self._screen.say(Message("This pane alone; z shows the others again.", passing=True))

    def side(self) -> None:
        """Put the preview on the next side, or away."""
        at = _SIDES.index(self._state.service.settings.preview)
        side = _SIDES[(at + 1) % len(_SIDES)]
        self._state.zoomed = False
        self._set("preview", side)
        self._told(side)

    def resize(self, direction: int) -> None:
        """Give the preview a step more of the screen, or less."""
        share = self._state.service.settings.preview_share + direction * _STEP
        self.keep(min(max(PREVIEW_SHARES[0], share), PREVIEW_SHARES[1]))

    def show(self, share: int) -> None:
        """Give the preview so many percent of the screen, for as long as a border is dragged."""
        service = self._state.service
        service.settings = replace(service.settings, preview_share=share)

    def keep(self, share: int) -> None:
        """Give the preview so many percent of the screen from now on."""
        self._set("preview_share", str(share))
        self._told(f"{share} percent")

    def _told(self, what: str) -> None:
        """Say what the preview is from now on, and where it shows if it does not here."""
        off = self._state.service.settings.preview == "off"
        hint = f"It shows {self._state.room_from}." if self._state.room_from and not off else ""
        hint = "It is off; | shows it." if off and what != "off" else hint
        self._screen.say(Message(f"preview: {what}{'.' if hint else ''}", hint=hint, passing=True))

    def _set(self, name: str, value: str) -> None:
        self._state.service.execute(f"config set {name} {value}")
