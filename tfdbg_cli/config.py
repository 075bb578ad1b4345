"""Settings a person can change: from flags, the environment, a file, in this order of precedence."""

from __future__ import annotations

import json
import os
import tomllib
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, get_type_hints

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.names import did_you_mean
from tfdbg_cli.paths import config_file

_TRUE = {"1", "true", "t", "yes", "y", "on"}
_FALSE = {"0", "false", "f", "no", "n", "off"}
_SIZES = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting with its default. `config show` lists them, `config set NAME VALUE` changes one.

    Sizes are bytes; 0 for a budget means the default share: half of the free disk, half of the free memory.
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
    array_threshold: int = 2000  # elements printed before an array is elided
    history_length: int = 1000


def settable(name: str, text: str) -> bool | int | str:
    """`text` as the type that the setting `name` has.

    Raises:
        TfdbgError: no such setting, or not a value of its type.

    """
    types = get_type_hints(Settings)
    if name not in types:
        raise TfdbgError(f"There is no setting {name!r}.", hint=did_you_mean(name, types) or "See `config show`.")
    kind = types[name]
    lowered = text.strip().lower()
    if kind is bool:
        if lowered in _TRUE | _FALSE:
            return lowered in _TRUE
        raise TfdbgError(f"{name} is on or off, not {text!r}.")
    if kind is int:
        number, unit = (lowered[:-1], _SIZES[lowered[-1]]) if lowered[-1:] in _SIZES else (lowered, 1)
        try:
            found = int(float(number) * unit)
        except ValueError:
            raise TfdbgError(f"{name} is a whole number (20, or 512M, 4G), not {text!r}.") from None
        return _between(name, found)
    if name == "columns":
        return _columns(lowered)
    choices = _CHOICES.get(name)
    if choices and lowered not in choices:
        raise TfdbgError(f"{name} is one of {', '.join(choices)}, not {text!r}.")
    return lowered if choices else text


PREVIEW_SHARES = (15, 80)  # the least and the greatest


def _between(name: str, number: int) -> int:
    """`number`, where the setting takes it."""
    if name == "preview_share" and not PREVIEW_SHARES[0] <= number <= PREVIEW_SHARES[1]:
        raise TfdbgError(f"preview_share is a percentage from {PREVIEW_SHARES[0]} to {PREVIEW_SHARES[1]}.")
    return number


# The columns of a list of tensors beside the name.
COLUMNS = (
    "time", "size", "op", "dtype", "shape", "nan", "inf", "absmax", "histogram", "source", "mean", "std", "zero",
    "role", "device", "execution",
)  # fmt: skip


def _columns(text: str) -> str:
    """The names of columns, parted by commas."""
    names = [name.strip() for name in text.split(",")]
    wrong = [name for name in names if name not in COLUMNS]
    if text != "auto" and wrong:
        hint = f"auto, or some of: {','.join(COLUMNS)}"
        raise TfdbgError(f"There is no column {wrong[0]!r}.", hint=did_you_mean(wrong[0], COLUMNS) or hint)
    return ",".join(dict.fromkeys(names))


_CHOICES = {
    "graph": ("auto", "runtime", "python"),
    "theme": ("dark", "light", "contrast", "mono"),
    "preview": ("auto", "right", "left", "below", "off"),
}


def load_settings(path: Path | None = None) -> tuple[Settings, tuple[str, ...]]:
    """The settings of the file at `path` (default: the person's own) and of TFDBG_* variables over it.

    A file that cannot be read, or an entry that does not fit, is named in the returned warnings and skipped.
    """
    path = path or config_file()
    settings = Settings()
    warnings: list[str] = []
    for name, text in {**_read(path, warnings), **_environment()}.items():
        try:
            settings = replace(settings, **{name: settable(name, text)})  # type: ignore[arg-type]
        except TfdbgError as error:
            warnings.append(f"{path}: {error}")
    return settings, tuple(warnings)


def _read(path: Path, warnings: list[str]) -> dict[str, str]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except OSError as error:
        warnings.append(f"Cannot read the settings in {path}: {error.strerror}.")
        return {}
    try:
        # A JSON file is what TensorFlow's tfdbg kept in ~/.tfdbg_config; config_file_path may still name one.
        entries: dict[str, Any] = json.loads(text) if text.lstrip().startswith("{") else tomllib.loads(text)
    except ValueError as error:
        warnings.append(f"The settings in {path} are damaged and were left aside: {error}.")
        return {}
    return {name: str(value) for name, value in entries.items()}


def _environment() -> dict[str, str]:
    names = {f"TFDBG_{field.name.upper()}": field.name for field in fields(Settings)}
    return {name: os.environ[variable] for variable, name in names.items() if os.environ.get(variable)}


def save_setting(settings: Settings, name: str, path: Path | None = None) -> None:
    """Write the setting `name` to the file, keeping the entries that are there.

    Raises:
        TfdbgError: the file cannot be written.

    """
    path = path or config_file()
    kept = _read(path, [])
    kept[name] = str(getattr(settings, name))
    body = "".join(f"{key} = {_toml(key, value)}\n" for key, value in sorted(kept.items()))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(body, encoding="utf-8")
    except OSError as error:
        raise TfdbgError(
            f"Cannot write {path}: {error.strerror}.", hint="The setting holds for this program."
        ) from None


def _toml(name: str, text: str) -> str:
    kind = get_type_hints(Settings).get(name, str)
    if kind is bool:
        return "true" if text.lower() in _TRUE else "false"
    return text if kind is int else json.dumps(text)
