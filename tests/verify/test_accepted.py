"""What services take, although the owner of their format, an older model or a newer one does not.

Each body here is one that the documentation or the types of the service allow.
"""

from typing import Any

from batches import each
from canonicall import verify
from canonicall.facts.registry import get_target, register_provider, unregister_provider

ASKED = {"role": "user", "content": "Hi"}
TOLD = {"role": "assistant", "content": "So."}
OBJECT = {"type": "object", "properties": {}}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,eA=="}}
NAMED = {"type": "function", "function": {"name": "look"}}
LONG = "c" * 100
OWN = "call_0_00000000-0000-4000-8000-000000000000"


def function(name: str = "look") -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": OBJECT}}


def many(count: int) -> list[dict[str, Any]]:
    return [function(f"look_{at}") for at in range(count)]


def chat(*messages: dict[str, Any], model: str = "some-model", **more: Any) -> dict[str, Any]:
    return {"model": model, "messages": list(messages or (ASKED,)), **more}


def answered(id: str = "call_1", content: Any = "ok", arguments: Any = "{}") -> Any:
    called = {"name": "look", "arguments": arguments}
    call = {"id": id, "type": "function", "function": called}
    return (
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": id, "content": content},
    )


HOSTS = {
    "a long id": ("together", chat(ASKED, *answered(LONG))),
    "a long id of its own": ("deepseek:deepseek-chat", chat(ASKED, *answered(OWN))),
    "characters of an id": ("groq", chat(ASKED, *answered("functions.look:0"))),
    "an id of others for Kimi": ("together:moonshotai/Kimi-K2", chat(ASKED, *answered("call_1"))),
    "an id of others for Mistral": ("together:mistralai/X", chat(ASKED, *answered("call_1"))),
    "an id that vLLM cuts": ("vllm:mistral", chat(ASKED, *answered("call_0123456789"))),
    "characters of a name": ("llamacpp", chat(tools=[function("a.b")])),
    "many tools": ("fireworks", chat(tools=many(200))),
    "many tools of xAI": ("xai", chat(tools=many(350))),
    "a developer": ("venice", chat({"role": "developer", "content": "Be brief."}, ASKED)),
    "a named tool": ("venice", chat(tools=[function()], tool_choice=NAMED)),
    "an image in a result": ("vllm", chat(ASKED, *answered(content=[IMAGE]))),
    "an empty list of tools": ("vllm", chat(tools=[])),
    "an empty list of calls": ("vllm", chat(ASKED, TOLD | {"tool_calls": []}, ASKED)),
    "no choice among no tools": ("vllm", chat(tool_choice="none")),
}
OPENAI = {
    "characters of an id": ("openai", chat(ASKED, *answered("functions.look:0"))),
    "a custom tool by its name": (
        "openai",
        chat(
            tools=[{"type": "custom", "custom": {"name": "look"}}],
            tool_choice={"type": "custom", "custom": {"name": "look"}},
        ),
    ),
    "a cache mark for a model to come": (
        "openai:gpt-7",
        chat(
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "a", "prompt_cache_breakpoint": {"mode": "explicit"}}
                ],
            }
        ),
    ),
    "a choice left to the model, without tools": (
        "openai",
        {"model": "gpt-5.2", "input": "Hi", "tool_choice": "auto"},
    ),
    "a reference without its type": ("openai", {"model": "gpt-5.2", "input": [{"id": "msg_1"}]}),
    "fields of newer items": (
        "openai",
        {
            "model": "gpt-5.2",
            "input": [
                ASKED,
                {
                    "type": "function_call",
                    "call_id": "call_1",
                    "name": "look",
                    "arguments": "{}",
                    "async": True,
                },
                {"type": "function_call_output", "call_id": "call_1", "output": "later"},
                {"type": "function_call_output", "name": "look", "output": "ok"},
            ],
        },
    ),
    "the id of an item at another host": (
        "vllm/openai-responses",
        {"model": "x", "input": [ASKED | {"type": "message", "id": "item_1"}, ASKED]},
    ),
    "reasoning alone at another host": (
        "xai/openai-responses",
        {"model": "x", "input": [ASKED, {"type": "reasoning", "id": "rs_1", "summary": []}, ASKED]},
    ),
}


def claude(*messages: dict[str, Any], model: str = "claude-opus-5-5") -> dict[str, Any]:
    tools = [{"name": "look", "input_schema": {"type": "object"}}]
    return {"model": model, "max_tokens": 9, "tools": tools, "messages": list(messages)}


USE = {"type": "tool_use", "id": LONG, "name": "look", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": LONG, "content": "ok"}
LATER = {"role": "system", "content": "Be brief."}
CLAUDE = {
    "a long id": (
        "anthropic",
        claude(
            ASKED,
            {"role": "assistant", "content": [USE]},
            {"role": "user", "content": [RESULT]},
        ),
    ),
    "later instructions for a model to come": (
        "anthropic",
        claude(ASKED, LATER, model="claude-opus-7"),
    ),
    "later instructions that are ignored": (
        "anthropic",
        claude(ASKED, LATER, model="claude-sonnet-5"),
    ),
    "the beginning of a reply at another host": (
        "kimi/anthropic",
        claude(ASKED, TOLD, model="kimi-k2"),
    ),
    "thoughts of another host": (
        "minimax/anthropic",
        claude(
            ASKED,
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "Hm."},
                    {"type": "text", "text": "So."},
                ],
            },
            ASKED,
            model="MiniMax-M2",
        )
        | {"thinking": {"type": "enabled", "budget_tokens": 5}},
    ),
    "ids of another host": (
        "kimi/anthropic",
        claude(
            ASKED,
            {"role": "assistant", "content": [USE | {"id": "look:0"}]},
            {"role": "user", "content": [RESULT | {"tool_use_id": "look:0", "content": []}]},
            model="kimi-k2",
        ),
    ),
    "the assistant first at another host": (
        "deepseek/anthropic",
        claude(TOLD, ASKED, model="deepseek-chat"),
    ),
}


def gemini(*contents: Any, **more: Any) -> dict[str, Any]:
    return {"contents": list(contents or ({"role": "user", "parts": [{"text": "Hi"}]},)), **more}


def declared(**more: Any) -> dict[str, Any]:
    return {"functionDeclarations": [{"name": "look", **more}]}


UNSPECIFIED = {"functionCallingConfig": {"mode": "MODE_UNSPECIFIED"}}
GOOGLE = {
    "characters of a name": ("gemini", gemini(tools=[declared(name="a.b:c")])),
    "one object for a list": (
        "gemini",
        {
            "contents": {"parts": {"text": "Hi"}},
            "tools": {"functionDeclarations": {"name": "look"}},
            "systemInstruction": {"parts": {"text": "Be brief."}},
        },
    ),
    "a mode that is not specified": (
        "gemini",
        gemini(tools=[declared()], toolConfig=UNSPECIFIED),
    ),
    "the beginning of a reply": (
        "gemini:gemini-2.5-pro",
        gemini(*gemini()["contents"], {"role": "model", "parts": [{"text": "So"}]}),
    ),
    "the beginning of a reply on Vertex": (
        "vertex:gemini-3-pro-preview",
        gemini(*gemini()["contents"], {"role": "model", "parts": [{"text": "So"}]}),
    ),
}


def converse(*blocks: dict[str, Any], reply: str = "") -> dict[str, Any]:
    asked = {"role": "user", "content": [{"text": "Hi"}, *blocks]}
    said = {"role": "assistant", "content": [{"text": reply}]}
    return {"messages": [asked, said] if reply else [asked]}


ARN = "arn:aws:bedrock:us-east-1:1:application-inference-profile/abc"
CONVERSE_USE = {"toolUseId": "t1", "name": "look", "input": {}}
CONVERSE_IMAGE = {
    "toolUseId": "t1",
    "content": [{"image": {"format": "png", "source": {"bytes": "eA=="}}}],
}
CONVERSE_TOOL = {"name": "look", "inputSchema": {"json": OBJECT}}
BEDROCK = {
    "the beginning of a reply of Nova": ("bedrock:us.amazon.nova-pro-v1:0", converse(reply="So")),
    "the beginning of a reply of an old Claude": (
        "bedrock:anthropic.claude-v2:1",
        converse(reply="So"),
    ),
    "the beginning of a reply of nobody knows whom": (f"bedrock:{ARN}", converse(reply="So")),
    "an empty result of Claude's": (
        "bedrock:us.anthropic.claude-haiku-4-5-20251001-v1:0",
        {
            "messages": [
                *converse()["messages"],
                {"role": "assistant", "content": [{"toolUse": CONVERSE_USE}]},
                {"role": "user", "content": [{"toolResult": {"toolUseId": "t1", "content": []}}]},
            ],
            "toolConfig": {"tools": [{"toolSpec": CONVERSE_TOOL}]},
        },
    ),
    "an image in a result, where nobody knows": (
        "bedrock:qwen.qwen3-vl-235b-a22b",
        {
            "messages": [
                *converse()["messages"],
                {"role": "assistant", "content": [{"toolUse": CONVERSE_USE}]},
                {"role": "user", "content": [{"toolResult": CONVERSE_IMAGE}]},
            ],
            "toolConfig": {"tools": [{"toolSpec": CONVERSE_TOOL}]},
        },
    ),
    "a tool that comes later": (
        "bedrock",
        converse({"toolAddition": {"tool": {"name": "look"}}}),
    ),
}
SHORT = "abcdefghi"
OTHERS = {
    "cohere: a short name": ("cohere", chat(tools=[function("go")])),
    "cohere: a long id": ("cohere", chat(ASKED, *answered(LONG))),
    "cohere: many tools": ("cohere", chat(tools=many(200))),
    "ollama: characters of a name": ("ollama/ollama", chat(tools=[function("a.b")])),
    "ollama: many tools": ("ollama/ollama", chat(tools=many(200))),
    "mistral: an id of others": ("mistral:mistral-large-latest", chat(ASKED, *answered())),
    "mistral: the user behind results": (
        "mistral:magistral-medium-latest",
        chat(ASKED, *answered(SHORT), ASKED),
    ),
    "mistral: arguments as an object": (
        "mistral:mistral-small-latest",
        chat(ASKED, *answered(SHORT, arguments={})),
    ),
}
ROWS = {
    f"{group}: {name}": row
    for group, rows in {
        "hosts": HOSTS,
        "openai": OPENAI,
        "claude": CLAUDE,
        "google": GOOGLE,
        "bedrock": BEDROCK,
        "others": OTHERS,
    }.items()
    for name, row in rows.items()
}


@each("name", ROWS)
def test_it_is_no_violation(name):
    target, body = ROWS[name]
    assert verify(body, target).counts == {}


def test_instructions_behind_the_assistant_are_one_for_every_model_of_mistral():
    body = chat(ASKED, TOLD, {"role": "system", "content": "Be brief."}, ASKED)
    for model in ("some-model", "mistral-small-latest", "mistral-large-latest"):
        assert "bad_role_order" in verify(body, f"mistral:{model}").counts


def test_an_uncertain_rule_is_rendered_by_and_held_against_nobody():
    """What is said with more certainty counts, what an uncertain rule leaves alone is the base's."""
    told = {"value": False, "source": "a page that is gone", "date": "2026-11"}
    body = chat({"role": "developer", "content": "Be brief."}, ASKED)
    for confidence, codes in (("U", set()), ("C", {"unknown_role"})):
        rule = {"developer": {**told, "confidence": confidence}}
        register_provider({"name": "mine", "format": "openai-chat", "rules": rule})
        try:
            assert not get_target("mine").developer
            assert verify(body, "mine").counts.keys() == codes
        finally:
            unregister_provider("mine")


def test_a_target_is_taken_at_its_word():
    body = chat(ASKED, *answered(LONG))
    assert verify(body, get_target("together:some-model")).counts.keys() == {"call_id_too_long"}
