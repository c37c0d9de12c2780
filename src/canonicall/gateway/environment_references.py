"""References to the environment in a configuration: `${NAME}`, `${NAME:-default}`, `$$`.

They are put in after the file was parsed, so that no value of a variable can change its structure.
"""

import re
from collections.abc import Mapping
from typing import Any

from canonicall.gateway.config_problems import Problems, inside

_DOLLAR = re.compile(r"\$(?:\$|\{(?P<name>[A-Za-z_]\w*)(?::-(?P<default>[^}]*))?\}|)")


def fill_references(value: Any, environ: Mapping[str, str], where: str, problems: Problems) -> Any:
    """`value` with every reference in its texts replaced."""
    if isinstance(value, dict):
        return {
            name: fill_references(one, environ, inside(where, name), problems)
            for name, one in value.items()
        }
    if isinstance(value, list):
        return [
            fill_references(one, environ, inside(where, at), problems)
            for at, one in enumerate(value)
        ]
    if isinstance(value, str) and "$" in value:
        return _DOLLAR.sub(lambda found: _filled(found, environ, where, problems), value)
    return value


def _filled(
    found: re.Match[str], environ: Mapping[str, str], where: str, problems: Problems
) -> str:
    name, default = found["name"], found["default"]
    if found[0] == "$$":
        return "$"
    if name is None:
        what = "a dollar sign stands alone."
        problems.error(where, what, "Write ${NAME} for a variable, and $$ for the sign itself.")
        return ""
    problems.hide(environ.get(name, ""), f"${{{name}}}")
    if default is not None:
        # As in a shell: a variable that is empty counts as missing here.
        return environ.get(name) or default
    if name not in environ:
        help = f"Set it, or give a default: ${{{name}:-...}}."
        problems.error(where, f"the environment variable {name} is not set.", help)
    return environ.get(name, "")
