"""The cause when a tensor came out of a checkpoint: under which key, and which checkpoint it was."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tfdbg_cli.analysis.causes.causes import Cause
from tfdbg_cli.analysis.graph.making.lineage import InputSeen
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.ops.kinds import RESTORES

_SAME = "Already in the checkpoint that it was restored from."
_CHECK_CHECKPOINT = (
    "Restore an older one: `tfdbg open CHECKPOINT -c 'lt -f has_inf_or_nan'` shows what is bad in each; or train on"
    " from there under a watch."
)


def cause_in_checkpoint(
    name: TensorName, node: Node, inputs: Sequence[InputSeen], bad: Callable[[InputSeen], bool]
) -> Cause | None:
    """The cause when `node` read its output `name` from a checkpoint; None for an op that does not.

    Which checkpoint it was, and the key there, is said where these texts among the `inputs` are known. Places with
    other keys are the same cause to a user who ignores it.
    """
    if node.op_type not in RESTORES or any(map(bad, inputs)):
        return None
    prefix, key = _text(inputs, 0, 0), _text(inputs, 1, name.slot)
    where, under = f" {prefix}" if prefix else "", f", under the key {key}" if key else ""
    return Cause(f"Already in the checkpoint{where} that it was restored from{under}.", _CHECK_CHECKPOINT, rule=_SAME)


def _text(inputs: Sequence[InputSeen], position: int, place: int) -> str:
    """The text at `place` in the input at `position`; empty where it was not seen."""
    texts = inputs[position].value if position < len(inputs) else None
    if texts is None or not texts.dtype.hasobject or place >= texts.size:
        return ""
    text = texts.reshape(-1)[place]
    return text.decode("utf-8", "backslashreplace") if isinstance(text, bytes) else str(text)
