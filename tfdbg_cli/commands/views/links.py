"""The command strings behind links to tensors, nodes and source lines."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.document.text import Span, Style
from tfdbg_cli.model.calls import Call
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.sources import Frame
from tfdbg_cli.model.tensors import TensorStore, devices_of, repeats


@dataclass(frozen=True, slots=True)
class _Executions:
    """The executions of one tensor: on how many devices, and for each index which one of how many on its device."""

    devices: int
    numbers: dict[int, tuple[int, int]]


# Kept as long as the store: a list of a loop's tensors asks for the same counts at every row.
_COUNTED: WeakKeyDictionary[TensorStore, dict[TensorName, _Executions]] = WeakKeyDictionary()


def tensor_link(store: TensorStore, index: int, verb: str = "pt") -> str:
    """`pt` of the tensor at `index`: with -n where it was produced several times, --device where on several."""
    tensor = store[index]
    if repeats(store) is False:
        return f"{verb} {quoted(str(tensor.name))}"
    found = _executions(store, tensor.name)
    number, count = found.numbers[index]
    words = [verb, quoted(str(tensor.name))]
    words += ["-n", str(number)] if count > 1 else []
    words += ["--device", quoted(tensor.device)] if found.devices > 1 else []
    return " ".join(words)


def execution_count(store: TensorStore, index: int) -> int:
    """How often the tensor at `index` was produced on its device."""
    return 1 if repeats(store) is False else _executions(store, store[index].name).numbers[index][1]


def _executions(store: TensorStore, name: TensorName) -> _Executions:
    known = _COUNTED.setdefault(store, {})
    if name not in known:
        by_device: dict[str, list[int]] = {}
        device = devices_of(store)
        for index in store.named(name.node, name.slot):
            by_device.setdefault(device(index), []).append(index)
        numbers = {i: (k, len(indices)) for indices in by_device.values() for k, i in enumerate(indices)}
        known[name] = _Executions(len(by_device), numbers)
    return known[name]


def given_link(call: Call, name: TensorName) -> str:
    """`pf` of what the call was given as `name`; empty where it was given no such thing."""
    key = given_key(call, name)
    return "" if key is None else f"pf {quoted(key)}"


def given_key(call: Call, name: TensorName) -> str | None:
    """Under which of the call's feeds `name` is; None where it was given no such thing."""
    given = frozenset(call.feeds)  # a look into the mapping of a recording would read the value
    keys = (str(name), *([name.node] if name.slot == 0 else []))
    return next((key for key in keys if key in given), None)


def node_link(name: str) -> str:
    """`ni` of the node `name`, with its dumps and where it was made."""
    return f"ni -d -t {quoted(name)}"


def source_link(file: str, line: int) -> str:
    """`ps` of `file` from `line` on."""
    return f"ps {quoted(file)} -b {line}"


def place_span(frame: Frame, *, style: Style = Style.NAME) -> Span:
    """`train.py:8`, a link to that line."""
    return Span(f"{frame.file}:{frame.line}", style, source_link(frame.file, frame.line))
