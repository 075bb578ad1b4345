"""What the text of the program says of standard input: where it will read that, though it has not yet."""

from __future__ import annotations

import ast
import linecache
import os
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

from tfdbg_cli.process.own_frames import is_own

_NAMES_OF_IT = frozenset({"/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"})
_BUILTINS = frozenset({"input", "breakpoint"})  # functions of Python that read it
_OPENERS = frozenset({"open", "fdopen", "read", "FileIO"})  # by the number of its descriptor
_ASKED = frozenset({"isatty", "encoding", "errors", "fileno", "closed", "close"})  # what reads nothing of it
_PACKAGE_FOLDERS = frozenset({"site-packages", "dist-packages"})  # of which Python has several
_WORDS = ("stdin", "fileinput", "/fd/0", *(f"{name}(" for name in _BUILTINS), *(f"{name}(0" for name in _OPENERS))


def place_of_reader() -> str:
    """Where the program says that it reads standard input: `train.py:12`, or its argument; empty where it does not.

    Its own modules are asked that are loaded by now, as far as their text is there. What a library reads by itself,
    or another process that the program starts, no text tells.
    """
    named = next((word for word in sys.argv[1:] if word == "-" or word in _NAMES_OF_IT), "")
    if named:
        return f"its argument {named}"
    for name, module in list(sys.modules.items()):
        if name == "__mp_main__":  # multiprocessing's name for what was run first, which started the program, perhaps
            continue
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and (line := _line_of_reader(module, file)):
            return f"{os.path.basename(file)}:{line}"  # noqa: PTH119
    return ""


def _line_of_reader(module: ModuleType, file: str) -> int:
    if is_own(file) or (_is_installed(file) and module.__name__ != "__main__"):  # `tfdbg run -m PACKAGE` is a program
        return 0
    if os.path.exists(file) and not os.path.isfile(file):  # noqa: PTH110, PTH113  # a pipe would be read, or waited for
        return 0
    return _line_in("".join(linecache.getlines(file, getattr(module, "__dict__", None))))


def _is_installed(file: str) -> bool:
    """Whether `file` belongs to Python or to a package, of this user's, of the system's or of another environment."""
    return file.startswith(_libraries()) or not _PACKAGE_FOLDERS.isdisjoint(Path(file).parts)


@cache
def _libraries() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    return tuple({paths[name] + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib")})


@cache
def _line_in(text: str) -> int:
    """The first line of `text` that reads standard input; 0 where none does."""
    if not any(word in text for word in _WORDS):
        return 0
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError):
        return 0
    bound = set(_bound(nodes))
    asked = {id(node.value) for node in nodes if isinstance(node, ast.Attribute) and node.attr in _ASKED}
    parts = [node for node in nodes if isinstance(node, ast.stmt | ast.expr) and id(node) not in asked]
    return min((node.lineno for node in parts if _reads(node, bound)), default=0)


def _bound(nodes: list[ast.AST]) -> Iterator[str]:
    """The names that the text itself gives something to: `input` may be a tensor."""
    for node in nodes:
        match node:
            case ast.Name(name, ast.Store()) | ast.arg(name):
                yield name
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                yield name
            case ast.alias(name, other):
                yield other or name


def _reads(node: ast.stmt | ast.expr, bound: set[str]) -> bool:
    match node:
        case ast.Attribute(ast.Name("sys"), "stdin" | "__stdin__", ast.Load()):
            return True
        case ast.ImportFrom("sys", names):
            return any(name.name in {"stdin", "__stdin__"} for name in names)
        case ast.Import(names):
            return any(name.name == "fileinput" for name in names)
        case ast.ImportFrom("fileinput"):
            return True
        case ast.Call(ast.Name(name)) if name in _BUILTINS and name not in bound:
            return True
        case ast.Call(ast.Name(name) | ast.Attribute(ast.Name("os" | "io"), name), [ast.Constant(0), *_]):
            return name in _OPENERS
        case ast.Constant(str(text)):
            return text in _NAMES_OF_IT
    return False
