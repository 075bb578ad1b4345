"""A query asked stage by stage: the answer is that of everything at once, and nothing dear is asked in vain."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tfdbg_cli.commands.query.language import Both, Either, FactTest, NamePattern, Not, Query
from tfdbg_cli.commands.query.stages import RowQuestion, Stage, StagedQuery

_LEAVES = [NamePattern("name"), FactTest("dtype", "=", "x"), FactTest("nan", ">", "0"), FactTest("max", ">", "0")]
_STAGES = [Stage.NAME, Stage.ROW, Stage.VALUE, Stage.VALUE]
_QUERIES = st.recursive(
    st.sampled_from(_LEAVES),
    lambda parts: st.one_of(
        st.builds(Not, parts),
        st.builds(Both, st.lists(parts, max_size=3).map(tuple)),
        st.builds(Either, st.lists(parts, max_size=3).map(tuple)),
    ),
    max_leaves=8,
)


def _of(query: Query, truth: list[bool]) -> bool:
    match query:
        case Not(part):
            return not _of(part, truth)
        case Both(parts):
            return all(_of(part, truth) for part in parts)
        case Either(parts):
            return any(_of(part, truth) for part in parts)
    return truth[_LEAVES.index(query)]


@given(_QUERIES, st.lists(st.booleans(), min_size=4, max_size=4))
def test_stages_agree_with_the_whole(query: Query, truth: list[bool]) -> None:
    asked: list[Stage] = []

    def ask(part: NamePattern | FactTest) -> RowQuestion:
        at = _LEAVES.index(part)

        def test(name: str, index: int) -> bool:
            asked.append(_STAGES[at])
            return truth[at]

        return RowQuestion(_STAGES[at], test)

    staged = StagedQuery.of(query, ask)
    whole = _of(query, truth)
    for stage in Stage:
        asked.clear()
        found = staged.tests[stage]("n", 0)
        assert found in (whole, None)
        assert all(one <= stage for one in asked)
        if stage >= staged.last:
            assert found is whole
        # What is left open depends on what is asked later: both answers are possible still.
        ways = [[*truth[:2], nan, top] for nan in (True, False) for top in (True, False)]
        if stage is Stage.ROW and found is not None:
            assert {_of(query, way) for way in ways} == {found}
