"""Traces of tf.functions: which there were, what each was made for, and how often it was called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Protocol, TypeAlias

from tfdbg_cli.model.sources import Frame

_KEYS = 4


class SpecKind(Enum):
    """What an argument of a function was, as far as it decides about traces."""

    TENSOR = auto()
    NUMBER = auto()  # of Python; each value has a trace of its own
    CONSTANT = auto()  # True, None or a text of Python; each has a trace of its own
    MEMBER = auto()  # of an Enum; equal each time, each member has a trace of its own
    OBJECT = auto()  # each object has a trace of its own
    CONTAINER = auto()
    OTHER = auto()


@dataclass(frozen=True, slots=True)
class ArgumentSpec:
    """What a trace was made for, of an argument or of a part of one.

    `text` is how it is written: `float32[8, 3]`, `True`, `<Model at …>`; of a container what it is: `list`, `dict`.
    `identity` tells apart what is written alike, such as two objects of a class. `dtype` and `shape` are those of a
    tensor, None where no rank is known. `parts` are what is in a container, each with the step that leads to it:
    `[2]`, `['image']`, `.mean`.
    """

    kind: SpecKind
    text: str
    identity: int = 0
    dtype: str = ""
    shape: tuple[int | None, ...] | None = None
    parts: tuple[tuple[str, ArgumentSpec], ...] = ()

    @property
    def leaves(self) -> int:
        """How many specs it consists of that hold no others."""
        return sum(part.leaves for _, part in self.parts) if self.parts else 1

    @property
    def whole(self) -> str:
        """How it is written with all that is in it: `{'image': float32[8, 3]}`."""
        if self.kind is not SpecKind.CONTAINER:
            return self.text
        match self.text:
            case "list":
                return f"[{', '.join(part.whole for _, part in self.parts)}]"
            case "tuple":
                items = ", ".join(part.whole for _, part in self.parts)
                return f"({items},)" if len(self.parts) == 1 else f"({items})"
            case "dict":
                return "{" + ", ".join(f"{step[1:-1]}: {part.whole}" for step, part in self.parts) + "}"
            case _ if self.parts and all(not step for step, _ in self.parts):
                return f"{self.text} of {', '.join(part.whole for _, part in self.parts)}"
            case _:
                inner = (
                    f"{step[1:]}={part.whole}" if step.startswith(".") else part.whole for step, part in self.parts
                )
                return f"{self.text}({', '.join(inner)})"

    @property
    def outline(self) -> str:
        """The same without what is in it: `list of 3`, `dict of 'image', 'label'`."""
        if self.kind is not SpecKind.CONTAINER:
            return self.text
        if self.text != "dict":
            return f"{self.text} of {len(self.parts)}" if self.text in {"list", "tuple"} else self.text
        keys = [step[1:-1] for step, _ in self.parts]
        more = f" and {len(keys) - _KEYS} more" if len(keys) > _KEYS else ""
        return f"dict of {', '.join(keys[:_KEYS])}{more}" if keys else "empty dict"


Signature: TypeAlias = tuple[tuple[str, ArgumentSpec], ...]  # the arguments of a trace, by the user's names


def signature_text(signature: Signature) -> str:
    """`x: float32[8, 3], training: False`."""
    return ", ".join(f"{name}: {spec.whole}" for name, spec in signature)


@dataclass(frozen=True, slots=True)
class Trace:
    """One trace (concrete function), made for `signature`.

    `count` is how often it was called. `seconds` is how long it took to make it, None where tfdbg did not see that;
    `place` the user's call that made it. `owner` says of which of the tf.functions of that Python code it is, from 0.
    A `nested` one was made while another was traced, so that its seconds are among that one's. `creates_variables`
    says that TensorFlow made it to create the variables of the function, and another one to use them.
    """

    signature: Signature
    count: int
    seconds: float | None = None
    place: Frame | None = None
    owner: int = 0
    nested: bool = False
    creates_variables: bool = False


@dataclass(frozen=True, slots=True)
class TracedCode:
    """The `traces` of all tf.functions that were made of one Python function, in the order in which they were made.

    `file` and `line` are where it is defined, empty and 0 if not known. `is_method` says that each object has a
    tf.function of its own. `left_out` counts traces beyond those that are kept.
    """

    name: str
    traces: tuple[Trace, ...]
    file: str = ""
    line: int = 0
    is_method: bool = False
    left_out: int = 0


class TracesSeen(Protocol):
    """The tf.functions that were called while tfdbg saw the calls of the program."""

    def functions(self) -> Sequence[TracedCode]:
        """Those that are known by now, in the order in which they were traced first."""
        ...
