"""A wish to think, or not to, reaches a host in the words that it reads."""

import pytest

from batches import each
from canonicall import Conversation, Params, Request, encode_request, translate, verify
from canonicall.facts.registry import get_target
from canonicall.request import Reasoning

DEEPSEEK, KIMI, KIMI_NEXT = "deepseek:deepseek-v4-flash", "kimi:kimi-k2.6", "kimi:kimi-k3"
GLM, OLD_GLM, QWEN = "zai:glm-4.6", "zai:glm-4-plus", "qwen:qwen-plus"
ROUTER, ALWAYS = "openrouter:anthropic/claude-sonnet-4.5", "openrouter:openai/gpt-5"
WORDS = ("reasoning_effort", "reasoning", "thinking", "enable_thinking", "thinking_budget")
ON, OFF = {"thinking": {"type": "enabled"}}, {"thinking": {"type": "disabled"}}
TOLD = Reasoning(enabled=True, effort="high")
MEASURED = Reasoning(enabled=True, budget=4000)
NOT = Reasoning(enabled=False)
NONE = Reasoning(enabled=False, effort="none")


def said(body):
    return {name: body[name] for name in WORDS if name in body}


@each(
    ("target", "reasoning", "words", "lost"),
    [
        (DEEPSEEK, Reasoning(enabled=True), ON, []),
        (DEEPSEEK, NOT, OFF, []),
        (DEEPSEEK, NONE, OFF, []),
        (DEEPSEEK, TOLD, {**ON, "reasoning_effort": "high"}, []),
        (DEEPSEEK, Reasoning(effort="high"), {"reasoning_effort": "high"}, []),
        (DEEPSEEK, MEASURED, ON, ["params.reasoning.budget"]),
        (DEEPSEEK, Reasoning(budget=4000), ON, ["params.reasoning.budget"]),
        (GLM, NOT, OFF, []),
        (OLD_GLM, NOT, {}, ["params.reasoning"]),
        (KIMI, TOLD, ON, ["$.reasoning_effort"]),
        (KIMI_NEXT, TOLD, {"reasoning_effort": "high"}, []),
        (QWEN, NOT, {"enable_thinking": False}, []),
        (QWEN, NONE, {"enable_thinking": False}, []),
        (QWEN, MEASURED, {"enable_thinking": True, "thinking_budget": 4000}, []),
        (QWEN, TOLD, {"enable_thinking": True}, ["params.reasoning.effort"]),
        (ROUTER, Reasoning(enabled=True), {"reasoning": {"enabled": True}}, []),
        (ROUTER, NOT, {"reasoning": {"effort": "none"}}, []),
        (ROUTER, TOLD, {"reasoning": {"effort": "high"}}, []),
        (ROUTER, MEASURED, {"reasoning": {"max_tokens": 4000}}, []),
        (
            ROUTER,
            Reasoning(True, "high", 4000),
            {"reasoning": {"effort": "high"}},
            ["params.reasoning.budget"],
        ),
        (ALWAYS, NOT, {}, ["$.reasoning.effort"]),
    ],
)
def test_the_words_of_the_host(target, reasoning, words, lost):
    talk = Conversation()
    talk.user("Hi")
    made = encode_request(Request(talk, params=Params(reasoning=reasoning)), target)
    assert said(made.body) == words
    assert [one.where for one in made.report if one.code == "param_dropped"] == lost
    assert not verify(made.body, get_target(target))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (ON, ON),
        ({"reasoning_effort": "none"}, {"reasoning_effort": "none"}),
        ({"enable_thinking": True}, ON),
        ({"reasoning": {"enabled": False}}, OFF),
        ({"reasoning": {"effort": "high"}}, {"reasoning_effort": "high"}),
    ],
)
def test_words_of_another_host_are_not_handed_on(fields, words):
    """What the host reads stays as it was said; what only others read would be lost on it."""
    body = {"messages": [{"role": "user", "content": "Hi"}], **fields}
    assert said(translate(body, "openai-chat", DEEPSEEK).body) == words


def test_a_coding_agent_that_thinks_makes_the_model_think():
    asked = {
        "max_tokens": 9000,
        "messages": [{"role": "user", "content": "Hi"}],
        "thinking": {"type": "adaptive"},
        "output_config": {"effort": "high"},
    }
    made = translate(asked, "anthropic", DEEPSEEK)
    assert said(made.body) == {**ON, "reasoning_effort": "high"}
