"""What the replays of one kind compute in their copy of a graph, found out once for all of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import tensorflow as tf

from tfdbg_cli.capture.replay.session_copy import SessionCopy
from tfdbg_cli.capture.sessions.extended.reporting_calls import ReportingCalls
from tfdbg_cli.capture.sessions.extended.shown_calls import ShownCalls
from tfdbg_cli.capture.sessions.fetched_tensors import Outlined
from tfdbg_cli.capture.sessions.hidden_ops import PREFIX
from tfdbg_cli.capture.sessions.reach import Reach, ancestors, ends_among, reach
from tfdbg_cli.capture.tf.memo import Memo
from tfdbg_cli.capture.tf.op_definitions import only_computes
from tfdbg_cli.capture.tf.types import GraphElement, Op, SymbolicTensor
from tfdbg_cli.model.tensors import FoundByNode


@dataclass(frozen=True)
class CopyReach:
    """What replays of one kind in a copy compute, and what of it is fetched.

    `all_ends` are the ops that a run is made for, `ends` those of them that must be targets, since they are not
    fetched. `names` are those of the `fetchable` tensors. `outlines` has all tensors, as tuples of name, tensor, what
    is known of it before the run, and whether it is opaque.
    """

    reach: Reach
    all_ends: Sequence[Op]
    ends: Sequence[Op]
    fetchable: Sequence[SymbolicTensor]
    names: Sequence[str]
    outlines: Sequence[tuple[str, SymbolicTensor, Outlined, bool]]

    @classmethod
    def of(cls, copy: SessionCopy) -> CopyReach:
        """What the runs that are made again in `copy` compute."""
        # Only the program's own feeds count as fed here, which keeps the order of the first run: there ops drew.
        found = _without_ours(reach(copy.graph, ends_among(copy.elements, copy.arguments), copy.arguments))
        opaque = found.opaque
        fetchable = [t for t in found.tensors if t.name not in opaque and not _would_draw(t, copy.fed)]
        return cls(
            found,
            ends_among(copy.elements, copy.fed),
            ends_among([one for one in copy.elements if _is_op(one) or one.name in opaque], copy.fed),
            fetchable,
            [tensor.name for tensor in fetchable],
            [(tensor.name, tensor, Outlined.of(tensor), tensor.name in opaque) for tensor in found.tensors],
        )


COPY_REACHES = Memo(CopyReach.of)
"""By the copy, what its runs compute."""

SHOWN_CALLS = Memo(
    lambda copy: ShownCalls(copy.graph, ancestors(COPY_REACHES.of(copy).all_ends, copy.fed), frozenset(copy.fed))
)
"""By the copy, the calls of functions put so that they give what is computed inside."""

REPORTING_CALLS = Memo(
    lambda copy: ReportingCalls(copy.graph, ancestors(COPY_REACHES.of(copy).all_ends, copy.fed), frozenset(copy.fed))
)
"""By the copy, the calls of functions put so that they report what is computed inside, value by value."""


def _places(copy: SessionCopy) -> FoundByNode:
    """The rows of each node's tensors, the same for all replays of this kind that have all tensors."""
    shown = [outline for _, _, outline, _ in COPY_REACHES.of(copy).outlines]
    return FoundByNode(outline.name for outline in (*shown, *(one.after_update for one in copy.updated)))


PLACES = Memo(_places)
"""By the copy, where each node's tensors stand among those of a replay."""


def _would_draw(tensor: SymbolicTensor, fed: Collection[str]) -> bool:
    """Whether fetching `tensor` would run an op that must not draw anew: other outputs of it are fed.

    One that only computes draws nothing: some of its outputs were replaced, and the others are computed again.
    """
    fed_beside = tensor.name not in fed and any(output.name in fed for output in tensor.op.outputs)
    return fed_beside and not only_computes(tensor.op.type)


def _is_op(element: GraphElement) -> bool:
    return isinstance(element, tf.Operation)


def _without_ours(found: Reach) -> Reach:
    """`found` without the tensors that were added for the replay."""
    tensors = tuple(tensor for tensor in found.tensors if PREFIX not in tensor.name)
    return replace(found, tensors=tensors, fetchable={t.name: t for t in tensors if t.name not in found.opaque})
