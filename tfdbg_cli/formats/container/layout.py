"""What lies where in a recording. `docs/format.md` describes it for whoever wants to read one without tfdbg.

    recording.json        the manifest: which format, which version, who wrote it
    index.sqlite          the runs, their tensors, graphs, sources, tracebacks: everything but the elements of tensors
    data/N.safetensors    elements of tensors, those of many in one file

The workers of one job share a folder, in which each has a recording of its own:

    workers.json          says that it is such a folder
    NAME/                 the recording of the worker NAME

A run is there when its rows are: they are written in one transaction, after the elements that they point to. What no
row points to does not exist.
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache
from pathlib import Path

from tfdbg_cli.errors import TfdbgError

MANIFEST = "recording.json"
INDEX = "index.sqlite"
DATA = "data"
WORKERS = "workers.json"
FORMAT = "tfdbg recording"
VERSION = 1
APPLICATION_ID = 0x74666462  # "tfdb", in the header of the SQLite file
METADATA = "__metadata__"  # in the header of a data file what is no tensor, by the rules of safetensors
RECORDING = "recording"  # the id of the recording, there and in the description of a run
HEADERS = "headers"  # in the description of a run: what the headers of its data files add up to

SCHEMA = """
CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE contents (
    id INTEGER PRIMARY KEY, sha256 TEXT NOT NULL UNIQUE, size INTEGER NOT NULL, zlib BLOB NOT NULL
);
CREATE TABLE files (id INTEGER PRIMARY KEY, size INTEGER NOT NULL);
CREATE TABLE runs (
    id INTEGER PRIMARY KEY, number INTEGER NOT NULL, title INTEGER NOT NULL, tensors INTEGER NOT NULL,
    bytes INTEGER NOT NULL, written_us INTEGER NOT NULL, program INTEGER NOT NULL, description TEXT NOT NULL
);
CREATE TABLE run_files (run INTEGER NOT NULL, file INTEGER NOT NULL, PRIMARY KEY (run, file)) WITHOUT ROWID;
CREATE TABLE tensors (
    run INTEGER NOT NULL, place INTEGER NOT NULL, node INTEGER NOT NULL, slot INTEGER NOT NULL,
    device INTEGER NOT NULL, execution INTEGER NOT NULL, dtype INTEGER NOT NULL, op_type INTEGER NOT NULL,
    shape INTEGER, bytes INTEGER, time_us INTEGER, lack INTEGER,
    file INTEGER, offset INTEGER, stored INTEGER, encoding INTEGER, PRIMARY KEY (run, place)
) WITHOUT ROWID;
CREATE TABLE feeds (
    run INTEGER NOT NULL, place INTEGER NOT NULL, name INTEGER NOT NULL, dtype INTEGER, shape INTEGER,
    file INTEGER, offset INTEGER, stored INTEGER, encoding INTEGER, PRIMARY KEY (run, place)
) WITHOUT ROWID;
CREATE TABLE summaries (
    run INTEGER NOT NULL, place INTEGER NOT NULL, size INTEGER NOT NULL, nan INTEGER NOT NULL,
    neg_inf INTEGER NOT NULL, pos_inf INTEGER NOT NULL, neg INTEGER NOT NULL, zero INTEGER NOT NULL,
    pos INTEGER NOT NULL, min REAL, max REAL, mean REAL, std REAL, of_magnitude INTEGER NOT NULL,
    PRIMARY KEY (run, place)
) WITHOUT ROWID;
"""
TABLES = frozenset({"texts", "contents", "files", "runs", "run_files", "tensors", "feeds", "summaries"})


class Encoding(IntEnum):
    """How the bytes of a tensor give its elements."""

    PLAIN = 0  # as they lie in memory: C order, little endian
    TEXTS = 1  # byte strings: where each ends (unsigned 64 bit numbers), then all of them one after the other
    ZLIB_PLAIN = 2  # PLAIN, compressed
    ZLIB_TEXTS = 3  # TEXTS, compressed

    @property
    def compressed(self) -> bool:
        return self in {Encoding.ZLIB_PLAIN, Encoding.ZLIB_TEXTS}


@lru_cache(1024)
def data_file(root: Path, number: int) -> Path:
    """The file `number` of elements of the recording in `root`."""
    return root / DATA / f"{number:06d}.safetensors"


@lru_cache(4096)  # a run has few
def shape_text(shape: tuple[int, ...]) -> str:
    """`shape` as it stands in the index: its lengths with commas between them; nothing for a scalar."""
    return ",".join(map(str, shape))


def require_known(version: int, root: Path) -> None:
    """Check the version of the format of the recording in `root`.

    Raises:
        TfdbgError: it is a newer one.

    """
    if version > VERSION:
        raise TfdbgError(
            f"The recording {root} was written by a newer tfdbg (format {version}).",
            hint="Install the tfdbg that wrote it, or a newer one.",
            exit_code=2,
        )
