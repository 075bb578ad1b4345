"""Why a tf.function was traced again: what differs between a trace and the nearest one before it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from tfdbg_cli.model.sources import is_library
from tfdbg_cli.model.traces import ArgumentSpec, Signature, SpecKind, Trace, TracedCode
from tfdbg_cli.model.units import count_text

ITSELF = "the function itself"
AROUND = "around the call"
ABSENT = "absent"
_OFTEN = 5
_COMPARED = 100  # of many traces the latest


@dataclass(frozen=True, slots=True)
class ArgumentDifference:
    """What differs between two traces: `argument`, a path such as `batch['image']`, was `old` and is `new`.

    `before` and `after` are the same as specs; None where it was or is absent, and where no argument differs.
    """

    argument: str
    old: str
    new: str
    before: ArgumentSpec | None = None
    after: ArgumentSpec | None = None

    @property
    def text(self) -> str:
        """`i: 3 → 4`."""
        if self.argument in {ITSELF, AROUND}:
            return self.new
        return f"{self.argument}: {self.old} → {self.new}"

    @property
    def size(self) -> int:
        """How much differs: another length of a list of two counts for both of its elements."""
        return max(spec.leaves for spec in (self.before, self.after) if spec is not None)


@dataclass(frozen=True, slots=True)
class Explained:
    """A `trace`, and what differs from the nearest earlier one; nothing of the first one."""

    trace: Trace
    differences: tuple[ArgumentDifference, ...] = ()

    @property
    def cause(self) -> ArgumentDifference | None:
        """The first difference."""
        return self.differences[0] if self.differences else None

    @property
    def is_retrace(self) -> bool:
        """Whether it was made beside an earlier one, and TensorFlow does not make two of any such function."""
        return bool(self.differences) and self.differences != BY_VARIABLES


BY_VARIABLES = (ArgumentDifference(ITSELF, "creates its variables", "uses the variables it created"),)
BY_SURROUNDINGS = (ArgumentDifference(AROUND, "the same arguments", "another device, strategy or graph"),)
BY_OBJECT = (ArgumentDifference(ITSELF, "the method of one object", "the method of another object"),)
BY_FUNCTION = (ArgumentDifference(ITSELF, "one tf.function", "another tf.function of the same code"),)


def explained(code: TracedCode) -> tuple[Explained, ...]:
    """Each trace of `code` with what made it necessary."""
    found: list[Explained] = []
    known: dict[int, dict[Signature, Trace]] = {}  # by tf.function: the last trace of each signature
    for trace in code.traces:
        earlier = known.setdefault(trace.owner, {})
        if earlier:
            found.append(Explained(trace, _because(earlier, trace)))
        else:
            found.append(Explained(trace, (BY_OBJECT if code.is_method else BY_FUNCTION) if len(known) > 1 else ()))
        earlier[trace.signature] = trace
    return tuple(found)


def often_retraced(codes: Sequence[TracedCode]) -> str:
    """A sentence about the function of the program that was retraced most; empty where none was so very often."""
    own = [code for code in codes if len(code.traces) > _OFTEN and not is_library(code.file)]
    found = [(code, [one for one in explained(code) if one.is_retrace]) for code in own]
    often = [(code, again) for code, again in found if len(again) >= _OFTEN]
    if not often:
        return ""
    code, again = max(often, key=lambda one: len(one[1]))
    causes = [one.differences[0] for one in again]
    argument, _ = Counter(one.argument for one in causes).most_common(1)[0]
    first = next(one for one in causes if one.argument == argument)
    why = f"for {argument} = {first.old}, {first.new}, …"
    if argument in {ITSELF, AROUND}:
        why = f"most times as {first.new}" if argument == ITSELF else f"most times for {first.new}"
    others = f" (and {count_text(len(often) - 1, 'other function')} often)" if len(often) > 1 else ""
    traces = len(code.traces) + code.left_out
    return f"{code.name} was traced {traces:,} times, {why}{others}: `traces` at a prompt tells why."


def since_nearest(earlier: Collection[Signature], new: Signature) -> tuple[ArgumentDifference, ...]:
    """What differs between `new` and the one of the latest of `earlier` that differs least; of several the latest."""
    nearest: tuple[ArgumentDifference, ...] = ()
    least = 0
    for signature in islice(reversed(tuple(earlier)), _COMPARED):
        found = differences(signature, new)
        size = sum(one.size for one in found)
        if not nearest or size < least:
            nearest, least = found, size
        if least <= 1:
            break
    return nearest


def _because(earlier: dict[Signature, Trace], trace: Trace) -> tuple[ArgumentDifference, ...]:
    """What made `trace` necessary beside `earlier` ones of its tf.function."""
    same = earlier.get(trace.signature)
    if same is not None:
        return BY_VARIABLES if same.creates_variables else BY_SURROUNDINGS
    return since_nearest(earlier, trace.signature) or BY_SURROUNDINGS  # the order of keywords makes no difference


def differences(old: Signature, new: Signature) -> tuple[ArgumentDifference, ...]:
    """What differs between two signatures, argument by argument, in the order of the newer one."""
    before, after = dict(old), dict(new)
    names = dict.fromkeys([*after, *before])
    return tuple(one for name in names for one in _between(name, before.get(name), after.get(name)))


def _between(path: str, old: ArgumentSpec | None, new: ArgumentSpec | None) -> Iterator[ArgumentDifference]:
    if old is new or old == new:
        return
    if old is not None and new is not None and _is_alike(old, new):
        for (step, before), (_, after) in zip(old.parts, new.parts, strict=True):
            yield from _between(path + step, before, after)
        return
    was, now = _outline(old), _outline(new)
    if was == now and old is not None and new is not None:
        was, now = (old.whole, new.whole) if old.whole != new.whole else (was, _another(new))
    yield ArgumentDifference(path, was, now, old, new)


def _is_alike(old: ArgumentSpec, new: ArgumentSpec) -> bool:
    """Whether both are containers of one kind with the same places in them."""
    return (
        old.kind is new.kind is SpecKind.CONTAINER
        and old.text == new.text
        and [step for step, _ in old.parts] == [step for step, _ in new.parts]
    )


def _outline(spec: ArgumentSpec | None) -> str:
    return ABSENT if spec is None else spec.outline


def _another(spec: ArgumentSpec) -> str:
    if spec.kind is SpecKind.OBJECT:
        return f"another {spec.text.removeprefix('<').partition(' at ')[0].removesuffix('>')} object"
    return f"another {spec.text}"
