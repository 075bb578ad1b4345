"""What a run intercepts: a call of a session, of a function, of eager code; and the error that it may raise."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from tfdbg_cli.model.batch_place import BatchPlace


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


@dataclass(frozen=True, slots=True)
class Argument:
    """What a function was given under `name`, a key of the call's feeds.

    `captured` marks what it did not get from its caller: variables, and tensors from around it. `shape` is None
    where the value has none (a table, an iterator).
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

    Of a function, `function` is the name, `fetches` are the tensors that it returns, and `feeds` its arguments and
    what it captured, described by `arguments`. `notes` then say whether this call traced it anew, and why.

    Of a session, `fetches_text` and `feed_keys_text` are what Python shows of the program's own fetches and keys.

    Of a graph in a file, of a checkpoint and a profile, `function` says in words which one it is; nothing was called.

    Of a turn of a loop that runs eagerly `function` is what it is called, and `loop` the place of the loop.

    `looks_at` is equal for calls that read the same variables; None where that is not known.

    `came` says of batches, and of iterators that gave one, where in the data of the program that was; by their names
    among the feeds or the tensors. `worker` is which worker of a job made the call, where several recorded together.
    """

    number: int
    kind: RunKind
    fetches: tuple[str, ...]
    feeds: Mapping[str, Any] = field(default_factory=dict)
    targets: tuple[str, ...] = ()
    thread: str = ""
    notes: tuple[str, ...] = ()
    function: str = ""
    arguments: tuple[Argument, ...] = ()
    fetches_text: str = ""
    feed_keys_text: str = ""
    loop: str = ""
    looks_at: Hashable = None
    came: Mapping[str, BatchPlace] = field(default_factory=dict)
    worker: str = ""

    @property
    def given(self) -> Mapping[str, Any]:
        """The feeds without what a function captured from around it (variables): where a batch can come from."""
        captured = {argument.name for argument in self.arguments if argument.captured}
        return {name: value for name, value in self.feeds.items() if name not in captured}

    @property
    def results_known(self) -> bool:
        """Whether `fetches` are all that the program got: a runner or a recording may not tell, nor eager code."""
        return self.kind is RunKind.FUNCTION or bool(self.fetches or self.targets)

    @property
    def same(self) -> tuple[object, ...]:
        """Equal for calls of one function, with the same fetches, or turns of one loop, whatever they are given.

        Of a job they are calls of one worker: each has a state of its own, and a batch.
        """
        return self.kind, self.place, self.fetches, self.targets, self.worker

    @property
    def place(self) -> str:
        """What names of nodes belong to: the function, or the loop that runs eagerly; empty for a session."""
        if self.kind is RunKind.CHECKPOINT:  # all are of one program
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
        return f"{self.label}: {self.what}"

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
        fetched = (*self.fetches, *self.targets)
        shown = fetched[0] if len(fetched) == 1 else f"{fetched[0]}, …" if fetched else ""
        feeds = f"{len(self.feeds)} feed{'s' * (len(self.feeds) != 1)}"
        return f"{len(fetched)} fetch{'es' * (len(fetched) != 1)} ({shown}); {feeds}"


@dataclass(frozen=True, slots=True)
class RunError:
    """An exception of the run: `type_name` and `message` as the program will see them; the failing node if known.

    `inputs_note` says why input values are missing, when they are.
    """

    type_name: str
    message: str
    node: str | None = None
    inputs_note: str = ""
