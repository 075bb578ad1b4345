"""Random command strings from the registry's own flags, with names that exist, names that nearly do, and noise."""

from __future__ import annotations

import random
from collections.abc import Sequence

from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.registry import Argument, ArgumentKind, Command, Registry
from tfdbg_cli.commands.syntax import quoted

_TEXTS = (
    "", "0", "1", "-1", "2.5", "1e99", "-inf", "inf", "nan", "-0", "99999999999999999999", "٣", "loss", "^loss",
    "(", "[", "*", "a{9999999}", "(?P<x>", "\\", "float32", "float", "bool", "5,?,3", "*,10", "4,3", "?", "",
    "<100ms", "[1us,5ms)", ">=2us", "(,)", "[0,1]", "[[0,1],[-inf,0]]", "[1", "]", "'", '"', "`", "exec_time",
    "tensor_name", "dump_size", "shape", "has_inf_or_nan", "has_nan", "train.py", "no/such/train.py", "on", "off",
    "show", "set", "\x1b[2J", "a b", "Käse", "🙂", "\ud800", "x" * 300, "--", "-", "-n", "--help", "=", "None",
)  # fmt: skip
_SLICES = (
    "", "[0]", "[-1, :]", "[..., 0]", "[:, None]", "[::0]", "[::-1]", "[9]", "[0, 0, 0, 0]", "[]", "[a]", "[1.5]",
    "[:", "[0][0]", "[10**10]", "[True]", "[np.newaxis]", "[99999999999999999999]",
)  # fmt: skip
_EXPRESSIONS = (
    "`{}`", "np.isnan(`{}`).sum()", "`{}` + 1", "`{}`[0]", "`{}`.T", "`{}` > 0.5", "'`{}` > 0.5'", "np.abs(`{}`)",
    "np.load(`{}`)", "`{}`.__class__", "1/0", "[x for x in `{}`]", "lambda: 1", "`{}` @ `{}`", "np", "np.random",
    "2**2**99", "`{}`.tofile('x')", "(", "``", "print(1)", "{{}}", "10**999", "`{}`.reshape(-1)", "np.zeros(10**13)",
    "'a'*10",
)  # fmt: skip


class CommandMaker:
    """Commands for one stop. The same `seed` makes the same commands."""

    def __init__(self, seed: int, context: Context, registry: Registry) -> None:
        self._random = random.Random(seed)
        self._commands = list(registry)
        nodes = list(context.graph.names())
        self._names = [*nodes, *(f"{node}:{slot}" for node in nodes for slot in (0, 1))]
        self._feeds = list(context.call.feeds)
        self._filters = list(context.filters)
        self._words = registry.names()

    def command(self) -> str:
        """One command string, more often right than wrong."""
        pick = self._random
        command = pick.choice(self._commands)
        words = [pick.choice((command.name, *command.aliases))]
        if pick.random() < 0.02:
            words = [self._near(words[0])]
        for argument in command.arguments:
            words += self._argument(command, argument)
        if pick.random() < 0.05:
            words.insert(pick.randrange(len(words) + 1), pick.choice(_TEXTS))
        if pick.random() < 0.03:
            words.append(
                pick.choice(("> ", ">| ", ">|")) + quoted(pick.choice(("out.txt", "no/such/folder", *_TEXTS)))
            )
        text = " ".join(words)
        if pick.random() < 0.05:
            at = pick.randrange(len(text) + 1)
            text = text[:at] + pick.choice("[]()'\"`>= \\\t\n") + text[at:]
        return text

    def _argument(self, command: Command, argument: Argument) -> Sequence[str]:
        pick = self._random
        if not argument.positional and pick.random() < 0.7:
            return ()
        if argument.positional and pick.random() < 0.05:
            return ()
        if argument.switch:
            return (pick.choice(argument.flags),)
        value = self._value(argument)
        spelled = value if pick.random() < 0.3 else quoted(value)
        if argument.positional:
            return (spelled,)
        flag = pick.choice(argument.flags)
        return (f"{flag}={spelled}",) if pick.random() < 0.2 else (flag, spelled)

    def _value(self, argument: Argument) -> str:
        pick = self._random
        if argument.choices and pick.random() < 0.7:
            return pick.choice(argument.choices)
        if argument.nargs == "...":
            return pick.choice(_EXPRESSIONS).format(pick.choice(self._names), pick.choice(self._names))
        if pick.random() < 0.15:
            return pick.choice(_TEXTS)
        match argument.kind:
            case ArgumentKind.NODE:
                return self._perhaps_near(self._names)
            case ArgumentKind.TENSOR:
                return self._perhaps_near(self._names) + pick.choice(_SLICES) * (pick.random() < 0.5)
            case ArgumentKind.FEED:
                return self._perhaps_near(self._feeds) + pick.choice(_SLICES) * (pick.random() < 0.5)
            case ArgumentKind.FILTER:
                return self._perhaps_near(self._filters)
            case ArgumentKind.COMMAND:
                return self._perhaps_near(self._words)
            case ArgumentKind.SOURCE:
                return pick.choice(("train.py", "/home/ada/train.py", "gen_ops.py", "rain.py", "nowhere.py"))
            case _:
                return pick.choice((*_TEXTS, str(pick.randrange(-3, 30))))

    def _perhaps_near(self, names: Sequence[str]) -> str:
        name = self._random.choice(names or ("x:0",))
        return self._near(name) if self._random.random() < 0.1 else name

    def _near(self, name: str) -> str:
        at = self._random.randrange(len(name) or 1)
        return name[:at] + self._random.choice(("", "x", ":", "/", " ", "é")) + name[at + 1 :]
