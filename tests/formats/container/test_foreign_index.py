"""The index of a recording may be anybody's: nothing in it does more than be read, and no number is believed."""

from __future__ import annotations

import sqlite3
import zlib
from contextlib import closing
from pathlib import Path

import pytest

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.container import layout
from tfdbg_cli.formats.container.index import DamagedIndexError, Index


def _database(root: Path, *more: str, schema: str = layout.SCHEMA) -> Path:
    """An index in the folder `root`, made by `schema` and the statements `more`."""
    with closing(sqlite3.connect(root / layout.INDEX)) as database:
        database.execute(f"PRAGMA application_id={layout.APPLICATION_ID}")
        database.execute(f"PRAGMA user_version={layout.VERSION}")
        database.executescript(schema)
        for statement in more:
            database.execute(statement)
        database.commit()
    return root


def test_what_we_make_is_read(tmp_path: Path) -> None:
    assert Index(_database(tmp_path)).rows("SELECT * FROM runs") == []


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE VIEW more AS SELECT 1",
        "CREATE VIEW sqliteXmore AS SELECT 1",
        "CREATE TRIGGER sqliteXmore AFTER INSERT ON runs BEGIN DELETE FROM runs; END",
        "CREATE TABLE sqliteXmore (id INTEGER)",
        "CREATE INDEX sqliteXmore ON runs (id)",
    ],
)
def test_whatever_it_is_called_what_is_not_ours_is_refused(tmp_path: Path, statement: str) -> None:
    """A blind test: `_` stands for any letter in LIKE, so names like `sqliteX` passed for those of SQLite."""
    with pytest.raises(TfdbgError, match="its tables are not those of a recording"):
        Index(_database(tmp_path, statement))


def test_a_view_with_a_name_of_sqlite_itself_is_refused(tmp_path: Path) -> None:
    forged = (
        "INSERT INTO sqlite_master VALUES ('view', 'sqlite_v', 'sqlite_v', 0, 'CREATE VIEW sqlite_v AS SELECT 1')"
    )
    with pytest.raises(TfdbgError, match="is damaged"):
        Index(_database(tmp_path, "PRAGMA writable_schema = ON", forged))


def test_a_virtual_table_with_a_name_of_ours_is_refused(tmp_path: Path) -> None:
    """A blind test: it is a table, too."""
    virtual = "CREATE VIRTUAL TABLE files USING rtree(id, low, high)"
    forged = f"UPDATE sqlite_master SET rootpage = 0, sql = '{virtual}' WHERE name = 'files'"
    with pytest.raises(TfdbgError, match="its tables are not those of a recording"):
        Index(_database(tmp_path, "PRAGMA writable_schema = ON", forged))


@pytest.mark.parametrize("size", [-1, -5])
def test_a_size_below_nothing_is_damage(tmp_path: Path, size: int) -> None:
    """A blind test: -1 had zlib unpack without a limit, any other one raised what nobody caught."""
    packed = zlib.compress(bytes(100))
    with closing(sqlite3.connect(_database(tmp_path) / layout.INDEX)) as database:
        database.execute("INSERT INTO contents VALUES (1, '', ?, ?)", (size, packed))
        database.commit()
    with pytest.raises(DamagedIndexError, match=f"content 1 is said to have {size} bytes"):
        Index(tmp_path).content(1)
