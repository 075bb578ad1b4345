"""What a run intercepts: a call of a session or function, or a stretch of eager code; and the error it raised."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from tfdbg_cli.model.batch_place import BatchPlace
from tfdbg_cli.model.units import count_text

if TYPE_CHECKING:  # loaded where there are any
    from tfdbg_cli.model.records import Behind


class RunKind(StrEnum):
    """What was called."""

    SESSION = "Session.run"
    CALLABLE = "callable"  # the runner made by Session.make_callable
    FUNCTION = "tf.function"
    EAGER = "eager"
    GRAPH = "graph"  # of a file: nothing was called
    CHECKPOINT = "checkpoint"  # variables as they were saved
    PROFILE = "profile"  # how long ops took, of whatever ran meanwhile

    @property
    def of_session(self) -> bool:
        """Whether it is a call of a session, in either way."""
        return self in (RunKind.SESSION, RunKind.CALLABLE)


def what_if_title(replaced: Sequence[str]) -> str:
    """What a run is called in which tensors were `replaced`: `what if: loss/Log:0 replaced`."""
    more = f" and {len(replaced) - 2} more" if len(replaced) > 2 else ""
    return f"what if: {', '.join(replaced[:2])}{more} replaced"


@dataclass(frozen=True, slots=True)
class CallArgument:
    """An input of a function: its value is `feeds[name]` of the call.

    `captured` marks an input that is not passed by the caller: a variable, or a tensor of an enclosing scope. `shape`
    is None where the value has none (a table, an iterator).
    """

    name: str
    dtype: str
    shape: tuple[int | None, ...] | None
    captured: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """The call that a run intercepts: its 1-based number in the program, what it fetches and is fed.

    `fetches` and the keys of `feeds` are tensor or operation names. A recording made by TensorFlow keeps the
    keys only: their values are then None. `targets` are fetched operations (no value).

    For a function, `function` is its name, `fetches` are the tensors that it returns, and `feeds` its arguments and
    captures, described by `arguments`. `notes` then say whether this call retraced it, and why.

    For a session, `fetches_text` and `feed_keys_text` are the reprs of the program's own fetches and keys.

    For a graph in a file, a checkpoint or a profile, `function` describes it in words; nothing was called.

    For an iteration of an eager loop, `function` is its title, and `loop` identifies the loop.

    `looks_at` is equal for calls that read the same variables; None where that is not known.

    `came` maps a batch, or an iterator that gave one, by its name in the feeds or tensors, to its place in the
    program's data, `behind` to those data, while the program has them. `worker` names
    the worker of a job that made the call, if several recorded together. `runs_within` maps the scopes of functions
    that were called among eager ops to the numbers of the runs that these calls were. `result_names` has for each of
    `fetches` what the program calls it (`loss` of `{"loss": …}`), empty where it has no name: a tensor that it has by
    several names stands there once for each. `carried` maps feeds that an earlier run of eager code computed, as the
    state of a loop's last turn, to its number. `unchanged` are feeds of a turn of an eager loop that the turn before
    was given, too, while data of other lengths comes anew: tables, or data out of which turns take theirs.
    `for_gradient` is how many of `fetches`, at the end, a function gives for its gradient alone, where a tape records
    it: the program gets the others. `replaced` are the tensors, and variables, that `set` gave other values, if the
    program never made this call, but `again` did, and a recording has it.
    """

    number: int
    kind: RunKind
    fetches: tuple[str, ...]
    feeds: Mapping[str, Any] = field(default_factory=dict)
    targets: tuple[str, ...] = ()
    thread: str = ""
    notes: tuple[str, ...] = ()
    function: str = ""
    arguments: tuple[CallArgument, ...] = ()
    fetches_text: str = ""
    feed_keys_text: str = ""
    loop: str = ""
    looks_at: Hashable = None
    came: Mapping[str, BatchPlace] = field(default_factory=dict)
    worker: str = ""
    behind: Mapping[str, Behind] = field(default_factory=dict, compare=False, repr=False)
    runs_within: Mapping[str, int] = field(default_factory=dict)
    result_names: tuple[str, ...] = ()
    carried: Mapping[str, int] = field(default_factory=dict)
    unchanged: tuple[str, ...] = ()
    for_gradient: int = 0
    replaced: tuple[str, ...] = ()

    @property
    def given(self) -> Mapping[str, Any]:
        """The feeds without a function's captures (variables): those that can hold a batch."""
        captured = {argument.name for argument in self.arguments if argument.captured}
        return {name: value for name, value in self.feeds.items() if name not in captured}

    @property
    def results(self) -> tuple[str, ...]:
        """Those of `fetches` that the program gets."""
        return self.fetches[: max(0, len(self.fetches) - self.for_gradient)]

    @property
    def names_of_fetches(self) -> tuple[str, ...]:
        """What the program calls each of `fetches`, empty where that is not known."""
        fits = len(self.result_names) == len(self.fetches)
        return self.result_names if fits else ("",) * len(self.fetches)

    def run_within(self, node: str) -> int | None:
        """The number of the run that computed `node`, in the call of a function; None of a node in no such call."""
        scopes = [scope for scope in self.runs_within if node.startswith(f"{scope}/")]
        return self.runs_within[max(scopes, key=len)] if scopes else None

    @property
    def results_known(self) -> bool:
        """Whether `fetches` are all that the program got; unknown for some runners, recordings and eager code.

        So it is of calls of functions that a recording cannot tell apart, which have words in place of a name.
        """
        is_call = self.kind is RunKind.FUNCTION and " " not in self.function
        return is_call or bool(self.fetches or self.targets)

    @property
    def same(self) -> tuple[object, ...]:
        """A key that is equal for calls of the same function, fetches, or loop, whatever their inputs.

        In a job it differs from worker to worker, since each has its own state and batches.
        """
        return self.kind, self.place, self.fetches, self.targets, self.worker

    @property
    def place(self) -> str:
        """The scope in which node names are unique: the function or the eager loop; empty for a session."""
        if self.kind is RunKind.CHECKPOINT:  # several checkpoints share one program, so names mean the same in all
            return ""
        return self.loop or self.function

    @property
    def label(self) -> str:
        """Which call it was, in short: `run #3`, of a job `run #3 of chief0`."""
        return f"run #{self.number} of {self.worker}" if self.worker else f"run #{self.number}"

    @property
    def title(self) -> str:
        """One line: `run #3: 1 fetch (loss:0); 2 feeds`, or `run #3 of chief0: train_step(x, y)`."""
        if self.kind in (RunKind.GRAPH, RunKind.CHECKPOINT, RunKind.PROFILE):
            return self.function
        return f"{self.label}: {self.what} {self.what_if_title}".rstrip()

    @property
    def what_if_title(self) -> str:
        """`what if: loss/Log:0 replaced`, of a call that the program never made; else empty."""
        return what_if_title(self.replaced) if self.replaced else ""

    @property
    def what(self) -> str:
        """What was called: `train_step(x, y)`."""
        if " " in self.function:  # a part of a program that has no name, in words
            return self.function
        if self.function:
            given = ", ".join(argument.name for argument in self.arguments if not argument.captured)
            return f"{self.function}({given})"
        if self.kind is RunKind.CALLABLE and not self.fetches:
            return "runner from make_callable()"
        fetched = tuple(dict.fromkeys((*self.fetches, *self.targets)))
        shown = fetched[0] if len(fetched) == 1 else f"{fetched[0]}, …" if fetched else ""
        feeds = count_text(len(self.feeds), "feed")
        return f"{len(fetched)} fetch{'es' * (len(fetched) != 1)} ({shown}); {feeds}"


@dataclass(frozen=True, slots=True)
class RunError:
    """An exception of the run: `type_name` and `message` as the program will see them; the failing node if known.

    `inputs_note` says why input values are missing, when they are. `causes` are the exceptions that led to this one,
    the nearest first, in words: `KeyError: 'lr' at train.py:5 in load`. `caught` says that the program has caught
    it by now.
    """

    type_name: str
    message: str
    node: str | None = None
    inputs_note: str = ""
    causes: tuple[str, ...] = ()
    caught: bool = False
