"""One stream of events made into a run: what TensorFlow sends while a `Session.run` goes on."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from tfdbg_cli.errors import WRONG_CONTENT
from tfdbg_cli.formats.dumps.core_metadata import CoreMetadata, parsed_metadata
from tfdbg_cli.formats.dumps.cut_off import watched_tensors
from tfdbg_cli.formats.dumps.misfits import check_dump
from tfdbg_cli.formats.dumps.store import debug_op_nodes, in_order
from tfdbg_cli.formats.messages import schema
from tfdbg_cli.formats.messages.graph_def import GraphPartition, SavedGraph, graph_of, parse_graph_def
from tfdbg_cli.formats.streamed.known_graphs import KnownGraphs, Signature
from tfdbg_cli.formats.streamed.pieces import DamagedEventError, Pieces, read_graph_piece
from tfdbg_cli.formats.streamed.replies import UNDERSTOOD, wants_all
from tfdbg_cli.formats.streamed.room import Room
from tfdbg_cli.formats.streamed.sent_tensors import SentTensors
from tfdbg_cli.formats.streamed.told_code import ToldCode
from tfdbg_cli.model.calls import Call, RunKind
from tfdbg_cli.model.graph import GraphKind
from tfdbg_cli.model.lazy_values import LateNotes
from tfdbg_cli.model.names import tensor_name_of
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.units import count_text, names_text

_MIXED = (
    "{} calls were under way at once, and TensorFlow sends all that go to one address in one stream: their tensors"
    " are not told apart, and the call shown is the first one's. A path behind the address, another for each thread"
    " (grpc://HOST:PORT/one), gives each a stream of its own."
)
_UNANNOUNCED = (
    "Which call this is of was not sent: another call of the program ended meanwhile, and with it their stream. A"
    " path behind the address, another for each thread (grpc://HOST:PORT/one), gives each a stream of its own."
)
_BROKEN = "The stream broke off before the run ended: its process was killed, or the connection was lost."
_NO_GRAPH = (
    "The graph of this run did not come: TensorFlow sends it with the first run of a session that fetches and feeds"
    " the same, which was before `tfdbg listen` began. Op types and neighbours are not known."
)


_WORKERS = (
    "Tensors of {} came in streams of their own, in which TensorFlow does not say where a run ends: those are shown"
    " that came before this one ended."
)


class Assembly:
    """Takes in the events of one stream, which `peer` sends, and makes a run of them.

    One thread takes in, and makes the run; another one may `absorb` what came meanwhile.
    """

    def __init__(self, peer: str, room: Room, graphs: KnownGraphs, code: ToldCode) -> None:
        self.peer = peer
        self._graphs = graphs
        self._code = code
        self.tensors = SentTensors(room)
        self._pieces: dict[bytes, Pieces[bytes]] = {}
        self._parts: list[GraphPartition] = []
        self._calls: list[CoreMetadata] = []
        self._damaged: list[str] = []
        self._damage = 0
        self._broken = False
        self._workers: list[str] = []
        self._known: set[str] = set()  # the devices of what another stream has absorbed
        self._lock = threading.Lock()
        self.heard = 0

    def hear(self, message: bytes) -> bytes | None:
        """Take in an Event; the EventReply that TensorFlow waits for, if it does. Of damage a note is made."""
        with self._lock:
            return self._hear(message)

    def _hear(self, message: bytes) -> bytes | None:
        self.heard += 1
        try:
            event = schema.Event.FromString(message)
        except schema.DecodeError:
            self._note_damage("that is no Event")
            return UNDERSTOOD
        kind = event.WhichOneof("what")
        try:
            if kind == "graph_def":
                return self._hear_graph(event.graph_def)
            if kind == "log_message":
                self._take_room(len(message), "an announcement")
                self._calls.append(parsed_metadata(event.log_message.message))
                return UNDERSTOOD
            if kind == "summary" and event.summary.value:
                self.tensors.hear(event, len(message))
        except DamagedEventError as error:
            self._note_damage(str(error))
        except WRONG_CONTENT:
            self._note_damage("that announces no run" if kind == "log_message" else "that cannot be read")
        return None if kind == "summary" else UNDERSTOOD

    def _hear_graph(self, content: bytes) -> bytes | None:
        piece = read_graph_piece(content)
        last = piece.piece == piece.pieces - 1
        self._take_room(len(piece.content), "a piece of a graph")
        begun = self._pieces.setdefault(piece.key, Pieces(piece.pieces))
        if not begun.add(piece.piece, piece.content):
            return UNDERSTOOD if last else None
        del self._pieces[piece.key]
        serialized = b"".join(begun.in_order)
        try:
            part = GraphPartition(piece.device, serialized, parse_graph_def(serialized))
        except ValueError:
            raise DamagedEventError(f"the graph of {piece.device}") from None
        self._parts.append(part)
        return wants_all([part])

    def _take_room(self, nbytes: int, what: str) -> None:
        if not self.tensors.room.take(nbytes):
            raise DamagedEventError(f"{what} for which there is no room in memory_budget")
        self.tensors.taken += nbytes

    def _note_damage(self, what: str) -> None:
        self._damage += 1
        if not self._damaged:
            self._damaged.append(what)

    def note_failure(self) -> None:
        """Note that an event could not be taken in, though there may be nothing wrong with it."""
        self._note_damage("one that tfdbg failed to take in")

    def break_off(self) -> None:
        """Note that no more is going to come, though the run was not over."""
        self._broken = True

    @property
    def is_empty(self) -> bool:
        """Whether nothing came that a run could be made of."""
        return not (self._calls or self.tensors.files)

    def shares_job(self, other: Assembly) -> bool:
        """Whether `other` may be the stream of another worker of the job whose call this one announces."""
        ours, theirs = self._devices, other._devices
        jobs = {device.split("/replica:")[0] for device in ours}
        return (
            bool(self._calls and theirs)
            and not other._calls
            and not ours & theirs
            and all(device.split("/replica:")[0] in jobs for device in theirs)
        )

    @property
    def _devices(self) -> set[str]:
        with self._lock:
            return {
                *self._known,
                *[part.device for part in self._parts],
                *[file.device for file in self.tensors.files],
            }

    def absorb(self, other: Assembly) -> None:
        """Take over what came of `other`, the stream of another worker, which goes on. To be done before `run`."""
        devices = sorted(other._devices)
        with other._lock, self._lock:
            self._workers += devices
            if self._parts:  # else both graphs came with an earlier run
                self._parts += other._parts
                other._parts = []
            other._known.update(devices)
            self.tensors.absorb(other.tensors)

    @property
    def _signature(self) -> Signature | None:
        if not self._calls:
            return None
        first = self._calls[0]
        return tuple(first.input_names), tuple(first.output_names), tuple(first.target_nodes)

    @cached_property
    def _graph(self) -> tuple[SavedGraph, frozenset[str]]:
        """The graph, and the devices of which it is known."""
        signature = self._signature
        if self._parts:
            sent = self._graphs.add(self._parts, self.peer, signature or ())
            return sent.graph, sent.devices
        nodes = {(file.device, file.node) for file in self.tensors.files}
        found = self._graphs.find(self.peer, signature, nodes)
        return (found[0].graph, found[0].devices) if found else (graph_of([], GraphKind.RUNTIME), frozenset())

    def run(self, number: int) -> Run:
        """What came, as the run with that number."""
        graph, devices = self._graph
        files = in_order(self.tensors.files, graph)
        whole = graph.with_nodes(debug_op_nodes(files))
        tracebacks, sources = self._code.of(self.peer, graph.names())
        missing = self._missing(graph)
        first = list(self._first_notes(missing))
        rest = (*self._notes(devices), *self.tensors.notes())

        def notes() -> Iterable[str]:
            return dict.fromkeys((*first, *rest, *check_dump(files, graph, devices)))

        return Run(
            call=self._call(number),
            tensors=self.tensors.store(files, whole),
            graph=whole,
            tracebacks=tracebacks,
            sources=sources,
            notes=LateNotes(notes),
            cut_off=self._broken or bool(missing),
        )

    def _call(self, number: int) -> Call:
        if not self._calls:
            return Call(number, RunKind.SESSION, ())
        call = self._calls[0]
        return Call(
            number,
            RunKind.SESSION,
            tuple(call.output_names),
            dict.fromkeys(call.input_names),
            tuple(call.target_nodes),
        )

    @property
    def lacks_results(self) -> bool:
        """Whether something was fetched and watched that did not come."""
        return bool(self._missing(self._graph[0]))

    def _missing(self, graph: SavedGraph) -> list[str]:
        """What was fetched and watched, and did not come."""
        fetched = [tensor_name_of(name) for call in self._calls for name in call.output_names]
        came = {(file.node, file.slot) for file in self.tensors.files}
        missing = [name for name in fetched if (name.node, name.slot) not in came]
        if not missing:
            return []
        watched = set(watched_tensors(graph.parts))
        return [str(name) for name in missing if name in watched]

    def _first_notes(self, missing: Sequence[str]) -> Iterator[str]:
        if self._broken:
            yield _BROKEN
        elif missing:
            yield (
                f"This run failed, or was cancelled: {missing[0]}, which it fetches, did not come. TensorFlow sends"
                " no errors: the program has the message."
            )

    def _notes(self, devices: frozenset[str]) -> Iterator[str]:
        if len(self._calls) == 1:
            call = self._calls[0]
            yield f"Sent by {self.peer}, as run {call.session_run_index + 1} of its session."
        else:
            yield f"Sent by {self.peer}."
            yield _MIXED.format(len(self._calls)) if self._calls else _UNANNOUNCED
        if self._workers:
            yield _WORKERS.format(names_text(self._workers))
        if not devices:
            yield _NO_GRAPH
        if not self.tensors.files:
            yield "No tensor came with this run: nothing was watched, or all of it was folded into constants."
        if self._damage:
            yield f"{count_text(self._damage, 'event')} made no sense (first: {self._damaged[0]})."
        if self._pieces:
            yield "Not all pieces of a graph came."
