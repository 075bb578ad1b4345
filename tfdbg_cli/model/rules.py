"""Rules: filters that are asked of some of a program's runs while it goes on, and what they have found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """The filter `filter_name` (with its number: `exploding_gradient:100`), asked of nodes by their names.

    It is asked of those in which the regex `only` is found, without those in which `exclude` is; empty ones admit
    every node.
    """

    filter_name: str
    only: str = ""
    exclude: str = ""

    @property
    def name(self) -> str:
        """What the rule is called: its filter, without the number."""
        return self.filter_name.partition(":")[0]


@dataclass(frozen=True, slots=True)
class JudgeRuns:
    """The wish to have the first run and every `every`-th after it judged by `rules`."""

    rules: tuple[Rule, ...]
    every: int


@dataclass(frozen=True, slots=True)
class RuleAlert:
    """A tensor for which a rule fired: in `runs` of the judged runs, the first of them with the number `run`.

    `holds` describes its value in that run, `call` names the function or session that gave it.
    """

    rule: str
    run: int
    call: str
    tensor: str
    execution: int
    op_type: str
    file: str | None
    line: int | None
    holds: str
    runs: int = 1
    last_run: int = 0

    @property
    def text(self) -> str:
        """What the tensor is and holds: `MatMul gave float32[3,2] |x|≤4e5`."""
        return f"{self.op_type or 'An op'} gave {self.holds}"
