"""Chooses by RunOptions which tensors TensorFlow dumps; names and arguments are those of TensorFlow's tfdbg."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import ParamSpec, TypeAlias, TypeVar

from tfdbg_cli.capture.tf.types import RunOptions, TfGraph

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

DebugOps: TypeAlias = str | Sequence[str]

_DEFAULT_OP = "DebugIdentity"


def told_of_old_names(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """`function`, which refuses an argument `…_whitelist` or `…_blacklist` of TensorFlow 1, and says its new name."""

    @wraps(function)
    def call(*arguments: Parameters.args, **keywords: Parameters.kwargs) -> Result:
        for name in keywords:
            present = name.replace("_whitelist", "_allowlist").replace("_blacklist", "_denylist")
            if present != name:
                raise TypeError(f"{name} is called {present} now; it takes the same expression.")
        return function(*arguments, **keywords)

    return call


@dataclass(init=False)
class WatchOptions:
    """What a `watch_fn` asks for: debug ops, and three expressions that must all match from the start of a name.

    The arguments are those of TensorFlow's class of this name.
    """

    debug_ops: DebugOps
    node_name_regex_allowlist: str | None
    op_type_regex_allowlist: str | None
    tensor_dtype_regex_allowlist: str | None
    tolerate_debug_op_creation_failures: bool

    @told_of_old_names
    def __init__(
        self,
        debug_ops: DebugOps | None = None,
        node_name_regex_allowlist: str | None = None,
        op_type_regex_allowlist: str | None = None,
        tensor_dtype_regex_allowlist: str | None = None,
        tolerate_debug_op_creation_failures: bool = False,
    ) -> None:
        self.debug_ops = debug_ops or [_DEFAULT_OP]
        self.node_name_regex_allowlist = node_name_regex_allowlist
        self.op_type_regex_allowlist = op_type_regex_allowlist
        self.tensor_dtype_regex_allowlist = tensor_dtype_regex_allowlist
        self.tolerate_debug_op_creation_failures = tolerate_debug_op_creation_failures

    def admits(self, node_name: str, op_type: str, dtype: str) -> bool:
        """Whether all given expressions match from the start."""
        return all(
            re.match(regex, text)
            for regex, text in (
                (self.node_name_regex_allowlist, node_name),
                (self.op_type_regex_allowlist, op_type),
                (self.tensor_dtype_regex_allowlist, dtype),
            )
            if regex
        )


def watch_options(answer: object) -> WatchOptions:
    """What a `watch_fn` answered, which may be a tuple `(debug_ops, node_names, op_types)` as long ago.

    Raises:
        TypeError: something else.
        ValueError: an expression in it cannot be read.

    """
    options = _options(answer)
    ops = options.debug_ops
    if not isinstance(ops, str | list | tuple) or not all(isinstance(op, str) for op in ops):
        raise TypeError(f"The debug_ops that watch_fn returns must be names of debug ops, not {ops!r}.")
    for regex in (
        options.node_name_regex_allowlist,
        options.op_type_regex_allowlist,
        options.tensor_dtype_regex_allowlist,
    ):
        try:
            re.compile(regex or "")
        except (re.error, TypeError) as error:
            raise ValueError(f"watch_fn returned {regex!r}, which is no regular expression: {error}.") from None
    return options


def _options(answer: object) -> WatchOptions:
    if isinstance(answer, WatchOptions):
        return answer
    if isinstance(answer, tuple):
        try:
            return WatchOptions(*answer)
        except TypeError:
            raise TypeError(
                f"A tuple that watch_fn returns has up to 5 items, not {len(answer)}: debug_ops, and the expressions "
                "for node names, op types and dtypes. Return a WatchOptions, which names them."
            ) from None
    names = ("debug_ops", "node_name_regex_allowlist", "op_type_regex_allowlist", "tensor_dtype_regex_allowlist")
    if all(hasattr(answer, name) for name in names):
        # TensorFlow's own WatchOptions, from a program that changed only one of its imports.
        tolerate = bool(getattr(answer, "tolerate_debug_op_creation_failures", False))
        ops, nodes, types, dtypes = (getattr(answer, name) for name in names)
        return WatchOptions(ops, nodes, types, dtypes, tolerate)
    raise TypeError(f"watch_fn must return a WatchOptions, not {type(answer).__name__}.")


def add_debug_tensor_watch(
    run_options: RunOptions,
    node_name: str,
    output_slot: int = 0,
    debug_ops: DebugOps = _DEFAULT_OP,
    debug_urls: DebugOps | None = None,
    tolerate_debug_op_creation_failures: bool = False,
    global_step: int = -1,
) -> None:
    """Ask in `run_options` (a `tf.compat.v1.RunOptions`) for the output `output_slot` of `node_name`."""
    options = run_options.debug_options
    options.global_step = global_step
    watch = options.debug_tensor_watch_opts.add()
    watch.tolerate_debug_op_creation_failures = tolerate_debug_op_creation_failures
    watch.node_name = node_name
    watch.output_slot = output_slot
    watch.debug_ops.extend(_listed(debug_ops))
    watch.debug_urls.extend(_listed(debug_urls or ()))


@told_of_old_names
def watch_graph(
    run_options: RunOptions,
    graph: TfGraph,
    debug_ops: DebugOps = _DEFAULT_OP,
    debug_urls: DebugOps | None = None,
    node_name_regex_allowlist: str | None = None,
    op_type_regex_allowlist: str | None = None,
    tensor_dtype_regex_allowlist: str | None = None,
    tolerate_debug_op_creation_failures: bool = False,
    global_step: int = -1,
    reset_disk_byte_usage: bool = False,
) -> None:
    """Ask in `run_options` for every output of `graph` that all given expressions match from the start.

    Without an expression the nodes that TensorFlow makes at run time are asked for too.

    Raises:
        ValueError: no debug op, or no debug URL.

    """
    if not debug_ops:
        raise ValueError("debug_ops must not be empty or None.")
    if not debug_urls:
        raise ValueError("debug_urls must not be empty or None.")
    options = WatchOptions(
        debug_ops, node_name_regex_allowlist, op_type_regex_allowlist, tensor_dtype_regex_allowlist
    )
    watches = list(_chosen(graph, options.admits))
    if not (node_name_regex_allowlist or op_type_regex_allowlist or tensor_dtype_regex_allowlist):
        watches.append(("*", -1))
    for watch in watches:
        add_debug_tensor_watch(
            run_options, *watch, debug_ops, debug_urls, tolerate_debug_op_creation_failures, global_step
        )
    run_options.debug_options.reset_disk_byte_usage = reset_disk_byte_usage


@told_of_old_names
def watch_graph_with_denylists(
    run_options: RunOptions,
    graph: TfGraph,
    debug_ops: DebugOps = _DEFAULT_OP,
    debug_urls: DebugOps | None = None,
    node_name_regex_denylist: str | None = None,
    op_type_regex_denylist: str | None = None,
    tensor_dtype_regex_denylist: str | None = None,
    tolerate_debug_op_creation_failures: bool = False,
    global_step: int = -1,
    reset_disk_byte_usage: bool = False,
) -> None:
    """Ask in `run_options` for every output of `graph` that none of the given expressions matches from the start."""
    denied = [node_name_regex_denylist, op_type_regex_denylist, tensor_dtype_regex_denylist]

    def admits(*texts: str) -> bool:
        return not any(re.match(regex, text) for regex, text in zip(denied, texts, strict=True) if regex)

    for watch in _chosen(graph, admits):
        add_debug_tensor_watch(
            run_options, *watch, debug_ops, debug_urls, tolerate_debug_op_creation_failures, global_step
        )
    run_options.debug_options.reset_disk_byte_usage = reset_disk_byte_usage


def _chosen(graph: TfGraph, admits: Callable[[str, str, str], bool]) -> Iterator[tuple[str, int]]:
    for op in graph.get_operations():
        for slot, tensor in enumerate(op.outputs):
            if admits(op.name, op.type, tensor.dtype.name):
                yield op.name, slot


def _listed(texts: DebugOps) -> list[str]:
    return [texts] if isinstance(texts, str) else list(texts)
