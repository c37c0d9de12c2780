"""What the pages of providers are built of: numbered sources, and tables."""

from collections.abc import Iterable, Iterator, Sequence

from canonicall.facts.profile import Provenance

_TRUST = {"A": "documented", "B": "recorded", "C": "reported", "U": "uncertain"}


class Sources:
    """The sources of one page, each with one number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def mark(self, *texts: str) -> str:
        """The numbers of these sources, as links to them."""
        numbers = [self._numbers.setdefault(text, len(self._numbers) + 1) for text in texts]
        return " ".join(f"[{number}](#sources)" for number in dict.fromkeys(numbers))

    def of(self, fact: Provenance) -> str:
        return self.mark(
            f"{fact.source} ({fact.date}, {fact.confidence}: {_TRUST[fact.confidence]})"
        )

    def of_format(self, format: str) -> str:
        place = rules_of(format)
        return self.mark(
            f"The rules of the format `{format}`, each with its source: [{place}](../../{place})"
        )

    def lines(self) -> Iterator[str]:
        return (f"{number}. {text}" for text, number in self._numbers.items())


def rules_of(format: str) -> str:
    return f"src/canonicall/facts/formats/{format}.toml"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(cells)} |" for cells in rows]
    return [f"| {' | '.join(head)} |", "|" + "---|" * len(head), *lines]
