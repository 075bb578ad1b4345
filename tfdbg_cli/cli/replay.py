"""`tfdbg replay`: the run of a bundle made again, and whether it came out as it was."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from tfdbg_cli.analysis.graph.making.eager_past import with_recorded_past, without_past
from tfdbg_cli.analysis.graph.nodes.order import behind_inputs
from tfdbg_cli.api.frontends import user_settings
from tfdbg_cli.cli.replay_verdict import replay_verdict
from tfdbg_cli.errors import TfdbgError, reason_of
from tfdbg_cli.formats.bundles.environment import differences, take_over
from tfdbg_cli.formats.bundles.reader import Bundle, read_bundle
from tfdbg_cli.formats.bundles.replay_graph import graph_facts
from tfdbg_cli.formats.recording.addresses import refuse_address
from tfdbg_cli.model.calls import RunError, RunKind
from tfdbg_cli.model.names import TensorName, parse_tensor_name
from tfdbg_cli.model.replay import InputRole, ReplaySpec
from tfdbg_cli.model.runs import Opened, Run
from tfdbg_cli.model.tensors import TensorStore
from tfdbg_cli.model.units import names_text
from tfdbg_cli.model.updates import BEFORE_UPDATE
from tfdbg_cli.model.values import Array

_MOST_NAMED = 8  # ops that reach outside
_LOST_CALL = (
    "What was recorded of the call is damaged: the names of the function and of its results are not known. Copy the"
    " bundle again; `tfdbg doctor` tells which file it is."
)
STEPPER = "invoke_stepper"  # the command that walks through a run op by op


@dataclass(frozen=True)
class ReplayPrompt:
    """The prompt on the run made again, and whether it came out the `same`: what went wrong first did so again.

    `said` is a sentence about that.
    """

    stop: Opened
    same: bool
    said: str


@dataclass(frozen=True)
class FromBundle:
    """Makes a replayed run again: an implementation of `model.replay.Replayable`."""

    held: ReplaySpec

    def replay_spec(self) -> ReplaySpec:
        """What the bundle holds."""
        return self.held

    def with_values(self, replaced: Mapping[TensorName, Array]) -> tuple[TensorStore, RunError | None]:
        """What the run gives when the tensors `replaced` have these values. See `model.replay.Replayable`."""
        from tfdbg_cli.capture.replay.any_replay import replay
        from tfdbg_cli.capture.replay.replaced_values import with_replaced

        again = replay(with_replaced(self.held, replaced))
        return again.tensors, again.error

    def undo(self) -> tuple[str, ...]:
        """Refuse: a replay has no program whose variables could be put back.

        Raises:
            TfdbgError: always.

        """
        raise TfdbgError("A replay changes copies of the variables only; there is nothing to put back.")


def _here(path: str) -> Path:
    """The path of a bundle to run. It has to be on this machine, as the inputs are needed whole.

    Raises:
        TfdbgError: `path` is an address.

    """
    hint = "Copy the bundle here first. `tfdbg open` shows what was recorded from there, too."
    refuse_address(path, "bundles are replayed from the disks of this machine alone", hint)
    return Path(path).expanduser()


def _opened_by(trust: bool, *options: str) -> tuple[str, ...]:
    return "replay", *(["--trust"] if trust else []), *options


def replayed(path: str, *, trust: bool = False) -> ReplayPrompt:
    """Make the run of the bundle at `path` again.

    With `trust` also one whose ops may reach files, the network, Python or other processes.

    Raises:
        TfdbgError: there is no bundle, it is damaged, its ops reach outside, TensorFlow does not take it, or is not
            installed (exit code 2).

    """
    place, bundle = _prepared(path, trust)
    from tfdbg_cli.capture.budget import memory_budget
    from tfdbg_cli.capture.replay.any_replay import replay
    from tfdbg_cli.capture.replay.replayed import difference, uncompared
    from tfdbg_cli.capture.what_if.of_replay import what_if_of

    room = memory_budget(user_settings())
    with _refusals(place):
        if not trust:
            _require_harmless_to_read(bundle)
        _require_room(bundle.replay_spec, room)
        replayed = replay(bundle.replay_spec, room)
    lost = _lost_call(bundle)
    recorded = _shown_graph(_as_called(bundle))
    run = replayed.of(without_past(recorded))
    run = replace(run, tensors=behind_inputs(run.tensors, run.graph, _held(bundle.replay_spec)))
    run = _with_variables_before(run, bundle)
    same, found = replay_verdict(bundle, run)
    said = f"Made again from {place}: {found}"
    notes = [said, *lost, *bundle.replay_spec.limits, *_made_elsewhere(bundle)]
    recorded_values = bundle.run.tensors
    notes += filter(None, (difference(recorded_values, run.tensors), uncompared(recorded_values)))
    run = replace(_replayable(run, bundle), notes=(*notes, *replayed.notes), exactness=None, origin_path="")
    if run.error is None:
        run = replace(run, what_if=what_if_of(bundle.replay_spec, room))
    elif same:
        run = replace(run, error=bundle.run.error)  # its message names the program's lines
    run = with_recorded_past(run, recorded)
    return ReplayPrompt(
        Opened(str(place), (run,), opening="run_info", opened_by=_opened_by(trust)), same, " ".join((said, *lost))
    )


def steps_of(path: str, *, trust: bool = False) -> Opened:
    """The prompt on the run of the bundle at `path` as it was recorded, at the first of its steps.

    Raises:
        TfdbgError: as `replayed`.

    """
    place, bundle = _prepared(path, trust)
    from tfdbg_cli.capture.budget import memory_budget

    with _refusals(place):
        if not trust:
            _require_harmless_to_read(bundle)
        _require_room(bundle.replay_spec, memory_budget(user_settings()))
    run = _replayable(without_past(_shown_graph(_as_called(bundle))), bundle)
    run = replace(run, origin_path="", notes=(*run.notes, *_lost_call(bundle), *_made_elsewhere(bundle)))
    return Opened(str(place), (run,), opening=STEPPER, opened_by=_opened_by(trust, "--eager"))


def _lost_call(bundle: Bundle) -> tuple[str, ...]:
    """The sentence for a run of which it is not known any more what was called; nothing where that is known."""
    wanted = bundle.replay_spec.kind is RunKind.FUNCTION and bundle.run.call.kind is not RunKind.FUNCTION
    return (_LOST_CALL,) if wanted else ()


def _as_called(bundle: Bundle) -> Run:
    """The recorded run, which is one of a function also where nothing but what makes it again says so."""
    if not _lost_call(bundle):
        return bundle.run
    call = replace(bundle.run.call, kind=RunKind.FUNCTION, function="a function whose name is lost")
    return replace(bundle.run, call=call)


def _prepared(path: str, trust: bool) -> tuple[Path, Bundle]:
    """The bundle at `path`, which may be executed, with TensorFlow loaded as it was where the run was made.

    Raises:
        TfdbgError: as `replayed`.

    """
    place = _here(path)
    bundle = read_bundle(place)
    _require_harmless(bundle, trust)
    take_over(bundle.environment)
    _require_tensorflow(place)
    return place, bundle


def _held(replay_spec: ReplaySpec) -> set[str]:
    """The nodes of a function whose values a replay takes from the recorded run: draws, receives and the like."""
    if replay_spec.kind is not RunKind.FUNCTION:
        return set()
    sources = (item.name for item in replay_spec.inputs if item.role is InputRole.SOURCE)
    return {name.node for text in sources if (name := parse_tensor_name(text)) is not None}


def _with_variables_before(run: Run, bundle: Bundle) -> Run:
    """`run` with its variables as they were before it, where the recorded run has them."""
    from tfdbg_cli.capture.state.before_updates import with_before

    recorded = bundle.run.tensors
    if all(recorded[row].op_type != BEFORE_UPDATE for row in range(len(recorded))):
        return run
    return with_before(
        run, {one.name: one.value for one in bundle.replay_spec.inputs if one.role is InputRole.VARIABLE}
    )


def _replayable(run: Run, bundle: Bundle) -> Run:
    """`run` with the means to save it again and to walk through it."""
    from tfdbg_cli.capture.what_if.steppers import SteppableReplay

    held = FromBundle(bundle.replay_spec)
    return replace(run, replayable=held, steppable=SteppableReplay(held))


def _require_harmless(bundle: Bundle, trust: bool) -> None:
    """Check what the ops of the run could do, before anything of it is executed.

    Raises:
        TfdbgError: the graph is damaged, calls functions endlessly, or, without `trust`, has ops that reach outside.

    """
    try:
        facts = graph_facts(bundle.replay_spec)
    except ValueError as error:
        raise TfdbgError(f"{error} The bundle is damaged.", hint=_look_at(bundle)) from None
    if facts.endless:
        raise TfdbgError(
            f"The function {facts.endless} of this bundle calls itself, or makes too many calls: it is not run.",
            hint=_look_at(bundle),
        )
    if not trust:
        _refuse(bundle, facts.outside)


def _require_harmless_to_read(bundle: Bundle) -> None:
    """Check what TensorFlow would do as soon as it reads the graph, with nodes that are no part of the run, too.

    Raises:
        TfdbgError: there are ops that reach outside.

    """
    from tfdbg_cli.capture.replay.computed_early import outside_when_read

    if bundle.replay_spec.kind.of_session:
        _refuse(bundle, outside_when_read(bundle.replay_spec.graph))


def _refuse(bundle: Bundle, outside: Mapping[str, str]) -> None:
    """Refuse the op types `outside`, each with the name of an op, if there are any."""
    if outside:
        ops = [f"{op_type} ({where})" for op_type, where in outside.items()]
        name = shlex.quote(str(bundle.path))
        raise TfdbgError(
            f"The run of this bundle has ops that may reach files, the network, Python or other processes:"
            f" {names_text(ops, _MOST_NAMED)}.",
            hint=f"If you trust who made it: tfdbg replay --trust {name}. {_look_at(bundle)}",
        )


def _look_at(bundle: Bundle) -> str:
    return f"`tfdbg open {shlex.quote(str(bundle.path))}` shows what was recorded, and runs nothing."


@contextmanager
def _refusals(place: Path) -> Iterator[None]:
    """A context that turns any exception of TensorFlow into a TfdbgError, as the graph may be anything."""
    try:
        yield
    except TfdbgError:
        raise
    except Exception as error:
        told = reason_of(error).splitlines()[0]
        raise TfdbgError(f"The run in {place} could not be made again: {told}", exit_code=2) from error


def _require_room(replay_spec: ReplaySpec, room: int) -> None:
    """Check how large the tensors of the run will be, before anything of it is executed.

    Raises:
        TfdbgError: one is known to take more than `room` bytes, or TensorFlow refuses the graph.

    """
    from tfdbg_cli.capture.replay.room import require_room_in_function
    from tfdbg_cli.capture.replay.session import require_room_in_session

    in_function = replay_spec.kind is RunKind.FUNCTION
    (require_room_in_function if in_function else require_room_in_session)(replay_spec, room)


def _require_tensorflow(place: Path) -> None:
    hint = (
        f"Install TensorFlow (pip install tensorflow), or look at the recording: tfdbg open {shlex.quote(str(place))}"
    )
    if find_spec("tensorflow") is None:
        raise TfdbgError(
            "`tfdbg replay` makes the run again with TensorFlow, which is not installed here.", hint=hint, exit_code=2
        )
    try:
        import_module("tfdbg_cli.capture.tf.compat")
    except Exception as error:  # whatever a broken installation raises
        raise TfdbgError(
            f"`tfdbg replay` needs TensorFlow, which cannot be loaded: {reason_of(error)}.",
            hint=hint,
            exit_code=2,
        ) from error


def _shown_graph(run: Run) -> Run:
    """`run` with the graph in whose names a replay gives its values: the program's."""
    return run if run.python_graph is None else replace(run, graph=run.python_graph)


def _made_elsewhere(bundle: Bundle) -> Iterator[str]:
    """What is another way here than where the run was made, and may give other numbers."""
    from tfdbg_cli.version import tensorflow_version

    then, now = bundle.versions.get("tensorflow"), tensorflow_version()
    if then and now and then != now:
        yield f"The bundle was made with TensorFlow {then}; this is {now}."
    yield from differences(bundle.environment)
