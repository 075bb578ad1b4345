"""Variables around their updates: the nodes by which a run shows what they held before and after.

An update gives nothing back, so no node of the program tells what it left in its variable. `NAME/after_update`, of
the op type `UPDATED_VARIABLE`, is a node that tfdbg adds for that; `NAME/before_update` holds the value from before.
"""

from __future__ import annotations

from tfdbg_cli.model.graph import GIVEN_BY_SET

UPDATED_VARIABLE = "UpdatedVariable"  # the op type of a node that shows a variable after its update
BEFORE_UPDATE = "VariableBeforeUpdate"  # of one that shows it before, in runs that do
OWN_OPS = frozenset({UPDATED_VARIABLE, BEFORE_UPDATE, GIVEN_BY_SET})  # op types of nodes that no program made

_AFTER, _BEFORE = "/after_update", "/before_update"


def after_update(variable: str) -> str:
    """The name of the node that shows `variable` after its update."""
    return variable + _AFTER


def before_update(variable: str) -> str:
    """The name of the node that shows `variable` before its update."""
    return variable + _BEFORE


def updated_variable(node: str) -> str:
    """The variable that `node` shows after its update; the name of any other node as it is."""
    return node.removesuffix(_AFTER)


def is_after_update(node: str) -> bool:
    """Whether that is the name of a node that shows a variable after its update."""
    return node.endswith(_AFTER)
