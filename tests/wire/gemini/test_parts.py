"""Every kind of part, both ways."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall.blocks import (
    Code,
    Media,
    Native,
    Opaque,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)
from canonicall.errors import MalformedBody
from canonicall.wire.gemini.parts import decode_parts, encode_parts

DOMAIN = "gemini-api"
SEAL = Opaque(DOMAIN, "signature", "c2VhbA==")


def decoded(*parts, findings=None):
    told = [] if findings is None else findings
    blocks = decode_parts(list(parts), "$.parts", DOMAIN, told)
    if findings is None:
        assert told == []
    return blocks


def encoded(*blocks):
    return encode_parts(blocks, by_model=True, domain=DOMAIN)


ONE_TO_ONE = [
    ({"text": "hello"}, Text(text="hello")),
    ({"text": "", "thoughtSignature": "c2VhbA=="}, Text(text="", opaque=(SEAL,))),
    ({"text": "hm", "thought": True}, Thinking(text="hm")),
    (
        {"text": "hm", "thought": True, "thoughtSignature": "c2VhbA=="},
        Thinking(text="hm", opaque=(SEAL,)),
    ),
    (
        {"functionCall": {"name": "f", "args": {"a_b": 1}}, "thoughtSignature": "c2VhbA=="},
        ToolCall(name="f", args={"a_b": 1}, opaque=(SEAL,)),
    ),
    (
        {"functionCall": {"id": "x1", "name": "f", "args": {}}},
        ToolCall(id="x1", name="f", args={}),
    ),
    (
        {"executableCode": {"language": "PYTHON", "code": "1+1", "id": "e1"}},
        Code(
            code="1+1",
            language="python",
            native=Native("gemini", {"executableCode": {"id": "e1"}}),
        ),
    ),
    (
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}},
        Unknown(
            native=Native(
                "gemini", {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}}
            )
        ),
    ),
    (
        {"newKind": {"x": 1}, "thoughtSignature": "c2VhbA=="},
        Unknown(native=Native("gemini", {"newKind": {"x": 1}}), opaque=(SEAL,)),
    ),
    (
        {"text": "t", "partMetadata": {"k": 1}},
        Text(text="t", native=Native("gemini", {"partMetadata": {"k": 1}})),
    ),
]


@pytest.mark.parametrize(("part", "block"), ONE_TO_ONE)
def test_a_part_and_its_block_say_the_same(part, block):
    assert decoded(part) == [block]
    assert encoded(block) == [part]


def test_snake_case_is_read_and_camel_case_written():
    parts = [
        {"function_call": {"name": "f", "args": {"snake_key": 1}}, "thought_signature": "c2VhbA=="},
        {"function_response": {"name": "f", "response": {"snake_key": 1}}},
        {"executable_code": {"language": "PYTHON", "code": "1"}},
    ]
    assert encoded(*decoded(*parts)) == [
        {"functionCall": {"name": "f", "args": {"snake_key": 1}}, "thoughtSignature": "c2VhbA=="},
        {"functionResponse": {"name": "f", "response": {"snake_key": 1}}},
        {"executableCode": {"language": "PYTHON", "code": "1"}},
    ]


def test_null_and_false_say_nothing():
    part = {"text": "t", "thought": False, "thoughtSignature": None, "functionCall": None}
    assert decoded(part) == [Text(text="t")]


@pytest.mark.parametrize(
    "call", [{"name": "f"}, {"name": "f", "args": None}, {"name": "f", "id": None}]
)
def test_a_call_without_arguments_has_none(call):
    assert decoded({"functionCall": call}) == [ToolCall(name="f", args={})]


def test_arguments_as_text_are_kept_as_text():
    assert decoded({"functionCall": {"name": "f", "args": '{"a":1}'}}) == [
        ToolCall(name="f", raw='{"a":1}')
    ]


@pytest.mark.parametrize(
    "call",
    [
        {"name": "f", "willContinue": True},
        {"partialArgs": [{"jsonPath": "$.a", "stringValue": "x"}]},
        {"name": "f", "args": {}, "will_continue": True},
    ],
)
def test_a_piece_of_a_call_is_no_call(call):
    """It must never be run: its arguments are not all there. And nobody can be sent it."""
    findings = []
    (block,) = decoded({"functionCall": call}, findings=findings)
    assert block.native == Native("gemini", {"functionCall": call})
    assert [one.kind for one in block.opaque] == ["piece_of_call"]
    assert [one.code for one in findings] == ["partial_call"]


def test_all_the_pieces_of_the_arguments_are_a_call():
    pieces = [
        {"jsonPath": "$.a.b", "stringValue": "x", "willContinue": True},
        {"json_path": "$.a.b", "string_value": "y"},
        {"jsonPath": "$.n", "numberValue": 1},
    ]
    (call,) = decoded({"functionCall": {"name": "f", "partial_args": pieces}})
    assert call == ToolCall(name="f", args={"a": {"b": "xy"}, "n": 1})
    assert encoded(call) == [{"functionCall": {"name": "f", "args": call.args}}]


def test_complete_arguments_beside_pieces_are_a_call():
    part = {"functionCall": {"name": "f", "args": {"a": 1}, "willContinue": False}}
    (call,) = decoded(part)
    assert call.args == {"a": 1}
    assert encoded(call) == [part]


def test_a_part_with_several_kinds_of_data_becomes_several_blocks():
    findings = []
    part = {"text": "so", "functionCall": {"name": "f"}, "thoughtSignature": "c2VhbA=="}
    assert decoded(part, findings=findings) == [
        Text(text="so"),
        ToolCall(name="f", args={}, opaque=(SEAL,)),
    ]
    assert [(one.code, one.where) for one in findings] == [("part_split", "$.parts[0]")]


def test_empty_and_bare_parts_are_reported():
    findings = []
    assert decoded({}, "words", {"text": None}, findings=findings) == [Text(text="words")]
    assert [(one.code, one.where) for one in findings] == [
        ("empty_part", "$.parts[0]"),
        ("untyped_part", "$.parts[1]"),
        ("empty_part", "$.parts[2]"),
    ]


def test_a_signature_alone_is_empty_text_with_the_signature():
    assert decoded({"thoughtSignature": "c2VhbA=="}) == [Text(text="", opaque=(SEAL,))]


@pytest.mark.parametrize(("part", "where"), [(7, "$.parts[0]"), ({"text": 7}, "$.parts[0].text")])
def test_wrong_kinds_are_refused_with_their_path(part, where):
    with pytest.raises(MalformedBody) as caught:
        decoded(part)
    assert caught.value.where == where


def test_what_google_ran_is_echoed_as_it_was():
    call = {
        "toolCall": {"toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["q"]}, "id": "s1"},
        "thoughtSignature": "c2VhbA==",
    }
    answer = {"toolResponse": {"toolType": "GOOGLE_SEARCH_WEB", "response": {"x": 1}, "id": "s1"}}
    blocks = decoded(call, answer)
    assert blocks == [
        ToolCall(
            id="s1",
            name="GOOGLE_SEARCH_WEB",
            args={"queries": ["q"]},
            kind="server",
            opaque=(Opaque(DOMAIN, "server_block", call),),
        ),
        ToolResult(
            call_id="s1",
            name="GOOGLE_SEARCH_WEB",
            content=(),
            is_complete=True,
            opaque=(Opaque(DOMAIN, "server_block", answer),),
        ),
    ]
    assert encoded(*blocks) == [call, answer]


def test_what_another_provider_ran_is_not_written():
    block = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}
    call = ToolCall(
        id="s1", name="web_search", kind="server", opaque=(Opaque("a", "server_block", block),)
    )
    assert encoded(call, ToolCall(name="web_search", kind="server")) == []


def test_a_signature_of_another_domain_is_left_off():
    call = ToolCall(name="f", args={}, opaque=(Opaque("vertex", "signature", "eA=="),))
    assert encoded(call) == [{"functionCall": {"name": "f", "args": {}}}]
    assert encode_parts([call], by_model=True, domain="vertex")[0]["thoughtSignature"] == "eA=="


def test_calls_of_other_formats_get_an_object_for_arguments():
    calls = [
        ToolCall(name="f", raw='{"a": 1}'),
        ToolCall(name="f", raw=""),
        ToolCall(name="f", raw='{"a": '),
        ToolCall(name="sh", raw="ls -l", kind="custom"),
    ]
    assert [part["functionCall"]["args"] for part in encoded(*calls)] == [
        {"a": 1},
        {},
        {"_raw": '{"a": '},
        {"input": "ls -l"},
    ]


def test_summaries_and_code_google_does_not_run_are_text():
    assert encoded(Summary(text="earlier")) == [{"text": "earlier"}]
    assert encoded(Code(code="ls", language="sh")) == [{"text": "```sh\nls\n```"}]
    by_user = encode_parts([Code(code="1", language="python")], by_model=False)
    assert by_user == [{"text": "```python\n1\n```"}]


def test_a_language_may_be_a_number():
    assert decoded({"executableCode": {"language": 1, "code": "1"}}) == [
        Code(code="1", language="python")
    ]


WORDS = st.text(max_size=20)
SEALS = st.sampled_from([(), (SEAL,)])
OBJECTS = st.dictionaries(WORDS, st.none() | st.booleans() | st.integers() | WORDS, max_size=3)
MEDIA = st.builds(
    Media,
    media_type=st.sampled_from(["image/png", "audio/wav"]),
    data=st.sampled_from(["", "AA=="]),
)
RESULTS = st.builds(
    lambda words, media, id, error: ToolResult(
        call_id=id,
        name="f",
        content=(*words, *media),
        # A failure always has words: the renderer puts some where there are none.
        error=error and bool(words),
        is_complete=True,
    ),
    st.lists(st.builds(Text, text=WORDS), max_size=1),
    st.lists(MEDIA, max_size=2),
    WORDS,
    st.booleans(),
)
BLOCKS = st.one_of(
    st.builds(Text, text=WORDS, opaque=SEALS),
    st.builds(Thinking, text=WORDS, opaque=SEALS),
    st.builds(ToolCall, id=WORDS, name=WORDS, args=OBJECTS, opaque=SEALS),
    st.builds(Code, code=WORDS, language=st.sampled_from(["python", ""]), opaque=SEALS),
    MEDIA,
    RESULTS,
)


@given(st.lists(BLOCKS, max_size=6))
def test_decoding_what_was_encoded_gives_the_same_blocks(blocks):
    """Law L8 for the blocks of this format."""
    assert decoded(*encoded(*blocks)) == blocks


RESPONSES = st.dictionaries(
    st.sampled_from(["output", "error", "result", "x"]), st.none() | st.booleans() | WORDS | OBJECTS
)


@given(RESPONSES)
def test_every_response_object_is_replayed_unchanged(response):
    part = {"functionResponse": {"name": "f", "response": response}}
    (again,) = encoded(*decoded(part))
    assert again == part
    assert list(again["functionResponse"]["response"]) == list(response)
