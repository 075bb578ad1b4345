"""What is gathered of runs beside the training, for a stop to show."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from tfdbg_cli.model.rules import RuleAlert
from tfdbg_cli.model.series import Series


@dataclass(frozen=True, slots=True)
class Observations:
    """What rules have found in the runs so far, and the norms that are kept of them, by `Call.same`.

    Of a call whose runs have no norms `trends` holds no series. `keeps_norms` says whether norms are kept at all.
    """

    alerts: tuple[RuleAlert, ...] = ()
    trends: Mapping[Hashable, Sequence[Series]] = field(default_factory=dict)
    keeps_norms: bool = False
