"""Every setting with its default, and what a user may write for its value."""

from __future__ import annotations

import types
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TypeAlias, get_args, get_type_hints

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.names import did_you_mean

Entries: TypeAlias = tuple[tuple[str, str], ...]
"""A table of a user's own: names and values, in the order in which they were written."""

Value: TypeAlias = bool | int | str | None

_TRUE = {"1", "true", "t", "yes", "y", "on"}
_FALSE = {"0", "false", "f", "no", "n", "off"}
_SIZES = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_MOST_DIGITS = 20
PREVIEW_SHARES = (15, 80)  # the least and the greatest

PROGRAM = "program"
"""The value of a setting of numbers that follows the program's own np.set_printoptions."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting with its default. `config show` lists them, `config set NAME VALUE` changes one.

    Sizes are bytes; 0 for a budget means the default share: half of the free disk, half of the free memory. What is
    None follows the program's own NumPy print options.
    """

    graph_recursion_depth: int = 20  # how deep li and lo go with -r
    mouse_mode: bool = True
    theme: str = "dark"
    graph: str = "auto"  # which graph a debugged run shows: auto, runtime, python
    disk_budget: int = 0
    memory_budget: int = 0
    columns: str = "auto"  # of lists of tensors on the screen: auto, or names in the order wanted
    preview: str = "auto"  # where the pane of the preview stands: auto, right, left, below, off
    preview_share: int = 40  # percent of the screen that it takes
    values: str = "viewer"  # how a value of two axes or more opens on the screen: viewer, text
    array_threshold: int = 2000  # elements printed before an array is elided
    precision: int | None = None  # digits behind the point
    suppress: bool | None = None  # no exponents for small numbers
    edgeitems: int | None = None  # elements kept at each end of an axis that is elided
    linewidth: int | None = None  # columns of a printed array
    history_length: int = 1000
    keys: Entries = ()  # of the screen: what a key of the user's own does, "" for nothing
    colours: Entries = ()  # of the screen: styles of the theme that look otherwise
    file: str = field(default="", compare=False)  # no setting: where they are kept, if not in the user's own file


TABLES = ("keys", "colours")
"""The settings that are tables with names of their own: `keys.NAME`, `colours.NAME`."""

# The columns of a list of tensors beside the name.
COLUMNS = (
    "time", "size", "op", "dtype", "shape", "nan", "inf", "absmax", "histogram", "source", "mean", "std", "zero",
    "role", "device", "execution",
)  # fmt: skip

_CHOICES = {
    "graph": ("auto", "runtime", "python"),
    "theme": ("dark", "light", "contrast", "mono", "ascii"),
    "preview": ("auto", "right", "left", "below", "off"),
    "values": ("viewer", "text"),
}


def setting_names() -> Sequence[str]:
    """What the settings are called, the tables too."""
    return [one.name for one in fields(Settings) if one.compare]


def values_of(name: str) -> Sequence[str]:
    """What the setting called `name` can be, where that is one of a few words."""
    if get_type_hints(Settings).get(name) is bool:
        return ("on", "off")
    return _CHOICES.get(name, ())


def changed(settings: Settings, name: str, text: str | None) -> Settings:
    """`settings` with the one called `name` set to what `text` says; None puts its default back.

    An entry of a table is `TABLE.ENTRY`.

    Raises:
        TfdbgError: no such setting, or not a value of its type.

    """
    table, dot, entry = name.partition(".")
    if table in TABLES:
        if not (dot and entry):
            raise TfdbgError(f"{table} is a table.", hint=f"Name an entry of it: config set {table}.NAME VALUE")
        kept = {key: value for key, value in getattr(settings, table) if key != entry}
        if text is not None:
            kept[entry] = text
        return replace(settings, **{table: tuple(kept.items())})  # type: ignore[arg-type]
    value = getattr(Settings(), _known(name)) if text is None else settable(name, text)
    return replace(settings, **{name: value})  # type: ignore[arg-type]


def value_of(settings: Settings, name: str) -> Value:
    """The value of the setting called `name`; None for an entry that its table does not hold.

    Raises:
        TfdbgError: no such setting.

    """
    table, dot, entry = name.partition(".")
    if table in TABLES and dot:
        return dict(getattr(settings, table)).get(entry)
    found: Value = getattr(settings, _known(name))
    return found


def settable(name: str, text: str) -> Value:
    """`text` as the type that the setting `name` has.

    Raises:
        TfdbgError: no such setting, or not a value of its type.

    """
    kind = get_type_hints(Settings)[_known(name)]
    lowered = text.strip().lower()
    if isinstance(kind, types.UnionType):
        if lowered == PROGRAM:
            return None
        kind = get_args(kind)[0]
    if kind is bool:
        if lowered in _TRUE | _FALSE:
            return lowered in _TRUE
        raise TfdbgError(f"{name} is on or off, not {text!r}.")
    if kind is int:
        return _number(name, text)
    if name == "columns":
        return _columns(lowered)
    choices = _CHOICES.get(name)
    if choices and lowered not in choices:
        raise TfdbgError(f"{name} is one of {', '.join(choices)}, not {text!r}.", hint=did_you_mean(lowered, choices))
    return lowered if choices else text


def _known(name: str) -> str:
    names = setting_names()
    if name not in names:
        raise TfdbgError(f"There is no setting {name!r}.", hint=did_you_mean(name, names) or "See `config show`.")
    return name


def _number(name: str, text: str) -> int:
    lowered = text.strip().lower()
    number, unit = (lowered[:-1], _SIZES[lowered[-1]]) if lowered[-1:] in _SIZES else (lowered, 1)
    try:
        found = int(float(number) * unit)
    except (ValueError, OverflowError):
        numbers = "a number of digits, or `program`" if name == "precision" else "a whole number (20, or 512M, 4G)"
        raise TfdbgError(f"{name} is {numbers}, not {text!r}.") from None
    if name == "preview_share" and not PREVIEW_SHARES[0] <= found <= PREVIEW_SHARES[1]:
        raise TfdbgError(f"preview_share is a percentage from {PREVIEW_SHARES[0]} to {PREVIEW_SHARES[1]}.")
    if found < 0 or (name == "precision" and found > _MOST_DIGITS):
        raise TfdbgError(f"{name} is not {text}.", hint=f"0 to {_MOST_DIGITS}" if found > 0 else "0 is the smallest.")
    return found


def _columns(text: str) -> str:
    """The names of columns, parted by commas."""
    names = [name.strip() for name in text.split(",")]
    wrong = [name for name in names if name not in COLUMNS]
    if text != "auto" and wrong:
        hint = f"auto, or some of: {','.join(COLUMNS)}"
        raise TfdbgError(f"There is no column {wrong[0]!r}.", hint=did_you_mean(wrong[0], COLUMNS) or hint)
    return ",".join(dict.fromkeys(names))
