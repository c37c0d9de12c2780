"""Text of others on a terminal: what would steer the terminal is shown instead of obeyed."""

_STEERING = (
    *range(0x20),  # escape, bell, carriage return and their like
    *range(0x7F, 0xA0),
    *range(0x202A, 0x202F),  # changes of the writing direction
    *range(0x2066, 0x206A),
)
_SHOWN = {code: f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" for code in _STEERING}
_SHOWN_IN_LINES = {code: shown for code, shown in _SHOWN.items() if chr(code) not in "\n\t"}


def visible(text: str) -> str:
    """`text` with its lines, and with control characters written out."""
    return text.translate(_SHOWN_IN_LINES)


def in_one_line(text: str) -> str:
    """`text` as a single line."""
    return text.translate(_SHOWN)
