"""Values of labels, of which there are never too many: each one is a time series for good."""

from collections.abc import Iterable

from canonicall.gateway.config import fits

OTHER = "other"
_MOST = 100


class Bounded:
    """The first values that come; all that are new after those are `other`."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._known: set[str] = set()

    def label(self, value: str) -> str:
        """The value itself while there is room."""
        if value not in self._known:
            if len(self._known) >= self._most:
                return OTHER
            self._known.add(value)
        return value


class ModelNames:
    """Names of models as the settings have them: what clients make up is `other`."""

    def __init__(self, names: Iterable[str]) -> None:
        self._plain: set[str] = set()
        self._patterns: tuple[str, ...] = ()
        self.know(names)

    def know(self, names: Iterable[str]) -> None:
        """From now on these are the names."""
        listed = tuple(names)
        self._plain = {name for name in listed if "*" not in name}
        self._patterns = tuple(name for name in listed if "*" in name)

    def label(self, name: str) -> str:
        """The name or the first pattern that it fits; empty where no model is asked for."""
        if not name or name in self._plain:
            return name
        return next((one for one in self._patterns if fits(one, name)), OTHER)
