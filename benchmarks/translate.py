"""A request of 200 messages and 500 KB to another format, bytes to bytes, with every check on.

The floor is what no translator can go below: parsing the same bytes and writing them again. Time is
the processor's own, so that other programs of the machine do not count.
"""

from functools import partial
from time import process_time

import orjson

from canonicall import decode_request, encode_request, translate
from measuring import Ratio, Side
from measuring import compare as compare_by
from request_bodies import chat_request

STEPS = 100
FEW_STEPS = 10
compare = partial(compare_by, clock=process_time, repeats=20)
OTHER_WAYS = (
    ("openai-chat", "gemini"),
    ("openai-responses", "anthropic"),
    ("anthropic", "openai"),
    ("anthropic", "openai/openai-responses"),
)


def ratios() -> list[Ratio]:
    """From Chat to Anthropic whole, short and in halves, and the other ways."""
    data = chat_request(STEPS)
    floor = Side(lambda: orjson.dumps(orjson.loads(data)), 1)
    request = decode_request(data, "openai-chat")
    return [
        compare(
            "Chat to Anthropic, bytes to bytes / floor",
            Side(lambda: translate(data, "openai-chat", "anthropic").data, 1),
            floor,
            goal=1.8,
        ),
        compare("decoding alone", Side(lambda: decode_request(data, "openai-chat"), 1), floor),
        compare(
            "rendering and encoding", Side(lambda: encode_request(request, "anthropic"), 1), floor
        ),
        _way(chat_request(FEW_STEPS), "openai-chat", "anthropic", f"{2 * FEW_STEPS} messages: "),
        *(_way(_in_format(data, source), source, target) for source, target in OTHER_WAYS),
    ]


def _way(data: bytes, source: str, target: str, what: str = "") -> Ratio:
    floor = Side(lambda: orjson.dumps(orjson.loads(data)), 1)
    ours = Side(lambda: translate(data, source, target).data, 1)
    return compare(f"{what}{source} to {target} / floor", ours, floor)


def _in_format(data: bytes, format: str) -> bytes:
    """The same request as clients of a format send it."""
    providers = {"anthropic": "anthropic", "openai-responses": "openai/openai-responses"}
    return translate(data, "openai-chat", providers[format]).data if format in providers else data
