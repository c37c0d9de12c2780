"""However thinking is asked for, no model is told something that it is known to refuse."""

from hypothesis import given
from hypothesis import strategies as st

from canonicall import Conversation, decode_request, encode_request, provider_names, verify
from canonicall.facts.registry import get_profile, get_target
from canonicall.request import Params, Reasoning, Request
from canonicall.transcript.thinking import EFFORTS

RULES = {"thinking", "thinking_field", "efforts", "thinking_limits", "refusals"}
ASKED = st.builds(
    Reasoning,
    enabled=st.none() | st.booleans(),
    effort=st.none() | st.sampled_from((*EFFORTS, "none", "of_tomorrow")),
    budget=st.none() | st.integers(0, 100_000),
)


def targets():
    """A model of each entry that has something to say of it, in the format of the entry."""
    for name in provider_names():
        profile = get_profile(name)
        yield from (f"{name}/{format}" for format in profile.formats)
        for entry in profile.models:
            if RULES & entry.rules.keys():
                model = entry.match[0].replace("*", "")
                yield f"{name}/{entry.format}:{model}"


TARGETS = tuple(dict.fromkeys(targets()))


def test_there_are_targets():
    assert len(TARGETS) > 150


@given(ASKED, st.sampled_from(TARGETS), st.none() | st.integers(1, 50_000))
def test_no_model_is_told_what_it_refuses(asked, name, limit):
    """And what was fitted once, is not changed when it is read and sent again."""
    conversation = Conversation()
    conversation.user("Hello?")
    request = Request(conversation, params=Params(reasoning=asked, max_tokens=limit))
    target = get_target(name)
    encoded = encode_request(request, target)
    assert list(verify(encoded.body, target)) == []
    read = decode_request(encoded.body, target.format, provider=target.provider)
    assert encode_request(read, target).data == encoded.data


@given(ASKED, st.sampled_from(TARGETS))
def test_what_is_changed_is_told(asked, name):
    """A body that says nothing of thinking where something was asked comes with a finding."""
    conversation = Conversation()
    conversation.user("Hello?")
    plain = encode_request(Request(conversation, params=Params(max_tokens=9000)), name)
    params = Params(reasoning=asked, max_tokens=9000)
    encoded = encode_request(Request(conversation, params=params), name)
    is_asked = asked not in (Reasoning(), Reasoning(enabled=True))
    if is_asked and encoded.body == plain.body:
        assert {"param_dropped", "param_changed"} & encoded.report.counts.keys()
