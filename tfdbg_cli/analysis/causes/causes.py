"""The cause of non-finite elements in words: which rows of the table hold, and what else is at work."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

import numpy as np

from tfdbg_cli.analysis.causes.denormal import as_computed, helps_for
from tfdbg_cli.analysis.causes.evidence import Evidence
from tfdbg_cli.analysis.causes.reasons import Reason
from tfdbg_cli.analysis.causes.safe_numbers import safe_numbers
from tfdbg_cli.analysis.causes.table import REASONS
from tfdbg_cli.analysis.graph.making.parts import MISFIT
from tfdbg_cli.model.dtypes import in_double
from tfdbg_cli.model.values import Array

_HIDDEN = "; {hidden}, a tf.where{within}, hides it from the result, but not from the gradient, where 0 * inf is NaN"
_COUNTED = re.compile(
    r"\{[ab]\}[^{}]*\{[ab]\}[^{}]* at \{n\}"  # of both inputs at once: those of the output
    r"|\{([ab])\}[^{}]* at \{n\}|at \{n\} \{([ab])\}"
)
_DOUBLE_WHERE = (
    "Give the branch that is not chosen a harmless argument too (double where):"
    " tf.where(ok, f(tf.where(ok, x, 1.0)), 0.0)."
)


@dataclass(frozen=True, slots=True)
class Cause:
    """What went wrong and what helps; `suggestion` may be empty.

    `blames` is the position of the input whose values are to blame, if it is one. `rule` identifies the row of the
    table that the text comes from, by its text without names and numbers; empty if it comes from none.
    """

    text: str
    suggestion: str = ""
    blames: int | None = None
    rule: str = field(default="", compare=False)

    @property
    def key(self) -> str:
        """The identity of a cause, equal at all nodes where the same rule applies; the user ignores causes by it."""
        return self.rule or self.text


def explain(evidence: Evidence) -> Cause | None:
    """The cause by the table, for inputs as TensorFlow's kernels take them; None where none is known."""
    computed = as_computed(evidence)
    if computed is None:
        return _by_table(evidence)
    flushed, words = computed
    found = _by_table(flushed)
    if found is None:
        return Cause(f"{words[0].upper()}{words[1:]}.", helps_for(evidence))
    return replace(found, text=f"{found.text.removesuffix('.')}; {words}.")


def _by_table(evidence: Evidence) -> Cause | None:
    """The rules that hold for some elements, that of most elements first; None for none."""
    left = np.ones(evidence.outputs.shape, np.bool_)
    found: list[tuple[Array, Reason]] = []
    with np.errstate(all="ignore"):
        for rule in REASONS:
            if evidence.op_type not in rule.ops or not left.any():
                continue
            held = _holds(rule, evidence)
            explained = left & held if held is not None else None
            if explained is not None and explained.any():
                found.append((explained, rule))
                left = left & ~explained
    if not found:
        return None
    found.sort(key=lambda pair: -int(pair[0].sum()))
    sentences = [filled(rule.cause, evidence, held) for held, rule in found]
    text = "; ".join([sentences[0][0].upper() + sentences[0][1:], *sentences[1:]])
    suggestion = found[0][1].suggestion
    if evidence.hidden_by:
        text += filled(_HIDDEN, evidence, found[0][0])
        if not evidence.hidden_in:  # in a library the program cannot change what the tf.where is given
            suggestion = _DOUBLE_WHERE
    first, blames = found[0][1].cause, found[0][1].blames
    helps = filled(suggestion, evidence, found[0][0])
    return Cause(f"{text}.", helps, _blamed(first) if blames is None else blames, f"{evidence.op_type}: {first}")


def _holds(rule: Reason, evidence: Evidence) -> Array | None:
    """A mask of the elements for which a rule holds; None if the inputs needed were not seen or do not fit the op."""
    try:
        held = rule.holds(evidence)
    except MISFIT:
        return None
    return held if held is None or held.shape == evidence.outputs.shape else None


def _blamed(template: str) -> int | None:
    """The position of the input that the text of a rule names first; None for `{a} and {b}`, or if it names none."""
    named = re.search(r"\{a\} and \{b\}|\{a\}|\{b\}", template)
    return {"{a}": 0, "{b}": 1}.get(named[0]) if named is not None else None


def _whose(template: str) -> int | None:
    """The input whose elements {n} counts in the text of a rule; None where it counts those of the output."""
    found = _COUNTED.search(template)
    return None if found is None else {"a": 0, "b": 1}.get(found[1] or found[2])


def filled(template: str, evidence: Evidence, held: Array) -> str:
    """Fill in the words in braces of `template`; `held` marks the elements of `evidence` that it is about."""
    words = {
        **safe_numbers(evidence.dtype),
        "a": evidence.name(0),
        "b": evidence.name(1),
        "c": evidence.name(2),
        "large": evidence.name(evidence.scalable),
        "constant": _constant(evidence),
        "least_a": f"{evidence.magnitudes(0)[0]:.3g}",
        "most_a": f"{evidence.magnitudes(0)[1]:.3g}",
        "least_b": f"{evidence.magnitudes(1)[0]:.3g}",
        "n": evidence.counted(held, _whose(template)),
        "op": evidence.op_type.lstrip("_"),
        "dtype": evidence.dtype,
        "largest": f"{evidence.largest:.3g}",
        "limit": f"{np.log(evidence.largest):.3g}",
        "slope": evidence.slope_of.lower(),
        "hidden": evidence.hidden_by,
        "within": f" in {evidence.hidden_in}" if evidence.hidden_in else "",
        "variable": evidence.variable,
        "weight": "" if evidence.weight is None else f"{evidence.weight:.3g}",
        "grown": "" if evidence.grown is None else f"{evidence.grown[0]} has grown to {evidence.grown[1]:.3g}",
    }
    # In one pass, since a node name that is filled in may hold braces itself.
    return re.sub(r"\{(\w+)\}", lambda match: words[match[1]], template)


def _constant(evidence: Evidence) -> str:
    """`a constant of 1e+30`: the one that is so large."""
    array = None if evidence.constant is None else evidence.arrays[evidence.constant]
    return "" if array is None else f"a constant of {float(np.max(np.abs(in_double(array)))):.3g}"
