"""Keys that cannot be shown by accident: not in a repr, not in an error, not in a log."""

from collections.abc import Iterable

HIDDEN = "***"
_SHORTEST = 6
"""Shorter texts are no keys of a real provider; to hide them would garble innocent words."""


class Secret:
    """A text that only `reveal` gives."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The text itself, for the header it goes into."""
        return self._text

    def __bool__(self) -> bool:
        return bool(self._text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __repr__(self) -> str:
        return f"Secret({HIDDEN})" if self._text else "Secret()"

    __str__ = __repr__


def hide(text: str, secrets: Iterable[Secret]) -> str:
    """`text` without the secrets: providers quote keys in what they say."""
    for secret in secrets:
        if len(secret.reveal()) >= _SHORTEST:
            text = text.replace(secret.reveal(), HIDDEN)
    return text


def hide_in_bytes(data: bytes, secrets: Iterable[Secret]) -> bytes:
    """`data` without the secrets."""
    for secret in secrets:
        if len(secret.reveal()) >= _SHORTEST:
            data = data.replace(secret.reveal().encode(), HIDDEN.encode())
    return data
