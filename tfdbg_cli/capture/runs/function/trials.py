"""Trials: watched calls that are also made plainly, from the same state, to see whether they give the same.

The optimized graph does not show all: buffers that ops hand on, what XLA makes of a function. So of the calls under a
watch some are made plainly too, the first ones and then fewer and fewer; and each one in which something was found,
since ops that otherwise agree may differ for NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import tensorflow as tf

from tfdbg_cli.capture.failures import remark
from tfdbg_cli.capture.functions.exact.agreement import Agreement, Effect, agreement
from tfdbg_cli.capture.runs.function.plain_runs import PlainRuns
from tfdbg_cli.capture.state.call_snapshot import CallSnapshot
from tfdbg_cli.capture.state.snapshot_plan import SnapshotPlan
from tfdbg_cli.capture.state.variable_values import put_back
from tfdbg_cli.capture.tf.types import AtomicFunction, EagerTensor
from tfdbg_cli.model.exactness import Parting, named_partings

_COPIES = (
    "Watched in place, runs of {function} give other last digits than plain ones, in {named}. From now on the "
    "program's own call stays as it is, and a copy of it is watched, which takes about twice the time."
)
_KEPT = (
    "With their values kept, runs of {function} give other last digits than plain ones, in {named}. The program is "
    "given what the plain run gives where one is made, and else those. `--values replay` watches without that."
)
_FAILED = (
    "With checks in it {function} failed, which it does not without them ({error}). The program was given what the "
    "plain run gives. From now on a copy of each call is watched, which takes about twice the time."
)
_UNSTEADY = "its plain calls from one state differ from each other"
_FIRST = 2  # calls that are all tried


@dataclass(frozen=True)
class Trial:
    """What making a call plainly showed: the outputs to give the program, and what was not the same."""

    outputs: tuple[EagerTensor, ...]
    agreement: Agreement


class Trials:
    """The trials of one function under one watch.

    `differs` says that a call was not the same. `strays` are the outputs and variables that differed, if calls before
    that one were not tried: in those they may have differed, too. Of calls whose values are `kept` no copy is watched
    then, so that those to come differ as well.
    """

    def __init__(self, snapshot_plan: SnapshotPlan, atomic: AtomicFunction, *, kept: bool = False) -> None:
        self._snapshot_plan = snapshot_plan
        self._kept = kept
        self._function = str(atomic.graph.name)
        self._plain = PlainRuns(snapshot_plan, atomic)
        self._calls = 0
        self.made = 0
        self.differs = False
        self.strays: dict[str, Parting] = {}
        self.failure = ""

    @property
    def reason(self) -> str:
        """Why no call is tried; empty when some are."""
        return self._plain.reason or self.failure

    def due(self) -> bool:
        """Whether the call that is made now is to be made plainly, too. To be asked once a call."""
        self._calls += 1
        return not self.reason and (self._calls <= _FIRST or self._calls == 10 ** (len(str(self._calls)) - 1))

    def inputs(self, held: CallSnapshot) -> list[EagerTensor]:
        """Inputs for a call from the state of `held`, on copies; see `PlainRuns.inputs`."""
        return self._plain.inputs(held)

    def made_before(self, held: CallSnapshot) -> Effect | None:
        """What the call of `held`, which is about to be made, gives plainly; None where `tried` is to find out.

        Found out before, it takes no memory of its own beside all the values of a call that are kept.
        """
        if self.reason or self._plain.draws:
            return None
        try:
            return self._plain.effect(held)
        except Exception:  # noqa: BLE001  # a mistake of the program comes up in the call itself
            return None

    def tried(
        self, held: CallSnapshot, outputs: Sequence[EagerTensor], *, found: bool, plain: Effect | None = None
    ) -> Trial | None:
        """Make the call of `held`, which gave `outputs`, plainly, and give the program's variables what that leaves.

        `found` says that the watch found something in it: then a difference is no stray, since it may be due to NaN
        alone. `plain` is what `made_before` gave. None when the call cannot be made plainly.
        """
        try:
            plain = plain or self._plain.effect(held)
            watched = Effect(outputs, held.variables_now())
            result = agreement(self._snapshot_plan.root, watched, plain)
            if result.partings and not found and not self._repeats(held, plain):
                self.failure = _UNSTEADY
                return None
        except Exception as error:  # noqa: BLE001  # the run was made, whatever becomes of its trial
            self.failure = f"it failed when it was made plainly ({type(error).__name__}: {error})"
            return None
        self.made += 1
        if not result.partings:
            return Trial(tuple(outputs), result)
        self._set_right(held, watched, plain)
        if not found:
            self._note(result.partings)
        return Trial(tuple(map(_of_both, outputs, plain.outputs)), result)

    def given_plainly(self, held: CallSnapshot, error: Exception) -> tuple[EagerTensor, ...] | None:
        """What the call of `held`, which failed by `error`, gives plainly; the variables are set by it, too.

        None where it fails plainly, too, as a mistake of the program does, or cannot be made plainly.
        """
        if self.reason:
            return None
        try:
            plain = self._plain.effect(held)
        except Exception:  # noqa: BLE001  # the program gets the error that it has
            return None
        outputs = tuple(output for output in plain.outputs if output is not None)
        if any(output.dtype == tf.resource for output in outputs):  # the handle of a copy
            return None
        self._set_right(held, Effect((), held.variables_now()), plain)
        self.differs = True
        remark(_FAILED.format(function=self._function, error=f"{type(error).__name__}: {str(error).splitlines()[0]}"))
        return outputs

    def _repeats(self, held: CallSnapshot, plain: Effect) -> bool:
        """Whether the plain function gives what it gave, `plain`, once more."""
        return not agreement(self._snapshot_plan.root, plain, self._plain.effect(held)).partings

    def _set_right(self, held: CallSnapshot, watched: Effect, plain: Effect) -> None:
        """Give the program's variables what the plain call left in them."""
        for at, value in plain.variables.items():
            if value is not None and watched.variables.get(at) is not None:
                put_back(held.inputs[at], value)

    def _note(self, partings: Sequence[Parting]) -> None:
        self.differs = True
        told = _KEPT if self._kept else _COPIES
        remark(told.format(function=self._function, named=named_partings(partings)))
        if self._kept or self._calls > _FIRST:
            self.strays.update({parting.name: parting for parting in partings})


def _of_both(watched: EagerTensor | None, plain: EagerTensor | None) -> EagerTensor | None:
    """What the program is given: the plain output, unless it is the handle of a copy."""
    return watched if watched is None or watched.dtype == tf.resource else plain
