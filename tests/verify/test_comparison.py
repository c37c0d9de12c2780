"""The comparison of law D3: one thing taken out of a body, put in or changed is seen, in each
format; and what only looks different is not."""

import json
from copy import deepcopy

import pytest

from batches import each
from canonicall import translate
from canonicall.findings import Action, Fault, Finding
from canonicall.testing import Difference, compare, unexplained

CALL = {"city": "Oslo"}
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
PICTURE = "iVBORw0KGgoAAAANSUhEUg=="
CHAT = {
    "model": "m",
    "temperature": 0.5,
    "max_tokens": 100,
    "stop": ["END"],
    "stream": True,
    "reasoning_effort": "high",
    "tool_choice": "required",
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "weather",
                "description": "Tells it.",
                "parameters": SCHEMA,
                "strict": True,
            },
        }
    ],
    "user": "u-1",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "name": "ann",
            "content": [
                {"type": "text", "text": "How is it?"},
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE}"}},
            ],
        },
        {
            "role": "assistant",
            "reasoning_content": "I ask.",
            "content": "Let me look.",
            "tool_calls": [
                {
                    "id": "call_1",
                    "type": "function",
                    "function": {"name": "weather", "arguments": json.dumps(CALL)},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "It rains."},
        {"role": "user", "content": "Thanks."},
    ],
}
RESPONSES = {
    "model": "m",
    "instructions": "Be brief.",
    "temperature": 0.5,
    "max_output_tokens": 100,
    "stream": True,
    "reasoning": {"effort": "high"},
    "tool_choice": "required",
    "store": False,
    "tools": [
        {
            "type": "function",
            "name": "weather",
            "description": "Tells it.",
            "parameters": SCHEMA,
            "strict": True,
        }
    ],
    "input": [
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "How is it?"},
                {"type": "input_image", "image_url": f"data:image/png;base64,{PICTURE}"},
            ],
        },
        {
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": "I ask."}],
            "encrypted_content": "SEAL",
        },
        {"role": "assistant", "content": "Let me look."},
        {
            "type": "function_call",
            "call_id": "call_1",
            "name": "weather",
            "arguments": json.dumps(CALL),
        },
        {"type": "function_call_output", "call_id": "call_1", "output": "It rains."},
        {"role": "user", "content": "Thanks."},
    ],
}
ANTHROPIC = {
    "model": "m",
    "system": "Be brief.",
    "temperature": 0.5,
    "max_tokens": 100,
    "stop_sequences": ["END"],
    "stream": True,
    "thinking": {"type": "enabled", "budget_tokens": 2048},
    "tool_choice": {"type": "any"},
    "metadata": {"user_id": "u-1"},
    "tools": [
        {"name": "weather", "description": "Tells it.", "input_schema": SCHEMA, "strict": True}
    ],
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "How is it?"},
                {
                    "type": "image",
                    "source": {"type": "base64", "media_type": "image/png", "data": PICTURE},
                },
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "I ask.", "signature": "SEAL"},
                {"type": "text", "text": "Let me look."},
                {"type": "tool_use", "id": "call_1", "name": "weather", "input": CALL},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "call_1", "content": "It rains."},
                {"type": "text", "text": "Thanks."},
            ],
        },
    ],
}
GEMINI = {
    "systemInstruction": {"parts": [{"text": "Be brief."}]},
    "generationConfig": {
        "temperature": 0.5,
        "maxOutputTokens": 100,
        "stopSequences": ["END"],
        "thinkingConfig": {"thinkingBudget": 2048},
        "candidateCount": 1,
    },
    "toolConfig": {"functionCallingConfig": {"mode": "ANY"}},
    "tools": [
        {
            "functionDeclarations": [
                {
                    "name": "weather",
                    "description": "Tells it.",
                    "parameters": {
                        "type": "OBJECT",
                        "properties": {"city": {"type": "STRING"}},
                        "required": ["city"],
                    },
                }
            ]
        }
    ],
    "contents": [
        {
            "role": "user",
            "parts": [
                {"text": "How is it?"},
                {"inlineData": {"mimeType": "image/png", "data": PICTURE}},
            ],
        },
        {
            "role": "model",
            "parts": [
                {"text": "I ask.", "thought": True},
                {"text": "Let me look."},
                {
                    "functionCall": {"id": "call_1", "name": "weather", "args": CALL},
                    "thoughtSignature": "SEAL",
                },
            ],
        },
        {
            "role": "user",
            "parts": [
                {
                    "functionResponse": {
                        "id": "call_1",
                        "name": "weather",
                        "response": {"output": "It rains."},
                    }
                },
                {"text": "Thanks."},
            ],
        },
    ],
}
BEDROCK = {
    "system": [{"text": "Be brief."}],
    "inferenceConfig": {"temperature": 0.5, "maxTokens": 100, "stopSequences": ["END"]},
    "additionalModelRequestFields": {"thinking": {"type": "enabled", "budget_tokens": 2048}},
    "requestMetadata": {"user": "u-1"},
    "toolConfig": {
        "toolChoice": {"any": {}},
        "tools": [
            {
                "toolSpec": {
                    "name": "weather",
                    "description": "Tells it.",
                    "inputSchema": {"json": SCHEMA},
                    "strict": True,
                }
            }
        ],
    },
    "messages": [
        {
            "role": "user",
            "content": [
                {"text": "How is it?"},
                {"image": {"format": "png", "source": {"bytes": PICTURE}}},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"reasoningContent": {"reasoningText": {"text": "I ask.", "signature": "SEAL"}}},
                {"text": "Let me look."},
                {"toolUse": {"toolUseId": "call_1", "name": "weather", "input": CALL}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"toolResult": {"toolUseId": "call_1", "content": [{"text": "It rains."}]}},
                {"text": "Thanks."},
            ],
        },
    ],
}
COHERE = {
    "model": "m",
    "temperature": 0.5,
    "max_tokens": 100,
    "stop_sequences": ["END"],
    "stream": True,
    "thinking": {"type": "enabled", "token_budget": 2048},
    "tool_choice": "REQUIRED",
    "strict_tools": True,
    "safety_mode": "OFF",
    "tools": [
        {
            "type": "function",
            "function": {"name": "weather", "description": "Tells it.", "parameters": SCHEMA},
        }
    ],
    "messages": [
        {"role": "system", "content": "Be brief."},
        CHAT["messages"][1] | {"name": None},
        {
            "role": "assistant",
            "content": [{"type": "thinking", "thinking": "I ask."}],
            "tool_plan": "Let me look.",
            "tool_calls": CHAT["messages"][2]["tool_calls"],
        },
        CHAT["messages"][3],
        CHAT["messages"][4],
    ],
}
OLLAMA = {
    "model": "m",
    "stream": False,
    "think": "high",
    "keep_alive": "5m",
    "options": {"temperature": 0.5, "num_predict": 100, "stop": ["END"]},
    "tools": COHERE["tools"],
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "How is it?", "images": [PICTURE]},
        {
            "role": "assistant",
            "thinking": "I ask.",
            "content": "Let me look.",
            "tool_calls": [{"id": "call_1", "function": {"name": "weather", "arguments": CALL}}],
        },
        {"role": "tool", "tool_name": "weather", "tool_call_id": "call_1", "content": "It rains."},
        {"role": "user", "content": "Thanks."},
    ],
}
BODIES = {
    "openai-chat": CHAT,
    "openai-responses": RESPONSES,
    "anthropic": ANTHROPIC,
    "gemini": GEMINI,
    "bedrock": BEDROCK,
    "cohere": COHERE,
    "ollama": OLLAMA,
}
"""The same request in every format."""

WORDS = {
    "Be brief.": "text",
    "How is it?": "text",
    "Let me look.": "text",
    "Thanks.": "text",
    "I ask.": "thinking",
    "It rains.": "result",
    "SEAL": "signature",
    "Oslo": "call",
    "Tells it.": "description",
    PICTURE: "media",
}
"""Texts that occur once in every body that has them, and what they are."""


def said(format, after):
    return [one.kind for one in compare(BODIES[format], format, after, format)]


def changed(value, old, new):
    """A copy of JSON with one text in place of another, inside JSON texts as well."""
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, list):
        return [changed(one, old, new) for one in value]
    if isinstance(value, dict):
        return {key: changed(one, old, new) for key, one in value.items()}
    return value


def leaves(value, path=()):
    """The path of every value that is no object and no list."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, one in inner:
        if isinstance(one, dict | list) and one:
            yield from leaves(one, (*path, key))
        else:
            yield (*path, key)


def without(value, path):
    copied = deepcopy(value)
    holder = copied
    for key in path[:-1]:
        holder = holder[key]
    del holder[path[-1]]
    return copied


@pytest.mark.parametrize("format", BODIES)
def test_a_body_says_what_it_says(format):
    assert said(format, deepcopy(BODIES[format])) == []
    assert said(format, json.dumps(BODIES[format], indent=1).encode()) == []


@each("words", WORDS)
@each("format", BODIES)
def test_a_text_that_is_changed_is_seen(format, words):
    kind = WORDS[words]
    if words not in json.dumps(BODIES[format]):
        pytest.skip("the format has no place for it")
    found = said(format, changed(BODIES[format], words, "QUITE+OTHER"))
    pairs = {
        "text": ["text_missing", "text_added"],
        "thinking": ["thinking_missing", "thinking_added"],
        "media": ["media_missing", "media_added"],
    }
    assert found == pairs.get(kind, [f"{kind}_changed"])


MEANS_NOTHING = {
    *("mimeType", "media_type", "format"),  # The data says what media is.
    *("id", "call_id", "tool_call_id", "tool_use_id", "toolUseId", "tool_name"),  # Forms of ids.
    *("name", "type", "role", "stream"),  # What is usual is meant without them.
}


@each("format", BODIES)
def test_everything_that_is_taken_out_is_seen(format):
    """Each value of each body, but for those that mean nothing by themselves."""
    for path in leaves(BODIES[format]):
        if path[-1] in MEANS_NOTHING or path[0] == "model":
            continue
        holder = BODIES[format]
        for key in path:
            holder = holder[key]
        if holder in (None, {}):
            continue
        assert said(format, without(BODIES[format], path)), path


def test_the_same_request_in_another_format_says_the_same():
    """But for what a format has no place for: parameters, signatures, strict tools, a speaker."""
    allowed = ("parameter_", "field_", "signature_", "strict_", "speaker_")
    for source, before in BODIES.items():
        for target, after in BODIES.items():
            kinds = [one.kind for one in compare(before, source, after, target)]
            assert [kind for kind in kinds if not kind.startswith(allowed)] == [], (source, target)


def messages(*told):
    return {"messages": list(told)}


def call(id, name="f", args="{}"):
    function = {"name": name, "arguments": args}
    return {"id": id, "type": "function", "function": function}


def calls(*made, **fields):
    return {"role": "assistant", "content": None, "tool_calls": list(made), **fields}


def answer(id, text):
    return {"role": "tool", "tool_call_id": id, "content": text}


def user(text):
    return {"role": "user", "content": text}


TWO = (calls(call("a"), call("b", "g")), answer("a", "1"), answer("b", "2"))


@each(
    "before, after, kinds",
    [
        pytest.param(TWO, TWO[:1] + TWO[:0:-1], ["result_moved"], id="results in another order"),
        pytest.param(
            TWO,
            (TWO[0], answer("a", "2"), answer("b", "1")),
            ["result_changed", "result_changed"],
            id="results of other calls",
        ),
        pytest.param(
            TWO,
            (calls(call("x"), call("y", "g")), answer("x", "1"), answer("y", "2")),
            [],
            id="ids in another form",
        ),
        pytest.param(
            TWO,
            (calls(call("a"), call("b", "g")), answer("a", "1")),
            ["result_missing"],
            id="a result less",
        ),
        pytest.param(
            (calls(call("a")), user("Hm.")),
            (calls(call("a")), answer("a", "Not run."), user("Hm.")),
            ["result_added"],
            id="a result more",
        ),
        pytest.param(
            (calls(call("a")), user("Hm."), answer("a", "1")),
            (calls(call("a")), answer("a", "1"), user("Hm.")),
            ["result_moved"],
            id="a result before the user",
        ),
        pytest.param(
            (calls(call("a")), answer("other", "1")),
            (calls(call("a")), answer("a", "1")),
            ["result_paired"],
            id="a result of no call is given to one",
        ),
        pytest.param(
            (calls(call("a", "f", '{"x": 1}')),),
            (calls(call("a", "f", '{"x":1.0}')),),
            [],
            id="arguments spelled otherwise",
        ),
        pytest.param(
            (calls(call("a", "f", '{"x": 1}')),),
            (calls(call("a", "f", '{"x": 2}')),),
            ["call_changed"],
            id="other arguments",
        ),
        pytest.param(
            (calls(call("a", "f", '{"x": 1}')),),
            (calls(call("a", "g", '{"x": 1}')),),
            ["tool_renamed"],
            id="another tool",
        ),
        pytest.param((user("A"), user("B")), (user("A\n\nB"),), [], id="texts joined"),
        pytest.param((user("A B"),), (user("A"), user("B")), [], id="a text split"),
        pytest.param((user("A"), user("B")), (user("B"), user("A")), ["order_changed"], id="order"),
        pytest.param(
            (user("A"), {"role": "system", "content": "B"}),
            (user("A"), user("B")),
            ["text_role_changed"],
            id="an instruction as the user's",
        ),
        pytest.param(
            (calls(call("a")), answer("a", '{"b": 1, "a": 2}')),
            (calls(call("a")), answer("a", '{"a":2,"b":1}')),
            [],
            id="JSON of a result spelled otherwise",
        ),
        pytest.param(
            (calls(call("a"), content="."), answer("a", "1")),
            (calls(call("a"), content="..."), answer("a", "1")),
            ["text_missing", "text_added"],
            id="a short text is not found inside of another",
        ),
    ],
)
def test_what_is_another_conversation(before, after, kinds):
    found = compare(messages(*before), "openai-chat", messages(*after), "openai-chat")
    assert [one.kind for one in found] == kinds


def test_a_failure_is_said_by_a_flag_or_in_words():
    failed = {"type": "tool_result", "tool_use_id": "a", "content": "No route.", "is_error": True}
    used = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
    before = messages(
        {"role": "assistant", "content": [used]}, {"role": "user", "content": [failed]}
    )
    in_words = messages(calls(call("a")), answer("a", "Error: No route."))
    assert compare(before, "anthropic", in_words, "openai-chat") == ()
    lost = messages(calls(call("a")), answer("a", "No route."))
    (one,) = compare(before, "anthropic", lost, "openai-chat")
    assert one.kind == "error_changed"


def test_a_difference_names_both_places():
    before = {"temperature": 1, **messages(user("Hello"))}
    after = {"temperature": 0.5, **messages(user("Hello"), user("Go on"))}
    text, heat = compare(before, "openai-chat", after, "openai-chat")
    assert (text.kind, text.came, text.went) == ("text_added", "", "$.messages[1].content")
    assert (heat.kind, heat.came, heat.went) == ("parameter_changed", *["$.temperature"] * 2)
    assert (heat.before, heat.after, heat.name) == (1, 0.5, "temperature")
    assert "temperature" in str(heat)


@each("format", BODIES)
@each("body", [None, [], "text", b"\xff", {}, {"messages": 1}, {"contents": [[1]]}, {"input": [7]}])
def test_no_body_is_too_broken_to_be_compared(body, format):
    assert compare(body, format, body, format) == ()


def finding(code, where="entries[0]", why="It was so."):
    return Finding(code, where, Action.CHANGED, why, Fault.NONE)


def missing(*names):
    return [Difference("parameter_missing", f"$.{name}", "", 1, None, name) for name in names]


@each(
    "differences, findings, left",
    [
        pytest.param([Difference("text_missing", "$", "")], [], 1, id="nothing"),
        pytest.param(
            [Difference("text_missing", "$", "")], [finding("blank_dropped")], 0, id="one for one"
        ),
        pytest.param(
            [Difference("text_missing", "$", "")] * 3, [finding("blank_dropped")] * 2, 1, id="count"
        ),
        pytest.param(
            [Difference("text_missing", "$", "")], [finding("tool_dropped")], 1, id="another code"
        ),
        pytest.param(
            missing("seed", "top_k"), [finding("param_dropped", "params.seed")], 1, id="a name"
        ),
        pytest.param(
            missing("seed", "top_k"),
            [finding("param_dropped", "$", "seed, top_k are not sent.")],
            0,
            id="both named",
        ),
        pytest.param(
            [Difference("tool_renamed", "$", "$", "a b", "a_b", "a b")],
            [finding("tool_renamed", "tools[0]", "The tool 'c d' is called 'c_d'.")],
            1,
            id="another tool",
        ),
        pytest.param(
            [
                Difference("text_role_changed", f"$.messages[{at}].content[{n}]", "")
                for at in (0, 1)
                for n in (0, 1)
            ],
            [finding("instruction_as_user")],
            2,
            id="one message",
        ),
        pytest.param([Difference("strange", "$", "")], [finding("strange")], 1, id="no such kind"),
    ],
)
def test_what_a_finding_explains(differences, findings, left):
    assert len(unexplained(differences, findings)) == left


@each("target", ["openai", "openai/openai-responses", *sorted(BODIES)[:2], "gemini", "cohere"])
@each("format", BODIES)
def test_a_finding_that_is_missing_is_missed(format, target):
    """Each code that a translation reports for a difference: without it something is left."""
    encoded = translate(BODIES[format], format, target)
    found = compare(BODIES[format], format, encoded.body, encoded.target.format)
    assert unexplained(found, encoded.report) == ()
    assert not found or unexplained(found, ()) == found


def test_of_equal_texts_that_only_one_side_repeats_the_order_is_not_known():
    """A note that is put in may say what the model had said."""
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    came = [{"role": "assistant", "content": "A", "tool_calls": [call]}]
    went = [{"role": "assistant", "content": "A"}, *came]
    found = compare({"messages": came}, "openai-chat", {"messages": went}, "openai-chat")
    assert [one.kind for one in found] == ["text_added"]


def test_images_beside_the_text_have_no_order():
    url = "data:image/png;base64,aGk="
    image = {"type": "image_url", "image_url": {"url": url}}
    came = {"role": "assistant", "content": [image, {"type": "text", "text": "A"}]}
    went = {"role": "assistant", "content": "A", "images": [image]}
    assert not compare({"messages": [came]}, "openai-chat", {"messages": [went]}, "openai-chat")
