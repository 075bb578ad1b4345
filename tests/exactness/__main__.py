"""`python -m exactness GROUP [REGEX] [--steps N] [--draw N] [--ways …]`: programs of the catalog.

A line of JSON for each way of each; the last line counts them. `TF_ENABLE_ONEDNN_OPTS` says whether TensorFlow takes
kernels from oneDNN.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import re
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial

from exactness.catalog import GROUPS, Entry
from exactness.courses import NOTHING, Course, Plant, course_of, rewound
from exactness.verdict import THREE, DoesNotRepeatItself, DoesNotRun, Way, verdicts_of


def main() -> None:
    asked = _arguments()
    entries = {name: entry for name, entry in GROUPS[asked.group]().items() if re.search(asked.pattern, name)}
    drawn = random.Random(8).sample(list(entries), min(asked.draw or len(entries), len(entries)))
    counted: Counter[str] = Counter()
    for name in drawn:
        entry = entries[name]
        began = time.monotonic()
        for line in _lines(entry, asked.steps or entry.steps, [Way[way.upper()] for way in asked.ways]):
            counted[line["outcome"]] += 1
            print(json.dumps({"name": name, **line, "seconds": round(time.monotonic() - began, 1)}), flush=True)
    print(json.dumps({"programs": len(drawn), **counted}), flush=True)


def _lines(entry: Entry, steps: int, ways: list[Way]) -> list[dict[str, str]]:
    try:
        build = entry.make()
    except ImportError as error:
        return [{"outcome": "left out", "why": str(error)}]
    found = []
    for plant, some in _by_plant(ways, steps):
        plain: dict[Plant, list[Course]] = {}
        courses = rewound(build, plant) if entry.rewinds else partial(course_of, build)
        for way in some:
            try:
                (verdict,) = verdicts_of(courses, steps, [way], plant, plain)
            except DoesNotRepeatItself as error:
                return [*found, {"outcome": "left out", "way": way, "why": str(error)}]
            except DoesNotRun as error:
                return [{"outcome": "does not run", "why": str(error)}]
            outcome = "same" if verdict.good else "differs" if verdict.unsaid else "said"
            found.append({"outcome": outcome, "way": way, "why": "" if verdict.good else verdict.sentence})
        if plant != NOTHING and entry.goes_on and not plain[plant][0].finite:
            found.append({"outcome": "not finite", "why": "the planted course was to end finite"})
    return found


def _by_plant(ways: list[Way], steps: int) -> Iterator[tuple[Plant, list[Way]]]:
    for planted, some in itertools.groupby(sorted(ways, key=lambda way: way.planted), lambda way: way.planted):
        yield Plant(steps // 2) if planted else NOTHING, list(some)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="exactness", description=__doc__)
    parser.add_argument("group", choices=GROUPS)
    parser.add_argument("pattern", nargs="?", default="", help="a regex for the names of programs")
    parser.add_argument("--steps", type=int, help="other than each program's own")
    parser.add_argument("--draw", type=int, help="so many of them, always the same ones")
    parser.add_argument("--ways", nargs="+", default=[way.name.lower() for way in THREE])
    return parser.parse_args()


main()
