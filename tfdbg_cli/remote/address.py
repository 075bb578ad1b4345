"""HOST:PORT: read, listened at, connected to."""

from __future__ import annotations

import ipaddress
import re
import socket
from dataclasses import dataclass

from tfdbg_cli.errors import TfdbgError

_LOOPBACK = "127.0.0.1"
_WRITTEN = re.compile(r"(?:\[(?P<six>[^\]]+)\]|(?P<host>[^:\[\]]*)):(?P<port>\d{1,5})|(?P<alone>\d{1,5})")
_PATIENCE = 10.0  # seconds


@dataclass(frozen=True, slots=True)
class Address:
    """Where a program listens; port 0 stands for any that is free."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @classmethod
    def read(cls, text: str) -> Address:
        """What `text` says: HOST:PORT, or a port of this machine alone.

        Raises:
            TfdbgError: it says nothing of the kind.

        """
        found = _WRITTEN.fullmatch(text)
        port = -1 if found is None else int(found["port"] or found["alone"])
        if found is None or port > 0xFFFF:
            raise TfdbgError(f"{text!r} is no address.", hint="Write HOST:PORT, such as 127.0.0.1:6064.")
        return cls(found["six"] or found["host"] or _LOOPBACK, port)

    @property
    def here(self) -> bool:
        """Whether this machine alone can reach it."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    @property
    def reachable(self) -> Address:
        """What to write to reach it: "any address" is none of those."""
        try:
            everywhere = ipaddress.ip_address(self.host).is_unspecified
        except ValueError:
            everywhere = False
        return Address(socket.gethostname(), self.port) if everywhere else self

    def listen(self) -> socket.socket:
        """A socket that listens here.

        Raises:
            TfdbgError: it cannot.

        """
        try:
            family, kind, protocol, _, place = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)[0]
            made = socket.socket(family, kind, protocol)
        except OSError as error:
            raise self._cannot("listen on", error) from None
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind(place)
            made.listen()
        except OSError as error:
            made.close()
            raise self._cannot("listen on", error) from None
        return made

    def connect(self) -> socket.socket:
        """A connection to whoever listens here.

        Raises:
            TfdbgError: nobody does.

        """
        try:
            return socket.create_connection((self.host, self.port), _PATIENCE)
        except (OSError, UnicodeError) as error:
            raise self._cannot("connect to", error) from None

    def _cannot(self, what: str, error: Exception) -> TfdbgError:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return TfdbgError(f"Cannot {what} {self}: {why}.", exit_code=2)
