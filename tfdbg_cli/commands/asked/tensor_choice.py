"""Finding the tensor a user names: node or node:slot, with a device, an execution and a slice."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfdbg_cli.analysis.graph.nodes.needed import not_needed_text, was_needed
from tfdbg_cli.commands.asked.batch_parts import batch_part_hint
from tfdbg_cli.commands.asked.name_endings import the_one_ending_in
from tfdbg_cli.commands.asked.result_names import NoSuchTensorError, NotComputedError, result_called, split_of
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.names import (
    device_matches,
    did_you_mean,
    parse_index,
    parse_tensor_name,
    short_device,
)
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.stepping import Stepper
from tfdbg_cli.model.tensors import Shape, Tensor, TensorStore, part_of
from tfdbg_cli.model.values import Array, Value

# A device and the name behind it: /job:worker/replica:0/task:1/device:GPU:0:dense/MatMul:0
_DEVICE_PREFIX = re.compile(
    r"^(?P<device>/(?:[^:]+:[^:/]+/)*(?:device:)?[A-Za-z_]\w*:\d+)[:;](?P<name>.+)$", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Choice:
    """One tensor on one device: the indices of its executions, in order, and the slice asked for, as text.

    `result` is what the program calls it, where it was asked for by that name.
    """

    name: str
    indices: tuple[int, ...]
    slicing: str = ""
    result: str = ""

    def execution(self, number: int | None) -> int:
        """The index of execution `number`; without one the only one.

        Raises:
            TfdbgError: there is no such execution, or there are several and none was named.

        """
        count = len(self.indices)
        if number is None and count == 1:
            return self.indices[0]
        if number is None:
            raise TfdbgError(f"{self.name} was produced {count} times.", hint=f"Say which: 0 to {count - 1}.")
        if not -count <= number < count:
            times = "once" if count == 1 else f"{count} times"
            raise TfdbgError(
                f"There is no execution {number} of {self.name}: it was produced {times}.",
                hint="They are counted from 0." if count == 1 else f"They are 0 to {count - 1}.",
            )
        return self.indices[number]


def choose(context: Context, text: str, device: str = "") -> Choice:
    """The tensor that `text` means: [DEVICE:]NODE[:SLOT[:DebugOp]][slice], or RESULT[slice] by the program's name.

    Raises:
        TfdbgError: no such tensor (NoSuchTensorError), or several outputs or devices fit; the message says which.

    """
    return choose_in(context.run, text, device, context.stepper)


def choose_in(run: Run, text: str, device: str = "", stepper: Stepper | None = None) -> Choice:
    """The tensor of `run` that `text` means, as `choose` finds that of the run looked at.

    Raises:
        TfdbgError: as there.

    """
    store, asked = run.tensors, ""
    prefix, text = split_device(text)
    device = device or prefix
    name, slicing = (text, "") if store.named(*_node_and_slot(text)) else split_of(run.call, text)
    node, slot = _node_and_slot(name)
    found = [(index, store[index]) for index in store.named(node, slot)]
    if not found and node not in run.graph:
        if result := result_called(run.call, name):
            asked = name
            node, slot = _node_and_slot(result)
        else:
            node = _ending_in(run, node)
        found = [(index, store[index]) for index in store.named(node, slot)]
    if not found:
        raise _missing(run, stepper, node, slot, asked)
    if device:
        found = _on_device(name, device, found)
    slots = sorted({tensor.slot for _, tensor in found})
    if len(slots) > 1:
        hint = f"Write {' or '.join(f'{node}:{n}' for n in slots[:4])}{' …' if len(slots) > 4 else ''}."
        raise TfdbgError(f"{node} has {len(slots)} outputs.", hint=hint)
    devices = list(dict.fromkeys(tensor.device for _, tensor in found))
    if len(devices) > 1:
        hint = f"Add --device {' or --device '.join(short_device(d) for d in devices)}."
        raise TfdbgError(f"{node}:{slots[0]} is on {len(devices)} devices.", hint=hint)
    return Choice(f"{node}:{slots[0]}", tuple(index for index, _ in found), slicing, asked)


def split_device(text: str) -> tuple[str, str]:
    """The device before a tensor's name, empty where there is none, and what follows it."""
    prefixed = _DEVICE_PREFIX.match(text.strip())
    return (prefixed["device"], prefixed["name"]) if prefixed else ("", text)


def _ending_in(run: Run, text: str) -> str:
    try:
        return the_one_ending_in(text, run.tensors.nodes(), "tensors")
    except TfdbgError as error:
        raise TfdbgError(error.message, hint=batch_part_hint(run, text) or error.hint) from None


def _node_and_slot(name: str) -> tuple[str, int | None]:
    parts = name.split(":")
    if len(parts) == 3 and parts[2] != "DebugIdentity":
        # What other debug ops made of a tensor is listed as a node of its own (formats/dumps/store.py).
        return "_".join(parts), 0
    parsed = parse_tensor_name(name)
    return (parsed.node, parsed.slot) if parsed else (name, None)


def _on_device(name: str, device: str, found: list[tuple[int, Tensor]]) -> list[tuple[int, Tensor]]:
    kept = [(index, tensor) for index, tensor in found if device_matches(tensor.device, device)]
    if not kept:
        where = ", ".join(dict.fromkeys(short_device(tensor.device) for _, tensor in found))
        raise TfdbgError(f"{name} is not on a device {device!r}.", hint=f"It is on {where}.")
    return kept


def _missing(run: Run, stepper: Stepper | None, node: str, slot: int | None, asked: str) -> TfdbgError:
    """Why there is no tensor of `node`, as far as the run tells; `asked` is what the program calls it, if by that."""
    if stepper is not None and any(known.name == node for known in stepper.nodes):
        called = asked or node
        return TfdbgError(f"{called} is not computed yet.", hint=f"`cont {quoted(called)}` computes it.")
    slots = sorted({run.tensors[index].slot for index in run.tensors.named(node)})
    if slots:
        listed = ", ".join(f"{node}:{n}" for n in slots)
        return TfdbgError(f"{node} has no captured output {slot}.", hint=f"Captured: {listed}.")
    if was_needed(run, node) is False:
        return NotComputedError(
            f"This run did not compute {node}: {not_needed_text(run)}.",
            hint="Look at the run that fetches it, or something that is computed from it.",
        )
    if node in run.graph:
        return NotComputedError(
            f"{node} is in the {run.graph.kind}, but no value of it was captured.",
            hint=f"It has no output, did not run, or the run was narrowed. `ni {quoted(node)}` shows it.",
        )
    if run.python_graph is not None and node in run.python_graph:
        return NotComputedError(
            f"{node} is not in the {run.graph.kind}: TensorFlow's optimizer folded, fused or pruned it.",
            hint="`run --graph python` captures the graph as the program built it.",
        )
    hint = batch_part_hint(run, node) or did_you_mean(
        node, filter(None, run.call.names_of_fetches), run.tensors.nodes()
    )
    hint = hint or "`lt` lists the tensors."
    return NoSuchTensorError(
        f"There is no tensor {node if slot is None else f'{node}:{slot}'!r} in this run.", hint=hint
    )


def part_shown(store: TensorStore, index: int, slicing: str) -> Value:
    """The part of the tensor at `index` that the slice `[…]` names which a user wrote, or why there is no value.

    Raises:
        TfdbgError: the slice cannot be read, or does not fit the shape.

    """
    key = _key(slicing)
    if not key:
        return store.value(index)
    try:
        found: Value = part_of(store, index, key)
    except (IndexError, ValueError) as error:
        raise _unfit(slicing, store[index].shape or (), error) from None
    return found


def sliced(array: Array, slicing: str) -> Array:
    """`array` with the slice `[…]` a user wrote; an array in any case, never a bare number.

    Raises:
        TfdbgError: the slice cannot be read, or does not fit the shape.

    """
    key = _key(slicing)
    try:
        return array[key] if key else array
    except (IndexError, ValueError) as error:
        raise _unfit(slicing, array.shape, error) from None


def part_shape(shape: Shape | None, slicing: str) -> Shape | None:
    """The shape of the part that the slice `[…]` names of a tensor of that shape, of which no element is read.

    Raises:
        TfdbgError: the slice cannot be read, or does not fit the shape.

    """
    if shape is None or not slicing:
        return shape
    return sliced(np.broadcast_to(np.int8(0), shape), slicing).shape


def _key(slicing: str) -> tuple[Any, ...]:
    """What NumPy is asked for: an array in any case, never a bare number; empty for no slice."""
    index = parse_index(slicing)
    return (*index, Ellipsis) if index and Ellipsis not in index else index


def _unfit(slicing: str, shape: Sequence[int], error: Exception) -> TfdbgError:
    lengths = ",".join(map(str, shape))
    return TfdbgError(f"The slice {slicing} does not fit the shape [{lengths}].", hint=f"NumPy: {error}.")
