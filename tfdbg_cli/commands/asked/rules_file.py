"""The file of `tfdbg run --rules FILE`: TOML, a table a rule."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.names import did_you_mean
from tfdbg_cli.model.rules import JudgeRuns, Rule

# What hardly ever happens in a training that goes well. The other filters are for who knows the model: masks of the
# lowest number are near overflow, and much may be all zero.
STANDARD_RULES = (
    "has_inf_or_nan",
    "exploding_gradient",
    "vanishing_gradient",
    "unchanged_variable",
    "update_ratio",
    "dead_relu",
)
EVERY = 100  # runs, of which one is judged: to capture and judge it takes some times as long as to run it
_KEYS = ("number", "only", "exclude")
_MOST_BYTES = 1 << 20


def rules_in(path: str, every: int | None) -> JudgeRuns:
    """The rules of the file at `path`; without a table in it, all STANDARD_RULES. `every` goes before the file's own.

    Raises:
        TfdbgError: it cannot be read, or something in it is no rule.

    """
    entries = _read(path)
    asked = entries.pop("every", EVERY) if every is None else (entries.pop("every", None), every)[1]
    if not isinstance(asked, int) or isinstance(asked, bool) or asked < 1:
        raise TfdbgError(
            f"{path}: one run in {asked!r} cannot be judged.", hint="every = 100 judges one in a hundred."
        )
    rules = tuple(_rule(path, name, entry) for name, entry in entries.items())
    return JudgeRuns(rules or tuple(map(Rule, STANDARD_RULES)), asked)


def _read(path: str) -> dict[str, Any]:
    try:
        with Path(path).expanduser().open("rb") as file:
            return tomllib.loads(file.read(_MOST_BYTES).decode())
    except FileNotFoundError:
        raise TfdbgError(f"There is no file of rules {path}.", hint="An empty file means every rule.") from None
    except OSError as error:
        raise TfdbgError(f"Cannot read the rules in {path}: {error.strerror or error}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TfdbgError(f"{path} is no TOML: {error}.", hint="A rule is a table: [exploding_gradient]") from None


def _rule(path: str, name: str, entry: Any) -> Rule:
    if not isinstance(entry, dict):
        hint = did_you_mean(name, ["every"]) or f"A rule is a table: [{STANDARD_RULES[1]}]"
        raise TfdbgError(f"{path}: {name} stands outside of any rule.", hint=hint)
    for key, value in entry.items():
        if key not in _KEYS:
            hint = did_you_mean(key, _KEYS) or f"A rule has {', '.join(_KEYS)}."
            raise TfdbgError(f"{path}: the rule {name} has no {key}.", hint=hint)
        if key == "number" and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise TfdbgError(f"{path}: the number of {name} is {value!r}.", hint="Write: number = 100")
        if key != "number":
            _require_regex(path, name, key, value)
    number = entry.get("number")
    _require_filter(path, name, number)
    return Rule(name if number is None else f"{name}:{number}", entry.get("only", ""), entry.get("exclude", ""))


def _require_regex(path: str, name: str, key: str, value: Any) -> None:
    try:
        re.compile(value)
    except (re.error, TypeError) as error:
        raise TfdbgError(f"{path}: {key} of {name} is no regex: {error}.") from None


def _require_filter(path: str, name: str, number: float | None) -> None:
    """Raises TfdbgError for one of our filters that takes no number, and for a name much like that of one."""
    from tfdbg_cli.analysis.watch.filters import BUILT_IN_FILTERS, filter_named  # NumPy comes with it

    if name in BUILT_IN_FILTERS:
        try:
            filter_named(BUILT_IN_FILTERS, name if number is None else f"{name}:{number}")
        except TfdbgError as error:
            raise TfdbgError(f"{path}: {error.message}", hint=error.hint) from None
