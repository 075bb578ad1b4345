"""The addresses to which TensorFlow dumps: few, and the same ones again and again.

A session prepares its graph anew for each address that it has not dumped to, and keeps what it prepared as long as it
lives. So an address is a link, and the link leads to the folder of the run that is being made. The graph that ran is
written only when it is prepared; it is kept then, and put into the folders of later runs.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from types import TracebackType
from typing import TypeAlias

from tfdbg_cli.capture.chooser import chooser
from tfdbg_cli.capture.debug_options import add_debug_tensor_watch
from tfdbg_cli.capture.failures import report
from tfdbg_cli.capture.tf.memo import Memo
from tfdbg_cli.capture.tf.types import RawSession, RunOptions, TfGraph
from tfdbg_cli.formats.dumps.call_info import call_of
from tfdbg_cli.formats.dumps.device_names import DEVICE_PREFIX
from tfdbg_cli.formats.dumps.listing import CORE_METADATA_PREFIX, GRAPH_PREFIX, DumpListing
from tfdbg_cli.model.decision import CaptureRequest
from tfdbg_cli.process.interruptions import our_errors
from tfdbg_cli.process.program_end import at_the_end
from tfdbg_cli.scratch_folder import ScratchFolder

# What TensorFlow goes by when it looks for a graph that it has prepared.
_Prepared: TypeAlias = "tuple[object, ...]"
_Kept: TypeAlias = dict[_Prepared, Path]
_GRAPHS: Memo[_Kept] = Memo(lambda session: {})  # the graphs that a session dumped


class DumpAddress:
    """A context in which what TensorFlow dumps to `address` comes to lie in `directory`, which must exist.

    No two have the same address at a time. Where no link can be made, the address is that of the folder.
    """

    def __init__(self, session: RawSession, directory: Path) -> None:
        self._session = session
        self._directory = directory.resolve()
        self._pool = _pool(os.getpid())
        self._link: Path | None = None
        self._watches: object = None
        with suppress(OSError):
            self._link = self._pool.lent(self._directory)
        # The path as it is: TensorFlow takes what follows file:// without undoing %-escapes.
        self.address = f"file://{self._link or self._directory}"

    def used_by(self, options: RunOptions) -> None:
        """Note what a run under `options` dumps: by that TensorFlow finds a graph that it has prepared."""
        watches = options.debug_options.debug_tensor_watch_opts
        self._watches = frozenset(
            (one.node_name, one.output_slot, tuple(one.debug_ops), tuple(one.debug_urls)) for one in watches
        )

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._link is None:
            return
        try:
            self._complete()
        except our_errors() as failure:  # the dump then shows no graph
            report("keep the graph of a dump", failure)
        if error is None:  # after an error ops may still be writing
            self._pool.given_back(self._link)

    def _complete(self) -> None:
        """Keep the graphs that were dumped; where TensorFlow dumped none, put those kept before into the folder."""
        told = sorted(self._directory.glob(f"{CORE_METADATA_PREFIX}*"))
        if not told:  # TensorFlow refused the run
            return
        call = call_of(DumpListing(self._directory, core_metadata=told), [])
        key = (*map(frozenset, (call.feeds, call.fetches, call.targets)), self._watches)
        known = _GRAPHS.of(self._session)
        graphs = list(self._directory.glob(f"{DEVICE_PREFIX}*/{GRAPH_PREFIX}*"))
        if graphs:
            known[key] = self._pool.kept(graphs)
        elif key in known:
            for path in known[key].glob("*/*"):
                _put(path, self._directory / path.parent.name / path.name)


class _Pool:
    """The links of this process, and the graphs that its sessions dumped."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._free: list[Path] = []
        self._made = 0
        self._folder: ScratchFolder | None = None

    def lent(self, directory: Path) -> Path:
        """A link to `directory`.

        Raises:
            OSError: it cannot be made.

        """
        with self._lock:
            link = self._free.pop() if self._free else self._new("dump")
        link.unlink(missing_ok=True)
        link.symlink_to(directory, target_is_directory=True)
        return link

    def given_back(self, link: Path) -> None:
        with self._lock:
            self._free.append(link)

    def kept(self, graphs: Sequence[Path]) -> Path:
        """A folder with these files of a dump, in the folders of their devices.

        Raises:
            OSError: they cannot be copied.

        """
        with self._lock:
            folder = self._new("graphs")
        for path in graphs:
            _put(path, folder / path.parent.name / path.name)
        return folder

    def _new(self, kind: str) -> Path:
        if self._folder is None:
            self._folder = ScratchFolder()
            at_the_end(partial(self._delete, os.getpid()))
        self._made += 1
        return self._folder.path.resolve() / f"{kind}_{self._made}"

    def _delete(self, process: int) -> None:
        if self._folder is not None and os.getpid() == process:
            with suppress(OSError):
                self._folder.delete()


def _put(old: Path, new: Path) -> None:
    """Make `new` another name of `old`, or a copy where the file system wants one."""
    new.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(old, new, follow_symlinks=False)
    except (OSError, NotImplementedError):
        shutil.copyfile(old, new)


@cache
def _pool(process: int) -> _Pool:
    """The pool of a process: one that was forked off shares no link with the other."""
    return _Pool()


# The wildcard counts only beside another watch, be it of no node at all.
_NO_NODE = ("_tfdbg_no_node", 0)


def watch_everything(options: RunOptions, address: str) -> None:
    """Have a run under `options` dump every tensor to `address`."""
    for node, slot in (("*", -1), _NO_NODE):
        add_debug_tensor_watch(options, node, slot, debug_urls=[address])
    options.debug_options.reset_disk_byte_usage = True


def watch_admitted(options: RunOptions, graph: TfGraph, request: CaptureRequest, urls: list[str]) -> None:
    """Have a run of `graph` under `options` dump the tensors that `request` admits to `urls`."""
    watches = [("*", -1), _NO_NODE]
    if request.narrowed:
        admits = chooser(request).admits
        tensors = (tensor for op in graph.get_operations() for tensor in op.outputs)
        watches = [(tensor.op.name, tensor.value_index) for tensor in tensors if admits(tensor)]
    for node, slot in watches:
        add_debug_tensor_watch(options, node, slot, debug_urls=urls, tolerate_debug_op_creation_failures=True)
