"""Runs that a callback of the program is asked about, and what comes of its answers."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from tfdbg_cli.api.dump_place import DumpPlace
from tfdbg_cli.api.frontends import user_settings
from tfdbg_cli.api.run_callbacks import RUN_ACTIONS, OnRunStartAction, OnRunStartRequest, OnRunStartResponse
from tfdbg_cli.capture.controller import Action, PendingRun, Plan, WrongAnswerError
from tfdbg_cli.capture.debug_options import WatchOptions, watch_options
from tfdbg_cli.capture.intercept.unattended import PassingController
from tfdbg_cli.model.runs import Run

_ACTIONS = {OnRunStartAction.DEBUG_RUN: Action.CAPTURE, OnRunStartAction.PROFILE_RUN: Action.PROFILE}


@dataclass(frozen=True, slots=True)
class Given:
    """What a call of `run`, or of a runner, was given beside fetches and feeds."""

    run_options: Any
    run_metadata: Any
    is_runner: bool = False


class AskedCall:
    """A call that a thread is in: what it was given, and what `on_run_start` asked for; empty if it was not asked.

    `place` is where it is dumped, if it is to be.
    """

    def __init__(self, given: Given, calls: list[AskedCall]) -> None:
        self.given = given
        self.action = ""
        self.place: DumpPlace | None = None
        self._calls = calls

    def __enter__(self) -> AskedCall:
        self._calls.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._calls.remove(self)
        if self.place is not None:
            self.place.close()


class AskedRuns(PassingController):
    """Plans each run as `ask` answers. See `capture.controller.Controller`."""

    def __init__(
        self, ask: Callable[[OnRunStartRequest], OnRunStartResponse], thread_name_filter: str | None
    ) -> None:
        super().__init__(None, user_settings())
        self._ask = ask
        self._threads = re.compile(thread_name_filter) if thread_name_filter else None
        self._here = threading.local()

    def within(self, given: Given) -> AskedCall:
        """A context: the call of this thread that is asked about by `run_starts`."""
        return AskedCall(given, self._calls)

    @property
    def _calls(self) -> list[AskedCall]:
        if not hasattr(self._here, "calls"):
            self._here.calls = []
        calls: list[AskedCall] = self._here.calls
        return calls

    def run_starts(self, pending: PendingRun) -> Plan:
        """Ask about the run.

        Raises:
            WrongAnswerError: it raised, or its answer makes no sense.

        """
        number = self.count_run()
        if self._threads and not self._threads.match(threading.current_thread().name):
            return Plan(number)
        if not self._calls:  # a thread of a MonitoredSession's own
            return Plan(number)
        call = self._calls[-1]
        fetches, feeds = pending.arguments()
        given = call.given
        request = OnRunStartRequest(
            fetches, feeds, given.run_options, given.run_metadata, number, is_callable_runner=given.is_runner
        )
        try:
            answer = self._ask(request)
            plan = _planned(number, answer)
            call.place = DumpPlace(answer.debug_urls) if plan.action is Action.CAPTURE else None
        except Exception as error:
            raise WrongAnswerError(error) from error
        call.action = answer.action
        return plan if call.place is None else replace(plan, directory=call.place.folder)

    def run_ends(self, plan: Plan, run: Run) -> bool:
        """Every dump is kept."""
        return True


def _planned(number: int, answer: object) -> Plan:
    """The plan that an answer of `on_run_start` asks for, without the folder of a dump.

    Raises:
        TypeError: the answer is something else.
        ValueError: its action or an expression in it makes no sense.

    """
    if not isinstance(answer, OnRunStartResponse):
        raise TypeError(f"on_run_start must return an OnRunStartResponse, not {type(answer).__name__}.")
    if answer.action not in RUN_ACTIONS:
        raise ValueError(f"on_run_start returned the unknown action {answer.action!r}; see OnRunStartAction.")
    action = _ACTIONS.get(answer.action, Action.LEAVE)
    if action is not Action.CAPTURE:
        return Plan(number, action)
    ops = answer.debug_ops
    chosen = WatchOptions(
        [ops] if isinstance(ops, str) else ops,
        answer.node_name_regex_allowlist,
        answer.op_type_regex_allowlist,
        answer.tensor_dtype_regex_allowlist,
        answer.tolerate_debug_op_creation_failures,
    )
    return Plan(number, action, errors=True, watch_options=watch_options(chosen))
