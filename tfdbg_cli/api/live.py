"""The lines at the bottom of the terminal that tell how the runs of this process go (`tfdbg run --live`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_cli.api.launch_options import launch_options
from tfdbg_cli.debugger.debugger import Debugger
from tfdbg_cli.debugger.progress_line import Progress, ProgressLine
from tfdbg_cli.process.once import Once

if TYPE_CHECKING:
    from tfdbg_cli.line.live_view import LiveView


@Once
def live_view() -> LiveView | None:
    """What draws them, begun at the first call; None where they are not asked for."""
    options = launch_options()
    if options.live is None:
        return None
    from tfdbg_cli.line.live_view import LiveView

    view = LiveView(options.live, norms=bool(options.trends), alerts=options.rules is not None)
    view.start()
    return view


def progress() -> Progress:
    """Where a watch tells how it goes."""
    return live_view() or ProgressLine()


def follow(debugger: Debugger) -> None:
    """Have the lines, if there are any, tell of `debugger`, and leave the terminal to its prompt."""
    view = live_view()
    if view is not None:
        debugger.prompt.surroundings = view.hidden
        view.follow(debugger)
