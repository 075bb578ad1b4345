"""The log of a softmax that is 0 because its logits are masked with -inf, and not because it is rounded."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfdbg_cli.analysis.causes.causes import Cause, filled
from tfdbg_cli.analysis.causes.evidence import Evidence
from tfdbg_cli.analysis.causes.suggestions import LEFT_OUT
from tfdbg_cli.analysis.graph.making.lineage import InputSeen, Lineage
from tfdbg_cli.analysis.graph.making.makers import Maker
from tfdbg_cli.model.dtypes import in_double
from tfdbg_cli.model.values import Array
from tfdbg_cli.ops.kinds import COPIES, QUOTIENTS

_MOST_COPIES = 10
_ON_THE_WAY = COPIES | QUOTIENTS  # by hand a softmax is a quotient
_OF_LOGITS = frozenset({"Softmax", "Exp"})


def log_of_masked_softmax(lineage: Lineage, inputs: Sequence[InputSeen], evidence: Evidence) -> Cause | None:
    """The cause of an infinite log, where each element that is 0 has a logit of -inf; None for any other."""
    share = evidence.operand(0)
    if evidence.op_type != "Log" or share is None or evidence.maker(0) is not Maker.SOFTMAX:
        return None
    logits = _logits(lineage, inputs[0])
    if logits is None or logits.shape != inputs[0].shape:
        return None
    zero = np.asarray(share == 0)
    masked = np.isneginf(in_double(logits[tuple(evidence.places.T)]))
    if not zero.any() or not masked[zero].all():
        return None
    text = filled("Log of 0: {a}, a softmax, is 0 at {n}, where its logits are masked with -inf.", evidence, zero)
    return Cause(text, filled(LEFT_OUT, evidence, zero), 0, f"{evidence.op_type}: a masked softmax")


def _logits(lineage: Lineage, share: InputSeen) -> Array | None:
    """What the softmax `share` was computed of, in one op or by hand; None where that was not seen."""
    for _ in range(_MOST_COPIES):
        if share.node is None or share.index is None or share.node.op_type not in _ON_THE_WAY | _OF_LOGITS:
            return None
        read = lineage.places(share.index)
        if not read:
            return None
        if share.node.op_type in _OF_LOGITS:
            return lineage.inputs(share.index)[0].value
        share = read[0]
    return None
