"""The file of settings, in TOML: read with care, and changed so that a user's comments stay."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfdbg_cli.config.settings import PROGRAM, TABLES, Settings, changed, setting_names, value_of
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.paths import config_file
from tfdbg_cli.plain_files import kept_text, replace_kept

if TYPE_CHECKING:
    from tomlkit import TOMLDocument


def load_settings(path: Path | None = None) -> tuple[Settings, tuple[str, ...]]:
    """The settings of the file at `path` (default: the user's own) and of TFDBG_* variables over it.

    A file that cannot be read, or an entry that does not fit, is named in the returned warnings and skipped.
    """
    settings = Settings() if path is None else Settings(file=str(path))
    path = path or config_file()
    warnings: list[str] = []
    for where, entries in ((str(path), _flat(_read(path, warnings))), ("The environment", _environment())):
        for name, text in entries:
            try:
                settings = changed(settings, name, text)
            except TfdbgError as error:
                warnings.append(f"{where}: {error}")
    return settings, tuple(warnings)


def _flat(entries: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Names and values as they are typed after `config set`; what stands in a table as `TABLE.NAME`."""
    for name, value in entries.items():
        if isinstance(value, dict):
            yield from ((f"{name}.{entry}", _typed(held)) for entry, held in value.items())
        else:
            yield name, _typed(value)


def _typed(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _read(path: Path, warnings: list[str]) -> dict[str, Any]:
    try:
        text = kept_text(path)
    except FileNotFoundError:
        return {}
    except OSError as error:
        warnings.append(f"Cannot read the settings in {path}: {error.strerror or error}.")
        return {}
    except UnicodeDecodeError as error:
        warnings.append(f"The settings in {path} are damaged and were left aside: {error}.")
        return {}
    import tomllib  # many people have no file

    try:
        # A JSON file is what TensorFlow's tfdbg kept in ~/.tfdbg_config; config_file_path may still name one.
        found: dict[str, Any] = json.loads(text) if _is_json(text) else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        warnings.append(f"The settings in {path} are damaged and were left aside: {error}.")
        return {}
    return found


def _is_json(text: str) -> bool:
    return text.lstrip().startswith("{")


def _environment() -> Iterator[tuple[str, str]]:
    for name in setting_names():
        text = os.environ.get(f"TFDBG_{name.upper()}")
        if text and name not in TABLES:
            yield name, text


def file_of(settings: Settings) -> Path:
    """Where `settings` are kept."""
    return Path(settings.file) if settings.file else config_file()


def save_setting(settings: Settings, name: str) -> None:
    """Write the setting `name` to the file of the settings, and take it out where it has its default.

    The other entries, their order and the comments beside them stay. A file in JSON, which TensorFlow's tfdbg reads,
    too, stays one.

    Raises:
        TfdbgError: the file cannot be written.

    """
    path = file_of(settings)
    document = _document(path)
    table, dot, entry = name.partition(".")
    place: Any = document
    if dot:
        import tomlkit

        place = document.setdefault(table, tomlkit.table())
    value, default = value_of(settings, name), value_of(Settings(), name)
    if value == default:
        place.pop(entry or name, None)
    else:
        place[entry or name] = PROGRAM if value is None else value
    if dot and not place:
        document.pop(table)
    _write(path, document)


def _document(path: Path) -> TOMLDocument:
    """What the file holds, to be changed.

    Raises:
        TfdbgError: it is damaged. Nothing is written then: what a user wrote is worth more than a setting.

    """
    import tomlkit

    warnings: list[str] = []
    entries = _read(path, warnings)
    if warnings:
        raise TfdbgError(warnings[0], hint="The setting holds for this program. Mend the file to have it kept.")
    try:
        return tomlkit.parse(kept_text(path))
    except (OSError, ValueError):  # there is none yet, or it is JSON
        document = tomlkit.document()
        document.update(entries)
        return document


def _write(path: Path, document: TOMLDocument) -> None:
    import tomlkit

    try:
        as_json = path.exists() and _is_json(kept_text(path))
        replace_kept(path, json.dumps(document.unwrap(), indent=2) + "\n" if as_json else tomlkit.dumps(document))
    except OSError as error:
        raise TfdbgError(
            f"Cannot write {path}: {error.strerror}.", hint="The setting holds for this program."
        ) from None
