"""What helps against traces that a tf.function need not have: words that can be followed to the letter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tfdbg_cli.analysis.retracing.retracing import (
    AROUND,
    BY_OBJECT,
    BY_VARIABLES,
    ITSELF,
    ArgumentDifference,
    Explained,
)
from tfdbg_cli.model.sources import is_library
from tfdbg_cli.model.traces import ArgumentSpec, SpecKind, TracedCode

_REDUCED = "@tf.function(reduce_retracing=True)"
_NAMED = 4
_REST = " If it is the rest of the data, .batch(n, drop_remainder=True) leaves that out."


@dataclass(frozen=True, slots=True)
class Advice:
    """What to do about `argument`; `sentence` names it, too."""

    argument: str
    text: str

    @property
    def is_rest_of_data(self) -> bool:
        """Whether it is about a last batch that is smaller than the others."""
        return self.text.endswith(_REST)

    @property
    def sentence(self) -> str:
        """The text, behind the argument unless it is about the function or the place of the call."""
        return self.text if self.argument in {ITSELF, AROUND} else f"{self.argument}: {self.text}"


def advice(code: TracedCode, found: Sequence[Explained]) -> tuple[Advice, ...]:
    """What helps against the retraces of `code`, first against what made most of them."""
    alike: dict[tuple[str, frozenset[SpecKind | None]], list[ArgumentDifference]] = {}
    for one in found:
        for difference in one.differences:
            pair = difference.before, difference.after
            kinds = frozenset(None if spec is None else spec.kind for spec in pair)
            alike.setdefault((difference.argument, kinds), []).append(difference)
    most_first = sorted(alike.items(), key=lambda item: -len(item[1]))
    about: dict[str, list[str]] = {}  # the arguments of each text
    for (argument, _), items in most_first:
        about.setdefault(_about(code, argument, items), []).append(argument)
    return tuple(Advice(_listed(arguments), text) for text, arguments in about.items() if text)


def _listed(arguments: Sequence[str]) -> str:
    names = list(dict.fromkeys(arguments))
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"


def _about(code: TracedCode, argument: str, items: Sequence[ArgumentDifference]) -> str:
    if argument == ITSELF:
        return _about_itself(code, [(one,) for one in items])
    if argument == AROUND:
        return "Call it on one device, and within or without a tf.distribute strategy in every call."
    pairs = [(one.before, one.after) for one in items]
    specs = [spec for pair in pairs for spec in pair if spec is not None]
    kinds = {spec.kind for spec in specs}
    if any(spec is None for pair in pairs for spec in pair):
        return f"Pass {argument} in every call, or in none."
    if kinds == {SpecKind.TENSOR}:
        return _about_tensor(code, argument, specs)
    if kinds <= {SpecKind.NUMBER, SpecKind.TENSOR}:
        return _about_number(code, argument, specs)
    if kinds == {SpecKind.CONSTANT}:
        return _about_constant(argument, specs)
    if kinds == {SpecKind.MEMBER}:
        return f"Each member of an Enum has a trace ({_listed([spec.text for spec in specs])}), as it should be."
    if kinds <= {SpecKind.CONSTANT, SpecKind.MEMBER, SpecKind.TENSOR}:
        return f"Pass a tensor as {argument} in every call, or in none: each Python value has a trace of its own."
    if kinds == {SpecKind.OBJECT}:
        return (
            f"Each object has a trace of its own. Make the object for {argument} once, outside of the loop, or pass"
            " the tensors in it."
        )
    if kinds == {SpecKind.CONTAINER}:
        return _about_container(argument, specs)
    return f"Pass the same kind of value as {argument} in every call."


def _about_itself(code: TracedCode, items: Sequence[tuple[ArgumentDifference]]) -> str:
    if all(one == BY_VARIABLES for one in items):
        return ""  # TensorFlow traces each function twice that creates variables
    if is_library(code.file):
        return "The package makes it anew: Keras does for each model, and each time that compile() is called."
    if any(one == BY_OBJECT for one in items):
        return (
            "A method has a tf.function for each object. Make the object once, outside of the loop, and call its"
            " method there."
        )
    return (
        "Each tf.function object begins without traces. Make it once, outside of the loop: put @tf.function, or"
        f" {code.name} = tf.function({code.name}), there, and call that one each time."
    )


def _about_number(code: TracedCode, argument: str, specs: Sequence[ArgumentSpec]) -> str:
    numbers = [spec.text for spec in specs if spec.kind is SpecKind.NUMBER]
    dtypes = {spec.dtype for spec in specs if spec.kind is SpecKind.TENSOR}
    own = {_dtype_of_number(text) for text in numbers}
    dtype = dtypes.pop() if len(dtypes) == 1 else "float32" if own == {"int32", "float32"} else ""
    text = (
        f"A Python number is part of the trace, so each one has its own. Pass tf.constant({argument}"
        + (f", tf.{dtype}" if dtype else "")
        + f") in place of {argument}: one trace serves all numbers, unless Python needs the number itself, as in a"
        " shape."
    )
    if dtype or len(own) != 1:
        return text
    is_one = own.pop()
    computed = {path: dtype for name, spec in code.traces[-1].signature for path, dtype in _tensors(name, spec)}
    others: dict[str, list[str]] = {}
    for name, other in computed.items():
        if other != is_one:
            others.setdefault(other, []).append(name)
    text += f" That is tf.{is_one}."
    if others:
        text += "".join(
            f" Where it is computed with {_listed(names)}: tf.constant({argument}, tf.{other})."
            for other, names in others.items()
        )
    elif not computed:
        text += f" Where TensorFlow then says that dtypes differ: tf.constant({argument}, x.dtype)."
    return text


def _tensors(path: str, spec: ArgumentSpec) -> Iterator[tuple[str, str]]:
    """The paths and dtypes of the tensors in an argument."""
    if spec.kind is SpecKind.TENSOR:
        yield path, spec.dtype
    for step, part in spec.parts:
        yield from _tensors(path + step, part)


def _dtype_of_number(text: str) -> str:
    """The dtype that tf.constant gives to the Python number written as `text`."""
    if text.endswith(("j", "j)")):
        return "complex128"
    return "int32" if text.lstrip("-").isdecimal() else "float32"


def _about_constant(argument: str, specs: Sequence[ArgumentSpec]) -> str:
    texts = {spec.text for spec in specs}
    if texts <= {"True", "False", "None"}:
        return f"A flag has a trace for each value ({', '.join(sorted(texts))}), as it should be."
    return (
        f"Each Python value of {argument} has a trace of its own, which is right for a few settings. One that changes"
        f" from call to call is better a tensor: tf.constant({argument})."
    )


def _about_container(argument: str, specs: Sequence[ArgumentSpec]) -> str:
    if {spec.text for spec in specs} == {"dict"}:
        return f"Pass a dict with the same keys as {argument} in every call."
    return f"Pass as many in {argument} in every call, or one tensor: tf.stack({argument})."


def _about_tensor(code: TracedCode, argument: str, specs: Sequence[ArgumentSpec]) -> str:
    dtypes = list(dict.fromkeys(spec.dtype for spec in specs))
    if len(dtypes) > 1:
        return f"Cast it to one dtype before the call: tf.cast({argument}, tf.{dtypes[0]})."
    if any(spec.shape is None or None in spec.shape for spec in specs):
        return ""  # TensorFlow has made a trace for any length
    fixed = _input_signature(code)
    text = f"{_REDUCED} makes one more trace, for all sizes{f'; or {fixed} one from the start' if fixed else ''}."
    if _is_last_batch(specs):
        text += _REST
    return text


def _is_last_batch(specs: Sequence[ArgumentSpec]) -> bool:
    """Whether two sizes differ in their first axis only, the later one being smaller."""
    shapes = list(dict.fromkeys(spec.shape for spec in specs))
    if len(shapes) != 2 or not shapes[0] or not shapes[1]:
        return False
    first, second = shapes[0], shapes[1]
    return first[1:] == second[1:] and (second[0] or 0) < (first[0] or 0)


def _wider(specs: Sequence[ArgumentSpec]) -> str:
    """`tf.TensorSpec([None, 3], tf.float32)`, which all `specs` of tensors fit."""
    shapes = [spec.shape for spec in specs]
    known = [shape for shape in shapes if shape is not None]
    if len(known) < len(shapes) or len(set(map(len, known))) > 1:
        return f"tf.TensorSpec(None, tf.{specs[0].dtype})"
    axes = [sizes[0] if len(set(sizes)) == 1 else None for sizes in zip(*known, strict=True)]
    return f"tf.TensorSpec({axes}, tf.{specs[0].dtype})"


def _input_signature(code: TracedCode) -> str:
    """The input_signature that all traces of `code` fit; empty where they do not take the same tensors alone."""
    signatures = [trace.signature for trace in code.traces]
    names = [name for name, _ in signatures[0]]
    if any([name for name, _ in one] != names for one in signatures):
        return ""
    columns = [[one[at][1] for one in signatures] for at in range(len(names))]
    if any(spec.kind is not SpecKind.TENSOR for column in columns for spec in column):
        return ""
    if any(len({spec.dtype for spec in column}) > 1 for column in columns):
        return ""
    return f"@tf.function(input_signature=[{', '.join(map(_wider, columns))}])"
