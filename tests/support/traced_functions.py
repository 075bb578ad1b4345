"""A stop whose program has called functions that were traced once, twice and very often."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from support.sample_run import run_end
from tfdbg_cli.model.runs import RunEnd
from tfdbg_cli.model.sources import Frame
from tfdbg_cli.model.traces import ArgumentSpec, SpecKind, Trace, TracedCode

FILE = "/home/ann/digits/train.py"


@dataclass(frozen=True)
class Seen:
    """Functions as they were seen."""

    codes: tuple[TracedCode, ...]

    def functions(self) -> Sequence[TracedCode]:
        """All of them."""
        return self.codes


def tensor(*shape: int | None) -> ArgumentSpec:
    """A tensor of float32."""
    return ArgumentSpec(SpecKind.TENSOR, f"float32[{', '.join(map(str, shape))}]", dtype="float32", shape=shape)


def number(value: int) -> ArgumentSpec:
    """A number of Python."""
    return ArgumentSpec(SpecKind.NUMBER, str(value))


def call(line: int, text: str) -> Frame:
    """A line of the program."""
    return Frame(FILE, line, "<module>", text)


def traced_stop() -> RunEnd:
    """The stop."""
    loop = call(31, "loss = step(x, y, i)")
    images = ArgumentSpec(
        SpecKind.CONTAINER, "dict", parts=(("['image']", tensor(8, 28, 28, 1)), ("['label']", tensor(8)))
    )
    fewer = ArgumentSpec(
        SpecKind.CONTAINER, "dict", parts=(("['image']", tensor(5, 28, 28, 1)), ("['label']", tensor(5)))
    )
    step = [Trace((("batch", images), ("i", number(i))), 1, 0.125, loop) for i in range(12)]
    step.append(Trace((("batch", fewer), ("i", number(12))), 1, 0.25, loop))
    made = Trace((("x", tensor(8, 3)),), 0, 0.5, call(20, "predict(x)"), creates_variables=True)
    predict = (made, replace(made, count=40, seconds=0.0625, creates_variables=False))
    anew = [Trace((("x", tensor(3)),), 1, 0.03125, call(44, "scale(x)"), owner=at) for at in range(2)]
    early = (Trace((("x", tensor(3)),), 2), Trace((("x", tensor(4)),), 1, 0.0625, call(50, "early(x)"), nested=True))
    return replace(
        run_end(),
        traces=Seen(
            (
                TracedCode("step", tuple(step), FILE, 9),
                TracedCode("predict", predict, FILE, 15),
                TracedCode("scale", tuple(anew), FILE, 41, left_out=3),
                TracedCode("early", early, FILE, 47),
            )
        ),
    )
