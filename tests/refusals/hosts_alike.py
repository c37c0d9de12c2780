"""What several hosts that speak Chat Completions refuse alike."""

from refusals.openai import USER, chat, function, result, said

MODELS = {
    "deepseek": "deepseek-chat",
    "groq": "llama-3.3-70b-versatile",
    "kimi": "kimi-k2",
    "minimax": "MiniMax-M2",
    "openrouter": "meta-llama/llama-3.3-70b-instruct",
    "qwen": "qwen-plus",
    "xai": "grok-4",
}
NAMED = {"type": "function", "function": {"name": "look"}}
LONG = "c" * 41
ROWS = {
    **{
        f"{host}: no id": chat(r"", USER, said(""), result(""), provider=host, model=model)
        for host, model in MODELS.items()
    },
    **{
        f"{host}: another id in the result": chat(
            r"", USER, said("call_1"), result("call_2"), provider=host, model=model
        )
        for host, model in MODELS.items()
    },
    **{
        f"{host}: a long id": chat(
            r"maximum length 40", USER, said(LONG), result(LONG), provider=host, model="gpt-5.2"
        )
        for host in ("azure", "copilot")
    },
    **{
        f"{host}: characters of a name": chat(
            r"", provider=host, model=MODELS[host], tools=[function("a b")]
        )
        for host in ("deepseek", "groq", "kimi", "openrouter")
    },
    **{
        f"{host}: a longer name": chat(
            r"", provider=host, model=MODELS[host], tools=[function("a" * 65)]
        )
        for host in ("deepseek", "kimi", "openrouter")
    },
    "kimi: a forced call of an older model": chat(
        r"", provider="kimi", model="kimi-k2", tool_choice="required"
    ),
    "kimi: a named call of the coder": chat(
        r"", provider="kimi", model="kimi-k2.7-code", tool_choice=NAMED
    ),
    "kimi: results are missing": chat(
        r"", USER, said("call_1"), USER, provider="kimi", model="kimi-k2"
    ),
    "minimax: arguments that were cut off": chat(
        r"invalid function arguments json string, tool_call_id: call_1 \(2013\)",
        *(USER, said("call_1", arguments='{"a": '), result()),
        provider="minimax",
        model="MiniMax-M2",
    ),
    "minimax: a choice": chat(r"", provider="minimax", model="MiniMax-M2", tool_choice="required"),
    "openrouter: reasoning that cannot be switched off": chat(
        r"Reasoning is mandatory",
        provider="openrouter",
        model="openai/gpt-5",
        reasoning={"enabled": False},
    ),
    "zai: two results for one call": chat(
        r"The messages parameter is illegal",
        *(USER, said("call_1"), result(), result()),
        provider="zai",
        model="glm-4.6",
    ),
}
