"""Generated conversations, most of them damaged: few ids and names, so that everything collides."""

from hypothesis import strategies as st

from canonicall import (
    CallClosed,
    Conversation,
    Media,
    Message,
    Opaque,
    Origin,
    Outcome,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

RAW_IDS = st.sampled_from(
    ["", "call_0", "call_1", "functions.f:0", "toolu_a", "call_a", "hist_tool_a", "hist_tool_b"]
)
NAMES = st.sampled_from(["f", "g", "read_file", ""])
WORDS = st.text(max_size=12)

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)
json_objects = st.dictionaries(WORDS, json_values, max_size=3)

texts = st.builds(lambda text: Text(text=text), WORDS)
opaque = st.builds(
    Opaque, st.sampled_from(["anthropic", "gemini-api"]), st.just("signature"), WORDS
)
thoughts = st.builds(
    lambda text, seals: Thinking(text=text, opaque=tuple(seals)),
    WORDS,
    st.lists(opaque, max_size=1),
)
media = st.builds(
    lambda data: Media(media_type="image/png", data=data), st.sampled_from(["", "aGk="])
)

calls = st.one_of(
    st.builds(
        lambda id, name, args: ToolCall(id=id, name=name, args=args), RAW_IDS, NAMES, json_objects
    ),
    st.builds(
        lambda id, name, raw: ToolCall(id=id, name=name, raw=raw),
        RAW_IDS,
        NAMES,
        st.sampled_from(["{}", "", '{"a": 1}', '{"a": ', "[1]"]),
    ),
    st.builds(
        lambda id, raw: ToolCall(id=id, name="shell", raw=raw, kind="custom"), RAW_IDS, WORDS
    ),
)
results = st.builds(
    lambda id, content, error, is_complete, name, synthetic: ToolResult(
        call_id=id,
        content=content,
        error=error,
        is_complete=is_complete,
        name=name,
        synthetic=synthetic,
    ),
    RAW_IDS,
    st.none() | st.lists(texts | media, max_size=2).map(tuple),
    st.booleans(),
    st.sampled_from([None, None, True, False]),
    st.sampled_from(["", "", "f", "g"]),
    st.sampled_from([False, False, False, True]),
)
origins = st.none() | st.builds(Origin, st.sampled_from(["kimi", "openai", "gemini"]))
turn_keys = st.sampled_from(["", "", "", "turn_given", "step"])

assistant_messages = st.builds(
    lambda blocks, key, origin, partial: Message(
        "assistant", tuple(blocks), key, origin, partial=partial
    ),
    st.lists(texts | thoughts | calls | calls | results, max_size=5),
    turn_keys,
    origins,
    st.booleans(),
)
result_messages = st.builds(
    lambda role, blocks: Message(role, tuple(blocks)),
    st.sampled_from(["tool", "user"]),
    st.lists(results, min_size=1, max_size=3),
)
other_messages = st.builds(
    lambda role, blocks: Message(role, tuple(blocks)),
    st.sampled_from(["user", "user", "system", "developer", "tool"]),
    st.lists(texts | texts | media | calls | results, max_size=3),
)
closings = st.builds(CallClosed, RAW_IDS, st.sampled_from(list(Outcome)), WORDS)
summaries = st.builds(
    lambda text, covers: Message("user", (Summary(text=text, covers=covers),)),
    WORDS,
    st.integers(1, 9),
)
entries = (
    assistant_messages | result_messages | result_messages | other_messages | closings | summaries
)
entry_lists = st.lists(entries, max_size=12)
conversations = entry_lists.map(Conversation.of)
