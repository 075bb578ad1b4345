"""The service over loopback, with a client of gRPC in the place of TensorFlow."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from support.attached import wait_for
from support.sender import Sender
from support.sent_events import announced, graph_def, graph_pieces, tensor

from tfdbg_cli.debug_server.arrivals import Arrivals
from tfdbg_cli.debug_server.service import Service
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.streamed.assembly import Assembly
from tfdbg_cli.formats.streamed.replies import UNDERSTOOD
from tfdbg_cli.formats.streamed.room import Room
from tfdbg_cli.formats.streamed.told_code import ToldCode
from tfdbg_cli.remote.address import Address

grpc = pytest.importorskip("grpc")
MESSAGES = (*graph_pieces(), announced(), *tensor("y:0:DebugIdentity", np.float32(1)))


@contextmanager
def service() -> Iterator[tuple[Service, Arrivals]]:
    arrivals = Arrivals()
    made = Service(Address("127.0.0.1", 0), arrivals, Room(1 << 20))
    try:
        yield made, arrivals
    finally:
        made.stop()


def test_a_stream_is_held_until_its_run_was_looked_at() -> None:
    with service() as (listens, arrivals):
        sender = Sender(listens.address)
        sender.send(*MESSAGES)
        assert [next(sender.replies), next(sender.replies)] == [b"", b""]
        ended = threading.Event()
        threading.Thread(target=lambda: (list(sender.replies), ended.set())).start()
        arrival = arrivals.next(10)
        assert arrival is not None
        assert len(arrival.assembled.run(1).tensors) == 1
        assert not ended.wait(0.1)
        arrival.release()
        assert ended.wait(10)
        sender.channel.close()


def test_streams_of_several_programs_are_runs_of_their_own() -> None:
    with service() as (listens, arrivals):
        senders = [Sender(listens.address) for _ in range(3)]
        for sender in senders:
            sender.send(*MESSAGES[:2], end=False)
        for sender in senders:
            sender.send(*MESSAGES[2:])
        for _ in senders:
            arrival = arrivals.next(10)
            assert arrival is not None
            assert len(arrival.assembled.run(1).tensors) == 1
            arrival.release()
        for sender in senders:
            list(sender.replies)
            sender.channel.close()


def test_a_program_that_is_gone_leaves_what_came() -> None:
    with service() as (listens, arrivals):
        sender = Sender(listens.address)
        sender.send(*MESSAGES[:2], end=False)
        assert [next(sender.replies), next(sender.replies)] == [b"", b""]
        sender.replies.cancel()
        arrival = arrivals.next(10)
        assert arrival is not None
        assert arrival.assembled.run(1).cut_off
        arrival.release()
        sender.channel.close()


def test_a_bug_of_ours_ends_no_stream_and_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A blind test: what failed in tfdbg itself was taken for a program that is gone, without a word."""
    hear = Assembly.hear

    def failing(assembly: Assembly, message: bytes) -> bytes | None:
        if message == MESSAGES[0]:
            raise IndexError("a bug")
        return hear(assembly, message)

    monkeypatch.setattr(Assembly, "hear", failing)
    with service() as (listens, arrivals):
        sender = Sender(listens.address)
        sender.send(*MESSAGES)
        assert [next(sender.replies), next(sender.replies)] == [b"", b""]
        arrival = arrivals.next(10)
        assert arrival is not None
        run = arrival.assembled.run(1)
        assert any("tfdbg failed to take in" in note for note in run.notes), run.notes
        arrival.release()
        assert list(sender.replies) == []
        sender.channel.close()
    assert "could not take in what a program sent (IndexError: a bug)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("method", "heard"), [("SendTracebacks", "hear_tracebacks"), ("SendSourceFiles", "hear_sources")]
)
def test_a_bug_of_ours_does_not_fail_a_program_that_sends_its_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], method: str, heard: str
) -> None:
    """A blind test: gRPC printed our traceback, and told TensorFlow of an error, which the program got."""

    def failing(told: ToldCode, peer: str, message: bytes) -> None:
        raise IndexError(f"a bug in {heard}")

    monkeypatch.setattr(ToldCode, heard, failing)
    with service() as (listens, _), grpc.insecure_channel(str(listens.address)) as channel:
        assert channel.unary_unary(f"/tensorflow.EventListener/{method}")(b"code") == UNDERSTOOD
    said = capsys.readouterr().err
    assert f"could not take in the code of a program (IndexError: a bug in {heard})" in said
    assert "Traceback" not in said


def test_nobody_waits_any_more_where_streams_are_ignored() -> None:
    with service() as (listens, arrivals):
        first, second = Sender(listens.address), Sender(listens.address)
        first.send(*MESSAGES)
        second.send(*MESSAGES[:1], end=False)
        assert next(second.replies) == b""
        arrivals.ignore()
        second.send(*MESSAGES[1:])
        assert [len(list(first.replies)), len(list(second.replies))] == [2, 1]
        third = Sender(listens.address)
        third.send(*MESSAGES)
        assert len(list(third.replies)) == 2
        for sender in (first, second, third):
            sender.channel.close()


def test_who_takes_no_more_answers_what_is_open_to_its_end_and_refuses_the_rest() -> None:
    """A blind test: runs one after the other were all answered, so that Ctrl-C ended nothing for hours."""
    with service() as (listens, arrivals):
        first = Sender(listens.address)
        first.send(*MESSAGES[:1], end=False)
        assert next(first.replies) == b""
        listens.take_no_more()
        second = Sender(listens.address)
        second.send(*MESSAGES)
        with pytest.raises(grpc.RpcError) as caught:
            list(second.replies)
        # CANCELLED where it was connected before the end of listening had gone round.
        assert caught.value.code() in {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED}
        assert arrivals.open == 1
        first.send(*MESSAGES[1:])
        assert list(first.replies) == [b""]
        for sender in (first, second):
            sender.channel.close()


def test_a_run_that_ctrl_c_made_the_prompt_drop_goes_on_at_the_end() -> None:
    """It was taken out and not let go: its program waited for ever, and so did `tfdbg listen`."""
    with service() as (listens, arrivals):
        sender = Sender(listens.address)
        sender.send(*MESSAGES)
        dropped = arrivals.next(10)
        assert dropped is not None
        arrivals.ignore()
        assert dropped.released
        assert len(list(sender.replies)) == 2
        sender.channel.close()


def test_tensors_of_another_worker_belong_to_the_call_that_is_announced() -> None:
    """Its stream goes on over all runs, and announces none."""
    first, second = "/job:worker/replica:0/task:0/device:CPU:0", "/job:worker/replica:0/task:1/device:CPU:0"
    with service() as (listens, arrivals):
        worker = Sender(listens.address)
        worker.send(*graph_pieces(graph_def(("z", "Exp", ())), second), end=False)
        assert next(worker.replies) == b""
        for turn in range(2):
            worker.send(*tensor("z:0:DebugIdentity", np.float32(turn), device=second), end=False)
            wait_for(lambda: any(one.tensors.files for one in listens._open))
            chief = Sender(listens.address)
            chief.send(announced(), *graph_pieces(device=first) * (turn == 0), end=False)
            chief.send(*tensor("y:0:DebugIdentity", np.float32(1), device=first))
            arrival = arrivals.next(10)
            assert arrival is not None
            run = arrival.assembled.run(turn + 1)
            found = {str(run.tensors[at].name): at for at in range(len(run.tensors))}
            assert [run.tensors[found["z:0"]].op_type, run.tensors.value(found["z:0"])] == ["Exp", turn]
            assert run.tensors[found["z:0"]].execution == 0
            assert any(note.startswith(f"Tensors of {second} came in streams of their own") for note in run.notes)
            arrival.release()
            list(chief.replies)
            chief.channel.close()
        worker.send()
        list(worker.replies)
        worker.channel.close()
        assert arrivals.next(0.1) is None


def test_code_that_makes_no_sense_is_answered_like_any() -> None:
    with service() as (listens, _), grpc.insecure_channel(str(listens.address)) as channel:
        for name in ("SendTracebacks", "SendSourceFiles"):
            assert channel.unary_unary(f"/tensorflow.EventListener/{name}")(b"\xff\xff\xff") == b""


def test_a_place_that_is_taken_is_refused() -> None:
    with service() as (listens, _), pytest.raises(TfdbgError, match=r"Cannot listen on 127\.0\.0\.1:"):
        Service(listens.address, Arrivals(), Room(1))


def test_without_grpcio_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "grpc", None)
    with pytest.raises(TfdbgError, match="needs grpcio") as caught:
        Service(Address("127.0.0.1", 0), Arrivals(), Room(1))
    assert (caught.value.exit_code, "tfdbg-cli[listen]" in caught.value.hint) == (2, True)


class Gone:
    """The context of a stream whose other side goes while it is answered: gRPC asks for no more then."""

    def peer(self) -> str:
        return "ipv4:127.0.0.1:5"

    def add_callback(self, callback: object) -> None:
        pass


def test_a_program_that_goes_while_it_is_answered_leaves_what_came() -> None:
    with service() as (listens, arrivals):
        answers = listens._events(iter(MESSAGES), Gone())
        assert [next(answers), next(answers)] == [b"", b""]
        answers.close()  # type: ignore[attr-defined]
        arrival = arrivals.next(10)
        assert arrival is not None
        assert arrival.assembled.run(1).cut_off
        assert arrivals.open == 0
