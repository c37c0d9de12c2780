"""Parameters of a wrong kind, refused by every provider."""

from typing import Any

from refusals.rows import CLAUDE, GEMINI, NOVA, Refusal

HELLO = [{"role": "user", "content": "Hi"}]
BODIES: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "Claude": ("anthropic", "anthropic", CLAUDE, {"max_tokens": 9, "messages": HELLO}),
    "Chat Completions": ("openai", "openai-chat", "gpt-4o", {"messages": HELLO}),
    "Responses": ("openai", "openai-responses", "gpt-4o", {"input": "Hi"}),
    "Gemini": ("gemini", "gemini", GEMINI, {"contents": [{"parts": [{"text": "Hi"}]}]}),
    "Bedrock": (
        *("bedrock", "bedrock", NOVA),
        {"messages": [{"role": "user", "content": [{"text": "Hi"}]}]},
    ),
    "Cohere": ("cohere", "cohere", "command-a-03-2025", {"messages": HELLO}),
    "Ollama": ("ollama", "ollama", "qwen3", {"messages": HELLO, "stream": False}),
    "llama.cpp": ("llamacpp", "openai-chat", "qwen3", {"messages": HELLO}),
}
NO_MODEL = ("gemini", "bedrock")
"""Formats whose address names the model."""


def asked(who: str, words: str = "", **more: Any) -> Refusal:
    provider, format, model, body = BODIES[who]
    named = {} if format in NO_MODEL else {"model": model}
    return Refusal(provider, format, model, {**named, **body, **more}, words)


TYPE = "Invalid type for '{}': expected {}, but got {} instead"
ROWS = {
    "chat: a temperature in words": asked(
        "Chat Completions",
        TYPE.format("temperature", "a decimal", "a string"),
        temperature="hot",
    ),
    "chat: a limit that is a list": asked(
        "Chat Completions", TYPE.format("max_tokens", "an integer", "an array"), max_tokens=[]
    ),
    "chat: a number to stop at": asked(
        "Chat Completions", r"Invalid type for 'stop': expected one of a string or", stop=7
    ),
    "chat: half a choice": asked(
        "Chat Completions", TYPE.format("n", "an integer", "a decimal number"), n=1.5
    ),
    "responses: a number for words": asked(
        "Responses", r"Invalid type for 'text.verbosity': expected a string", text={"verbosity": 7}
    ),
    "claude: a limit in words": asked(
        "Claude", r"max_tokens: Input should be a valid integer", max_tokens="many"
    ),
    "claude: one text to stop at": asked(
        "Claude", r"stop_sequences: Input should be a valid list", stop_sequences="a"
    ),
    "gemini: a temperature in words": asked(
        "Gemini",
        r"Invalid value at 'generation_config.temperature' \(TYPE_FLOAT\)",
        generationConfig={"temperature": "hot"},
    ),
    "bedrock: a limit in words": asked(
        "Bedrock",
        r"Invalid type for parameter inferenceConfig.maxTokens, value: many, type: <class 'str'>,"
        r" valid types: <class 'int'>",
        inferenceConfig={"maxTokens": "many"},
    ),
    "cohere: a temperature that is a list": asked("Cohere", temperature=[]),
    "ollama: options that are a list": asked("Ollama", options=[]),
    "ollama: a temperature in words": asked(
        "Ollama",
        r"option .temperature. must be of type float32",
        options={"temperature": "hot"},
    ),
    "llama.cpp: a temperature in words": asked("llama.cpp", temperature="hot"),
}
ACCEPTED = {
    "a whole number with a point": asked("Chat Completions", max_tokens=9.0),
    "one text to stop at": asked("Chat Completions", stop="a"),
    "several texts to stop at": asked("Chat Completions", stop=["a", "b"]),
    "null for a temperature": asked("Claude", temperature=None),
    "a number in quotes, for protobuf": asked("Gemini", generation_config={"topK": "5"}),
    "one text to stop at, for protobuf": asked("Gemini", generationConfig={"stopSequences": "a"}),
    "a whole number for a temperature": asked("Ollama", options={"temperature": 1}),
}
