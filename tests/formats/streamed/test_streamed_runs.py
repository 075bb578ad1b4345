"""Streams of a debug server made into runs: whatever order, pieces, ends and sizes they come in."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.sent_events import CPU, GRAPH, OTHER, announced, graph_def, graph_pieces, tensor

from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.formats.messages import schema
from tfdbg_cli.formats.streamed.assembly import Assembly
from tfdbg_cli.formats.streamed.known_graphs import KnownGraphs, host_of
from tfdbg_cli.formats.streamed.replies import bare_answer
from tfdbg_cli.formats.streamed.room import Room
from tfdbg_cli.formats.streamed.told_code import ToldCode
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.values import Lack, NoValue

PEER = "ipv4:127.0.0.1:50000"
VALUES = [*tensor("x:0:DebugIdentity", [1.0, -1.0]), *tensor("y:0:DebugIdentity", [0.0, np.nan], time_us=1_000_007)]


def assembly(*messages: bytes, room: int = 1 << 30, peer: str = PEER, graphs: KnownGraphs | None = None) -> Assembly:
    made = Assembly(peer, Room(room), graphs or KnownGraphs(), ToldCode())
    for message in messages:
        made.hear(message)
    return made


def run_of(*messages: bytes, room: int = 1 << 30) -> Run:
    return assembly(*messages, room=room).run(1)


def names(run: Run) -> list[str]:
    return [str(run.tensors[index].name) for index in range(len(run.tensors))]


def test_a_run_is_what_came() -> None:
    run = run_of(*graph_pieces(), announced(), *VALUES)
    assert names(run) == ["x:0", "y:0"]
    assert [run.tensors[1].op_type, run.tensors[1].device, run.tensors[1].dtype] == ["Log", CPU, "float64"]
    assert run.tensors[1].time_us == 1_000_007
    np.testing.assert_array_equal(run.tensors.value(1), [0.0, np.nan])
    assert (run.call.fetches, dict(run.call.feeds), run.call.number) == (("y:0",), {"x:0": None}, 1)
    assert list(run.graph.names()) == ["x", "y"]
    assert list(run.notes) == [f"Sent by {PEER}, as run 3 of its session."]
    assert not run.cut_off
    found = OriginSearch(run).first()
    assert found is not None


def test_what_tensorflow_waits_for_is_answered() -> None:
    made = assembly()
    first, last = graph_pieces(pieces=2)
    replies = [made.hear(message) for message in (first, last, announced(), *VALUES)]
    assert replies == [None, b"", b"", None, None]
    assert [bare_answer(message) for message in (first, last, announced(), *VALUES)] == replies


def test_tensors_that_wait_to_be_asked_for_are_asked_for() -> None:
    reply = assembly().hear(graph_pieces(graph_def(("x", "_Arg", ()), gated=True))[0])
    assert reply is not None
    (change,) = schema.EventReply.FromString(reply).debug_op_state_changes
    assert (change.state, change.node_name, change.output_slot, change.debug_op) == (2, "x", 0, "DebugIdentity")


@given(st.permutations(list(range(7))))
def test_pieces_come_in_any_order(order: list[int]) -> None:
    array = np.arange(101, dtype=np.float32)
    events = [*tensor("x:0:DebugIdentity", array, pieces=5), *graph_pieces(pieces=2)]
    run = run_of(announced(fetches=()), *[events[place] for place in order])
    np.testing.assert_array_equal(run.tensors.value(0), array)
    assert run.tensors[0].op_type == "_Arg"


def test_texts_come_in_pieces_too() -> None:
    texts = np.array([b"a", b"", b"\xff\x00", b"dd", b"e"], object)
    run = run_of(*tensor("x:0:DebugIdentity", texts, pieces=2))
    value = run.tensors.value(0)
    assert not isinstance(value, NoValue)
    assert value.tolist() == texts.tolist()


def test_a_tensor_of_which_a_piece_is_missing_says_so() -> None:
    run = run_of(*graph_pieces(), announced(), *tensor("y:0:DebugIdentity", np.zeros(9), pieces=3)[1:])
    value = run.tensors.value(0)
    assert isinstance(value, NoValue)
    assert (value.lack, value.text) == (Lack.DAMAGED, "Only 2 of the 3 pieces of this tensor came.")
    assert "Of 1 tensor not all pieces came (first 'y:0')." in run.notes


def test_two_devices_are_one_run() -> None:
    run = run_of(
        *graph_pieces(),
        *graph_pieces(graph_def(("z", "Exp", ())), OTHER),
        announced(fetches=("z:0",)),
        *tensor("z:0:DebugIdentity", 3.0, device=OTHER, time_us=2_000_000),
        *tensor("x:0:DebugIdentity", 1.0),
    )
    assert [(str(run.tensors[at].name), run.tensors[at].device) for at in (0, 1)] == [("x:0", CPU), ("z:0", OTHER)]
    assert not run.cut_off


def test_turns_of_a_loop_are_counted() -> None:
    turns = [message for at in range(3) for message in tensor("x:0:DebugIdentity", at, time_us=1_000_000 + at)]
    run = run_of(*graph_pieces(), announced(fetches=()), *turns)
    assert [run.tensors[at].execution for at in range(3)] == [0, 1, 2]


def test_a_summary_by_another_debug_op_is_a_tensor_of_its_own() -> None:
    run = run_of(*graph_pieces(), announced(fetches=()), *tensor("y:0:DebugNanCount", np.int64(2)))
    assert names(run) == ["y_0_DebugNanCount:0"]
    assert [str(one) for one in run.graph.node("y_0_DebugNanCount").inputs] == ["y:0"]


def test_a_run_whose_fetch_did_not_come_failed() -> None:
    run = run_of(*graph_pieces(), announced(), *VALUES[:1])
    assert run.cut_off
    assert run.notes[0].startswith("This run failed, or was cancelled: y:0, which it fetches, did not come.")


def test_a_fetch_that_was_not_watched_is_not_missed() -> None:
    plain = schema.GraphDef()
    plain.node.add(name="y", op="Log")
    assert not run_of(*graph_pieces(plain.SerializeToString()), announced()).cut_off


def test_a_stream_that_broke_off_says_so() -> None:
    made = assembly(*graph_pieces(), announced(), *VALUES[:1])
    made.break_off()
    run = made.run(4)
    assert run.cut_off
    assert run.notes[0].startswith("The stream broke off before the run ended")


def test_calls_in_one_stream_are_not_told_apart() -> None:
    run = run_of(*graph_pieces(), announced(), announced(3, ("x:0",)), *VALUES, *VALUES)
    assert len(run.tensors) == 4
    assert any(note.startswith("2 calls were under way at once") for note in run.notes)
    rest = run_of(*VALUES[1:])
    assert any(note.startswith("Which call this is of was not sent") for note in rest.notes)


def test_a_graph_is_sent_once_and_known_for_later_runs() -> None:
    graphs = KnownGraphs()
    assembly(*graph_pieces(), announced(), *VALUES, graphs=graphs).run(1)
    later = assembly(announced(3), *VALUES, graphs=graphs, peer="ipv4:127.0.0.1:50001").run(2)
    assert later.tensors[1].op_type == "Log"
    for other in (
        assembly(announced(3, ("x:0",)), *VALUES, graphs=graphs),  # another call
        assembly(announced(3), *VALUES, graphs=graphs, peer="ipv4:10.0.0.7:50001"),  # of another machine
        assembly(announced(3), *tensor("w:0:DebugIdentity", 1.0), graphs=graphs),  # of another graph
    ):
        run = other.run(3)
        assert run.tensors[0].op_type == ""
        assert any(note.startswith("The graph of this run did not come") for note in run.notes)


def test_of_two_graphs_that_fit_the_one_of_the_same_process_counts() -> None:
    graphs, other = KnownGraphs(), graph_def(("x", "_Arg", ()), ("y", "Exp", ("x",)))
    assembly(*graph_pieces(), announced(), *VALUES, graphs=graphs).run(1)
    assembly(*graph_pieces(other), announced(), *VALUES, graphs=graphs, peer="ipv4:127.0.0.1:6").run(2)
    assert assembly(announced(), *VALUES, graphs=graphs).run(3).tensors[1].op_type == "Log"
    assert assembly(announced(), *VALUES, graphs=graphs, peer="ipv4:127.0.0.1:7").run(4).tensors[1].op_type == "Exp"


def test_what_there_is_no_room_for_is_listed_without_its_value_and_the_room_comes_back() -> None:
    room = Room(20_000)
    made = Assembly(PEER, room, KnownGraphs(), ToldCode())
    for message in (*graph_pieces(), announced(), *tensor("x:0:DebugIdentity", np.zeros(9000)), *VALUES[1:]):
        made.hear(message)
    run = made.run(1)
    lacking, value = run.tensors.value(0), run.tensors.value(1)
    assert isinstance(lacking, NoValue)
    assert (lacking.lack, run.tensors[0].shape, isinstance(value, NoValue)) == (Lack.GONE, (9000,), False)
    assert any("1 tensor of this run came without room for its values" in note for note in run.notes)
    made.tensors.release()
    assert room.take(20_000)


def test_announcements_without_end_take_no_more_than_there_is_room_for() -> None:
    made = assembly(*[announced()] * 300, room=20_000)
    assert made.tensors.taken <= 20_000
    assert any("an announcement for which there is no room in memory_budget" in note for note in made.run(1).notes)


def test_pieces_without_room_cost_their_tensor_alone() -> None:
    run = run_of(announced(fetches=()), *tensor("x:0:DebugIdentity", np.zeros(3000), pieces=4), room=15_000)
    assert isinstance(run.tensors.value(0), NoValue)
    assert run.tensors[0].shape == (3000,)


@pytest.mark.parametrize(
    "message",
    [
        b"\xff\xff\xff",
        schema.Event(graph_def=b"no bars").SerializeToString(),
        schema.Event(graph_def=b"1,d,2|0|99999999999|").SerializeToString(),
        schema.Event(graph_def=b"1,d,2|7|2|").SerializeToString(),
        schema.Event(graph_def=b"1,d,2|0|1|\xff\xff").SerializeToString(),
        *tensor("x", 1.0),
        *tensor("x:-1:DebugIdentity", 1.0),
        *tensor("x:0:DebugIdentity", 1.0, device=7),
        *tensor("x:0:DebugIdentity", 1.0, numChunks=1 << 40),
        *tensor("x:0:DebugIdentity", 1.0, numChunks=2, chunkIndex=2),
        *tensor("x:0:DebugIdentity", 1.0, chunkIndex=-1),
        *tensor("x:0:DebugIdentity", 1.0, numChunks="many"),
    ],
)
def test_an_event_that_makes_no_sense_costs_itself_alone(message: bytes) -> None:
    run = run_of(*graph_pieces(), announced(), message, *VALUES)
    assert names(run) == ["x:0", "y:0"]
    assert any(note.startswith("1 event made no sense") for note in run.notes)


def test_a_shape_that_claims_more_than_came_takes_no_memory() -> None:
    event = schema.Event.FromString(tensor("x:0:DebugIdentity", [1.0, 2.0])[0])
    event.summary.value[0].tensor.tensor_shape.dim[0].size = 1 << 50
    event.wall_time = float("nan")
    run = run_of(event.SerializeToString())
    value = run.tensors.value(0)
    assert isinstance(value, NoValue)
    assert (value.lack, run.tensors[0].time_us) == (Lack.DAMAGED, 0)


@given(st.lists(st.binary(max_size=60), max_size=8))
def test_any_bytes_make_a_run_and_no_error(messages: list[bytes]) -> None:
    made = assembly(*messages)
    assert made.heard == len(messages)
    list(made.run(1).notes)


@given(st.integers(0, 400), st.integers(0, 255))
def test_any_changed_byte_makes_a_run_and_no_error(at: int, byte: int) -> None:
    whole = b"".join([*graph_pieces(), announced(), *VALUES])
    changed = bytearray(whole)
    changed[at % len(whole)] = byte
    ends = np.cumsum([len(one) for one in (*graph_pieces(), announced(), *VALUES)]).tolist()
    messages = [bytes(changed[start:end]) for start, end in zip([0, *ends], ends, strict=False)]
    run = run_of(*messages)
    list(run.notes)
    for index in range(len(run.tensors)):
        run.tensors.value(index)


def test_what_is_absorbed_leaves_the_pieces_of_what_is_under_way() -> None:
    room, first, second = Room(1 << 20), tensor("a:0:DebugIdentity", np.arange(9.0), pieces=3), VALUES
    chief, worker = (Assembly(PEER, room, KnownGraphs(), ToldCode()) for _ in range(2))
    for message in (*first[:2], *second):
        worker.hear(message)
    for message in (*tensor("b:0:DebugIdentity", 2.0), announced(fetches=())):
        chief.hear(message)
    chief.absorb(worker)
    worker.hear(first[2])
    run, left = chief.run(1), worker.run(2)
    assert (sorted(names(run)), names(left)) == (["b:0", "x:0", "y:0"], ["a:0"])
    np.testing.assert_array_equal(left.tensors.value(0), np.arange(9.0))
    np.testing.assert_array_equal(run.tensors.value(names(run).index("y:0")), [0.0, np.nan])
    for each in (chief, worker):
        each.tensors.release()
    assert room.take(1 << 20)


def test_code_is_told_for_the_host_that_tells_it() -> None:
    code, told = ToldCode(), schema.CallTraceback()
    told.graph_traceback.log_entries.add(name="y").code_def.traces.add(file_id=1, lineno=7, function_id=2)
    for key, value in ((1, "train.py"), (2, "model")):
        told.graph_traceback.id_to_string.add(key=key, value=value)
    code.hear_tracebacks(PEER, told.SerializeToString())
    files = schema.DebuggedSourceFiles()
    files.source_files.add(file_path="train.py", lines=["a", "b"])
    code.hear_sources(PEER, files.SerializeToString())
    made = Assembly(PEER, Room(1 << 20), KnownGraphs(), code)
    for message in (*graph_pieces(GRAPH), announced(), *VALUES):
        made.hear(message)
    run = made.run(1)
    (frame,) = run.tracebacks["y"]
    assert (frame.file, frame.line, frame.function) == ("train.py", 7, "model")
    assert run.sources.lines("train.py") == ("a", "b")
    assert run.sources.lines(__file__) is None  # files of this machine may be others
    assert not code.of("ipv4:10.0.0.7:1", ["y"])[0]
    assert host_of(PEER) == "ipv4:127.0.0.1"
