"""What the Messages API refuses of tools that it runs itself, and of settings beside each other."""

from refusals.claude import (
    ENABLED,
    MARK,
    STRING,
    USER,
    asked,
    claude,
    closed,
    result,
    said,
    search,
    strict,
    text,
    tool,
    use,
)

SEARCH = {"type": "web_search_20250305", "name": "web_search"}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
ADVICE = (
    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "advisor", "input": {}},
    {
        "type": "advisor_tool_result",
        "tool_use_id": "srvtoolu_1",
        "content": {"type": "advisor_result", "text": "Yes."},
    },
)
RETRY = {"fallback_credit_token": "x"}
BROWSER = {"type": "browser_toolset_20260801"}
SERVER_TOOLS = {
    "a dash in the id of a call that the provider ran": claude(
        r"server_tool_use\.id: String should match pattern '\^srvtoolu_\[a-zA-Z0-9_\]\+\$'",
        USER, said(search("srvtoolu_a-b"), FOUND | {"tool_use_id": "srvtoolu_a-b"}, text("So.")), USER,
        tools=[SEARCH],
    ),
    "words to a call of the provider that waits": claude(
        r"`web_search` tool use with id `srvtoolu_1` was found without a corresponding",
        USER, said(search(), use()), asked(result(), text()), tools=[SEARCH, tool()],
    ),
    "a call of the provider that waits without its tool": claude(
        r"", USER, said(search(), use()), asked(result())
    ),
    "a result of the provider's in the words of the user": claude(
        r"was found without a corresponding",
        USER, said(search(), text("So.")), asked(FOUND), tools=[SEARCH],
    ),
    "advice without the advisor": claude(r"", USER, said(*ADVICE, text("So.")), USER),
    "a result that does not name its toolset": claude(
        r"", USER, said(use(toolset_name="browser")), asked(result()), tools=[BROWSER]
    ),
    "a result of the assistant's": claude(
        r"messages\.1: `tool_result` blocks can only be in `user` messages",
        USER, said(result()), USER,
    ),
}  # fmt: skip
SETTINGS = {
    "a choice of no tool and of no parallel ones": claude(
        r"tool_choice\.none\.disable_parallel_tool_use: Extra inputs are not permitted",
        tool_choice={"type": "none", "disable_parallel_tool_use": True},
    ),
    "an unknown field of a tool": claude(
        r"tools\.0\.custom\.parameters: Extra inputs are not permitted", tools=[tool(parameters={})]
    ),
    "no tool that is there at once": claude(
        r"At least one tool must have defer_loading=false", tools=[tool(defer_loading=True)]
    ),
    "an object among the values of a strict tool": strict(
        r"strict mode", closed(a=STRING, b={"const": {"c": 1}})
    ),
    "thinking without a budget": claude(
        r"thinking\.enabled\.budget_tokens: Field required", thinking={"type": "enabled"}
    ),
    "a beginning of the reply while it thinks": claude(
        r"Expected `thinking` or `redacted_thinking`, but found `text`",
        USER, said(text("So")), thinking=ENABLED,
    ),
    "a redacted thought without data": claude(
        r"redacted_thinking\.data: Field required",
        USER, said({"type": "redacted_thinking"}, text("So.")), USER,
    ),
    "a temperature while it thinks": claude(
        r"`temperature` may only be set to 1 when thinking is enabled",
        thinking=ENABLED, temperature=0.5,
    ),
    "the likeliest words while it thinks": claude(
        r"`top_k` must be unset", thinking=ENABLED, top_k=5
    ),
    "four cache marks and one for all": claude(
        r"A maximum of 4 blocks with cache_control may be provided\. Found 5",
        asked(*[text(cache_control=MARK)] * 4, text()), cache_control=MARK,
    ),
}  # fmt: skip
ROWS = {**SERVER_TOOLS, **SETTINGS}
# What differs a little from a row above, and is answered.
ACCEPTED = {
    "an id of the provider's": claude(
        "", USER, said(search("srvtoolu_a_b"), FOUND | {"tool_use_id": "srvtoolu_a_b"}), USER,
        tools=[SEARCH],
    ),
    "results alone to a call of the provider that waits": claude(
        "", USER, said(search(), use()), asked(result()), tools=[SEARCH, tool()]
    ),
    "a search that is over, without its tool": claude(
        "", USER, said(search(), FOUND, text("So.")), USER
    ),
    "advice of the advisor": claude(
        "", USER, said(*ADVICE, text("So.")), USER,
        tools=[{"type": "advisor_20260301", "name": "advisor", "model": "claude-opus-5"}],
    ),
    "a result that names its toolset": claude(
        "", USER, said(use(toolset_name="browser")), asked(result(toolset_name="browser")),
        tools=[BROWSER],
    ),
    "a choice of any tool and of no parallel ones": claude(
        "", tool_choice={"type": "any", "disable_parallel_tool_use": True}
    ),
    "all fields of a tool": claude(
        "", tools=[tool(type="custom", description="x", input_examples=[{}], defer_loading=False)]
    ),
    "a text among the values of a strict tool": strict("", closed(a={"const": "c"})),
    "the usual temperature while it thinks": claude("", thinking=ENABLED, temperature=1),
    "the usual temperature of a new model": claude("", model="claude-opus-4-7", temperature=1),
    "a temperature while it does not think": claude("", temperature=0.5),
    "four cache marks, the one for all among them": claude(
        "", asked(*[text(cache_control=MARK)] * 4), cache_control=MARK
    ),
    "a retry that goes on where a refusal was": claude(
        "", USER, said(text("So")), model="claude-opus-5", **RETRY
    ),
    "instructions that Sonnet 5 reads past": claude(
        "", USER, {"role": "system", "content": "Be brief."}, said(text("So.")), USER,
        model="claude-sonnet-5",
    ),
    "no limit of tokens but none at all": claude("", max_tokens=0),
}  # fmt: skip
