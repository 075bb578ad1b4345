"""Leaves out runs that only give variables, tables and iterators their first state: nobody wants to debug those."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from tfdbg_cli.capture.controller import PendingRun, Plan
from tfdbg_cli.capture.intercept.go_between import CountingController, GoBetween
from tfdbg_cli.capture.tf.types import Fetches, Op
from tfdbg_cli.model.walks import reached
from tfdbg_cli.ops.kinds import ASSIGNMENTS

_TABLE_OR_ITERATOR = ("InitializeTable", "LookupTableImport", "MakeIterator")


class InitializersApart(GoBetween):
    """Asks `controller` about every run but those that only initialize. Their errors are reported all the same."""

    def __init__(self, controller: CountingController) -> None:
        super().__init__(controller)
        self._known: WeakKeyDictionary[Op, bool] = WeakKeyDictionary()

    def run_starts(self, pending: PendingRun) -> Plan:
        """What to do with a run. See `capture.controller.Controller`."""
        fetches, _ = pending.arguments()
        if self._initializes(fetches):
            return Plan(self.count_run(), errors=True)
        return super().run_starts(pending)

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
