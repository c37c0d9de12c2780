"""What passes at a glance passes when every message is looked at, for every chat host."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall.facts.registry import get_profile, get_target, provider_names
from canonicall.verify.node import Node
from canonicall.verify.openai_chat import message_violations
from canonicall.verify.openai_chat_glance import are_usual

HOSTS = [
    get_target(f"{name}/openai-chat:some-model")
    for name in provider_names()
    if "openai-chat" in get_profile(name).formats
]
HELLO = {"role": "user", "content": "Hello."}
ids = st.sampled_from(["call_1", "call_2", "abc123XYZ", "functions.f:0", "", "x" * 50, 7, None, []])
words = st.sampled_from(["Hello.", "", " ", None, [], [{"type": "text", "text": "a"}], 7])
calls = st.fixed_dictionaries(
    {"id": ids},
    optional={
        "type": st.just("function"),
        "function": st.fixed_dictionaries(
            {"name": st.sampled_from(["f", "get_weather", "a b", "", None])},
            optional={
                "arguments": st.sampled_from(["{}", "", "{", {}, None]),
                "strict": st.just(1),
            },
        ),
    },
)
messages = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool", "system", "developer", "nobody", 7])},
    optional={
        "content": words,
        "tool_calls": st.one_of(st.none(), st.lists(calls, max_size=3)),
        "tool_call_id": ids,
        "reasoning_content": words,
        "name": st.just("f"),
    },
)


def usual_call(id="call_1", name="f"):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}}


def said(*made, words=None):
    return {"role": "assistant", "content": words, "tool_calls": list(made)}


def answered(id="call_1"):
    return {"role": "tool", "tool_call_id": id, "content": "21"}


@given(st.lists(st.one_of(messages, st.just(HELLO)), min_size=1, max_size=6))
def test_nothing_that_is_refused_passes_at_a_glance(given_messages):
    for host in HOSTS:
        if are_usual(given_messages, host):
            root = Node({"messages": given_messages})
            assert not list(message_violations(root.nodes("messages"), root, host))


def test_usual_conversations_pass():
    talk = [
        {"role": "system", "content": "Be brief."},
        HELLO,
        said(usual_call("call_1"), usual_call("call_2"), words="Let me look."),
        answered("call_2"),
        answered("call_1"),
        {"role": "assistant", "content": "It is sunny."},
        HELLO,
    ]
    assert are_usual(talk, get_target("openai:gpt-4o"))


@pytest.mark.parametrize(
    "talk",
    [
        [HELLO, said(usual_call())],
        [HELLO, said(usual_call()), HELLO, answered()],
        [HELLO, answered()],
        [HELLO, said(usual_call(), usual_call()), answered(), answered()],
        [HELLO, said(usual_call()), answered(), answered()],
        [HELLO, said(usual_call("x" * 80)), answered("x" * 80)],
        [HELLO, said(usual_call(name="no name")), answered()],
        [HELLO, said()],
        [{"role": "user", "content": ""}],
        [{"role": "user", "content": "a", "tool_calls": [usual_call()]}, answered()],
    ],
)
def test_what_is_not_usual_is_looked_at(talk):
    assert not are_usual(talk, get_target("openai:gpt-4o"))
