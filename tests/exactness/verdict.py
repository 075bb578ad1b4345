"""A program run plain, captured, and under a watch, from the same state each time: the verdict of each way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

import pytest

from exactness.comparison import Difference, difference
from exactness.courses import NOTHING, Build, Course, Courses, Plant, course_of, rewound
from exactness.fronts import Front, capturing, debugged, watching
from tfdbg_cli.model.decision import Values

STEPS = 40
_OTHER_COURSES = 3


class Way(StrEnum):
    """How a program is debugged."""

    CAPTURED = "captured"
    WATCHED = "watched"
    PASSED_OVER = "planted, passed over"
    CAPTURED_PLANTED = "planted, captured"
    KEPT = "watched, values kept"
    KEPT_PLANTED = "planted, values kept"
    RESULTS = "planted, results watched"

    @property
    def planted(self) -> bool:
        return self in {Way.PASSED_OVER, Way.CAPTURED_PLANTED, Way.RESULTS, Way.KEPT_PLANTED}

    def front(self) -> Front:
        match self:
            case Way.CAPTURED | Way.CAPTURED_PLANTED:
                return capturing()
            case Way.KEPT | Way.KEPT_PLANTED:
                return watching(values=Values.KEEP)
            case Way.RESULTS:
                return watching("bad_result")
        return watching()


THREE = (Way.CAPTURED, Way.WATCHED, Way.PASSED_OVER)


class DoesNotRepeatItself(Exception):  # noqa: N818
    """The program gives other numbers in two plain runs: nothing can be said about it."""


class DoesNotRun(Exception):  # noqa: N818
    """The program does not take its first step undebugged."""


@dataclass(frozen=True)
class Verdict:
    """What one way of debugging changed. `wrong` says what else is not as it must be; `said` that a run said so."""

    way: Way
    difference: Difference
    said: str = ""
    wrong: str = ""

    @property
    def good(self) -> bool:
        return not self.difference and not self.wrong

    @property
    def unsaid(self) -> bool:
        """Whether something changed of which no run said that it may."""
        return bool(self.wrong) or (bool(self.difference) and not self.said)

    @property
    def sentence(self) -> str:
        parts = [self.wrong] * bool(self.wrong)
        if self.difference:
            parts.append(self.difference.sentence + (f"; said: {self.said}" if self.said else "; UNSAID"))
        return f"{self.way}: " + ("; ".join(parts) or "the same to the last bit")


def verdicts(
    build: Build, steps: int = STEPS, ways: Iterable[Way] = THREE, *, plant: Plant | None = None
) -> list[Verdict]:
    """What each of `ways` changes of the numbers of the program that `build` makes.

    `plant` says where something is planted for the ways that need it; the middle, if it is not given.

    Raises:
        DoesNotRepeatItself: it gives other numbers than before undebugged, too.
        DoesNotRun: undebugged it fails in the first step.

    """
    return verdicts_of(partial(course_of, build), steps, ways, plant or Plant(steps // 2))


def verdicts_of(
    courses: Courses,
    steps: int,
    ways: Iterable[Way],
    plant: Plant,
    plain: dict[Plant, list[Course]] | None = None,
    *,
    plain_first: bool = True,
) -> list[Verdict]:
    """As `verdicts`, of the program that takes `courses`. The undebugged ones are put into `plain`.

    Unless `plain_first`, a function is met by the debugger before TensorFlow has compiled it for a plain call.
    """
    plain = {} if plain is None else plain
    return [_verdict(way, courses, steps, plant if way.planted else NOTHING, plain, plain_first) for way in ways]


def assert_exact(
    build: Build,
    steps: int = STEPS,
    ways: Iterable[Way] = THREE,
    *,
    plant: Plant | None = None,
    goes_on: bool = True,
) -> None:
    """Every way of debugging leaves every number as it is; with `goes_on` the planted course must end finite.

    A program that does not repeat itself undebugged is skipped.
    """
    plant = plant or Plant(steps // 2)
    _assert_same(partial(course_of, build), steps, list(ways), plant, goes_on=goes_on)


def assert_exact_again(
    build: Build,
    steps: int,
    plant: Plant,
    ways: Iterable[Way] = (Way.CAPTURED_PLANTED, Way.PASSED_OVER),
    *,
    goes_on: bool = True,
    plain_first: bool = True,
) -> None:
    """As `assert_exact` with something planted, of a program that is built once, and whose variables are put back.

    Unless `plain_first`, it meets the first of `ways` before it is called undebugged.
    """
    _assert_same(rewound(build, plant), steps, list(ways), plant, goes_on=goes_on, plain_first=plain_first)


def _assert_same(
    courses: Courses, steps: int, ways: list[Way], plant: Plant, *, goes_on: bool, plain_first: bool = True
) -> None:
    plain: dict[Plant, list[Course]] = {}
    try:
        found = verdicts_of(courses, steps, ways, plant, plain, plain_first=plain_first)
    except DoesNotRepeatItself as reason:
        pytest.skip(str(reason))
    if goes_on and any(way.planted for way in ways):
        assert plain[plant][0].finite, "the planted course was to end finite"
    assert all(verdict.good for verdict in found), "\n".join(verdict.sentence for verdict in found)


def _verdict(
    way: Way, courses: Courses, steps: int, plant: Plant, plain: dict[Plant, list[Course]], plain_first: bool
) -> Verdict:
    known = plain.setdefault(plant, [])

    def take_plain() -> None:
        if not known:
            known.append(courses(steps, plant))
            if not known[0].steps:
                raise DoesNotRun(f"undebugged it raises {known[0].error}")

    if plain_first:
        take_plain()
    with debugged(way.front()) as front:
        course = courses(steps, plant)
    take_plain()
    apart = difference(known[0], course)
    if apart and len(known) == 1:
        # Asked only now: what gives the same bits debugged as undebugged repeats itself.
        known += [courses(steps, plant) for _ in range(_OTHER_COURSES)]
    others = [difference(known[0], other) for other in known[1:]]
    if any(others):
        raise DoesNotRepeatItself(f"undebugged, {next(filter(None, others)).sentence}")
    return Verdict(way, apart, front.said, _wrong(way, front))


def _wrong(way: Way, front: Front) -> str:
    if way in {Way.CAPTURED, Way.CAPTURED_PLANTED} and not front.count:
        return "no run was captured"
    if way in {Way.PASSED_OVER, Way.KEPT_PLANTED} and not front.hits:
        return "what was planted was not found"
    return "" if not front.complained else f"the debugger said: {front.complained}"
