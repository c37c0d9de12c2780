"""botocore reads a ConverseStream: its buffer the frames, its parser the events, its model the shapes.

What the events add up to is put together here, in a few lines that know nothing of ours.
"""

import json

import pytest

from judges.sources import MISSING

eventstream = pytest.importorskip("botocore.eventstream", reason=MISSING)
loaders = pytest.importorskip("botocore.loaders", reason=MISSING)
model = pytest.importorskip("botocore.model", reason=MISSING)
parsers = pytest.importorskip("botocore.parsers", reason=MISSING)

SERVICE = model.ServiceModel(loaders.Loader().load_service_model("bedrock-runtime", "service-2"))
SHAPE = SERVICE.operation_model("ConverseStream").output_shape.members["stream"]
UNKNOWN = "SDK_UNKNOWN_MEMBER"


class Body:
    def __init__(self, data):
        self._data = data

    def stream(self):
        yield self._data


def sdk_events(data):
    """The events as a program gets them; an exception frame raises botocore's EventStreamError."""
    parser = parsers.EventStreamJSONParser()
    return list(eventstream.EventStream(Body(data), SHAPE, parser, "ConverseStream"))


def check_grammar(events):
    """The order of events that every client relies on."""
    names = [name for event in events for name in event]
    assert names[0] == "messageStart"
    assert names.count("messageStart") == names.count("messageStop") == names.count("metadata") == 1
    assert set(names[-2:]) == {"messageStop", "metadata"}
    seen, is_open = -1, False
    for event in events:
        ((name, value),) = event.items()
        if not name.startswith("contentBlock"):
            continue
        number = value["contentBlockIndex"]
        if number == seen + 1 and not is_open:
            assert name != "contentBlockStop"
            seen, is_open = number, True
        else:
            assert (number, is_open) == (seen, True)
            assert name != "contentBlockStart"
        is_open = name != "contentBlockStop"
        assert UNKNOWN not in json.dumps(value, default=str)
    assert not is_open


def accumulated(events):
    """Calls, words, thoughts with their seals, hidden thoughts, the reason and the figures."""
    blocks, said = {}, {"stop": None, "usage": None}
    for event in events:
        ((name, value),) = event.items()
        match name, value:
            case "contentBlockStart", {"contentBlockIndex": number, "start": start}:
                blocks[number] = {"start": start}
            case "contentBlockDelta", {"contentBlockIndex": number, "delta": delta}:
                block = blocks.setdefault(number, {})
                ((kind, piece),) = delta.items()
                if kind == "reasoningContent":
                    ((kind, piece),) = piece.items()
                    kind = "thought" if kind == "text" else kind
                block[kind] = [*block.get(kind, []), piece]
            case "messageStop", _:
                said["stop"] = value["stopReason"]
            case "metadata", _:
                said["usage"] = value["usage"]
    ordered = [blocks[number] for number in sorted(blocks)]
    calls = [
        (block["start"]["toolUse"], "".join(piece["input"] for piece in block.get("toolUse", [])))
        for block in ordered
        if "toolUse" in block.get("start", {})
    ]
    return said | {
        "calls": [
            (use["toolUseId"], use["name"], given)
            for use, given in calls
            if use.get("type") != "server_tool_use"
        ],
        "text": ["".join(block["text"]) for block in ordered if "text" in block],
        "thoughts": [
            ("".join(block.get("thought", [])), "".join(block.get("signature", [])))
            for block in ordered
            if "thought" in block or "signature" in block
        ],
        "redacted": [block["redactedContent"] for block in ordered if "redactedContent" in block],
    }
