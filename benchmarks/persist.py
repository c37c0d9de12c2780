"""What storing and loading cost: linear in the log, and next to msgspec alone."""

from collections.abc import Callable

import msgspec

from canonicall import Conversation, dump, load
from canonicall.blocks import Entry
from measuring import Ratio, Side, compare
from traffic import mixed_messages

SHORT = 1_000
LONG = 10_000
LINEAR = 1.3


def ratios() -> list[Ratio]:
    """Dump and load of long and short logs; then the same entries through msgspec alone."""
    messages = mixed_messages(LONG)
    long, short = Conversation.of(messages), Conversation.of(messages[:SHORT])
    assert load(dump(short)).conversation == short
    lines = [msgspec.json.encode(entry) for entry in short.entries]
    decoder = msgspec.json.Decoder(Entry)

    def bare_round_trip() -> list[Entry]:
        return [decoder.decode(msgspec.json.encode(entry)) for entry in short.entries]

    def bare_decode() -> list[Entry]:
        return [decoder.decode(line) for line in lines]

    stored = dump(short)
    one_short = Side(_round_trip(short), SHORT)
    return [
        compare(
            "dump + load, entry in 10,000 / in 1,000",
            Side(_round_trip(long), LONG),
            one_short,
            goal=LINEAR,
        ),
        compare("dump + load / bare msgspec both ways", one_short, Side(bare_round_trip, SHORT)),
        compare(
            "load alone / bare msgspec decode",
            Side(lambda: load(stored), SHORT),
            Side(bare_decode, SHORT),
        ),
    ]


def _round_trip(conversation: Conversation) -> Callable[[], object]:
    return lambda: load(dump(conversation))
