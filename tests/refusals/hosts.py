"""What other hosts that speak Chat Completions refuse besides."""

from typing import Any

from refusals.openai import DONE, IMAGE, SYSTEM, USER, chat, function, result, said
from refusals.rows import Refusal

NAMED = {"type": "function", "function": {"name": "look"}}
OFF, ON = {"type": "disabled"}, {"type": "enabled"}
FILE = {"type": "file", "file": {"filename": "a.txt", "file_data": "data:text/plain;base64,eA=="}}


def kimi(words: str, *messages: dict[str, Any], model: str = "kimi-k2", **more: Any) -> Refusal:
    return chat(words, *messages, provider="kimi", model=model, **more)


def llamacpp(words: str, **more: Any) -> Refusal:
    return chat(words, provider="llamacpp", model="qwen3", tools=None, **more)


KIMI = {
    "a result without its call": kimi(r"tool_call_id call_1 is not found", USER, result()),
    "a result without an id": kimi(
        r"tool_call_id  is not found", USER, said("call_1"), result("")
    ),
    "a short name": kimi(r"", tools=[function("go")]),
    "a name that begins with a digit": kimi(r"", tools=[function("1look")]),
    "reasoning is missing": kimi(
        r"thinking is enabled but reasoning_content is missing in assistant tool call message at"
        r" index 1",
        USER, said("call_1"), result(), model="kimi-k2-thinking",
    ),
    "no thinking where the model always thinks": kimi(r"", model="kimi-k3", thinking=OFF),
    "no thinking of the coder": kimi(
        r"invalid thinking: only type=enabled is allowed for this model",
        model="kimi-k2.7-code",
        thinking=OFF,
    ),
    "two switches for thinking": kimi(
        r"cannot specify both 'thinking' and 'reasoning_effort'",
        model="kimi-k2.6",
        thinking={"type": "enabled"},
        reasoning_effort="high",
    ),
    "a forced call": kimi(r"", model="kimi-k2.7-code", tool_choice="required"),
    "a forced call that shall not think": kimi(
        r"tool_choice 'required' is incompatible with thinking enabled|always thinks",
        model="kimi-k3", tool_choice="required", thinking=OFF,
    ),
    "a named call while it thinks": kimi(
        r"tool_choice 'specified' is incompatible with thinking enabled",
        model="kimi-k3", tool_choice=NAMED,
    ),
}  # fmt: skip


def deepseek_items(words: str, *input: dict[str, Any]) -> Refusal:
    body = {"model": "deepseek-flash", "store": False, "input": [USER, *input]}
    return Refusal("deepseek", "openai-responses", "deepseek-flash", body, words)


CALL = {"type": "function_call", "call_id": "call_1", "name": "look", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "call_1", "output": "ok"}
CALL_2, OUTPUT_2 = CALL | {"call_id": "call_2"}, OUTPUT | {"call_id": "call_2"}
HOOK = {"type": "message", "role": "developer", "content": "Checked."}
THOUGHT = {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm."}]}  # fmt: skip
DEEPSEEK = {
    "a message between a call and its output": deepseek_items(
        r"No tool output found for tool call call_1", CALL, HOOK, OUTPUT
    ),
    "a thought between calls": deepseek_items(
        r"No tool output found for tool call call_1", CALL, THOUGHT, CALL_2, OUTPUT, OUTPUT_2
    ),
    "results are missing": chat(
        r"insufficient tool messages following tool_calls message",
        USER, said("call_1"), USER, provider="deepseek", model="deepseek-chat",
    ),
    "reasoning is missing": chat(
        r"The reasoning_content in the thinking mode must be passed back to the API",
        USER, said("call_1"), result(), provider="deepseek", model="deepseek-reasoner",
    ),
    "an image": chat(
        r"messages\[0\]: unknown variant `image_url`, expected `text`",
        {"role": "user", "content": [IMAGE]}, provider="deepseek", model="deepseek-v4-flash",
    ),
    "reasoning is missing where thinking was switched on": chat(
        r"The reasoning_content in the thinking mode must be passed back to the API",
        USER, said("call_1"), result(), provider="deepseek", model="deepseek-chat", thinking=ON,
    ),
    "a forced call while it thinks": chat(
        r"Thinking mode does not support this tool_choice",
        provider="deepseek", model="deepseek-reasoner", tool_choice="required",
    ),
    "a forced call while thinking is switched on": chat(
        r"Thinking mode does not support this tool_choice",
        provider="deepseek", model="deepseek-chat", tool_choice="required", thinking=ON,
    ),
    "a named call while it thinks": chat(
        r"Thinking mode does not support this tool_choice",
        provider="deepseek", model="deepseek-v4-flash", tool_choice=NAMED,
    ),
}  # fmt: skip
PARTS = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
SEQUENCE = r"messages\[{at}\]: invalid type: sequence, expected a string"
DEEPSEEK |= {
    "another message before the results": chat(
        r"insufficient tool messages following tool_calls message",
        USER, said("call_1"), USER, result(), provider="deepseek", model="deepseek-chat",
    ),
    "the role of developers": chat(
        r"messages\[0\]\.role: unknown variant `developer`, expected one of `system`, `user`",
        {"role": "developer", "content": "Be brief."}, USER,
        provider="deepseek", model="deepseek-v4-pro",
    ),
    "a list of the assistant's": chat(
        SEQUENCE.format(at=1), USER, {"role": "assistant", "content": PARTS}, USER,
        provider="deepseek", model="deepseek-chat",
    ),
    "a list as a result": chat(
        SEQUENCE.format(at=2), USER, said("call_1"), result(content=PARTS),
        provider="deepseek", model="deepseek-chat",
    ),
}  # fmt: skip
XAI = {
    "a schema that is no object": chat(
        r"", provider="xai", model="grok-4", tools=[function(parameters={"type": "string"})]
    ),
    "many tools": chat(
        r"", provider="xai", model="grok-4", tools=[function(f"look_{at}") for at in range(351)]
    ),
    "live search": chat(
        r"Live search is deprecated",
        provider="xai",
        model="grok-4",
        status=410,
        search_parameters={"mode": "auto"},
    ),
}


def qwen(words: str, *messages: dict[str, Any], **more: Any) -> Refusal:
    return chat(words, *messages, provider="qwen", model="qwen-plus", **more)


QWEN = {
    "results are missing": qwen(
        r'An assistant message with "tool_calls" must be followed by tool messages responding to'
        r' each "tool_call_id"',
        USER, said("call_1"), USER,
    ),
    "a result without its call": qwen(
        r'messages with role "tool" must be a response to a preceeding message with "tool_calls"',
        USER, result(),
    ),
    **{
        f"arguments: {text}": qwen(
            r'The "function.arguments" parameter of the code model must be in JSON format',
            USER, said("call_1", arguments=text), result(),
        )
        for text in ("", "null", '{"a": ', "[1]", '"x"')
    },
    "another message before the results": qwen(
        r'An assistant message with "tool_calls" must be followed by tool messages',
        USER, said("call_1"), USER, result(),
    ),
    "the role of developers": qwen(r"developer is not one of \['system', 'assistant', 'user',", {"role": "developer", "content": "Be brief."}, USER),
    "a file": qwen(
        r"Invalid value: file", {"role": "user", "content": [{"type": "text", "text": "a"}, FILE]}
    ),
    "a forced call": qwen(r"", tool_choice="required"),
}  # fmt: skip


def zai(words: str, *messages: dict[str, Any], model: str = "glm-4.6", **more: Any) -> Refusal:
    return chat(words, *messages, provider="zai", model=model, **more)


ILLEGAL = r"The messages parameter is illegal\. Please check the documentation"
ZAI = {
    "no user": zai(ILLEGAL, SYSTEM),
    "a reply without content": zai(ILLEGAL, USER, {"role": "assistant", "content": ""}, USER),
    "the assistant behind the instructions": zai(ILLEGAL, SYSTEM, DONE, USER),
    "results are missing": zai(ILLEGAL, USER, said("call_1"), USER),
    "a result without its call": zai(ILLEGAL, USER, result()),
    "one id for two calls": zai(r"", USER, said("call_1", "call_1"), result()),
    "no thinking where the model always thinks": zai(r"", model="glm-5.3", thinking=OFF),
}


def minimax(
    words: str, *messages: dict[str, Any], model: str = "MiniMax-M2", **more: Any
) -> Refusal:
    return chat(words, *messages, provider="minimax", model=model, **more)


APART = r"tool call result does not follow tool call \(2013\)"
BLANK = r"chat content is empty \(2013\)"
MINIMAX = {
    "another message before the results": minimax(APART, USER, said("call_1"), SYSTEM, result()),
    "results are missing": minimax(APART, USER, said("call_1"), USER),
    "a result without its call": minimax(
        r"invalid params, tool result's tool id\(call_1\) not found \(2013\)", USER, result()
    ),
    "a result without an id": minimax(
        r"tool result's tool id\(\) not found", USER, said("call_1"), result("")
    ),
    "no schema": minimax(
        r"function parameters is empty \(2013\)",
        tools=[{"type": "function", "function": {"name": "look"}}],
    ),
    "thinking as older models have it": minimax(
        r'invalid thinking\.type: "enabled" \(allowed: adaptive, disabled\) \(2013\)',
        model="MiniMax-M3",
        thinking={"type": "enabled"},
    ),
    "an empty question": minimax(BLANK, {"role": "user", "content": ""}),
    "an empty result": minimax(BLANK, USER, said("call_1", content="So."), result(content="")),
    "empty text beside calls": minimax(BLANK, USER, said("call_1", content=""), result()),
    "no user": minimax(r"", SYSTEM),
}
LLAMA = "llama-3.3-70b-versatile"


def groq(words: str, *messages: dict[str, Any], model: str = LLAMA, **more: Any) -> Refusal:
    return chat(words, *messages, provider="groq", model=model, **more)


GROQ = {
    "a long name": groq(r"", tools=[function("a" * 65)]),
    "many tools": groq(r"", tools=[function(f"look_{at}") for at in range(129)]),
    "reasoning": groq(
        r"property 'reasoning' is unsupported", USER, DONE | {"reasoning": "Hm."}, USER
    ),
    "thinking": groq(r"property 'thinking' is unsupported", USER, DONE | {"thinking": "Hm."}, USER),
    "an unknown field": groq(r"property 'any' is unsupported", any=1),
    "raw reasoning beside tools": groq(
        r"`reasoning_format` cannot be `raw`", model="qwen/qwen3-32b", reasoning_format="raw"
    ),
    "raw reasoning in JSON mode": groq(
        r"`reasoning_format` cannot be `raw`",
        model="qwen/qwen3-32b",
        tools=None,
        reasoning_format="raw",
        response_format={"type": "json_object"},
    ),
    "JSON beside tools": groq(
        r"json mode cannot be combined with tool/function calling",
        response_format={"type": "json_object"},
    ),
    "two switches for reasoning": groq(
        r"cannot specify both `include_reasoning` and `reasoning_format`",
        model="qwen/qwen3-32b",
        reasoning_format="hidden",
        include_reasoning=False,
    ),
}
OTHERS = {
    "openrouter: no reasoning where it is mandatory": chat(
        r"Reasoning is mandatory",
        provider="openrouter",
        model="minimax/minimax-m2.5",
        reasoning={"effort": "none"},
    ),
    "azure: tools of a model that reasons of itself": chat(
        r"Function tools with reasoning_effort are not supported for gpt-5\.6",
        provider="azure",
        model="gpt-5.6-sol",
    ),
    "azure: tools of a model that knows none": chat(
        r"Function tools with reasoning_effort are not supported for gpt-6-astra",
        provider="azure",
        model="gpt-6-astra",
        reasoning_effort="none",
    ),
    "azure: a named call of DeepSeek": chat(
        r"", provider="azure", model="DeepSeek-V3.1", tool_choice=NAMED
    ),
    "ollama: a reply without content": chat(
        r"invalid message content type",
        USER,
        {"role": "assistant", "content": None},
        USER,
        provider="ollama",
        model="qwen3:8b",
    ),
    **{
        f"ollama: arguments: {text}": chat(
            r"invalid tool call arguments",
            USER,
            said("call_1", arguments=text),
            result(),
            provider="ollama",
            model="qwen3:8b",
        )
        for text in ("x", "", "[1]")
    },
    "ollama: thinking of a model that does not": chat(
        r'"gemma3:4b" does not support thinking',
        tools=None,
        provider="ollama",
        model="gemma3:4b",
        reasoning_effort="high",
    ),
}
LLAMACPP = {
    "a grammar beside a schema": llamacpp(
        r"Cannot use both json_schema and grammar", grammar='root ::= "a"', json_schema={}
    ),
}
GROUPS = {
    "llamacpp": LLAMACPP,
    "kimi": KIMI, "deepseek": DEEPSEEK, "xai": XAI, "qwen": QWEN, "zai": ZAI,
    "minimax": MINIMAX, "groq": GROQ,
}  # fmt: skip
ROWS = {
    **{f"{host}: {name}": row for host, rows in GROUPS.items() for name, row in rows.items()},
    **OTHERS,
}
ROUTED = "functions.look:0"
# What differs a little from a row above, and is answered.
ACCEPTED = {
    "calls and then their outputs, at DeepSeek": deepseek_items(
        "", CALL, CALL_2, OUTPUT, OUTPUT_2, HOOK
    ),
    "one call after another, at DeepSeek": deepseek_items("", CALL, OUTPUT, CALL_2, OUTPUT_2),
    "a schema without a grammar": llamacpp("", json_schema={}),
    "a grammar without a schema": llamacpp("", grammar='root ::= "a"'),
    "an empty grammar beside a schema": llamacpp("", grammar="", json_schema={}),
    "a forced call of the newest Kimi": kimi("", model="kimi-k3", tool_choice="required"),
    "a named call of an older Kimi that does not think": kimi(
        "", model="kimi-k2.6", tool_choice=NAMED, thinking=OFF
    ),
    **{
        f"a list of the {role}'s, at DeepSeek": chat(
            "", {"role": role, "content": PARTS}, USER, provider="deepseek", model="deepseek-chat"
        )
        for role in ("user", "system")
    },
    "a list of the assistant's, at xAI": chat(
        "", USER, {"role": "assistant", "content": PARTS}, USER, provider="xai", model="grok-4"
    ),
    "a long name, at OpenRouter": chat(
        "", provider="openrouter", model="x-ai/grok-4", tools=[function("a" * 64)]
    ),
    "thinking as the model has it, at MiniMax": minimax(
        "", model="MiniMax-M3", thinking={"type": "adaptive"}
    ),
    "calls without reasoning of a model that thinks when told to": chat(
        "", USER, said("call_1"), result(), provider="deepseek", model="deepseek-chat"
    ),
    "calls without reasoning where thinking was switched off": chat(
        "", USER, said("call_1"), result(),
        provider="deepseek", model="deepseek-v4-flash", thinking=OFF,
    ),
    "many tools of xAI": chat(
        "", provider="xai", model="grok-4", tools=[function(f"look_{at}") for at in range(350)]
    ),
    **{
        f"an id of another host, at {host}": chat(
            "", USER, said(ROUTED), result(ROUTED), provider=host, model=model
        )
        for host, model in {
            "openai": "gpt-5.2", "azure": "gpt-5.2", "deepseek": "deepseek-chat", "xai": "grok-4",
            "groq": LLAMA, "qwen": "qwen-plus", "zai": "glm-4.6", "minimax": "MiniMax-M2",
            "ollama": "qwen3:8b",
        }.items()
    },
}  # fmt: skip
