"""Queries asked of rows that are few, whatever they are about: a list says what its rows know of which fact."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from tfdbg_cli.commands.query.facts import BY_NAME, Measure, amount, holds, regex, text_test
from tfdbg_cli.commands.query.language import Comparison, Query, Word
from tfdbg_cli.commands.query.stages import Asked, Stage, StagedQuery, no_such_fact


@dataclass(frozen=True)
class PlainRows:
    """Rows by their names: `texts` and `numbers` tell facts of one, and so do `counted`, which take their time.

    A size among `numbers` is one in bytes. `kind` says what has these facts: "a run".
    """

    kind: str
    texts: Mapping[str, Callable[[str], str]] = field(default_factory=dict)
    numbers: Mapping[str, Callable[[str], float]] = field(default_factory=dict)
    counted: Mapping[str, Callable[[str], float]] = field(default_factory=dict)

    def admitted(self, query: Query, names: Iterable[str]) -> list[str]:
        """Those of `names` whose rows `query` admits.

        Raises:
            QueryError: it asks for what these rows do not have.

        """
        staged = StagedQuery.of(query, self._asked)
        cheap, whole = staged.tests[Stage.ROW], staged.tests[Stage.VALUE]
        return [name for name in names if cheap(name, -1) or (cheap(name, -1) is None and whole(name, -1))]

    def _asked(self, part: Word | Comparison) -> Asked:
        if isinstance(part, Word):
            search = regex(part.text, part.at)
            return Asked(Stage.NAME, lambda name, index: search(name))
        if part.fact in self.texts or part.fact == "name":
            test, text = text_test(part), self.texts.get(part.fact, _itself)
            return Asked(Stage.ROW, lambda name, index: test(text(name)))
        number = self.numbers.get(part.fact) or self.counted.get(part.fact)
        if number is None:
            raise no_such_fact(part, self.kind)
        wanted = amount(part, BY_NAME[part.fact].measure)
        if wanted.share or (BY_NAME[part.fact].measure is Measure.SIZE) is not wanted.bytes:
            raise no_such_fact(part, self.kind)
        fits = holds(part.sign, wanted.number)
        stage = Stage.ROW if part.fact in self.numbers else Stage.VALUE
        return Asked(stage, lambda name, index: fits(number(name)))


def _itself(name: str) -> str:
    return name
