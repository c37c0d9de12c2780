"""The OpenAI SDK reads a stream of responses: its types judge the frames, its accumulator the whole."""

import json
from typing import get_args

import msgspec
import pytest

MISSING = "the SDK is not installed: pip install 'canonicall[judges]'"
openai = pytest.importorskip("openai", reason=MISSING)
httpx = pytest.importorskip("httpx", reason=MISSING)
frames = pytest.importorskip("openai.types.responses.response_stream_event", reason=MISSING)

TYPES = {
    get_args(one.model_fields["type"].annotation)[0]: one
    for one in get_args(get_args(frames.ResponseStreamEvent)[0])
}


class _Answering(httpx.BaseTransport):
    """A provider that always sends the same stream."""

    data = b""

    def handle_request(self, request):
        headers = {"content-type": "text/event-stream"}
        return httpx.Response(200, content=self.data, headers=headers)


_PROVIDER = _Answering()
_CLIENT = openai.OpenAI(
    api_key="none", base_url="http://test", http_client=httpx.Client(transport=_PROVIDER)
)


def accumulated(data):
    """The response as the SDK puts it together."""
    _PROVIDER.data = data
    last = None
    with _CLIENT.responses.stream(model="any", input="any") as stream:
        for event in stream:
            last = getattr(event, "response", None) or last
        state = stream._state
    if last.status == "completed" and not last.output:
        last.output = [item for _, item in sorted(state._completed_output.items())]
    return last


def reading(response):
    """Calls, words and thoughts of a response of the SDK's."""
    calls, words, thoughts = [], [], []
    for item in response.output:
        match item.type:
            case "function_call":
                calls.append((item.call_id, item.name, item.arguments))
            case "custom_tool_call":
                calls.append((item.call_id, item.name, item.input))
            case "tool_search_call" if item.execution == "client":
                said = msgspec.json.encode(item.arguments).decode()
                calls.append((item.call_id, "tool_search", said))
            case "message":
                words += [
                    getattr(part, "text", "") or getattr(part, "refusal", "")
                    for part in item.content
                ]
            case "reasoning":
                parts = item.summary or item.content or []
                thoughts.append("\n\n".join(part.text for part in parts))
    return calls, [one for one in words if one], thoughts


def check_frames(data, *, typed="all"):
    """Each frame is of its type, they are numbered, and an item has one id in all of them.

    Its pieces are what its end says. `typed`: "all" frames are looked at, "items" only, or "none".
    Returns the frames.
    """
    ids, said, read = {}, {}, []
    for block in data.decode().split("\n\n")[:-1]:
        if block.startswith(":"):
            continue
        name, line = block.split("\n")
        frame = json.loads(line.removeprefix("data: "))
        assert name == f"event: {frame['type']}"
        assert frame["sequence_number"] == len(read)
        read.append(frame)
        if typed == "all" or (typed == "items" and "response" not in frame):
            TYPES[frame["type"]].model_validate(frame)
        if "output_index" in frame:
            item_id = frame.get("item_id") or frame["item"].get("id")
            assert ids.setdefault(frame["output_index"], item_id) == item_id
        _check_pieces(frame, said)
    output = read[-1]["response"]["output"]
    assert [item.get("id") for item in output] == [ids[place] for place in range(len(output))]
    assert sorted(ids) == list(range(len(output)))
    return read


def _check_pieces(frame, said):
    kind, _, what = frame["type"].rpartition(".")
    key = (kind, frame.get("output_index"), frame.get("content_index"), frame.get("summary_index"))
    if what == "delta":
        said[key] = said.get(key, "") + frame["delta"]
    elif what == "done" and "item" not in frame and "part" not in frame:
        names = ("text", "refusal", "arguments", "input")
        assert said.get(key, "") == next(frame[name] for name in names if name in frame)
