"""`python -m exactness.search [--seconds S] [--first SEED] [--count N]`: random programs, one after the other.

A line for each whose numbers debugging changed, with its recipe; the last line counts what was tried.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from exactness.courses import Plant, rewound
from exactness.programs.recipe import Recipe, recipe
from exactness.verdict import DoesNotRepeatItself, DoesNotRun, Way, verdicts_of

STEPS = 6
_PLANT = Plant(3)


@dataclass(frozen=True)
class Finding:
    """What came of one program: `same`, `said`, `differs` (unsaid) or `left out`, and how."""

    recipe: Recipe
    outcome: str
    how: str = ""


def tried(seed: int, steps: int = STEPS) -> Finding:
    """The program of `seed`, in whose data something is planted, plain, captured and watched."""
    from exactness.programs.recipe_training import program_of

    drawn = recipe(seed)
    try:
        courses = rewound(program_of(drawn), _PLANT)
        found = verdicts_of(courses, steps, [way for way in Way if way.planted], _PLANT)
    except (DoesNotRepeatItself, DoesNotRun) as reason:
        return Finding(drawn, "left out", str(reason))
    how = "\n".join(verdict.sentence for verdict in found if not verdict.good)
    if any(verdict.unsaid for verdict in found):
        return Finding(drawn, "differs", how)
    return Finding(drawn, "said" if how else "same", how)


def search(seconds: float, first: int = 0, count: int | None = None) -> Iterator[Finding]:
    """Programs from the seed `first` on, `count` of them, or as many as fit in so many seconds."""
    end = time.monotonic() + seconds
    for seed in itertools.count(first):
        if time.monotonic() > end or (count is not None and seed >= first + count):
            return
        yield tried(seed)


def main() -> None:
    parser = argparse.ArgumentParser(prog="exactness.search", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int)
    asked = parser.parse_args()
    counted: Counter[str] = Counter()
    for finding in search(asked.seconds, asked.first, asked.count):
        counted[finding.outcome] += 1
        if finding.outcome != "same":
            print(
                json.dumps({"outcome": finding.outcome, "recipe": str(finding.recipe), "how": finding.how}),
                flush=True,
            )
    print(json.dumps({"tried": counted.total(), **counted}), flush=True)


if __name__ == "__main__":
    main()
