"""Recorded streams against the grammars: what a format's owner wrote is grammatical.

Only recordings of the owner count: other hosts of a format take liberties with it. Where an owner
breaks its own grammar the recording is named, with the reason why the rule stands all the same.
"""

import json

from batches import each
from canonicall.framing.eventstream import write_frame
from canonicall.verify import verify_stream
from corpus.support import needs_corpus, recorded

pytestmark = needs_corpus

# The format of each protocol, and who owns it.
OWNERS = {
    "anthropic-messages": ("anthropic", {"anthropic", "vertex"}),
    "openai-chat": ("openai-chat", {"openai"}),
    "openai-responses": ("openai-responses", {"openai", "azure"}),
    "gemini-generate": ("gemini", {"gemini", "vertex"}),
    "bedrock-converse": ("bedrock", {"bedrock"}),
    "cohere-v2": ("cohere", {"cohere"}),
    "ollama-chat": ("ollama", {"ollama"}),
}

_WHOLE = (
    (
        "a call made by running code: the message comes whole in message_start, with its reason; "
        "clients that read blocks see nothing of it"
    ),
    {"event_out_of_order", "finish_missing"},
)
_UNNUMBERED = ("of spring 2025, before events had numbers", {"sequence_broken"})
_PROGRAMMATIC = (
    "vercel/ai:packages/anthropic/src/__fixtures__/anthropic-programmatic-tool-calling.1.chunks.txt"
)
WRITTEN_ANYWAY = {
    f"{_PROGRAMMATIC}#0.6": _WHOLE,
    f"{_PROGRAMMATIC}#0.7": _WHOLE,
    f"{_PROGRAMMATIC}#0.10": _WHOLE,
    "vercel/ai:packages/amazon-bedrock/src/__fixtures__/"
    "amazon-bedrock-json-other-tool.1.chunks.txt#0": (
        "a fixture cut by hand: no messageStart, metadata without metrics before messageStop",
        {"stream_not_started", "event_out_of_order", "frame_field_missing", "event_after_end"},
    ),
    "0xPlaygrounds/rig:tests/cassettes/gemini/stream_terminal_matrix/"
    "two_terminal_stream_with_visible_thoughts.yaml#0": (
        (
            "recorded because it is odd: the candidate ends twice; clients that stop at the first "
            "reason lose half of the text"
        ),
        {"event_out_of_order"},
    ),
    "DataDog/dd-trace-py:tests/contrib/openai/cassettes/v1/"
    "response_function_call_streamed.yaml#0": _UNNUMBERED,
    "pydantic/pydantic-ai:tests/models/cassettes/test_openai_responses/"
    "test_openai_responses_stream.yaml#0": _UNNUMBERED,
    "pydantic/pydantic-ai:tests/models/cassettes/test_openai_responses/"
    "test_openai_responses_stream.yaml#1": _UNNUMBERED,
    "anomalyco/opencode:packages/opencode/test/fixtures/recordings/session/"
    "native-openai-oauth-tool-loop.json#0": (
        (
            "the backend of ChatGPT: the terminal response has no output; clients that read only "
            "that see nothing"
        ),
        {"done_differs"},
    ),
    "pydantic/pydantic-ai:tests/models/cassettes/test_openai_responses/"
    "test_openai_responses_model_mcp_list_tools_stream_backfills_missing_results.yaml#0": (
        "recorded because it is odd: a listing of tools never ends; the official client raises",
        {"block_left_open"},
    ),
}


def bytes_of(record):
    """The stream as it was on the wire."""
    if record["framing"] == "json-array":
        return json.dumps(record["response"]).encode()
    return b"".join(_frame(frame, record["framing"]) for frame in record["response"])


def _frame(frame, framing):
    if "comment" in frame:
        return f": {frame['comment']}\n\n".encode()
    name, data = frame["event"], frame["data"]
    if framing == "eventstream":
        return write_frame(name, data.encode())
    if framing == "ndjson":
        return f"{data}\n".encode()
    payload = "".join(f"data: {line}\n" for line in data.split("\n"))
    return (f"event: {name}\n" if name else "").encode() + payload.encode() + b"\n"


def streams():
    for protocol, (_, owners) in OWNERS.items():
        for record in recorded(protocol):
            if record["provider"] in owners and isinstance(record["response"], list):
                yield record


def is_forced(record):
    return isinstance((record["request"] or {}).get("tool_choice"), dict)


@each("record", streams)
def test_what_the_owner_of_a_format_writes_is_grammatical(record):
    format, _ = OWNERS[record["protocol"]]
    expected = WRITTEN_ANYWAY.get(record["id"], ("", set()))[1]
    codes = set(verify_stream(bytes_of(record), format).counts)
    # OpenAI ends a call that was forced by name with "stop". Agents that go by the reason stop there,
    # so nobody else should write it.
    if record["protocol"] == "openai-chat" and is_forced(record):
        codes.discard("finish_hides_calls")
    assert codes == expected


def test_every_exception_is_recorded():
    assert set(WRITTEN_ANYWAY) <= {record["id"] for record in streams()}


def test_enough_streams_are_judged():
    assert len(list(streams())) > 600
