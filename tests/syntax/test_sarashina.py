"""Sarashina: a list as Python writes it."""

from syntax.support import read, said

CALL = "{'name': 'f', 'arguments': {'a': True, 'b': None, 'c': 'it\\'s', 'd': \"x\", 'e': '\\x41'}}"
ARGS = {"a": True, "b": None, "c": "it's", "d": "x", "e": "A"}


def test_behind_the_marker_or_bare():
    for before in ("", "<|tool_calls|>", "Ok. <|tool_calls|>"):
        parsed = read(f"{before}[{CALL}, {CALL}]</s>", "sarashina")
        assert said(parsed.calls) == [("f", ARGS)] * 2
        assert parsed.text == before.partition("<")[0]
        assert parsed.findings == ()


def test_what_is_passed_on_is_json():
    (call,) = read(f"<|tool_calls|>[{CALL}]", "sarashina").calls
    assert call.raw == '{"a":true,"b":null,"c":"it\'s","d":"x","e":"A"}'


def test_json_is_read_as_well_and_what_is_neither_is_kept():
    text = '<|tool_calls|>[{"name": "f", "arguments": {"a": true}}]'
    assert said(read(text, "sarashina").calls) == [("f", {"a": True})]
    (call,) = read("<|tool_calls|>[{'name': 'f', 'arguments': {'a': f(x)}}]", "sarashina").calls
    assert (call.args, call.raw) == (None, "{'a': f(x)}")


def test_cut():
    (call,) = read("<|tool_calls|>[{'name': 'f', 'arguments': {'a': 1, 'b': 'x", "sarashina").calls
    assert (call.args, call.truncated) == ({"a": 1, "b": "x"}, True)
