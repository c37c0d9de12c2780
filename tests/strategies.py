"""Generated conversations, most of them damaged: few ids and names, so that everything collides."""

from hypothesis import strategies as st
from msgspec.structs import replace

from canonicall import (
    CallAsked,
    CallClosed,
    CallDecided,
    Conversation,
    Media,
    Message,
    Opaque,
    Origin,
    Outcome,
    Reply,
    Rule,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    UserWentOn,
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
    st.lists(texts | thoughts | media | calls | calls | results, max_size=5),
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
_scopes = st.sampled_from(["once", "session", "rule"])
rules = st.builds(Rule, st.sampled_from(["f", "*", "[", "read_*"]), json_objects)
records = (
    st.builds(CallAsked, RAW_IDS, st.sampled_from(["approval", "external"]), WORDS)
    | st.builds(
        CallDecided,
        RAW_IDS,
        st.sampled_from(["allow", "deny"]),
        _scopes,
        st.none() | rules,
        st.none() | json_objects,
        WORDS,
    )
    | st.builds(
        UserWentOn, st.sampled_from(["wait", "supersede"]), st.lists(RAW_IDS, max_size=2).map(tuple)
    )
)
"""What was asked and decided about calls, or about none."""
entries = (
    assistant_messages
    | result_messages
    | result_messages
    | other_messages
    | closings
    | summaries
    | records
)
entry_lists = st.lists(entries, max_size=12)
conversations = entry_lists.map(Conversation.of)

# Sound conversations: every call has a name, arguments and a result, in whatever order results come.

DECLARED = ("f", "g", "read_file", "weather.get", "läs fil", "n" * 140)
"""Names of tools. The last three cannot be said as they are to most targets."""

# Texts that a format might take for more than text: its own ways to write results, and errors.
_TELLING = (
    *('{"a": 1}', '{"output": "x"}', '{"result": 1}', '{"error": "no"}', "{}", "[1, 2]", '"x"'),
    *("null", "12", "Error: no", "[image/png]", "data:image/png;base64,aGk="),
)
spoken = st.text(min_size=1, max_size=12).filter(str.strip) | st.sampled_from(_TELLING)
told = st.builds(lambda text: Text(text=text), spoken)
shown = st.builds(
    lambda media_type, data: Media(media_type=media_type, data=data),
    st.sampled_from(["image/png", "image/jpeg", "application/pdf", "audio/wav", "video/mp4"]),
    st.sampled_from(["aGk=", "cGljdHVyZQ=="]),
)
_instructions = st.builds(lambda block: Message("system", (block,)), told)
_questions = st.builds(
    lambda blocks: Message("user", tuple(blocks)), st.lists(told | told | shown, min_size=1)
)
_answers = st.tuples(st.lists(told | told | shown, max_size=2), st.booleans())
_sound_calls = st.builds(
    lambda name, args: ToolCall(name=name, args=args), st.sampled_from(DECLARED), json_objects
) | st.builds(lambda raw: ToolCall(name="shell", raw=raw, kind="custom"), WORDS)


@st.composite
def _exchanges(draw, number):
    """A question, a reply and the results of its calls, which come in any order."""
    words = draw(st.lists(told, max_size=1))
    made = draw(st.lists(_sound_calls, max_size=3))
    calls = [replace(call, id=f"call_{number}_{index}") for index, call in enumerate(made)]
    in_order = draw(st.permutations(calls))
    results = [
        Message("tool", (ToolResult(call_id=call.id, content=tuple(content), error=error),))
        for call, (content, error) in zip(
            in_order, draw(st.lists(_answers, min_size=len(made), max_size=len(made))), strict=True
        )
    ]
    return [draw(_questions), Message("assistant", (*words, *calls)), *results]


@st.composite
def _sound_entries(draw):
    entries = draw(st.lists(_instructions, max_size=2))
    for number in range(draw(st.integers(1, 3))):
        entries += draw(_exchanges(number))
        entries += draw(st.lists(_instructions, max_size=1)) if number == 1 else []
    return entries


sound_conversations = _sound_entries().map(Conversation.of)

# Replies as a provider might have sent them.

server_calls = st.builds(
    lambda id, args: ToolCall(id=id, name="web_search", args=args, kind="server"),
    RAW_IDS,
    json_objects,
)
replies = st.builds(
    lambda blocks, finish, usage: Reply(
        Message(
            "assistant",
            tuple(blocks),
            origin=Origin(model="m", response_id="r"),
            finish=finish,
        ),
        usage,
    ),
    st.lists(texts | thoughts | calls | calls | media | server_calls, max_size=6),
    st.sampled_from(["", "stop", "tool_calls", "length", "filter", "error", "context_overflow"]),
    st.none() | st.builds(Usage, st.integers(0, 99), st.integers(0, 99)),
)
