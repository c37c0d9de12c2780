"""Ids as the providers themselves give them, from counters: the same run gives the same ids.

The shapes are those of recorded traffic. `{hash}`, `{digits}` and so on are filled from the number
of the call, `{name}` and `{number}` from the call itself.
"""

from collections.abc import Callable
from hashlib import sha256

from canonicall.facts.target import Target
from canonicall.ids import base64url

_BY_PROVIDER = {
    "avian": "functions.{name}:{number}",
    "bedrock": "tooluse_{hash:22}",
    "cohere": "{name}_{word:12}",
    "crusoe": "chatcmpl-tool-{hex:16}",
    "databricks": "toolu_bdrk_01{word:22}",
    "deepseek": "call_00_{word:24}",
    "groq": "{word:9}",
    "cerebras": "{word:9}",
    "ollama": "call_{word:8}",
    "vllm": "chatcmpl-tool-{hex:32}",
    "xai": "call_{digits:8}",
    "zai": "call_-{digits:19}",
    "mistral": "{word:9}",
    "kimi": "functions.{name}:{number}",
    "kimi-hosted": "functions.{name}:{number}",
}
_BY_FORMAT = {
    "anthropic": "toolu_01{word:22}",
    "openai-chat": "call_{word:24}",
    "openai-responses": "call_{word:24}",
    "bedrock": "tooluse_{hash:22}",
    "cohere": "{name}_{word:12}",
    "ollama": "call_{word:8}",
    "gemini": "{word:8}",
}
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_MAKERS: dict[str, Callable[[bytes, int], str]] = {
    "hash": lambda seed, length: base64url(seed)[:length].replace("-", "A").replace("_", "B"),
    "word": lambda seed, length: "".join(_LETTERS[byte % 62] for byte in seed[:length]),
    "digits": lambda seed, length: "".join(str(byte % 9 + 1) for byte in seed[:length]),
    "hex": lambda seed, length: seed.hex()[:length],
}


def call_id(target: Target, name: str, number: int, seed: str = "") -> str:
    """The id of the `number`th call of a conversation, as this provider writes it."""
    shape = _BY_FORMAT[target.format]
    if target.format in ("openai-chat", "cohere", "ollama", "bedrock"):
        shape = _BY_PROVIDER.get(target.provider, shape)
    material = sha256(f"{seed}|{target.provider}|{name}|{number}".encode()).digest()
    made = shape.replace("{name}", name).replace("{number}", str(number))
    for kind, make in _MAKERS.items():
        head, opening, rest = made.partition(f"{{{kind}:")
        if opening:
            length, _, tail = rest.partition("}")
            made = head + make(material, int(length)) + tail
    return made
