"""Queries that were given names, kept from one program to the next: `@small` stands for the one called small."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from tfdbg_cli.commands.query.language import Both, Either, FactTest, NamedQuery, NamePattern, Not, Query, QueryError
from tfdbg_cli.commands.query.parser import parse_query
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.names import did_you_mean
from tfdbg_cli.paths import queries_file
from tfdbg_cli.plain_files import kept_text, replace_kept

_NAME = re.compile(r"\w[\w.-]*")
_DEEPEST = 20  # names that stand for others


def named_queries() -> dict[str, str]:
    """The text of each query by its name.

    Raises:
        TfdbgError: the file in which they are kept cannot be read.

    """
    path = queries_file()
    try:
        found = json.loads(kept_text(path) or "{}")
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise TfdbgError(f"Cannot read the named queries in {path}: {error}.") from None
    if not isinstance(found, dict) or not all(isinstance(text, str) for text in found.values()):
        raise TfdbgError(f"{path} holds something else than named queries.", hint="Remove it, or mend it.")
    return found


def keep_query(name: str, text: str) -> None:
    """Keep the query `text` as `name`, in the place of one of that name; an empty text forgets it.

    Raises:
        TfdbgError: not a name, not a query, nothing of that name to forget, or the file cannot be written.

    """
    name = name.removeprefix("@")
    if not _NAME.fullmatch(name):
        raise TfdbgError(f"{name!r} is no name for a query.", hint="Letters, digits, and - _ . within.")
    known = named_queries()
    if text:
        others = {**known, name: text}
        resolved(parse_query(text), others)
        known = others
    elif known.pop(name, None) is None:
        raise TfdbgError(f"There is no query called {name!r}.", hint=did_you_mean(name, known))
    body = json.dumps(known, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
    try:
        replace_kept(queries_file(), body)
    except OSError as error:
        raise TfdbgError(f"Cannot write {queries_file()}: {error.strerror}.") from None


def asked_query(text: str) -> Query:
    """The query that `text` is, each name replaced by what it stands for.

    Raises:
        TfdbgError: it cannot be read, or names what there is not.

    """
    query = parse_query(text)
    return resolved(query, named_queries()) if _has_names(query) else query


def _has_names(query: Query) -> bool:
    match query:
        case NamedQuery():
            return True
        case Not(part):
            return _has_names(part)
        case Both(parts) | Either(parts):
            return any(map(_has_names, parts))
        case NamePattern() | FactTest():
            return False


def resolved(query: Query, known: Mapping[str, str], deep: int = 0) -> Query:
    """`query` with what its names stand for.

    Raises:
        QueryError: there is no query of that name, or it stands for itself.

    """
    match query:
        case NamedQuery(name, at):
            if name not in known:
                hint = did_you_mean(name, known) or "`queries NAME QUERY` names one."
                raise QueryError(f"there is no query called {name!r}", at, hint=hint)
            if deep == _DEEPEST:
                raise QueryError(f"{name!r} stands for itself", at)
            try:
                return resolved(parse_query(known[name]), known, deep + 1)
            except QueryError as error:
                raise QueryError(f"in {name!r}: {error.reason}", at, hint=error.hint) from None
        case Not(part):
            return Not(resolved(part, known, deep))
        case Both(parts):
            return Both(tuple(resolved(part, known, deep) for part in parts))
        case Either(parts):
            return Either(tuple(resolved(part, known, deep) for part in parts))
        case NamePattern() | FactTest():
            return query
