"""The text of a configuration file, TOML or YAML, as plain values: nothing is understood yet.

Moments become text again, because only text can hold a reference; a name that stands twice in a
section is refused in both languages, where YAML by itself would drop the first.
"""

import tomllib
from datetime import date, time
from pathlib import PurePath
from typing import Any

from canonicall.errors import CanonicallError
from canonicall.gateway.config_problems import ROOT, Problems, inside

MOST_BYTES = 4 * 1024 * 1024
MOST_VALUES = 100_000
"""YAML repeats a part by naming it, and the repetition can be repeated: that must end somewhere."""
_DEEPEST = 40
_YAML = (".yaml", ".yml")
_TOO_LARGE = "the file is too large for a configuration."


class YamlMissing(CanonicallError, ImportError):
    """The package that reads YAML is not installed."""


def parse_text(data: bytes, file: str, problems: Problems) -> dict[str, Any]:
    """The values in a file, by its ending; empty where there are none, or it cannot be read."""
    ending = PurePath(file).suffix.lower()
    if ending != ".toml" and ending not in _YAML:
        problems.error(
            ROOT, "the name of the file does not say what is in it.", "End it with .toml or .yaml."
        )
        return {}
    if len(data) > MOST_BYTES:
        problems.error(ROOT, _TOO_LARGE)
        return {}
    try:
        text = data.decode("utf-8-sig")
        value = tomllib.loads(text) if ending == ".toml" else _yaml(text)
    except UnicodeDecodeError as error:
        problems.error(ROOT, f"byte {error.start + 1} is not UTF-8.", "Save the file as UTF-8.")
    except RecursionError:
        problems.error(ROOT, "it is nested too deeply.")
    except (tomllib.TOMLDecodeError, _Unreadable) as error:
        language = "TOML" if ending == ".toml" else "YAML"
        problems.error(ROOT, f"this is not {language}: {str(error).rstrip('.')}.")
    else:
        return _Plain(problems).root({} if value is None else value)
    return {}


class _Unreadable(Exception):
    """YAML that cannot be read, with the line."""


def _yaml(text: str) -> Any:
    try:
        import yaml  # noqa: PLC0415  an extra
    except ImportError:
        help = "Install it with: pip install 'canonicall[server]', or write TOML."
        raise YamlMissing(f"YAML needs the package PyYAML. {help}") from None

    class Loader(yaml.SafeLoader):
        """Builds plain values only, and takes no name twice."""

        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
            seen: set[str] = set()
            for key, _ in node.value:
                if isinstance(key, yaml.ScalarNode) and key.value in seen:
                    line = key.start_mark.line + 1
                    raise _Unreadable(f"{key.value!r} stands twice in one section (line {line})")
                seen |= {key.value} if isinstance(key, yaml.ScalarNode) else set()
            return super().construct_mapping(node, deep)

    try:
        return yaml.load(text, Loader)  # noqa: S506  a safe loader, and stricter
    except yaml.MarkedYAMLError as error:
        place = f" (line {error.problem_mark.line + 1})" if error.problem_mark else ""
        said = " ".join(filter(None, (error.context, error.problem)))
        raise _Unreadable(f"{said}{place}") from None
    except (yaml.YAMLError, ValueError) as error:
        # A date such as 2026-02-30 is a ValueError.
        raise _Unreadable(" ".join(str(error).split())) from None


class _Plain:
    """Values as the rest expects them: text for moments, names that are text, a bounded size."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._left = MOST_VALUES

    def root(self, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            self._problems.error(
                ROOT, "the file is not made of named sections.", "Begin with `providers:`."
            )
            return {}
        plain: dict[str, Any] = self._plain(value, ROOT, 0)
        return {} if self._left < 0 else plain

    def _plain(self, value: Any, where: str, depth: int) -> Any:
        self._left -= 1
        if self._left <= 0 or depth > _DEEPEST:
            if self._left >= 0:
                self._problems.error(ROOT, _TOO_LARGE, "It repeats or nests its parts too often.")
            self._left = -1
            return {}
        if isinstance(value, dict):
            return self._mapping(value, where, depth)
        if isinstance(value, list):
            return [self._plain(one, inside(where, at), depth + 1) for at, one in enumerate(value)]
        return value.isoformat() if isinstance(value, date | time) else value

    def _mapping(self, value: dict[Any, Any], where: str, depth: int) -> dict[str, Any]:
        for name in value:
            if not isinstance(name, str):
                what = f"the name {name!r} is not text."
                place = inside(where, str(name))
                self._problems.error(place, what, f'Put it in quotes: "{name}".')
        return {
            name: self._plain(one, inside(where, name), depth + 1)
            for name, one in value.items()
            if isinstance(name, str)
        }
