"""The version of tfdbg."""

__version__ = "0.1.0"
