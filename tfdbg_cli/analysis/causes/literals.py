"""Numbers as the program wrote them: what a dtype makes of them is another number where it cannot hold them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

import numpy as np

from tfdbg_cli.analysis.graph.making.lineage import InputSeen
from tfdbg_cli.model.dtypes import name_of
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.sources import Frame, user_frame
from tfdbg_cli.model.values import Array

NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
TERM = rf"(?:{NUMBER}|[A-Za-z_]\w*)"
_WHOLE_TERM = re.compile(rf"(?<![\w.]){TERM}(?![\w.])")


@dataclass(frozen=True)
class Code:
    """The code of one line, and all lines of its file, as far as they are known."""

    text: str
    file: Sequence[str]

    def number(self, term: str) -> float | None:
        """The value of a literal, or of a name that the file gives one number and no other, as a default too."""
        if not term[0].isalpha() and term[0] != "_":
            return float(term)
        assigned = re.compile(rf"(?:^|[(,;])\s*{term}(?:\s*:[^=(,;]*)?\s*=(?!=)\s*([^,;)#]*?)\s*(?=[,;)#]|$)")
        values = {value for row in self.file for value in assigned.findall(row)}
        only = values.pop() if len(values) == 1 else ""
        return float(only) if re.fullmatch(rf"-?{NUMBER}", only) else None

    @property
    def numbers(self) -> Iterator[float]:
        """The numbers in the line, by themselves or by name."""
        for match in _WHOLE_TERM.finditer(self.text):
            number = self.number(match[0])
            if number is not None:
                yield number


def code_of(run: Run, frame: Frame) -> Code:
    """The line of `frame`."""
    file = run.sources.lines(frame.file) or ()
    line = file[frame.line - 1] if 0 < frame.line <= len(file) else frame.text
    return Code(line.partition("#")[0], file)


def overflown(run: Run, node: Node, value: Array) -> str:
    """`-1e+09 is -inf in float16 (train.py:7)`: why the constant `value`, in the line of `node`, is infinite."""
    frame = user_frame(run.tracebacks.get(node.name, ()))
    if frame is None or value.dtype.kind not in "fV" or not np.isinf(value).any():
        return ""
    sign = "-" if np.isneginf(value).any() else ""
    with np.errstate(over="ignore"):
        numbers = (abs(number) for number in code_of(run, frame).numbers)
        lost = next((number for number in numbers if np.isinf(np.asarray(number).astype(value.dtype))), None)
    if lost is None or np.isinf(lost):
        return ""
    return f"{sign}{lost:g} is {sign}inf in {name_of(value.dtype)} ({PurePath(frame.file).name}:{frame.line})"


def overflown_input(run: Run, node: Node, inputs: Sequence[InputSeen]) -> str:
    """As `overflown`, of a number that `node` was given."""
    for item in inputs:
        if item.value is not None and item.value.size == 1 and item.node is not None:
            told = overflown(run, item.node, item.value) or overflown(run, node, item.value)
            if told:
                return told
    return ""
