"""Function responses: what the keys mean, and that a replay gives the same object."""

import pytest
from msgspec.structs import replace

from canonicall.blocks import Media, Native, Text, ToolResult, Unknown
from canonicall.wire.gemini.parts import decode_parts, encode_parts


def decoded(answer, findings=None):
    told = [] if findings is None else findings
    (block,) = decode_parts([{"functionResponse": answer}], "$.parts", "gemini-api", told)
    if findings is None:
        assert told == []
    return block


def encoded(result):
    (part,) = encode_parts([result], by_model=False)
    return part["functionResponse"]


RESPONSES = [
    ({"output": "sunny"}, "sunny", False),
    ({"result": "sunny"}, "sunny", False),
    ({"error": "no such city"}, "no such city", True),
    ({"error": {"code": 5}}, '{"code":5}', True),
    ({"error": "late", "code": 5}, '{"error":"late","code":5}', True),
    ({"error": None}, '{"error":null}', False),
    ({"error": False, "output": "x"}, '{"error":false,"output":"x"}', False),
    ({"return_value": "sunny"}, '{"return_value":"sunny"}', False),
    ({"result": 4}, '{"result":4}', False),
    ({"output": ["a", 1]}, '{"output":["a",1]}', False),
    ({"b": 1, "a": {"ü": None}}, '{"b":1,"a":{"ü":null}}', False),
    ({"output": ""}, "", False),
    ({"error": ""}, "", True),
]


@pytest.mark.parametrize(("response", "text", "error"), RESPONSES)
def test_a_response_is_read_as_words_and_replayed_as_the_same_object(response, text, error):
    answer = {"id": "c1", "name": "weather", "response": response}
    result = decoded(answer)
    assert result.content == (Text(text=text),)
    assert (result.error, result.call_id, result.name) == (error, "c1", "weather")
    assert result.is_complete is True
    assert encoded(result) == answer
    assert list(encoded(result)["response"]) == list(response)


@pytest.mark.parametrize("answer", [{"name": "f", "response": {}}, {"name": "f"}])
def test_an_empty_response_is_empty_content(answer):
    result = decoded(answer)
    assert (result.content, result.error, result.call_id) == ((), False, "")
    assert encoded(result) == {"name": "f", "response": {}}


def test_a_response_the_encoder_would_write_itself_is_not_kept_twice():
    assert decoded({"name": "f", "response": {"output": "x"}}).native is None
    kept = decoded({"name": "f", "response": {"value": 1}}).native
    assert kept == Native("gemini", {"response": {"value": 1}})


def test_the_kept_object_yields_to_content_that_has_changed():
    """Compaction shortens the content and leaves native fields alone."""
    result = decoded({"name": "f", "response": {"value": "a very long text"}})
    shorter = replace(result, content=(Text(text="short"),))
    assert encoded(shorter)["response"] == {"output": "short"}
    assert encoded(replace(result, error=True))["response"] == {"error": result.text}


def test_a_foreign_result_is_output_or_error():
    content = (Text(text="one"), Text(text="two"))
    result = ToolResult(call_id="c1", name="f", content=content)
    assert encoded(result) == {"id": "c1", "name": "f", "response": {"output": "one\ntwo"}}
    assert encoded(replace(result, error=True))["response"] == {"error": "one\ntwo"}
    assert encoded(ToolResult(name="f", content=(), error=True))["response"] == {"error": ""}


def test_json_text_of_a_foreign_result_stays_text():
    result = ToolResult(name="f", content=(Text(text='{"a": 1}'),))
    assert encoded(result)["response"] == {"output": '{"a": 1}'}


def test_media_of_a_result_stands_in_its_parts():
    answer = {
        "name": "shot",
        "response": {"output": "see"},
        "parts": [
            {"inlineData": {"mimeType": "image/png", "data": "AAAA"}},
            {"fileData": {"mimeType": "application/pdf", "fileUri": "https://example.org/a.pdf"}},
            {"mediaProcessing": {"x": 1}},
        ],
    }
    result = decoded(answer)
    assert result.content == (
        Text(text="see"),
        Media(media_type="image/png", data="AAAA"),
        Media(media_type="application/pdf", url="https://example.org/a.pdf"),
        Unknown(native=Native("gemini", {"mediaProcessing": {"x": 1}})),
    )
    assert encoded(result) == answer


def test_a_part_with_two_kinds_of_media_is_two():
    image = {"mimeType": "image/png", "data": "AAAA"}
    file = {"mimeType": "application/pdf", "fileUri": "https://example.org/a.pdf"}
    findings = []
    result = decoded({"response": {}, "parts": [{"inlineData": image, "fileData": file}]}, findings)
    assert encoded(result)["parts"] == [{"inlineData": image}, {"fileData": file}]
    assert [(one.code, one.where) for one in findings] == [
        ("part_split", "$.parts[0].functionResponse.parts[0]")
    ]


def test_snake_case_parts_are_read():
    answer = {
        "name": "f",
        "response": {},
        "parts": [{"inline_data": {"mime_type": "image/png", "data": "A", "display_name": "n"}}],
    }
    assert encoded(decoded(answer))["parts"] == [
        {"inlineData": {"displayName": "n", "mimeType": "image/png", "data": "A"}}
    ]


@pytest.mark.parametrize(("response", "text"), [("plain", "plain"), ([1, 2], "[1,2]"), (7, "7")])
def test_a_response_that_is_no_object_is_taken_as_text_and_reported(response, text):
    findings = []
    result = decoded({"name": "f", "response": response}, findings)
    assert result.text == text
    assert [(one.code, one.where) for one in findings] == [
        ("response_not_object", "$.parts[0].functionResponse.response")
    ]
    assert encoded(result)["response"] == {"output": text}


def test_a_response_that_will_continue_does_not_end_the_call():
    result = decoded({"name": "f", "response": {"output": "1"}, "will_continue": True})
    assert result.is_complete is False
    assert encoded(result)["willContinue"] is True
