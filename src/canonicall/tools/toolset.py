"""A toolset: tools in order, each name once. It never changes; what looks like it makes another."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from msgspec import Struct

from canonicall.errors import InvalidValue, UnknownName
from canonicall.findings import Finding
from canonicall.request import Tool
from canonicall.tools.bound import BoundTool
from canonicall.tools.functions import tool as tool_of


class Toolset(Struct, frozen=True):
    """Tools by name, in the order they are offered."""

    by_name: dict[str, BoundTool] = {}
    findings: tuple[Finding, ...] = ()
    """What reading their definitions had to change or leave out."""

    @classmethod
    def of(cls, *tools: "BoundTool | Toolset | Callable[..., Any]") -> "Toolset":
        """A set of these tools, functions and sets. Two tools of one name are refused."""
        findings: list[Finding] = []
        by_name: dict[str, BoundTool] = {}
        for given in tools:
            if isinstance(given, Toolset):
                findings += given.findings
                _add(by_name, given)
            else:
                _add(by_name, [given if isinstance(given, BoundTool) else tool_of(given)])
        return cls(by_name, tuple(findings))

    @property
    def offered(self) -> dict[str, Tool]:
        """The definitions by name, as `validate_call` takes them; the values are a request's."""
        return {name: one.tool for name, one in self.by_name.items()}

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in order."""
        return tuple(self.by_name)

    def merged(self, *others: "BoundTool | Toolset | Callable[..., Any]") -> "Toolset":
        """These tools, then the others."""
        return Toolset.of(self, *others)

    def filtered(self, keep: Callable[[BoundTool], bool] | Iterable[str]) -> "Toolset":
        """The tools that `keep` says yes to, or those with these names. The order stays."""
        if callable(keep):
            kept = [one for one in self if keep(one)]
        else:
            wanted = {keep} if isinstance(keep, str) else set(keep)
            for name in sorted(wanted - set(self.names)):
                raise UnknownName("tool", name, self.names)
            kept = [one for one in self if one.name in wanted]
        return Toolset({one.name: one for one in kept}, self.findings)

    def prefixed(self, prefix: str) -> "Toolset":
        """Every name with this in front: servers do not agree about the names of their tools."""
        return Toolset.of(
            Toolset(findings=self.findings), *(one.renamed(prefix + one.name) for one in self)
        )

    def __getitem__(self, name: str) -> BoundTool:
        found = self.by_name.get(name)
        if found is None:
            raise UnknownName("tool", name, self.names)
        return found

    def __contains__(self, name: object) -> bool:
        return name in self.by_name

    def __iter__(self) -> Iterator[BoundTool]:
        return iter(self.by_name.values())

    def __len__(self) -> int:
        return len(self.by_name)

    def __or__(self, other: "Toolset") -> "Toolset":
        return self.merged(other)


def _add(by_name: dict[str, BoundTool], tools: Iterable[BoundTool]) -> None:
    for one in tools:
        if one.name in by_name:
            raise InvalidValue(
                "two tools have this name.",
                where=one.name,
                help="Give one another name: renamed(...), or prefixed(...) for a whole set.",
            )
        by_name[one.name] = one
