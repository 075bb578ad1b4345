"""`tfdbg listen`: the prompt on the runs that TensorFlow's debugger sends from elsewhere."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

from tfdbg_cli.cli.parser import Parser
from tfdbg_cli.cli.prompt import add_prompt_options, options_given
from tfdbg_cli.cli.record_options import add_record_options, record_of
from tfdbg_cli.cli.seconds import NOT_ABOVE_0, seconds
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.process.streams import to_stderr

if TYPE_CHECKING:
    from tfdbg_cli.debug_server.arrivals import Arrivals
    from tfdbg_cli.debug_server.service import Service
    from tfdbg_cli.model.decision import Decision, RunUntil

HELP = "open the prompt on the runs that a program elsewhere sends"
_OPEN_TO_ALL = "Whoever reaches this address can send runs here, and what is sent is not encrypted."
_AFTERWARDS = (
    "A program that goes on watching waits up to 15 minutes at its next run for a server here; then that run fails."
)
_UNDER_WAY = (
    "A run is under way, or a worker sends; it is answered until it ends, and no other is taken. Ctrl-C cuts it off:"
    " then it fails in the program if it sends more."
)
_CUT_OFF = "What was under way is cut off: a run that sends more fails in the program."
_TURN = 0.2


def prepare_parser(parser: Parser) -> None:
    """Take where to listen, and what to do with what comes."""
    parser.description = (
        "Be the debug server to which sessions of TensorFlow send what they compute: of RunOptions that watch tensors"
        " with grpc://HOST:PORT (debug_utils.watch_graph), of GrpcDebugWrapperSession, TensorBoardDebugWrapperSession"
        " and their hooks. tfdbg need not be installed there, nor TensorFlow here. The prompt opens at a run that has"
        " arrived whole; its `Session.run` does not return before you go on. If you leave with Ctrl-D, streams are"
        " answered without a look, so that the programs go on; after `exit`, or Ctrl-C, nobody answers, and a program"
        " that goes on watching waits up to 15 minutes at its next run, which then fails. The exit code is 1 when a"
        " command of -c failed or was not used, or what is written here makes no sense; 2 when tfdbg cannot listen"
        " there."
    )
    parser.add_argument(
        "address",
        metavar="HOST:PORT",
        help="where to listen; a port alone is one of 127.0.0.1, which this machine alone reaches, port 0 any that"
        " is free",
    )
    parser.add_argument(
        "--until",
        metavar="FILTER",
        default="",
        help="go past runs, and stop at the first one with a tensor that passes",
    )
    parser.add_argument("-fenn", metavar="REGEX", default="", help="with --until: nodes that are not asked about")
    parser.add_argument("--keep", metavar="N", type=int, default=0, help="with --until: the N runs before stay")
    parser.add_argument("--idle", type=seconds, metavar="SECONDS", help="end when nothing came for so long")
    add_prompt_options(parser)
    add_record_options(parser, sent=True)
    parser.set_defaults(rules=None, trends=False)


def run(options: argparse.Namespace) -> int:
    """Take runs until an end; 1 when a command failed or was not used.

    Raises:
        TfdbgError: the options make no sense, grpcio is missing, or it cannot listen there.

    """
    if options.idle is not None and options.idle < 0:
        raise TfdbgError(NOT_ABOVE_0, hint="Write: tfdbg listen PORT --idle 60")
    if options.stats_only or options.worker:
        word = "--stats-only" if options.stats_only else "--worker"
        raise TfdbgError(f"{word} is for `tfdbg run`: a program sends values here.")
    from tfdbg_cli.api.attendance import attended
    from tfdbg_cli.api.frontends import choose_frontend
    from tfdbg_cli.api.launch_options import set_launch_options
    from tfdbg_cli.capture.budget import memory_budget
    from tfdbg_cli.debug_server.arrivals import Arrivals
    from tfdbg_cli.debug_server.listening import Listening
    from tfdbg_cli.debug_server.service import Service
    from tfdbg_cli.debugger.recorder import Recorder
    from tfdbg_cli.formats.streamed.room import Room
    from tfdbg_cli.model.decision import Continue
    from tfdbg_cli.remote.address import Address

    until, record, address = _watch(options), record_of(options), Address.read(options.address)
    asked = options_given(options, record=record)
    set_launch_options(asked)
    frontend, arrivals = choose_frontend(), Arrivals()
    recorder = Recorder(lambda: frontend.settings)
    first: Decision | None = until
    if record is not None:
        recorder.begin_with_first_run(record)
        if until is None and not options.commands:
            first = Continue()
    listening = Listening(
        arrivals, frontend, recorder, first=first, say=frontend.notify, attended=attended(), idle=options.idle
    )
    service = Service(address, arrivals, Room(memory_budget(frontend.settings)))
    reached = service.address.reachable
    to_stderr(f"Listening on {service.address}, for runs that watch tensors with grpc://{reached}. Ctrl-C ends.")
    if not address.here:
        to_stderr(_OPEN_TO_ALL)
    try:
        listening.serve()
    finally:
        came = arrivals.heard > 0
        _let_go(service, arrivals)
        service.stop()
        recorder.end()
        if came:
            to_stderr(f"No longer listening. {_AFTERWARDS}")
    unused = () if asked.script is None else asked.script.left
    if unused:
        to_stderr(f"These commands were not used: {'; '.join(unused)}.")
    return 1 if frontend.failures or unused else 0


def _let_go(service: Service, arrivals: Arrivals) -> None:
    """Answer the runs that are under way until they end, so that these do not fail; Ctrl-C cuts them off."""
    said = False
    try:
        service.take_no_more()
        begun = time.monotonic()
        while arrivals.open:
            if not said and time.monotonic() - begun > 1:
                said = True
                to_stderr(_UNDER_WAY)
            time.sleep(_TURN)
    except KeyboardInterrupt:
        if arrivals.open:
            to_stderr(_CUT_OFF)


def _watch(options: argparse.Namespace) -> RunUntil | None:
    """The watch to begin with.

    Raises:
        TfdbgError: its options make no sense.

    """
    from tfdbg_cli.commands.asked.watch_decision import NO_FILTER, SKIPPING, watch_decision
    from tfdbg_cli.model.decision import OnBenign

    if options.until:
        benign = OnBenign.SKIP.value if options.until == SKIPPING else ""
        return watch_decision(options.until, options.fenn, keep=options.keep, benign=benign)
    if options.fenn or options.keep:
        raise TfdbgError(NO_FILTER, hint="Write: tfdbg listen --until FILTER PORT")
    return None
