"""Nothing in the package is there for tests only: whatever it defines, it mentions somewhere else, or is public.

A name at the top of a module counts as used when another module imports it, or its own reads it outside of the
definition. A member of a class counts as used when anything in the package reads an attribute of that name, which is
coarse: a dead method that is called as a living one is goes unseen.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache

from support.package_source import PACKAGE, PROJECT, Module, modules
from vulture import Vulture

import tfdbg_cli
from tfdbg_cli import debug_data

MODULES = {module.name: module for module in modules()}
CHECKED = [module for module in MODULES.values() if module.layer not in ("examples", "__main__", "")]
PUBLIC = {*tfdbg_cli.__all__, *debug_data.__all__}

# Read by a name that is put together, with the place where that is done.
BY_NAME = {
    "tfdbg_cli.commands.verbs.": {"COMMAND", "COMMANDS", "commands"},  # commands/standard.py: a module a command
    "tfdbg_cli.cli.verbs.": {"HELP", "prepare_parser", "run"},  # cli/verbs/__init__.py: a module a verb
    "tfdbg_cli.analysis.expression.expression": {  # a method for each kind of node of Python's syntax tree
        "_constant", "_attribute", "_binop", "_unaryop", "_boolop", "_ifexp", "_subscript", "_slice", "_tuple",
        "_list", "_dict", "_listcomp", "_setcomp", "_generatorexp", "_dictcomp",
    },
}  # fmt: skip
# What Keras asks of a callback, TensorFlow's debugger of its data, and nothing of ours: their names are not ours.
THEIRS = {
    "tfdbg_cli.api.keras_callback",
    "tfdbg_cli.formats.dumps.core_metadata",  # a named tuple of TensorFlow's debugger
}
# Bases of Python's own that call no more than what begins and ends with two underscores.
PYTHONS = {"Protocol", "Generic", "Exception", "Enum", "Flag", "StrEnum", "NamedTuple", "Sequence", "Mapping"}


@cache
def _imported() -> dict[str, set[str]]:
    """What is imported of each module, or read as its attribute, by others."""
    found: dict[str, set[str]] = defaultdict(set)
    for module in MODULES.values():
        known_as = {}
        for node in module.nodes:
            if isinstance(node, ast.ImportFrom) and node.module in MODULES:
                for alias in node.names:
                    found[node.module].add(alias.name)
                    known_as[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        for node in module.nodes:
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in known_as:
                found[known_as[node.value.id]].add(node.attr)
    return found


@cache
def _read_names() -> set[str]:
    """What is read as an attribute, matched, or written out as a text that is a name, anywhere."""
    found = set()
    for module in MODULES.values():
        for node in module.nodes:
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                found.add(node.attr)
            elif isinstance(node, ast.MatchClass):
                found.update(node.kwd_attrs)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
                found.add(node.value)
    return found


def _targets(node: ast.stmt) -> Iterator[str]:
    """The names that a statement defines."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.AnnAssign):
        yield from _names(node.target)
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _names(target)


def _names(target: ast.expr) -> Iterator[str]:
    return (part.id for part in ast.walk(target) if isinstance(part, ast.Name))


def _is_exempt(module: Module, name: str) -> bool:
    by_name = any(module.name.startswith(start) and name in names for start, names in BY_NAME.items())
    return by_name or name in PUBLIC or (name.startswith("__") and name.endswith("__"))


def _unread_at_the_top(module: Module) -> Iterator[str]:
    reads = [_loaded_names(node) for node in module.tree.body]
    for at, node in enumerate(module.tree.body):
        for name in _targets(node):
            if _is_exempt(module, name) or name in _imported()[module.name]:
                continue
            if not any(name in names for other, names in enumerate(reads) if other != at):
                yield f"{module.where}:{node.lineno}: {name}"


def _loaded_names(node: ast.stmt) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)}


@cache
def _ours() -> set[str]:
    return {name for module in MODULES.values() for node in module.tree.body for name in _targets(node)}


def _unread_members(module: Module) -> Iterator[str]:
    if module.name in THEIRS:
        return
    for node in module.nodes:
        if not isinstance(node, ast.ClassDef) or node.name in PUBLIC:
            continue
        bases = {ast.unparse(base).split("[")[0] for base in node.bases}
        if bases - _ours() - PYTHONS:
            continue  # a class of another package calls what it knows
        for line, name in _members(node):
            if name not in _read_names() and not _is_exempt(module, name):
                yield f"{module.where}:{line}: {node.name}.{name}"


def _members(node: ast.ClassDef) -> Iterator[tuple[int, str]]:
    """What stands in the class, and the attributes that its methods set."""
    for statement in node.body:
        for name in _targets(statement):
            yield statement.lineno, name
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store) and _is_self(part.value):
            yield part.lineno, part.attr


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


# What vulture takes for unused, and why it is not: public names by the file or folder, others one by one.
EXPLAINED = {
    "api/base_wrapper.py": "programs that derive from it call it, as in TensorFlow's debugger",
    "api/keras_callback.py": "Keras calls it",
    "api/recordings.py": "public, for scripts and notebooks",
    "api/remote_wrappers.py": "a parameter of TensorFlow's wrappers, which programs give by name",
    "api/run_callbacks.py": "callbacks of programs read it, as in TensorFlow's debugger",
    "api/wrappers.py": "the same, and what TensorFlow's wrappers have besides",
    "capture/intercept/monitored.py": "TensorFlow calls it: a hook of sessions",
    "capture/sessions/gradients.py": "TensorFlow's GradientsDebugger has it",
    "debug_data/": "TensorFlow's DebugDumpDir and its like have it",
    "formats/dumps/core_metadata.py": "a field that TensorFlow's DebugDumpDir gives",
}
EXPLAINED_NAMES = {
    "tfdbg_cli/api/base_wrapper.py": {"_sess"},  # as programs call it that derive from TensorFlow's class
    # Found by the kind of a node of Python's syntax tree, see BY_NAME.
    "tfdbg_cli/analysis/expression/expression.py": {
        "_binop", "_unaryop", "_boolop", "_ifexp", "_subscript", "_slice", "_tuple", "_dict", "_listcomp", "_setcomp",
        "_generatorexp", "_dictcomp",
    },
    "tfdbg_cli/__init__.py": {"__getattr__"},  # Python asks a module for what it does not hold
    "tfdbg_cli/api/watched_imports.py": {"__loader__"},  # Python's import reads it
    "tfdbg_cli/api/notebook.py": {"_render_traceback_"},  # IPython asks an error for it
    "tfdbg_cli/api/recordings.py": {"_repr_html_"},  # notebooks ask for it
    "tfdbg_cli/capture/tf/proxy.py": {"__class__"},  # isinstance reads it
    # TensorFlow reads them.
    "tfdbg_cli/capture/tf/compat.py": {"default_factory", "get_filtered_filenames"},
    "tfdbg_cli/process/standard_input.py": {"__stdin__"},  # of Python's sys
    # Fields of protobuf messages, which TensorFlow reads.
    "tfdbg_cli/capture/replay/session_copy.py": {"allow_soft_placement", "disable_meta_optimizer", "opt_level"},
    "tfdbg_cli/formats/messages/event_file.py": {"plugin_name"},
    "tfdbg_cli/formats/messages/schema.py": {"map_entry", "oneof_index"},
    # urwid calls and reads them.
    "tfdbg_cli/tui/app.py": {"handle_mouse"},
    "tfdbg_cli/tui/state/pane.py": {"no_cache"},
    "tfdbg_cli/tui/panes/pane_frame.py": {"no_cache", "_w"},
    "tfdbg_cli/tui/terminal/terminal.py": {"signal_init", "signal_restore", "_prev_sigwinch_handler"},
    "tfdbg_cli/tui/panes/view.py": {"no_cache", "keypress"},
}  # fmt: skip


def test_what_vulture_finds_is_explained() -> None:
    found = Vulture()
    found.scavenge([str(PACKAGE)])
    seen = set()
    left = []
    for item in found.get_unused_code(min_confidence=60):
        where = item.filename.relative_to(PROJECT).as_posix()
        place = where.removeprefix("tfdbg_cli/")
        reasons = [start for start in EXPLAINED if place.startswith(start) and not item.name.startswith("_")]
        if item.name in EXPLAINED_NAMES.get(where, ()):
            reasons.append(f"{where} {item.name}")
        seen.update(reasons)
        if not reasons:
            left.append(f"{where}:{item.first_lineno}: {item.typ} {item.name}")
    assert not left, "\n".join(left)
    wanted = {*EXPLAINED, *(f"{where} {name}" for where, names in EXPLAINED_NAMES.items() for name in names)}
    assert seen == wanted, "explained, though vulture does not find it"


def test_nothing_is_called_by_tests_only() -> None:
    found = [row for module in CHECKED for row in (*_unread_at_the_top(module), *_unread_members(module))]
    assert not found, "nothing in the package reads these:\n" + "\n".join(found)


def test_the_exceptions_are_there() -> None:
    for start, names in BY_NAME.items():
        there = {
            name
            for module in CHECKED
            if module.name.startswith(start)
            for node in module.nodes
            if isinstance(node, ast.stmt)
            for name in _targets(node)
        }
        assert names <= there
    assert MODULES.keys() >= THEIRS
