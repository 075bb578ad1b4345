"""What the callbacks of a `BaseDebugWrapperSession` are given and answer. Names and arguments are TensorFlow's."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tfdbg_cli.capture.debug_options import DebugOps, told_of_old_names


class OnSessionInitAction:
    """What may come of `on_session_init`."""

    PROCEED = "proceed"
    REMOTE_INSTR_LOOP = "remote_instr_loop"  # TensorFlow never had it, either


class OnRunStartAction:
    """What may come of `on_run_start`."""

    DEBUG_RUN = "debug_run"
    PROFILE_RUN = "profile_run"
    NON_DEBUG_RUN = "non_debug_run"


RUN_ACTIONS = frozenset({OnRunStartAction.DEBUG_RUN, OnRunStartAction.PROFILE_RUN, OnRunStartAction.NON_DEBUG_RUN})


@dataclass(frozen=True, slots=True)
class OnSessionInitRequest:
    """A wrapper is made around `session`."""

    session: Any


@dataclass(frozen=True, slots=True)
class OnSessionInitResponse:
    """`action` is one of `OnSessionInitAction`."""

    action: str


@dataclass(frozen=True, slots=True)
class OnRunStartRequest:
    """A run is about to begin, number `run_call_count` from 1; the rest is what `run` was given.

    For what make_callable gave, `fetches` are those of the runner, and `feed_dict` what it was called with.
    """

    fetches: Any
    feed_dict: Any
    run_options: Any
    run_metadata: Any
    run_call_count: int
    is_callable_runner: bool = False


@dataclass(init=False)
class OnRunStartResponse:
    """What to do with the run: `action` is one of `OnRunStartAction`.

    `debug_urls` are needed for DEBUG_RUN alone: `file://` and the folder for the dump of this run, or several of
    them. Runs may share a folder, as in TensorFlow: it then has tensors, graphs and calls alone, without the code
    and tracebacks of the program, and nothing in it tells which run a tensor is of. The rest is as in
    `WatchOptions`.
    """

    action: str
    debug_urls: Any
    debug_ops: DebugOps
    node_name_regex_allowlist: str | None
    op_type_regex_allowlist: str | None
    tensor_dtype_regex_allowlist: str | None
    tolerate_debug_op_creation_failures: bool

    @told_of_old_names
    def __init__(
        self,
        action: str,
        debug_urls: Any,
        debug_ops: DebugOps = "DebugIdentity",
        node_name_regex_allowlist: str | None = None,
        op_type_regex_allowlist: str | None = None,
        tensor_dtype_regex_allowlist: str | None = None,
        tolerate_debug_op_creation_failures: bool = False,
    ) -> None:
        self.action = action
        self.debug_urls = debug_urls
        self.debug_ops = debug_ops
        self.node_name_regex_allowlist = node_name_regex_allowlist
        self.op_type_regex_allowlist = op_type_regex_allowlist
        self.tensor_dtype_regex_allowlist = tensor_dtype_regex_allowlist
        self.tolerate_debug_op_creation_failures = tolerate_debug_op_creation_failures


@dataclass(frozen=True, slots=True)
class OnRunEndRequest:
    """A run has ended. `performed_action` is what `on_run_start` asked for, `tf_error` the OpError of an op.

    `run_metadata` is that which the program gave to `run`; where it gave none, one with the partition graphs of a
    DEBUG_RUN, or with the times of a PROFILE_RUN. `client_graph_def` is the GraphDef of the session.
    """

    performed_action: str
    run_metadata: Any = None
    client_graph_def: Any = field(default=None, repr=False)
    tf_error: Exception | None = None


@dataclass(frozen=True, slots=True)
class OnRunEndResponse:
    """Says nothing."""
