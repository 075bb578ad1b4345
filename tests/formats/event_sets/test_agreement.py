"""Our reading of event sets against TensorFlow's own reader and monitor, tensor by tensor and alert by alert."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.event_programs import MODES, PROGRAMS, write_event_set
from support.prompt import Prompt

from tfdbg_cli.formats.event_sets.event_set import EventSet
from tfdbg_cli.formats.event_sets.listing import event_sets
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.dtypes import element_type
from tfdbg_cli.model.runs import Opened, Run
from tfdbg_cli.model.statistics import Summary
from tfdbg_cli.model.tensors import summary_of
from tfdbg_cli.model.values import Array, NoValue

pytestmark = pytest.mark.tf

# The other programs have what these modes tell of; to trace and write Keras takes most of the time.
_SLOW = {("keras_fit", mode) for mode in ("NO_TENSOR", "SHAPE", "CURT_HEALTH")}
_SETS = [
    pytest.param((program, mode), id=f"{program}-{mode}", marks=pytest.mark.slow if (program, mode) in _SLOW else ())
    for program in PROGRAMS
    for mode in MODES
]


class Both:
    """One set, read by TensorFlow and by us."""

    def __init__(self, root: Path) -> None:
        from tensorflow.python.debug.lib import debug_events_monitors, debug_events_reader

        self.theirs = debug_events_reader.DebugDataReader(str(root))
        self.theirs.update()
        # A monitor that is there during `update` waits for itself forever in the mode FULL_TENSOR.
        self.monitor = debug_events_monitors.InfNanMonitor(self.theirs)
        for at, execution in enumerate(self.theirs.executions()):
            self.monitor.on_execution(at, execution)
        for at, trace in enumerate(self.theirs.graph_execution_traces()):
            self.monitor.on_graph_execution_trace(at, trace)
        self.opened = open_path(root)
        self.events = EventSet(event_sets(root, [path.name for path in root.iterdir()])[0])

    @property
    def runs(self) -> list[Run]:
        return list(self.opened.runs)

    def rows(self, *, traced: bool) -> list[tuple[Run, int]]:
        """The tensors of graphs, or those of executions, of all runs in order."""
        found = []
        for run in self.runs:
            for index in range(len(run.tensors)):
                node = run.tensors[index].node
                is_output = run.call.kind == "eager" or node.endswith("/returned")
                if is_output is not traced:
                    found.append((run, index))
        return found


@pytest.fixture(scope="module", params=_SETS)
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Both, str]:
    program, mode = request.param
    return Both(write_event_set(tmp_path_factory.mktemp("set"), mode, PROGRAMS[program])), mode


def _same(ours: Array | NoValue, theirs: Any) -> bool:
    if isinstance(ours, NoValue):
        return theirs is None
    if ours.dtype.hasobject:
        return ours.tolist() == theirs.tolist()
    return (ours.dtype, ours.shape, ours.tobytes()) == (theirs.dtype, theirs.shape, theirs.tobytes())


def _check_numbers(mode: str, numbers: list[float] | None, summary: Summary | None, run: Run, index: int) -> None:
    """What TensorFlow's reader gives for one tensor is what we tell of it."""
    tensor = run.tensors[index]
    if not numbers:
        assert summary is None
        return
    assert summary is not None
    if mode == "CURT_HEALTH":
        assert summary.any_nonfinite == bool(numbers[1])
    elif mode == "CONCISE_HEALTH":
        assert [summary.size, summary.neg_inf, summary.pos_inf, summary.nan] == list(numbers[1:])
    elif mode == "FULL_HEALTH":
        told = [summary.size, summary.neg_inf, summary.pos_inf, summary.nan, summary.neg, summary.zero, summary.pos]
        assert told == list(numbers[4:])
        assert tensor.dtype == element_type(int(numbers[2])).name
    else:
        assert tensor.dtype == element_type(int(numbers[1])).name
        assert summary.size == numbers[3]
        assert tensor.shape == tuple(numbers[4 : 4 + int(numbers[2])])


def test_executions_agree(both: tuple[Both, str]) -> None:
    read, mode = both
    theirs = read.theirs.executions()
    ours = read.events.executions
    assert [ours[at].op_type for at in range(len(ours))] == [one.op_type for one in theirs]
    assert [ours[at].time for at in range(len(ours))] == [one.wall_time for one in theirs]
    assert [len(ours[at].gave) for at in range(len(ours))] == [one.num_outputs for one in theirs]
    assert [ours[at].read for at in range(len(ours))] == [one.input_tensor_ids or () for one in theirs]
    assert [ours[at].graph_id for at in range(len(ours))] == [one.graph_id for one in theirs]
    rows = iter(read.rows(traced=False))
    for one in theirs:
        values = read.theirs.execution_to_tensor_values(one) if mode == "FULL_TENSOR" else one.debug_tensor_values
        values = list(values or ())
        values += [None] * (one.num_outputs - len(values))
        for slot, value in enumerate(values):
            run, index = next(rows)
            device = one.output_tensor_device_ids[slot]
            assert run.tensors[index].device == read.theirs.device_name_by_id(device)
            if mode == "FULL_TENSOR":
                assert _same(run.tensors.value(index), value)
            else:
                assert isinstance(run.tensors.value(index), NoValue)
                _check_numbers(mode, value, summary_of(run.tensors, index), run, index)
    assert next(rows, None) is None


def test_tensors_of_graphs_agree(both: tuple[Both, str]) -> None:
    read, mode = both
    theirs = read.theirs.graph_execution_traces()
    rows = read.rows(traced=True)
    assert len(rows) == len(theirs)
    for (run, index), one in zip(rows, theirs, strict=True):
        tensor = run.tensors[index]
        assert (tensor.op_type, tensor.slot) == (one.op_type, one.output_slot)
        assert tensor.node.split("/")[-1] == one.op_name.split("/")[-1]
        assert tensor.device == (one.device_name or "")
        if mode == "FULL_TENSOR":
            assert _same(run.tensors.value(index), read.theirs.graph_execution_trace_to_tensor_value(one))
        else:
            _check_numbers(mode, one.debug_tensor_value, summary_of(run.tensors, index), run, index)


def test_alerts_agree(both: tuple[Both, str]) -> None:
    """TensorFlow's monitor passes over bfloat16 and complex values, since NumPy's own types do not hold them."""
    read, mode = both
    theirs = sorted(
        (one.op_type, one.output_slot, one.size, one.num_nan, one.num_neg_inf, one.num_pos_inf)
        for one in read.monitor.alerts()
    )
    found = Prompt(read.opened).data("alerts -m 0")["alerts"]
    ours = []
    for alert in found:
        tensor = _tensor(read.opened, alert)
        if mode == "FULL_TENSOR" and tensor.dtype in ("bfloat16", "complex64"):
            continue
        op_type = alert["op_type"]
        slot = int(alert["tensor"].rpartition(":")[2])
        ours.append((op_type, slot, alert["size"], alert["nan"], alert["neg_inf"], alert["pos_inf"]))
    if mode == "CURT_HEALTH":
        assert sorted(one[:2] for one in ours) == sorted(one[:2] for one in theirs)
    else:
        assert sorted(ours) == theirs
    assert bool(theirs) == (mode not in ("NO_TENSOR", "SHAPE"))


def _tensor(opened: Opened, alert: dict[str, Any]) -> Any:
    store = opened.runs[alert["place"] - 1].tensors
    node, _, slot = alert["tensor"].rpartition(":")
    return store[store.named(node, int(slot))[alert["execution"]]]


def test_graphs_and_stack_frames_agree(both: tuple[Both, str]) -> None:
    read, _ = both
    digests = list(read.theirs.graph_op_digests())
    assert digests or read.theirs.executions()  # of eager code there are no graphs
    for digest in digests:
        graph = read.events.graphs.find(digest.graph_id)
        assert graph is not None
        op = graph.ops[digest.op_name]
        assert (op.op_type, op.inputs) == (digest.op_type, tuple(digest.input_names or ()))
        theirs = read.theirs.graph_by_id(digest.graph_id)
        assert (graph.name, graph.outer) == (theirs.name or "", theirs.outer_graph_id or "")
    for at, one in enumerate(read.theirs.executions()):
        _, frames = read.theirs.read_execution_stack_trace(one)
        made = read.events.node_names(read.events.run_of(at))
        run = read.opened.runs[read.events.run_of(at)]
        name = made[at - read.events.spans[read.events.run_of(at)].first]
        ours = [(frame.file, frame.line, frame.function) for frame in run.tracebacks[name]]
        assert ours == [(path, number, function) for path, number, function in frames]


def test_sources_agree(both: tuple[Both, str]) -> None:
    read, _ = both
    listed = list(read.theirs.source_file_list())
    assert listed
    for host, path in listed:
        theirs = list(read.theirs.source_lines(host, path))
        assert (read.events.program.lines(path) or []) == theirs


def test_the_origin_is_the_logarithm(both: tuple[Both, str]) -> None:
    read, mode = both
    prompt = Prompt(read.opened)
    first = next(iter(prompt.data("alerts -m 1")["alerts"]), None)
    if mode in ("NO_TENSOR", "SHAPE"):
        assert first is None
        told = prompt.data("origin")
        assert told["tensor"] is None and mode in told["missing"]
        return
    assert first is not None
    prompt.run(f"runs {first['run']}")
    told = prompt.data("origin")
    assert (told["op_type"], told["file"].rpartition("/")[2]) == ("Log", "event_programs.py")
    assert "tf.math.log" in read.events.program.lines(told["file"])[told["line"] - 1]  # type: ignore[index]
    assert "log" in told["cause"].lower()
