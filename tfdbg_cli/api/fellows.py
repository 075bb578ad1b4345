"""The other workers of this process's job, where they are to stop where this one does (`tfdbg run --on-hit all`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_cli.api.launch_options import launch_options
from tfdbg_cli.model.decision import OnHit
from tfdbg_cli.process.once import Once

if TYPE_CHECKING:
    from tfdbg_cli.debugger.watch_switch import Fellows


@Once
def fellows() -> Fellows | None:
    """Who tells them and hears of them, for all debuggers of the process; None where they are not to stop."""
    if launch_options().on_hit is not OnHit.ALL:
        return None
    from tfdbg_cli.remote.fellow_workers import FellowWorkers

    return FellowWorkers()
