"""The command strings behind links to tensors, nodes and source lines."""

from __future__ import annotations

from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.document.text import Span, Style, printable
from tfdbg_cli.model.sources import Frame
from tfdbg_cli.model.tensors import TensorStore


def tensor_link(store: TensorStore, index: int) -> str:
    """`pt` of the tensor at `index`: with -n where it was produced several times, --device where on several."""
    tensor = store[index]
    same = store.named(tensor.node, tensor.slot)
    here = [i for i in same if store[i].device == tensor.device]
    link = f"pt {quoted(str(tensor.name))}"
    if len(here) > 1:
        link += f" -n {here.index(index)}"
    return link + (f" --device {quoted(tensor.device)}" if len(here) < len(same) else "")


def node_link(name: str) -> str:
    """`ni` of the node `name`, with its dumps and where it was made."""
    return f"ni -d -t {quoted(name)}"


def source_link(file: str, line: int) -> str:
    """`ps` of `file` from `line` on."""
    return f"ps {quoted(file)} -b {line}"


def place_span(frame: Frame, *, style: Style = Style.NAME) -> Span:
    """`train.py:8`, a link to that line."""
    return Span(printable(f"{frame.file}:{frame.line}"), style, source_link(frame.file, frame.line))
