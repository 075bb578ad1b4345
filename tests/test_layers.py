"""The layers of docs/design.md, held against the imports of the code. The table of that page is the rule."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator

import pytest
from support.package_source import PACKAGE, PROJECT, Module, modules

MODULES = modules()
_NAMES = {module.name for module in MODULES}

# Which layers may import packages that are not Python's own. NumPy and ml_dtypes (its element types) go anywhere.
OUTSIDE = {
    "urwid": {"tui"},
    "wcwidth": {"tui", "document"},
    "pygments": {"document", "tui"},
    "google": {"formats", "capture"},
    "tomlkit": {"config"},
    "grpc": {"debug_server"},
    "IPython": {"line"},
    "tensorflow": {"capture", "examples"},
    "tf_keras": {"examples"},
    "pandas": {"api"},  # asked for by name, where it is installed
    "fsspec": {"formats"},  # for addresses, where it is installed
    "aiohttp": {"formats"},  # by which fsspec reads http://
    "numpy": None,
    "ml_dtypes": None,
}
PRIVATE_NAMES_ALLOWED = "tfdbg_cli.capture.tf.compat"


def table() -> dict[str, set[str]]:
    """What each layer may import, read from the page."""
    text = (PROJECT / "docs" / "design.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.+?) \| .+? \| (.+?) \|$", text, re.MULTILINE)
    layers = [(re.findall(r"`(\w+)/?`", names), rule) for names, rule in rows]
    everything = {name for names, _ in layers for name in names}
    basis = set(layers[0][0])
    allowed: dict[str, set[str]] = {}
    for names, rule in layers:
        for name in names:
            allowed[name] = {*names, *basis, *_permitted(rule, allowed, everything)}
    return allowed


def _permitted(rule: str, allowed: dict[str, set[str]], everything: set[str]) -> set[str]:
    if rule == "nothing of ours":
        return set()
    if rule.startswith("everything"):
        return everything - set(re.findall(r"\w+", rule)[2:])
    found: set[str] = set()
    for part in rule.split(", "):
        name = part.removesuffix(" and what it may import").strip("`/")
        assert name in everything, f"docs/design.md lets a layer import {name!r}, which is no layer"
        found |= {name} | (allowed[name] if " and what it may import" in part else set())
    return found


def rooms() -> dict[str, list[str]]:
    """The rooms of the layers that have some, from below to above; "" are the layer's own files."""
    text = (PROJECT / "docs" / "design.md").read_text(encoding="utf-8")
    found = {}
    for layer, rows in re.findall(r"^Inside `(\w+)/`:\n\n\| room .*\n.*\n((?:\|.*\n)+)", text, re.MULTILINE):
        named = re.findall(r"^\| (?:`([\w/]+)/`|its own files) \|", rows, re.MULTILINE)
        assert len(named) == len(rows.splitlines()), f"a row of the rooms of {layer} names no room"
        found[layer] = named
    return found


ALLOWED = table()
ROOMS = rooms()


def _room(name: str) -> str:
    """The room of a module: the folders between its layer and its file; "" where there is none."""
    parts = name.split(".")[2:]
    return "/".join(parts if (PACKAGE / "/".join(name.split(".")[1:])).is_dir() else parts[:-1])


def _module_of(target: str) -> str:
    """The module of ours that an imported name lies in."""
    while target not in _NAMES and "." in target:
        target = target.rpartition(".")[0]
    return target


def _ours(module: Module) -> list[tuple[str, int, bool]]:
    imports = [i for i in module.imports if i.target.split(".")[0] == "tfdbg_cli"]
    return sorted({(_module_of(i.target), i.line, i.typing_only) for i in imports})


def test_the_table_was_read() -> None:
    assert ALLOWED["model"] == {
        "model",
        "errors",
        "raising_parser",
        "version",
        "paths",
        "plain_files",
        "plain_text",
        "scratch_folder",
        "process",
    }
    assert "document" in ALLOWED["tui"]
    assert "tui" not in ALLOWED["line"]
    assert "cli" not in ALLOWED["api"]


@pytest.mark.parametrize("layer", sorted({module.layer for module in MODULES} - {"", "__main__", "examples"}))
def test_every_layer_stands_in_the_table(layer: str) -> None:
    assert layer in ALLOWED, f"docs/design.md says nothing about `{layer}`: add it to the table of layers"


def test_the_table_names_only_what_exists() -> None:
    gone = [name for name in ALLOWED if not (PACKAGE / name).is_dir() and not (PACKAGE / f"{name}.py").is_file()]
    assert not gone


def test_the_table_grants_only_what_is_used() -> None:
    used = {(module.layer, *target.split(".")[1:2]) for module in MODULES for target, _, _ in _ours(module)}
    basis = ALLOWED["errors"]
    granted = {
        (layer, other)
        for layer, others in ALLOWED.items()
        for other in others - basis - {layer}
        if layer not in {"line", "tui", "api", "cli"}  # of which the table does not name one by one what they may
    }
    assert granted - used == set()


def test_modules_import_only_their_own_layer_and_those_below() -> None:
    wrong = [
        f"{module.where}:{line}: {module.layer} may not import {target}"
        for module in MODULES
        if module.layer in ALLOWED
        for target, line, _ in _ours(module)
        if target.split(".")[1:2] and target.split(".")[1] not in ALLOWED[module.layer]
    ]
    # The root is the public API: it stands above every layer.
    wrong += [
        f"{module.where}:{line}: import from the module itself"
        for module in MODULES
        if module.layer in ALLOWED
        for target, line, _ in _ours(module)
        if target == "tfdbg_cli"
    ]
    assert not wrong, "\n".join(wrong)


def test_every_room_stands_in_its_table_and_exists() -> None:
    assert set(ROOMS) == {"analysis", "capture", "commands", "document", "formats", "tui"}
    for layer, named in ROOMS.items():
        there = {_room(m.name) for m in MODULES if m.layer == layer and m.path.stem != "__init__"}
        assert set(named) == there, f"docs/design.md and the folders of {layer}/ differ"


def test_modules_import_only_their_own_room_and_those_below() -> None:
    wrong = [row for module in MODULES if module.layer in ROOMS for row in _from_rooms_above(module)]
    assert not wrong, "\n".join(wrong)


def _from_rooms_above(module: Module) -> list[str]:
    order = ROOMS[module.layer]
    if (room := _room(module.name)) not in order:
        is_fine = module.path.stem == "__init__" and not _ours(module)
        return [] if is_fine else [f"{module.where}: {room} is no room of {module.layer}"]
    allowed = set(order[: order.index(room) + 1])
    return [
        f"{module.where}:{line}: {room or 'the own files'} may not import {target}"
        for target, line, _ in _ours(module)
        if target.split(".")[1] == module.layer and _room(target) not in allowed
    ]


def test_nobody_imports_a_verb() -> None:
    """What verbs share stands in the rooms below them. `standard` loads each by its name, when it is asked for."""
    verbs = "tfdbg_cli.commands.verbs."
    assert any(module.name.startswith(verbs) for module in MODULES)
    wrong = [
        f"{module.where}:{line}: {target}"
        for module in MODULES
        for target, line, _ in _ours(module)
        if target.startswith(verbs) and target != module.name
    ]
    assert not wrong, "\n".join(wrong)


def test_the_front_ends_stand_on_the_prompt_service() -> None:
    behind = {"tfdbg_cli.commands.context", "tfdbg_cli.commands.interpreter", "tfdbg_cli.commands.titles"}
    front_ends = [module for module in MODULES if module.layer in ("line", "tui")]
    assert front_ends
    wrong = [
        f"{module.where}:{line}: {target}"
        for module in front_ends
        for target, line, _ in _ours(module)
        if target in behind or target.startswith("tfdbg_cli.commands.verbs")
    ]
    wrong += [
        f"{module.where}:{found.line}: {found.target}"
        for module in front_ends
        for found in module.imports
        if found.target.endswith(".complete")
    ]
    assert not wrong, "ask the PromptService instead:\n" + "\n".join(wrong)


def test_the_examples_use_the_public_names_only() -> None:
    examples = [module for module in MODULES if module.layer == "examples"]
    assert examples
    wrong = [
        f"{module.where}:{line}: {target}"
        for module in examples
        for target, line, _ in _ours(module)
        if target != "tfdbg_cli" and not target.startswith("tfdbg_cli.examples")
    ]
    assert not wrong, "\n".join(wrong)


def test_outside_packages_stay_in_their_layers() -> None:
    wrong = [row for module in MODULES for row in _misplaced_packages(module)]
    assert not wrong, "\n".join(wrong)


def _misplaced_packages(module: Module) -> Iterator[str]:
    for found in module.imports:
        package = found.target.split(".")[0]
        if not package:
            yield f"{module.where}:{found.line}: a relative import; write the full name"
        elif package in sys.stdlib_module_names or package == "tfdbg_cli":
            continue
        elif package not in OUTSIDE:
            yield f"{module.where}:{found.line}: {package} is not a dependency of tfdbg"
        elif (layers := OUTSIDE[package]) is not None and module.layer not in layers:
            yield f"{module.where}:{found.line}: {package} may not be imported in {module.layer or 'the root'}"


def test_private_names_of_tensorflow_only_in_compat() -> None:
    others = [module for module in MODULES if module.name != PRIVATE_NAMES_ALLOWED]
    assert len(others) == len(MODULES) - 1
    wrong = [
        f"{module.where}:{found.line}: {found.target}"
        for module in others
        for found in module.imports
        if found.target.startswith(("tensorflow.python", "tensorflow.core", "keras.src", "tf_keras.src"))
    ]
    for module in others:
        if module.layer in ("capture", "examples"):
            wrong += _private_attributes(module)
    assert not wrong, "\n".join(wrong)


def _private_attributes(module: Module) -> list[str]:
    """Names with one leading underscore that are read from objects, though this module does not define them."""
    own = {node.name for node in module.nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    own.add("_replace")  # that of a named tuple is no private one
    own |= {node.attr for node in module.nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)}
    own |= {
        node.target.id
        for node in module.nodes
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    found = []
    for node in module.nodes:
        name = ""
        if isinstance(node, ast.Attribute):
            name = node.attr
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("getattr", "hasattr", "setattr"):
            named = node.args[1]
            name = named.value if isinstance(named, ast.Constant) and isinstance(named.value, str) else ""
        if name.startswith("_") and not name.startswith("__") and name not in own:
            found.append(f"{module.where}:{node.lineno}: {ast.unparse(node)}")
    return found


def test_no_import_cycles() -> None:
    graph = {m.name: {t for t, _, _ in _ours(m)} - {m.name} for m in MODULES}
    # The root only names the public classes and loads them when asked; every module imports it first.
    graph["tfdbg_cli"] = set()
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, "cycle: " + " → ".join((*trail[trail.index(name) :], name))
        if name not in done:
            for target in sorted(graph.get(name, ())):
                visit(target, (*trail, name))
            done.add(name)

    for name in sorted(graph):
        visit(name, ())


def test_a_file_holds_one_concept_under_its_own_name() -> None:
    nameless = {"util", "utils", "common", "helper", "helpers", "misc", "tools"}
    wrong = [f"{module.where}: a name that says nothing" for module in MODULES if module.path.stem in nameless]
    for module in MODULES:
        lines = len(module.path.read_text(encoding="utf-8").splitlines())
        if lines > 400:
            wrong.append(f"{module.where} has {lines} lines: it holds more than one thing")
    assert not wrong, "\n".join(wrong)
