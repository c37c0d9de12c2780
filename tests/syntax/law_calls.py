"""Calls for the laws of the syntaxes: any name, any arguments, with markers in them."""

from functools import cache

from hypothesis import strategies as st

from canonicall.blocks import ToolCall
from canonicall.testing.strategies import json_values
from syntax.law_texts import all_markers, fragments, one_of

_NAMES = st.sampled_from(["f", "get_weather", "files.read", "do-it", "läs", "a b", "name"])
_KEYS = st.from_regex(r"[a-z_][a-z0-9_]{0,6}", fullmatch=True)


@st.composite
def calls_for(draw: st.DrawFn, name: str) -> tuple[ToolCall, ...]:
    """Calls of different tools, whose texts have markers of this syntax and of others."""
    return draw(_calls_for(name))


@cache
def _calls_for(name: str) -> st.SearchStrategy[tuple[ToolCall, ...]]:
    others = ("\n", " ", '"', "'", "\\", "`", "&lt;")
    bits = one_of((*fragments(name), *all_markers(), *others))
    marked = st.lists(bits | st.text(max_size=4), max_size=5).map("".join)
    plain = st.text(max_size=12)
    value = st.one_of(
        json_values(),
        plain,
        marked,
        st.lists(marked, max_size=2),
        st.dictionaries(_KEYS, marked, max_size=2),
    )
    keys = _KEYS | _KEYS | st.text(max_size=5) | marked
    args = st.dictionaries(keys, value, max_size=3)
    easy = st.dictionaries(_KEYS, plain | st.integers() | st.booleans(), max_size=3)
    names = _NAMES | _NAMES | st.text(min_size=1, max_size=6)
    call = st.builds(lambda name, args: ToolCall(name=name, args=args), names, args | easy)
    return st.lists(call, min_size=1, max_size=3, unique_by=lambda one: one.name).map(tuple)
