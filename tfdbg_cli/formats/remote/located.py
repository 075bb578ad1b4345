"""The file system behind an address, by fsspec, which is loaded for addresses alone."""

from __future__ import annotations

from typing import Any

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.remote.file_system import FileSystem, first_line, unreachable
from tfdbg_cli.formats.remote.web_files import WebFiles

_INSTALL = "pip install 'tfdbg-cli[remote]'"
# What gives fsspec the file systems that people have most.
_PACKAGES = {"gs": "gcsfs", "gcs": "gcsfs", "s3": "s3fs", "s3a": "s3fs", "az": "adlfs", "abfs": "adlfs",
             "abfss": "adlfs", "http": "aiohttp", "https": "aiohttp", "sftp": "paramiko", "ssh": "paramiko",
             "hdfs": "pyarrow", "hf": "huggingface_hub", "oci": "ocifs"}  # fmt: skip
_SILENT = 60  # seconds for which a web server may say nothing


def located(address: str) -> tuple[FileSystem, str]:
    """The file system of `address`, and the path in it.

    Raises:
        TfdbgError: a package is missing, or there is no such file system.

    """
    protocol = address.partition("://")[0].rpartition("::")[2].lower()
    try:
        import fsspec
    except ImportError:
        package = _PACKAGES.get(protocol, "")
        also = f" {package}" if package else ""
        raise TfdbgError(
            f"{address} is an address, and fsspec, which reads those, is not installed.",
            hint=f"{_INSTALL}{also}. Or copy it to this machine, and open the copy.",
        ) from None
    try:
        system, path = fsspec.core.url_to_fs(address, **_options(protocol))
    except ImportError as error:
        package = _PACKAGES.get(protocol, "")
        hint = f"pip install {package}" if package else f"fsspec says: {first_line(error)}"
        raise TfdbgError(f"{address}: the package that reads {protocol}:// is not installed.", hint=hint) from None
    except ValueError as error:
        hint = f"fsspec says: {first_line(error)}"
        raise TfdbgError(f"{address} is no address that fsspec knows.", hint=hint) from None
    except Exception as error:  # whatever the package raises when it looks for its settings
        raise unreachable(address, error) from error
    if "http" in (system.protocol if isinstance(system.protocol, tuple) else (system.protocol,)):
        return WebFiles(system), path
    return FileSystem(system), path


def _options(protocol: str) -> dict[str, Any]:
    """What the file system is to be told. Raises ImportError."""
    if protocol not in {"http", "https"}:
        return {}  # they have limits of their own
    import aiohttp

    # Its own limit is for all of an answer, which may be a file of any length.
    return {"client_kwargs": {"timeout": aiohttp.ClientTimeout(total=None, sock_connect=_SILENT, sock_read=_SILENT)}}
