"""Recording ops that run eagerly, one by one: what each was given and gave, and the Python stack that called it."""

from __future__ import annotations

import inspect
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from linecache import getline
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import tensorflow as tf

from tfdbg_cli.capture import compat
from tfdbg_cli.capture.kept_tensors import KeptTensors
from tfdbg_cli.capture.shown_values import Shown
from tfdbg_cli.model.graph import Graph, GraphKind, Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.sources import Frame, Traceback

Stack = tuple[tuple[CodeType, int], ...]

_OURS = str(Path(__file__).parent.parent) + os.sep
_EXAMPLES = _OURS + "examples" + os.sep
_INPUT = "Placeholder"  # the op type of what was there before: an argument, or a tensor from around the call
_FULL = (
    "The values of the last {} tensors were not taken: those before fill the memory that tfdbg may use "
    "(`config set memory_budget`)."
)


class EagerRecorder:
    """The ops of one call. An op is named after its type and a number: `MatMul_0`, `MatMul_1`.

    `known` names tensors that are there before the call, by their id. The tensors are kept as they are, on their
    devices; once they fill `budget` bytes the rest is left out.
    """

    def __init__(self, known: Mapping[str, Any], budget: int) -> None:
        self._budget = budget
        self._numbers: Counter[str] = Counter()
        self._nodes: dict[str, Node] = {}
        self._stacks: dict[str, Stack] = {}
        self._values: list[tuple[Shown, Any]] = []
        self._missing = 0
        self._names: dict[int, TensorName] = {}
        self._alive: list[Any] = []  # a tensor that is freed would leave its id to another
        self.outside: dict[str, Any] = {}
        for name, tensor in known.items():
            self._name(tensor, self._input(name))

    @contextmanager
    def recording(self) -> Iterator[None]:
        """A context in which the ops of this thread are recorded."""
        compat.add_op_callback(self._ran)
        try:
            yield
        finally:
            compat.remove_op_callback(self._ran)

    def store(self) -> KeptTensors:
        """The tensors, in the order in which they were made."""
        return KeptTensors(self._values)

    def graph(self) -> Graph:
        """The ops, each reading what those before it gave."""
        return Graph(self._nodes.values(), GraphKind.PYTHON)

    def tracebacks(self) -> Mapping[str, Traceback]:
        """The Python stack of each op."""
        return _Stacks(self._stacks)

    def notes(self) -> tuple[str, ...]:
        """A sentence when values are missing for want of room."""
        return (_FULL.format(self._missing),) if self._missing else ()

    def failed(self, op_type: str, stack: Stack) -> str:
        """Add the op that raised an error, of which only its type and its place are known; its name."""
        node = self._numbered(op_type)
        self._nodes[node] = Node(node, op_type, "")
        self._stacks[node] = stack
        return node

    def _ran(
        self,
        op_type: str | bytes,
        inputs: Sequence[Any],
        attrs: Any,
        outputs: Sequence[Any],
        op_name: Any = None,
        graph: Any = None,
    ) -> None:
        if graph is not None or not all(isinstance(output, tf.Tensor) for output in outputs):
            return  # an op that is built into a graph, while a function is traced
        text = op_type.decode() if isinstance(op_type, bytes) else op_type
        text = compat.function_name(text)
        node = self._numbered(text)
        device = outputs[0].device if outputs else ""
        self._nodes[node] = Node(node, text, device, tuple(map(self._source, inputs)))
        self._stacks[node] = _stack()
        for slot, output in enumerate(outputs):
            name = TensorName(node, slot)
            self._name(output, name)
            self._take(Shown(name, text, output.device, output.dtype.as_datatype_enum), output)

    def _take(self, shown: Shown, tensor: Any) -> None:
        handle = tensor.dtype in (tf.resource, tf.variant)
        size = 0 if handle or tensor.dtype == tf.string else tensor.dtype.size
        self._budget -= size * int(tensor.shape.num_elements() or 0)
        if self._budget < 0:
            self._missing += 1
        else:
            self._values.append((shown, None if handle else tensor))

    def _numbered(self, text: str) -> str:
        number = self._numbers[text]
        self._numbers[text] += 1
        return f"{text}_{number}"

    def _name(self, tensor: Any, name: TensorName) -> None:
        self._names[id(tensor)] = name
        self._alive.append(tensor)

    def _input(self, name: str) -> TensorName:
        self._nodes[name] = Node(name, _INPUT, "")
        return TensorName(name, 0)

    def _source(self, tensor: Any) -> TensorName:
        name = self._names.get(id(tensor))
        if name is None:
            text = f"input_{len(self.outside)}"
            self.outside[text] = tensor
            name = self._input(text)
            self._name(tensor, name)
        return name


def _stack() -> Stack:
    """The calls that led here, outermost first, without ours."""
    found: list[tuple[CodeType, int]] = []
    frame: FrameType | None = inspect.currentframe()
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(_OURS) or file.startswith(_EXAMPLES):
            found.append((frame.f_code, frame.f_lineno))
        frame = frame.f_back
    return tuple(reversed(found))


class _Stacks(Mapping[str, Traceback]):
    """Stacks by node name, put into words when asked for."""

    def __init__(self, stacks: Mapping[str, Stack]) -> None:
        self._stacks = stacks

    def __getitem__(self, name: str) -> Traceback:
        return tuple(
            Frame(code.co_filename, line, code.co_name, getline(code.co_filename, line).strip())
            for code, line in self._stacks[name]
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self._stacks)

    def __len__(self) -> int:
        return len(self._stacks)
