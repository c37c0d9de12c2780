"""Whether appending stays linear: the cost of a message in a long log and in a short one."""

from canonicall import Conversation
from measuring import Ratio, Side, compare
from traffic import mixed_messages

SHORT = 1_000
LONG = 10_000
LINEAR = 1.3


def ratios() -> list[Ratio]:
    """Mixed messages, with raw ids of their own and with two raw ids used again in every turn."""
    return [
        _growth("a message in 10,000 / in 1,000", reuse_ids=False),
        _growth("the same, raw ids reused every turn", reuse_ids=True),
    ]


def _growth(what: str, *, reuse_ids: bool) -> Ratio:
    messages = mixed_messages(LONG, reuse_ids=reuse_ids)

    def long() -> Conversation:
        return Conversation.of(messages)

    def short() -> Conversation:
        return Conversation.of(messages[:SHORT])

    return compare(what, Side(long, LONG), Side(short, SHORT), goal=LINEAR)
