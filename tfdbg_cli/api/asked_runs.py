"""Runs that a callback of the program is asked about, and what comes of its answers."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfdbg_cli.api.frontends import user_settings
from tfdbg_cli.api.run_callbacks import RUN_ACTIONS, OnRunStartAction, OnRunStartRequest, OnRunStartResponse
from tfdbg_cli.capture.controller import Action, PendingRun, Plan, WrongAnswerError
from tfdbg_cli.capture.debug_options import WatchOptions, watch_options
from tfdbg_cli.capture.intercept.unattended import Unattended
from tfdbg_cli.model.runs import Run

_FILE = "file://"
_ACTIONS = {OnRunStartAction.DEBUG_RUN: Action.CAPTURE, OnRunStartAction.PROFILE_RUN: Action.PROFILE}


@dataclass(frozen=True, slots=True)
class Given:
    """What a call of `run`, or of a runner, was given beside fetches and feeds."""

    run_options: Any
    run_metadata: Any
    is_runner: bool = False


class AskedCall:
    """A call that a thread is in: what it was given, and what `on_run_start` asked for; empty if it was not asked.

    `folder` is where its dump is, if there is to be one.
    """

    def __init__(self, given: Given, calls: list[AskedCall]) -> None:
        self.given = given
        self.action = ""
        self.folder: Path | None = None
        self._calls = calls

    def __enter__(self) -> AskedCall:
        self._calls.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._calls.remove(self)


class AskedRuns(Unattended):
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
        except Exception as error:
            raise WrongAnswerError(error) from error
        call.action, call.folder = answer.action, plan.directory
        return plan

    def run_ends(self, plan: Plan, run: Run) -> bool:
        """Every dump is kept."""
        return True


def _planned(number: int, answer: object) -> Plan:
    """The plan that an answer of `on_run_start` asks for.

    Raises:
        TypeError: the answer is something else.
        ValueError: its action, its address or an expression in it makes no sense.

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
    directory = _folder(answer.debug_urls)
    return Plan(number, action, errors=True, directory=directory, watch_options=watch_options(chosen))


def _folder(urls: Any) -> Path:
    """The folder that the address of a dump names.

    Raises:
        ValueError: it is no `file://` of a folder, there are several, or the folder has something in it.

    """
    found = [urls] if isinstance(urls, str) else list(urls or ())
    if len(found) != 1 or not str(found[0]).startswith(_FILE):
        raise ValueError(f"A run is dumped into one folder: debug_urls are to be ['file://FOLDER'], not {urls!r}.")
    folder = Path(str(found[0]).removeprefix(_FILE)).expanduser()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"{folder} is there and not empty: each run needs a folder of its own for its dump.")
    if folder.exists():
        folder.rmdir()  # a dump appears as a whole
    return folder
