"""Leaves out runs that only give variables, tables and iterators their first state: nobody wants to debug those."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Protocol
from weakref import WeakKeyDictionary

from tfdbg_cli.capture.controller import Controller, PendingRun, Plan, WatchRequest
from tfdbg_cli.capture.tf.types import Fetches, Op
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.model.pausing import Sought
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.walks import reached
from tfdbg_cli.ops.kinds import ASSIGNMENTS

_TABLE_OR_ITERATOR = ("InitializeTable", "LookupTableImport", "MakeIterator")


class CountingController(Controller, Protocol):
    """A controller that can be told of a run without being asked about it."""

    def count_run(self) -> int:
        """The number of a run that begins now."""
        ...


class InitializersApart:
    """Asks `controller` about every run but those that only initialize. Their errors are reported all the same."""

    def __init__(self, controller: CountingController) -> None:
        self._controller = controller
        self._known: WeakKeyDictionary[Op, bool] = WeakKeyDictionary()

    @property
    def settings(self) -> Settings:
        """The settings that hold now."""
        return self._controller.settings

    @property
    def watched(self) -> WatchRequest | None:
        """What the watch that is on asks of runs."""
        return self._controller.watched

    @property
    def sought(self) -> Sought | None:
        """What code that runs eagerly is to stop at."""
        return self._controller.sought

    def run_paused(self, run: Run) -> None:
        """Open the prompt in the middle of a run. See `capture.controller.Controller`."""
        self._controller.run_paused(run)

    def run_starts(self, pending: PendingRun) -> Plan:
        """What to do with a run. See `capture.controller.Controller`."""
        fetches, _ = pending.arguments()
        if self._initializes(fetches):
            return Plan(self._controller.count_run(), errors=True)
        return self._controller.run_starts(pending)

    def run_ends(self, plan: Plan, run: Run) -> bool:
        """Take in what a run gave. See `capture.controller.Controller`."""
        return self._controller.run_ends(plan, run)

    def run_passed(self, plan: Plan, make: Callable[[], Run], said: str = "", looked_at: Hashable = None) -> None:
        """Note a watched run without a hit. See `capture.controller.Controller`."""
        self._controller.run_passed(plan, make, said, looked_at)

    def run_abandoned(self, plan: Plan) -> None:
        """Note that no `run_ends` will come for `plan`. See `capture.controller.Controller`."""
        self._controller.run_abandoned(plan)

    def _initializes(self, fetches: Fetches) -> bool:
        fetched = fetches if isinstance(fetches, list | tuple) else (fetches,)
        return bool(fetched) and all(map(self._initializer, fetched))

    def _initializer(self, fetch: Fetches) -> bool:
        if not hasattr(fetch, "control_inputs"):  # a tensor, a name, a structure: something is asked for
            return False
        found = self._known.get(fetch)
        if found is None:
            found = self._known[fetch] = _only_initializes(fetch)
        return found


def _only_initializes(op: Op) -> bool:
    """Whether running `op` does nothing but initialize: a group, however nested, of initializers."""
    members = reached([op], lambda one: one.control_inputs if _is_group(one) else ())
    return all(_is_group(one) or _is_initializer(one) for one in members)


def _is_group(op: Op) -> bool:
    return op.type == "NoOp" and not op.inputs


def _is_initializer(op: Op) -> bool:
    if op.type in ASSIGNMENTS:
        # TensorFlow names a variable's own initializer so; `v.assign(…)` elsewhere in a program is a step of it.
        return bool(op.inputs) and op.name == f"{op.inputs[0].op.name}/Assign"
    return bool(op.type.startswith(_TABLE_OR_ITERATOR))
