"""`python -m exactness GROUP [REGEX] [--steps N] [--draw N] [--ways …] [--ledger FILE]`: programs of the catalog.

A line of JSON for each way of each; the last line counts them. `TF_ENABLE_ONEDNN_OPTS` says whether TensorFlow takes
kernels from oneDNN.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import random
import re
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from exactness.catalog import GROUPS, Entry
from exactness.courses import NOTHING, Course, Plant, course_of, rewound
from exactness.ledger import Ledger, Settings
from exactness.verdict import THREE, DoesNotRepeatItself, DoesNotRun, Way, verdicts_of


def main() -> None:
    asked = _arguments()
    entries = {name: entry for name, entry in GROUPS[asked.group]().items() if re.search(asked.pattern, name)}
    drawn = random.Random(8).sample(list(entries), min(asked.draw or len(entries), len(entries)))
    ways = [Way[way.upper()] for way in asked.ways]
    ledger = Ledger(asked.ledger, Settings.here())
    counted: Counter[str] = Counter()
    programs = 0
    end = time.monotonic() + asked.seconds
    for name in drawn:
        steps = asked.steps or entries[name].steps
        left = [way for way in ways if not ledger.settled(asked.group, name, way, steps)]
        if not left or time.monotonic() > end:
            continue
        programs += 1
        began = time.monotonic()
        worked = time.process_time()
        for line in _lines(entries[name], steps, left):
            counted[line["outcome"]] += 1
            took = {"seconds": round(time.monotonic() - began, 1), "cpu": round(time.process_time() - worked, 2)}
            print(json.dumps({"name": name, **line, **took}), flush=True)
            ledger.add(asked.group, name, steps, {**line, **took})
    print(json.dumps({"programs": programs, **counted}), flush=True)


def _lines(entry: Entry, steps: int, ways: list[Way]) -> Iterator[dict[str, str]]:
    try:
        build = entry.make()
    except ImportError as error:
        yield {"outcome": "left out", "why": str(error)}
        return
    courses = rewound(build, NOTHING) if entry.rewinds else partial(course_of, build)
    if not entry.plain_first:  # the proof of a watch has the plain function compiled, for all ways
        ways = sorted(ways, key=lambda way: way is not Way.WATCHED)
    for plant, some in _by_plant(ways, steps):
        plain: dict[Plant, list[Course]] = {}
        for way in some:
            try:
                (verdict,) = verdicts_of(courses, steps, [way], plant, plain, plain_first=entry.plain_first)
            except DoesNotRepeatItself as error:
                yield {"outcome": "left out", "way": way, "why": str(error)}
                return
            except DoesNotRun as error:
                yield {"outcome": "does not run", "why": str(error)}
                return
            outcome = "same" if verdict.good else "differs" if verdict.unsaid else "said"
            yield {"outcome": outcome, "way": way, "why": "" if verdict.good else verdict.sentence}
        if plant != NOTHING and entry.goes_on and not plain[plant][0].finite:
            yield {"outcome": "not finite", "why": "the planted course was to end finite"}


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
    parser.add_argument("--ledger", type=Path, help="a file that keeps what came of each; what it has is left out")
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin no program after so many")
    return parser.parse_args()


main()
