"""A process that has imported packages and tfdbg, and forks for each program: its child is what `python WORDS` is.

`warm_python` starts it as a script, with the names of the packages; of tfdbg it imports what needs no others. What it
has imported is out of the child's sight until the program imports it, so that hooks of imports, and code that asks
what is loaded, see what they see in a new process.

It must have one thread and no context of TensorFlow when it forks.
"""

from __future__ import annotations

import builtins
import fcntl
import gc
import importlib
import json
import os
import runpy
import socket
import sys
import tempfile
import termios
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from io import TextIOWrapper
from pathlib import Path
from types import ModuleType, TracebackType
from typing import TextIO

_ROOT = Path(__file__).parents[2]
_OURS = "tfdbg_cli"
_APART = ("examples",)  # of ours: what is run rather than imported
_LONGEST = 1 << 20  # bytes of a request
_kept: list[ModuleType] = []  # our own module `__main__`: the frames of this file still run


@dataclass(frozen=True)
class Request:
    """A program: the words behind `python`, its folder and its whole environment.

    With a `terminal` its three files are one, and it leads a session there.
    """

    words: Sequence[str]
    folder: str
    environ: Mapping[str, str]
    terminal: bool


class ParkedModules(MetaPathFinder, Loader):
    """Modules that are loaded but not to be seen: an import of one gives it back with those that it needs.

    Libraries are given back whole. A module of ours brings what it imports itself: `imports` has that in its order.
    """

    def __init__(self, modules: Mapping[str, ModuleType], imports: Mapping[str, Sequence[str]]) -> None:
        self._modules = dict(modules)
        self._imports = imports
        self._specs: dict[str, ModuleSpec | None] = {}
        for name in self._modules:
            sys.modules.pop(name, None)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """A spec that loads the module that is there; None for one that is not, or that the path has another of."""
        module = self._modules.get(fullname)
        top = fullname.partition(".")[0]
        if module is None or (self._hidden(top) if top == fullname else self._another(top)):
            return None
        self._specs[fullname] = module.__spec__
        file = getattr(module.__spec__, "origin", None)
        return ModuleSpec(fullname, self, origin=file, is_package=hasattr(module, "__path__"))

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = self._modules[spec.name]
        if spec.name.partition(".")[0] == "keras":
            importlib.import_module("tensorflow")  # as Keras does; whoever waits for that import is told
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is run again; what an import of `module` loads besides is given back."""
        name = module.__name__
        self._modules.pop(name, None)  # a program that imports it again has it loaded again
        module.__spec__ = self._specs.pop(name)
        if module.__spec__ is not None and module.__spec__.loader is not None:
            module.__loader__ = module.__spec__.loader
        if name in self._imports:
            for needed in self._imports[name]:
                importlib.import_module(needed)
            return
        top = name.partition(".")[0]
        whole = top in ("tensorflow", "keras")
        for other in [other for other in self._modules if whole or other.partition(".")[0] == top]:
            if other not in self._imports:
                sys.modules.setdefault(other, self._modules.pop(other))

    def _another(self, top: str) -> bool:
        """Whether the program has imported a package of that name which is not the one here."""
        return top in self._modules and sys.modules.get(top) is not self._modules[top]

    def _hidden(self, name: str) -> bool:
        """Whether the program has a module of that name of its own, which is found before the installed one."""
        spec = self._modules[name].__spec__
        installed = getattr(spec, "origin", None) or ""
        for folder in sys.path:
            for file in (Path(folder, f"{name}.py"), Path(folder, name, "__init__.py")):
                if file.is_file():
                    return str(file) != installed
        return False


def serve(requests: socket.socket) -> Request | None:
    """Fork for each request; the request in the program, None in the server when nobody asks any more.

    Who asks has said that it adopts programs whose parents end: so each is begun by a process that ends at once, and
    who asked waits for it as for its own. Its number is told when that has happened.
    """
    while True:
        data, files, _, _ = socket.recv_fds(requests, _LONGEST, 3)
        if not data:
            return None
        end, start = os.pipe()
        between = os.fork()
        if between == 0:
            program = os.fork()
            if program:
                os.write(start, str(program).encode())
                os._exit(0)
            for file in (end, start, requests.detach()):
                os.close(file)
            for number, file in enumerate(files):
                os.dup2(file, number)
                os.close(file)
            return Request(**json.loads(data))
        for file in (start, *files):
            os.close(file)
        number_told = os.read(end, 64)
        os.close(end)
        os.waitpid(between, 0)
        requests.send(number_told)


def program_of(request: Request, base: Sequence[str]) -> Callable[[], object]:
    """What runs the program; the process looks as Python makes it for these words, with `base` as its path."""
    os.chdir(request.folder)
    os.environ.clear()
    os.environ.update(request.environ)
    tempfile.tempdir = None  # it was found in another environment
    sys.path[:] = [*filter(None, request.environ.get("PYTHONPATH", "").split(os.pathsep)), *base]
    sys.orig_argv = [sys.executable, *request.words]
    sys.stdin = sys.__stdin__ = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    if request.terminal:
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        sys.stdout = sys.__stdout__ = _shown(1, "strict")
        sys.stderr = sys.__stderr__ = _shown(2, "backslashreplace")
    _kept.append(sys.modules["__main__"])
    main = sys.modules["__main__"] = ModuleType("__main__")
    vars(main).update({"__builtins__": sys.modules["builtins"], "__annotations__": {}})
    first, *rest = request.words
    if first == "-m":
        sys.path.insert(0, request.folder)
        sys.argv = ["-m", *rest[1:]]
        return lambda: runpy._run_module_as_main(rest[0])
    if first == "-c":
        sys.path.insert(0, "")
        sys.argv = ["-c", *rest[1:]]
        return lambda: exec(compile(rest[0], "<string>", "exec", dont_inherit=True), main.__dict__)
    sys.path.insert(0, os.path.dirname(os.path.realpath(first)))
    sys.argv = [first, *rest]
    file = os.path.join(request.folder, first)
    vars(main).update({"__file__": file, "__cached__": None, "__loader__": SourceFileLoader("__main__", file)})
    source = Path(file).read_bytes()
    return lambda: exec(compile(source, file, "exec", dont_inherit=True), main.__dict__)


def _shown(file: int, errors: str) -> TextIO:
    """A file for output, as Python opens it where it finds a terminal: written by lines, or at once if told so."""
    at_once = bool(os.environ.get("PYTHONUNBUFFERED"))
    under = open(file, "wb", 0 if at_once else -1, closefd=False)  # noqa: SIM115
    by_lines = not at_once or file == 2
    return TextIOWrapper(under, "utf-8", errors, line_buffering=by_lines, write_through=at_once)


def run(program: Callable[[], object]) -> None:
    """Call `program`. What leaves it goes on to the interpreter, which shows it without the calls of this file."""
    try:
        program()
    except SystemExit:
        raise
    except BaseException:
        theirs = sys.excepthook

        def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
            sys.excepthook = theirs
            error.__traceback__ = sys.last_traceback = trace = _theirs(trace)
            theirs(kind, error, trace)

        sys.excepthook = hook
        raise


def _theirs(trace: TracebackType | None) -> TracebackType | None:
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    return trace


def _imported_ours(*, heavy: bool) -> dict[str, Sequence[str]]:
    """Import the modules of ours, unless `heavy` without those that need TensorFlow.

    It tells what each imports, if it is nothing of Python's own.
    """
    imports: dict[str, list[str]] = {}
    plain = builtins.__import__

    def recording(
        name: str,
        globals: Mapping[str, object] | None = None,
        locals: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        module = plain(name, globals, locals, fromlist or (), level)
        importer = str((globals or {}).get("__name__"))
        if importer.partition(".")[0] == _OURS and name.partition(".")[0] not in sys.stdlib_module_names:
            below = (f"{name}.{part}" for part in fromlist or ())
            imports.setdefault(importer, []).extend([name, *(other for other in below if other in sys.modules)])
        return module

    builtins.__import__ = recording
    sys.path.insert(0, str(_ROOT))
    if not heavy:
        sys.modules["tensorflow"] = None  # type: ignore[assignment]
    try:
        for file in sorted((_ROOT / _OURS).rglob("*.py")):
            parts = file.relative_to(_ROOT).with_suffix("").parts
            if parts[1] not in _APART and "__main__" not in file.read_text(encoding="utf-8"):
                with suppress(() if heavy else ImportError):
                    importlib.import_module(".".join(part for part in parts if part != "__init__"))
    finally:
        if not heavy:
            del sys.modules["tensorflow"]
        sys.path.pop(0)
        builtins.__import__ = plain
    return {name: imports.get(name, ()) for name in sys.modules if name.partition(".")[0] == _OURS}


def _parkable(before: set[str]) -> dict[str, ModuleType]:
    """What was imported since `before` and is not Python's own."""
    outside = (name for name in sys.modules if name.partition(".")[0] not in sys.stdlib_module_names)
    return {name: sys.modules[name] for name in outside if name not in before}


# Every frame below the program's is on its stack: so none of them loops, and the child leaves the functions above.
if __name__ == "__main__":
    path = sys.path[1:]
    bare = set(sys.modules)
    channel, *packages = sys.argv[1:]
    for package in packages:
        importlib.import_module(package)
    ours = _imported_ours(heavy="tensorflow" in packages)
    assert len(os.listdir("/proc/self/task")) == 1, "a thread does not live on in a child"
    gc.collect()
    gc.freeze()  # what stays as it is: a child neither looks through it nor copies it
    asked = serve(socket.socket(fileno=int(channel)))
    if asked is not None:
        sys.meta_path.insert(0, ParkedModules(_parkable(bare), ours))
        run(program_of(asked, path))
