"""JSON, words, and the blocks of messages, as they come from models and hosts."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from canonicall.blocks import Media, Opaque, Text, Thinking, ToolCall, ToolResult

RAW_IDS = st.sampled_from(
    ["", "call_0", "call_1", "functions.f:0", "toolu_a", "call_a", "hist_tool_a", "hist_tool_b"]
)
"""So few that calls share them, and that results name calls that are not there."""
TOOL_NAMES = ("f", "g", "read_file", "weather.get", "läs fil", "n" * 140)
"""Names of tools. The last three cannot be said as they are to most targets."""

_NAMES = st.sampled_from(["f", "g", "read_file", ""])
_WORDS = st.text(max_size=12)
# Texts that a format might take for more than text: its own ways to write results, and errors.
_TELLING = (
    *('{"a": 1}', '{"output": "x"}', '{"result": 1}', '{"error": "no"}', "{}", "[1, 2]", '"x"'),
    *("null", "12", "Error: no", "[image/png]", "data:image/png;base64,aGk="),
)
_SPOKEN = st.text(min_size=1, max_size=12).filter(str.strip) | st.sampled_from(_TELLING)

_JSON: SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | _WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_WORDS, inner, max_size=3),
    max_leaves=6,
)
_OBJECTS = st.dictionaries(_WORDS, _JSON, max_size=3)

_SEALS = st.builds(
    Opaque, st.sampled_from(["anthropic", "gemini-api"]), st.just("signature"), _WORDS
)
_TEXTS = st.builds(lambda text: Text(text=text), _WORDS)
_TOLD = st.builds(lambda text: Text(text=text), _SPOKEN)
_THOUGHTS = st.builds(
    lambda text, seals: Thinking(text=text, opaque=tuple(seals)),
    _WORDS,
    st.lists(_SEALS, max_size=1),
)
_MEDIA = st.builds(
    lambda data: Media(media_type="image/png", data=data), st.sampled_from(["", "aGk="])
)
_SHOWN = st.builds(
    lambda media_type, data: Media(media_type=media_type, data=data),
    st.sampled_from(["image/png", "image/jpeg", "application/pdf", "audio/wav", "video/mp4"]),
    st.sampled_from(["aGk=", "cGljdHVyZQ=="]),
)
_CALLS = st.one_of(
    st.builds(
        lambda id, name, args: ToolCall(id=id, name=name, args=args), RAW_IDS, _NAMES, _OBJECTS
    ),
    st.builds(
        lambda id, name, raw: ToolCall(id=id, name=name, raw=raw),
        RAW_IDS,
        _NAMES,
        st.sampled_from(["{}", "", '{"a": 1}', '{"a": ', "[1]"]),
    ),
    st.builds(
        lambda id, raw: ToolCall(id=id, name="shell", raw=raw, kind="custom"), RAW_IDS, _WORDS
    ),
)
_SOUND_CALLS = st.builds(
    lambda name, args: ToolCall(name=name, args=args), st.sampled_from(TOOL_NAMES), _OBJECTS
) | st.builds(lambda raw: ToolCall(name="shell", raw=raw, kind="custom"), _WORDS)
_RESULTS = st.builds(
    lambda id, content, error, is_complete, name, synthetic: ToolResult(
        call_id=id,
        content=content,
        error=error,
        is_complete=is_complete,
        name=name,
        synthetic=synthetic,
    ),
    RAW_IDS,
    st.none() | st.lists(_TEXTS | _MEDIA, max_size=2).map(tuple),
    st.booleans(),
    st.sampled_from([None, None, True, False]),
    st.sampled_from(["", "", "f", "g"]),
    st.sampled_from([False, False, False, True]),
)


def words() -> SearchStrategy[str]:
    """Short texts of any characters, the empty one among them."""
    return _WORDS


def json_values() -> SearchStrategy[Any]:
    """JSON of any kind, not deep."""
    return _JSON


def json_objects() -> SearchStrategy[dict[str, Any]]:
    """JSON objects with any keys, such as arguments are."""
    return _OBJECTS


def texts(*, sound: bool = False) -> SearchStrategy[Text]:
    """Texts, blank ones among them; sound ones have something to say, and may look like more."""
    return _TOLD if sound else _TEXTS


def thoughts() -> SearchStrategy[Thinking]:
    """Thoughts, some of them signed in one of two domains."""
    return _THOUGHTS


def media(*, sound: bool = False) -> SearchStrategy[Media]:
    """Pictures, some of them empty; sound ones are pictures, documents, sound and film."""
    return _SHOWN if sound else _MEDIA


def calls(*, sound: bool = False) -> SearchStrategy[ToolCall]:
    """Calls: ids that collide, no name, arguments that are cut or no object, calls of free text.

    Sound ones have a name, arguments, and no id yet.
    """
    return _SOUND_CALLS if sound else _CALLS


def results() -> SearchStrategy[ToolResult]:
    """Results of calls that may not be there: empty, failed, incomplete, made up."""
    return _RESULTS
