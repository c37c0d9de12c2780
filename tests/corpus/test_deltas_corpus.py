"""Recorded conversations, cut in two: what the provider would keep, and the delta that is sent.

Each was accepted as a whole. So a delta that begins anywhere after a reply is accepted too, and its
own provider gets it as it is.
"""

from batches import each
from canonicall import decode_request, encode_request, verify
from corpus.support import FORMATS, needs_corpus, requests

pytestmark = needs_corpus
EVERY = {
    "openai-responses": 3,
    "anthropic-messages": 6,
    "gemini-generate": 3,
    "bedrock-converse": 2,
}
"""One record of so many is cut."""
CUTS = 6
"""The most cuts of one record."""
THREAD = {"type": "continue", "previous_message_id": "msg_1"}
KEPT = {
    "openai-responses": ("input", (), {"previous_response_id": "resp_1"}),
    "anthropic-messages": ("messages", ("system", "tools"), {"thread": THREAD}),
    "gemini-generate": (
        "contents",
        ("systemInstruction", "system_instruction", "tools", "toolConfig", "tool_config"),
        {"cachedContent": "cachedContents/a"},
    ),
    "bedrock-converse": ("messages", (), {"promptVariables": {"a": {"text": "b"}}}),
}
"""By protocol: the list that is cut, what the provider keeps, and what refers to it."""
OWNERS = ("openai", "anthropic", "gemini", "bedrock")
OURS = ("function_call", "custom_tool_call", "reasoning", "message")
INVENTED = ("ending_added", "bridge_added", "tool_stubs_added", "orphan_not_sent", "words_added")


def owner(record):
    format = FORMATS[record["protocol"]]
    return f"{record['provider']}/{format}:{record['model']}"


def ends_reply(item):
    """Whether something of the model's ends with an entry of the list."""
    return item.get("role") in ("assistant", "model") or item.get("type") in OURS[:2]


def deltas(protocol):
    field, kept, reference = KEPT[protocol]
    kept_there = [one for one in requests(protocol) if one["provider"] in OWNERS]
    for record in kept_there[:: EVERY[protocol]]:
        body = record["request"]
        items = body.get(field)
        is_cut = isinstance(items, list) and record["status"] == 200
        if not is_cut or verify(body, owner(record)):
            continue
        places = [at for at, one in enumerate(items) if isinstance(one, dict) and ends_reply(one)]
        rest = {name: value for name, value in body.items() if name not in kept}
        for at in places[-CUTS:]:
            after = items[at + 1 :]
            if after and not ends_reply(after[0]):
                yield record, {**rest, **reference, field: after}


def rendered(body, record):
    return encode_request(decode_request(body, FORMATS[record["protocol"]]), owner(record))


@each("protocol", KEPT)
def test_a_delta_of_an_accepted_conversation_is_accepted(protocol):
    seen = 0
    for record, body in deltas(protocol):
        seen += 1
        found = [(one.code, one.where) for one in verify(body, owner(record))]
        assert found == [], record["id"]
        encoded = rendered(body, record)
        made_up = {one.code for one in encoded.report} & {*INVENTED}
        if made_up:
            # What is rendered keeps to narrower rules than the service has.
            assert made_up <= {one.code for one in rendered(record["request"], record).report}
        assert not verify(encoded.body, owner(record)), record["id"]
    assert seen > 20, seen
