"""What single models and hosts refuse by a field, a value or a combination: each body is refused by
its simulator with the status and the words of the provider, and what the renderer makes of it is
answered."""

import pytest

from canonicall import translate
from canonicall.testing.simulator import Simulator
from testing.asking import CHAT, FUNCTIONS, MESSAGES, RESPONSES, ask

USER = {"role": "user", "content": "Hi"}
TOLD = {"role": "user", "content": [{"text": "Hi"}]}
OFF = {"type": "disabled"}


def claude(model, **more):
    return {"model": model, "max_tokens": 3000, "messages": [USER], **more}


def chat(model, **more):
    return {"model": model, "messages": [USER], **more}


def effort(word):
    return {"output_config": {"effort": word}}


ALWAYS_ON = '"thinking.type.disabled" is not supported for this model.'
NOT_SO_HIGH = "output_config.effort 'xhigh' is not supported when thinking is disabled"

# The provider, the body, the words of the refusal.
SETTINGS = {
    "Fable without thinking": ("anthropic", claude("claude-fable-5", thinking=OFF), ALWAYS_ON),
    "Mythos without thinking": ("anthropic", claude("claude-mythos-5", thinking=OFF), ALWAYS_ON),
    "Opus 5.5 without thinking": ("anthropic", claude("claude-opus-5-5", thinking=OFF), ALWAYS_ON),
    "Sonnet 5.5 without thinking": (
        "anthropic",
        claude("claude-sonnet-5-5", thinking=OFF),
        'send "thinking": {"type": "between_tools"}',
    ),
    "Opus 5 without thinking, at a high effort": (
        "anthropic",
        claude("claude-opus-5", thinking=OFF, **effort("xhigh")),
        NOT_SO_HIGH,
    ),
    "Sonnet 5.5 between tools, at a high effort": (
        "anthropic",
        claude("claude-sonnet-5-5", thinking={"type": "between_tools"}, **effort("xhigh")),
        NOT_SO_HIGH,
    ),
    "GLM-5.3 without thinking": (
        "zai",
        chat("glm-5.3-flash", thinking=OFF),
        "This model always engages in thinking and cannot be disabled",
    ),
    "raw reasoning beside tools": (
        "groq",
        chat("qwen/qwen3-32b", reasoning_format="raw", tools=FUNCTIONS),
        "`reasoning_format` cannot be `raw` when tools are used",
    ),
    "raw reasoning in JSON mode": (
        "groq",
        chat("qwen/qwen3-32b", reasoning_format="raw", response_format={"type": "json_object"}),
        "`reasoning_format` cannot be `raw` in JSON mode",
    ),
    "two switches for reasoning": (
        "groq",
        chat("qwen/qwen3-32b", reasoning_format="hidden", include_reasoning=False),
        "cannot specify both `include_reasoning` and `reasoning_format`",
    ),
    "an effort of a model that does not reason": (
        "mistral",
        chat("mistral-large-latest", reasoning_effort="high"),
        "reasoning_effort is not enabled for this model",
    ),
    "an effort that Mistral does not know": (
        "mistral",
        chat("mistral-small-latest", reasoning_effort="low"),
        "reasoning_effort=low is not supported for this model, supported values: [high, none]",
    ),
}
PATHS = {"anthropic": MESSAGES}


def words_of(answer):
    error = answer.get("error", answer)
    return error["message"]


@pytest.mark.parametrize(("provider", "body", "words"), SETTINGS.values(), ids=SETTINGS)
def test_a_setting_that_is_refused(provider, body, words):
    simulator = Simulator(provider)
    status, answer = ask(simulator, PATHS.get(provider, CHAT), body)
    assert status == 400
    assert words in words_of(answer)
    (found,) = simulator.seen[-1].violations
    assert found.code in ("parameter_unsupported", "thinking_unsupported")


@pytest.mark.parametrize(("provider", "body", "words"), SETTINGS.values(), ids=SETTINGS)
def test_it_is_not_sent(provider, body, words):
    """The renderer leaves it out with a finding, and what is left is answered."""
    format = "anthropic" if provider == "anthropic" else "openai-chat"
    target = f"{provider}:{body['model']}"
    rendered = translate(body, format, target, provider=provider)
    is_told = {"param_dropped", "param_changed"} & set(rendered.report.counts)
    # A model with a word of its own for not thinking is asked in that word: nothing is lost.
    assert is_told or rendered.body["thinking"] == {"type": "between_tools"}
    status, answer = ask(Simulator(provider), PATHS.get(provider, CHAT), rendered.body)
    assert status == 200, answer


ACCEPTED = {
    "Opus 5 without thinking": ("anthropic", claude("claude-opus-5", thinking=OFF)),
    "Opus 5 at a high effort": ("anthropic", claude("claude-opus-5", **effort("max"))),
    "Opus 4.8 without thinking, at a high effort": (
        "anthropic",
        claude("claude-opus-4-8", thinking=OFF, **effort("xhigh")),
    ),
    "Haiku 5.5 without thinking": ("anthropic", claude("claude-haiku-5-5", thinking=OFF)),
    "GLM-4.6 without thinking": ("zai", chat("glm-4.6", thinking=OFF)),
    "raw reasoning": ("groq", chat("qwen/qwen3-32b", reasoning_format="raw")),
    "an effort of Mistral": ("mistral", chat("mistral-small-latest", reasoning_effort="high")),
}


@pytest.mark.parametrize(("provider", "body"), ACCEPTED.values(), ids=ACCEPTED)
def test_what_differs_a_little_is_taken(provider, body):
    status, answer = ask(Simulator(provider), PATHS.get(provider, CHAT), body)
    assert status == 200, answer


def test_claude_on_bedrock_refuses_the_same():
    more = {"additionalModelRequestFields": {"thinking": OFF, "other": 1}}
    body = {"messages": [TOLD], **more}
    path = "/model/us.anthropic.claude-opus-5-5-v1:0/converse"
    status, answer = ask(Simulator("bedrock"), path, body)
    assert status == 400
    assert ALWAYS_ON in str(answer)
    rendered = translate(body, "bedrock", "bedrock:us.anthropic.claude-opus-5-5-v1:0")
    assert rendered.body["additionalModelRequestFields"] == {"other": 1}
    assert "param_dropped" in rendered.report.counts


UNKNOWN = {
    "anthropic": (
        MESSAGES,
        claude("claude-opus-5"),
        400,
        "any_field: Extra inputs are not permitted",
    ),
    "openai": (CHAT, chat("gpt-5.2"), 400, "Unrecognized request argument supplied: any_field"),
    "openai/openai-responses": (
        RESPONSES,
        {"model": "gpt-5.2", "input": "Hi"},
        400,
        "Unknown parameter: 'any_field'.",
    ),
    "azure": (CHAT, chat("gpt-5.2"), 400, "Unrecognized request argument supplied: any_field"),
    "mistral": (CHAT, chat("any-model"), 422, "any_field: Extra inputs are not permitted"),
    "groq": (CHAT, chat("any-model"), 400, "property 'any_field' is unsupported"),
}


@pytest.mark.parametrize("provider", UNKNOWN)
def test_a_field_that_the_provider_does_not_have(provider):
    path, body, status, words = UNKNOWN[provider]
    simulator = Simulator(provider.partition("/")[0])
    assert ask(simulator, path, body)[0] == 200
    told, answer = ask(simulator, path, body | {"any_field": 1})
    assert (told, words_of(answer)) == (status, words)
    assert [one.code for one in simulator.seen[-1].violations] == ["unknown_field"]


@pytest.mark.parametrize("provider", UNKNOWN)
def test_a_field_of_nobody_known_is_not_sent(provider):
    path, body, _, _ = UNKNOWN[provider]
    format = {MESSAGES: "anthropic", RESPONSES: "openai-responses"}.get(path, "openai-chat")
    rendered = translate(body | {"any_field": 1}, format, f"{provider}:{body['model']}")
    assert "any_field" not in rendered.body
    assert "fields_dropped" in rendered.report.counts
    assert ask(Simulator(provider.partition("/")[0]), path, rendered.body)[0] == 200


def test_a_host_that_takes_any_field_is_not_made_stricter():
    assert ask(Simulator("together"), CHAT, chat("any-model", any_field=1))[0] == 200


def marked(lifetime=None):
    mark = {"type": "ephemeral"} | ({"ttl": lifetime} if lifetime else {})
    return {"type": "text", "text": "Hi", "cache_control": mark}


def test_a_long_cache_mark_behind_a_short_one():
    said = [{"role": "user", "content": [marked(), marked("1h")]}]
    body = claude("claude-opus-5") | {"system": [marked("1h")], "messages": said}
    status, answer = ask(Simulator("anthropic"), MESSAGES, body)
    assert status == 400
    assert words_of(answer) == (
        "messages.0.content.1.cache_control.ttl: a ttl='1h' cache_control block must not come"
        " after a ttl='5m' cache_control block. Note that blocks are processed in the following"
        " order: `tools`, `system`, `messages`."
    )
    rendered = translate(body, "anthropic", "anthropic:claude-opus-5")
    assert "cache_mark_changed" in rendered.report.counts
    assert rendered.body["system"][0]["cache_control"]["ttl"] == "1h"
    assert rendered.body["messages"][0]["content"][1]["cache_control"]["ttl"] == "5m"
    assert ask(Simulator("anthropic"), MESSAGES, rendered.body)[0] == 200


OPUS = "us.anthropic.claude-opus-4-8-v1:0"


def tool_config(**more):
    spec = {"name": "look", "inputSchema": {"json": {"type": "object"}}}
    return {"tools": [{"toolSpec": spec | more}]}


def document(name):
    return {"document": {"format": "txt", "name": name, "source": {"bytes": "eA=="}}}


def talk(*blocks):
    return [{"role": "user", "content": [{"text": "Hi"}, *blocks]}]


IMAGE = {"image": {"format": "png", "source": {"bytes": "eA=="}}}
CONVERSE = {
    "a strict tool": (
        {"messages": talk(), "toolConfig": tool_config(strict=True)},
        "tools.0.custom.strict: Extra inputs are not permitted",
    ),
    "no tool at all": (
        {"messages": talk(), "toolConfig": tool_config() | {"toolChoice": {"none": {}}}},
        "This model doesn't support the toolConfig.toolChoice.none field.",
    ),
    "an image of the assistant": (
        {"messages": [*talk(), {"role": "assistant", "content": [IMAGE]}, *talk()]},
        "The image content block at messages.1.content.0 can only be in a message with the user",
    ),
    "a dot in the name of a document": (
        {"messages": talk(document("a.txt"))},
        "The document file name can only contain alphanumeric characters, whitespace characters",
    ),
    "two documents of one name": (
        {"messages": talk(document("a"), document("a"))},
        "Messages can't contain duplicate document names. Rename the document and retry",
    ),
}


@pytest.mark.parametrize(("body", "words"), CONVERSE.values(), ids=CONVERSE)
def test_converse(body, words):
    path = f"/model/{OPUS}/converse"
    simulator = Simulator("bedrock")
    status, answer = ask(simulator, path, body)
    assert status == 400
    assert words in answer["message"]
    assert len(simulator.seen[-1].violations) == 1
    rendered = translate(body, "bedrock", f"bedrock:{OPUS}").body
    status, answer = ask(Simulator("bedrock"), path, rendered)
    assert status == 200, answer


def test_documents_are_told_apart_by_a_number():
    body = {"messages": talk(document("a"), document("a-2"), document("a"), document("a"))}
    content = translate(body, "bedrock", "bedrock").body["messages"][0]["content"]
    assert [one["document"]["name"] for one in content[1:]] == ["a", "a-2", "a-3", "a-4"]


FILE = {
    "type": "file",
    "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,eA=="},
}


def test_qwen_takes_no_files():
    said = {"role": "user", "content": [{"type": "text", "text": "Read."}, FILE]}
    body = {"model": "qwen-plus", "messages": [said]}
    status, answer = ask(Simulator("qwen"), CHAT, body)
    assert status == 400
    assert words_of(answer) == (
        "Invalid value: file. Supported values are: 'text','image_url','video_url' and 'video'."
    )
    rendered = translate(body, "openai-chat", "qwen:qwen-plus")
    assert "media_dropped" in rendered.report.counts
    assert ask(Simulator("qwen"), CHAT, rendered.body)[0] == 200


SEARCHED = [
    {"toolCall": {"id": "s1", "toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["x"]}}},
    {"toolResponse": {"id": "s1", "toolType": "GOOGLE_SEARCH_WEB", "response": {}}},
    {"text": "So."},
]


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"model": SEARCHED}, "bad_part"),
        ({"config": {"includeServerSideToolInvocations": True}}, "parameter_unsupported"),
    ],
    ids=["a call that the provider ran", "the switch for them"],
)
def test_before_gemini_3_no_call_of_the_provider_is_sent_back(more, code):
    asked = {"role": "user", "parts": [{"text": "Hi"}]}
    contents = [asked, {"role": "model", "parts": more.get("model", [{"text": "So."}])}, asked]
    body = {"contents": contents, "toolConfig": more.get("config", {})}
    old, new = "gemini-2.5-flash", "gemini-3-pro-preview"
    path = "/v1beta/models/{}:generateContent"
    simulator = Simulator("gemini")
    status, answer = ask(simulator, path.format(old), body)
    assert status == 400
    assert words_of(answer) == f"Tool call context circulation is not enabled for models/{old}"
    assert {one.code for one in simulator.seen[-1].violations} == {code}
    assert ask(simulator, path.format(new), body)[0] == 200
    rendered = translate(body, "gemini", f"gemini:{old}", provider="gemini")
    assert {"server_tool_dropped", "param_dropped"} & set(rendered.report.counts)
    assert ask(simulator, path.format(old), rendered.body)[0] == 200
