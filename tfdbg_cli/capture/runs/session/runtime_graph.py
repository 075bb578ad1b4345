"""Capture by `RunOptions.debug_options`: TensorFlow dumps every tensor of the runtime graph into a folder."""

from __future__ import annotations

import shutil
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

from tfdbg_cli.capture.budget import require_room_for_graphs
from tfdbg_cli.capture.controller import Plan
from tfdbg_cli.capture.debug_options import WatchOptions, watch_graph
from tfdbg_cli.capture.dump_folders import to_keep
from tfdbg_cli.capture.failures import report
from tfdbg_cli.capture.sessions.dump_addresses import DumpAddress, watch_admitted
from tfdbg_cli.capture.sessions.invocation import Invocation
from tfdbg_cli.capture.sessions.program_graph import files_of, program_graph
from tfdbg_cli.capture.sessions.reach import Reach
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.tracebacks import tracebacks_of
from tfdbg_cli.capture.tf.types import RunOptions, RunResult, TfGraph
from tfdbg_cli.capture.what_if.session import SessionWhatIf
from tfdbg_cli.capture.what_if.whole_run import WholeWhatIf
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.dumps.case_writer import add_case_files
from tfdbg_cli.formats.dumps.reader import read_dump
from tfdbg_cli.formats.dumps.writer import write_call_names
from tfdbg_cli.formats.recording.writing import PRIVATE_FOLDER
from tfdbg_cli.model.calls import Call, RunError
from tfdbg_cli.model.runs import Run
from tfdbg_cli.scratch_folder import ScratchFolder

v1 = compat.v1

_WAY_OUT = "Free disk space, or take fewer tensors with filters (`run --node_name_filter RE`)."
_NARROWED = "Only tensors that the filters admit were dumped; nodes that TensorFlow makes at run time are not."


class RuntimeCapture:
    """One run with dumps in a folder of its own, which is deleted at the end unless it is to be kept."""

    def __init__(self, invocation: Invocation, plan: Plan, reached: Reach, notes: tuple[str, ...]) -> None:
        """Make the folder and the options.

        Raises:
            OSError: the folder cannot be made.
            TfdbgError: the disk is nearly full.

        """
        graph = invocation.session.graph
        require_room_for_graphs(plan.directory, lambda: graph.as_graph_def().ByteSize())
        self._invocation = invocation
        self._stateful = reached.stateful
        self._notes = (*notes, _NARROWED) if plan.capture.narrowed else notes
        self._scratch: ScratchFolder | None = None
        if plan.directory is None:
            self._scratch = ScratchFolder()
            self._directory = self._scratch.path
        else:
            self._directory = plan.directory
            self._directory.mkdir(PRIVATE_FOLDER, parents=True)  # it holds what a program was trained with
        self._options = deepcopy(invocation.options) if invocation.options else v1.RunOptions()
        self._address = DumpAddress(invocation.session, self._directory)
        urls = [self._address.address]
        if plan.watch_options is not None:
            _watch_exactly(self._options, graph, plan.watch_options, urls)
        else:
            watch_admitted(self._options, graph, plan.capture, urls)
        self._options.debug_options.reset_disk_byte_usage = True
        self._address.used_by(self._options)
        self._run: Run | None = None

    def perform(self) -> RunResult:
        """Make the call. Raises what the call raises.

        Raises:
            TfdbgError: TensorFlow could not write a dump and ended the run for it, and running it once more could
                change something twice.

        """
        try:
            with self._address:
                return self._invocation.with_options(self._options, self._invocation.run_metadata)
        except Exception as error:
            if not _is_of_a_dump(error):
                raise
            if self._stateful is not None:
                raise TfdbgError(
                    f"{_not_written(self._directory)} Variables may be updated in part.", hint=_WAY_OUT
                ) from error
            report(
                "dump a run",
                TfdbgError(f"{_not_written(self._directory)} The run was made again without.", hint=_WAY_OUT),
            )
            self._notes = (*self._notes, "TensorFlow could not write all dumps, so tensors are missing.")
            return self._invocation.plain()

    def run(self, call: Call, error: RunError | None) -> Run:
        """What was dumped."""
        graph = self._invocation.session.graph
        found = read_dump(self._directory)
        if found.cut_off:  # the run is over, so nothing more comes, even if TensorFlow could not write all of it
            found = replace(found, cut_off=False, notes=found.notes[1:])
        self._run = replace(
            found,
            call=call,
            python_graph=program_graph(graph),
            tracebacks=tracebacks_of(graph),
            error=error,
            notes=(*self._notes, *found.notes),
            origin_path="",
            what_if=WholeWhatIf(SessionWhatIf(self._invocation)) if error is None else None,
        )
        return self._run

    def finish(self, keep: bool) -> None:
        """Delete the folder, or complete it with what makes it readable elsewhere.

        Raises:
            TfdbgError: the disk is full.
            OSError: the folder cannot be deleted.

        """
        if self._scratch is not None:
            self._scratch.delete()
        elif keep and self._run is not None:
            write_call_names(self._directory, self._run.call)
            run = to_keep(self._run)
            add_case_files(self._directory, run, files_of(self._invocation.session.graph, run))
        else:
            shutil.rmtree(self._directory)


def _not_written(directory: Path) -> str:
    return f"TensorFlow could not write a dump to {directory} and ended the run for it."


def _is_of_a_dump(error: BaseException | None) -> bool:
    """Whether an op failed that is there for the dump: TensorFlow does not find it in the graph, and says so."""
    while error is not None:
        if "__dbg_" in str(error) or "__copy_" in str(error):
            return True
        error = error.__context__
    return False


def _watch_exactly(options: RunOptions, graph: TfGraph, watch: WatchOptions, urls: list[str]) -> None:
    watch_graph(
        options,
        graph,
        watch.debug_ops,
        urls,
        watch.node_name_regex_allowlist,
        watch.op_type_regex_allowlist,
        watch.tensor_dtype_regex_allowlist,
        watch.tolerate_debug_op_creation_failures,
    )
