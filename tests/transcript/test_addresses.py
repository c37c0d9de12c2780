"""Media at an address that the target cannot fetch: a note with the address, and a finding."""

import pytest

from canonicall import Conversation, Media, Request, Text, ToolCall, encode_request, verify

NOVA, CLAUDE = "bedrock:amazon.nova-pro-v1:0", "bedrock:anthropic.claude-sonnet-4-5"
WEB, BUCKET = "https://a.example/b.png", "s3://a/b.png"


@pytest.mark.parametrize(
    ("target", "url", "is_sent"),
    [
        (NOVA, BUCKET, True),
        (NOVA, WEB, False),
        (CLAUDE, BUCKET, False),
        ("ollama:llava", WEB, False),
        ("anthropic:claude-sonnet-4-5", WEB, True),
    ],
)
@pytest.mark.parametrize("place", ["of the user", "of a result"])
def test_what_cannot_be_fetched_is_told(target, url, is_sent, place):
    talk = Conversation()
    picture = Media(media_type="image/png", url=url)
    if place == "of the user":
        talk.user([picture, Text(text="What is this?")])
    else:
        talk.user("Look!")
        talk.assistant(ToolCall(id="call_1", name="look", args={}, raw="{}"))
        talk.result("call_1", [picture])
    made = encode_request(Request(talk), target)
    provider = target.partition(":")[0]
    assert not verify(made.body, provider)
    assert ("media_dropped" in made.report) is not is_sent
    assert url in str(made.body)
    assert ("left out" in str(made.body)) is not is_sent
