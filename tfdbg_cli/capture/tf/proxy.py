"""A proxy: an object that stands for another one, and behaves as that one in all that it does not do itself."""

from __future__ import annotations

from typing import Any

_OWN = "_tfdbg_"  # what the names of our own attributes begin with; all others are the other object's


class Proxy:
    """A proxy of `original`: it has its attributes, and passes `isinstance` for its class."""

    def __init__(self, original: Any) -> None:
        self._tfdbg_original = original

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """The other object's class, for libraries that look (`isinstance(sess, tf.compat.v1.Session)`)."""
        return type(self._tfdbg_original)

    def __getattr__(self, name: str) -> Any:
        if name.startswith(_OWN):  # asked for before __init__ has set it
            raise AttributeError(name)
        return getattr(self._tfdbg_original, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith(_OWN):
            object.__setattr__(self, name, value)
        else:
            setattr(self._tfdbg_original, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._tfdbg_original, name)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *dir(self._tfdbg_original)})

    def __repr__(self) -> str:
        return f"<debugged {self._tfdbg_original!r}>"
