"""What the Messages API refuses of single blocks, and of parameters, that the other tables have not."""

from refusals.claude import (
    ENABLED,
    MARK,
    OBJECT,
    SIGNED,
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
from refusals.claude_beside import BROWSER, FOUND, SEARCH
from refusals.claude_newer import new, told

IMAGE = {"type": "image", "source": {"type": "url", "url": "https://a.b/c.png"}}
HIDDEN = {"type": "redacted_thinking", "data": "c29tZQ=="}
HOP = {"type": "fallback", "from": {"model": "claude-fable-5"}, "to": {"model": "claude-opus-5"}}
LISTING = {"type": "mcp_tool_listing", "mcp_server_name": "s", "tools": []}
ASKED = {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "f", "server_name": "s", "input": {}}
ANSWERED = {"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "content": []}
BLOCKS = {
    "characters of the id in a result": claude(
        r"tool_result\.tool_use_id: String should match pattern '\^\[a-zA-Z0-9_-\]\+\$'",
        USER, said(use()), asked(result("t:1")),
    ),
    "a call without an id": claude(
        r"tool_use\.id: Field required", USER, said(use("")), asked(result())
    ),
    "a call without a name": claude(
        r"tool_use\.name: String should have at least 1 character",
        USER, said(use(name="")), asked(result()),
    ),
    "input that is a text": claude(
        r"tool_use\.input: Input should be a valid dictionary",
        USER, said(use(input='{"a": 1}')), asked(result()),
    ),
    "a call of the user's": claude(
        r"messages\.0: `tool_use` blocks can only be in `assistant` messages", asked(text(), use())
    ),
    "a result among words of the assistant": claude(
        r"messages\.1: `tool_result` blocks can only be in `user` messages",
        USER, said(text("So."), result()), USER,
    ),
    "an image of the assistant's": claude(
        r"'image' blocks are not permitted within assistant turns", USER, said(IMAGE), USER
    ),
    "an image among instructions": new(
        r"Input tag 'image' found using 'type' does not match any of the expected tags: 'text'",
        USER, told([text(), IMAGE]),
    ),
    "an unknown part of a result": claude(
        r"Input tag 'video' found using 'type' does not match any of the expected tags",
        USER, said(use()), asked(result(content=[{"type": "video", "source": {}}])),
    ),
    "an unknown field of text": claude(
        r"messages\.0\.content\.0\.text\.id: Extra inputs are not permitted", asked(text(id="a"))
    ),
    "an unknown field of a result": claude(
        r"tool_result\.name: Extra inputs are not permitted",
        USER, said(use()), asked(result(name="look")),
    ),
    "a result that names a toolset of its own": claude(
        r"", USER, said(use()), asked(result(toolset_name="browser"))
    ),
    "a result that names another toolset": claude(
        r"", USER, said(use(toolset_name="browser")), asked(result(toolset_name="computer")),
        tools=[BROWSER],
    ),
    "a call of a server of the user's without its result": claude(
        r"was found without a corresponding", USER, said(ASKED, text("So.")), USER
    ),
    "a result of a server of the user's without its call": claude(
        r"unexpected `tool_use_id` found in `mcp_tool_result` blocks: mcptoolu_1",
        USER, said(ANSWERED, text("So.")), USER,
    ),
    "a result of the provider's without its call": claude(
        r"unexpected `tool_use_id` found in `web_search_tool_result` blocks: srvtoolu_1",
        USER, said(FOUND, text("So.")), USER, tools=[SEARCH],
    ),
    "an empty message of the user's": claude(
        r"messages\.0: all messages must have non-empty content", {"role": "user", "content": []}
    ),
    "blank words of the assistant alone": claude(
        r"text content blocks must contain non-whitespace text", USER, said(text(" ")), USER
    ),
    "empty text beside a call": claude(
        r"text content blocks must be non-empty", USER, said(text(""), use()), asked(result())
    ),
    "blank instructions among messages": new(
        r"text content blocks must contain non-whitespace text", USER, told(" ")
    ),
    "a hidden thought at the end": claude(
        r"The final block in an assistant message cannot be `thinking`", USER, said(HIDDEN), USER
    ),
    "a hidden thought of somebody else": claude(
        r"messages\.1\.content\.0: Invalid `data` in `redacted_thinking` block",
        USER, said(HIDDEN, use()), asked(result()),
    ),
    "a thought with an empty signature": claude(
        r"messages\.1\.content\.0: Invalid `signature` in `thinking` block",
        USER, said(SIGNED | {"signature": ""}, use()), asked(result()),
    ),
    "a thought at the end while thinking is off": claude(
        r"When thinking is disabled, an `assistant` message in the final position cannot contain",
        USER, said(SIGNED, text("So")), thinking={"type": "disabled"},
    ),
    "a mark where another model takes over": new(
        r"fallback\.cache_control: Extra inputs are not permitted",
        USER, said(text("So."), HOP | {"cache_control": MARK}, text("On.")), USER,
    ),
    "a mark on a list of tools of a server": new(
        r"mcp_tool_listing\.cache_control: Extra inputs are not permitted",
        USER, said(LISTING | {"cache_control": MARK}, text("So.")), USER,
    ),
    "a mark on a hidden thought": claude(
        r"redacted_thinking\.cache_control: Extra inputs are not permitted",
        USER, said(HIDDEN | {"cache_control": MARK}, text("So.")), USER,
    ),
}  # fmt: skip
TOOLS = {
    "a tool without a name": claude(r"custom\.name", tools=[{"input_schema": OBJECT}]),
    "a tool in the form of OpenAI": claude(
        r"tools\.1: Input tag 'function' found using 'type' does not match any of the expected tags",
        tools=[tool(), {"type": "function", "function": {"name": "b", "parameters": OBJECT}}],
    ),
    "one of several schemas at the root": claude(
        r"input_schema does not support oneOf, allOf, or anyOf at the top level",
        tools=[tool(input_schema={"type": "object", "oneOf": [OBJECT]})],
    ),
    "several schemas at the root": claude(
        r"input_schema does not support oneOf, allOf, or anyOf at the top level",
        tools=[tool(input_schema={"type": "object", "allOf": [OBJECT]})],
    ),
    "a schema without a type": claude(
        r"input_schema\.type: Field required", tools=[tool(input_schema={"properties": {}})]
    ),
    "a strict tool with one of several schemas": strict(
        r"Schema type 'oneOf' is not supported", closed(a={"oneOf": [STRING]})
    ),
    "a strict tool that is open to others": strict(
        r"additionalProperties: true' is not supported",
        closed(a={"type": "object", "properties": {}, "additionalProperties": True}),
    ),
    "many parameters of one tool that may be missing": strict(
        r"Schema is too complex for compilation",
        closed(**{f"a{at}": STRING for at in range(24)}) | {"required": []},
    ),
    "many tools": claude(
        r"", tools=[tool(f"look_{at}", defer_loading=at > 0) for at in range(10_002)]
    ),
    "any call where none is possible": claude(
        r'tool_choice: type "tool" and "any" are not supported for this model',
        model="claude-fable-5-1", tool_choice={"type": "any"},
    ),
    "a named call while it thinks": claude(
        r"Thinking may not be enabled when tool_choice forces tool use",
        thinking=ENABLED, tool_choice={"type": "tool", "name": "look"},
    ),
}  # fmt: skip
RUN = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "code_execution", "input": {}}
RAN = {"type": "code_execution_tool_result", "tool_use_id": "srvtoolu_1", "content": {}}
FETCH = {"type": "web_fetch_20250910", "name": "web_fetch"}
VERTEX = {
    "a tool that Vertex does not have": claude(r"web_fetch_20250910", tools=[tool(), FETCH]),
    "a call of a tool that Vertex does not have": claude(
        r"", USER, said(RUN, RAN, text("So.")), USER
    ),
    "an unknown field of text at Vertex": claude(
        r"text\.id: Extra inputs are not permitted", asked(text(id="a"))
    ),
}
PARAMETERS = {
    "a budget of adaptive thinking": new(
        r"thinking\.adaptive\.budget_tokens: Extra inputs are not permitted",
        thinking={"type": "adaptive", "budget_tokens": 2048},
    ),
    "an unknown field of thinking": claude(
        r"thinking\.enabled\.effort: Extra inputs are not permitted",
        thinking=ENABLED | {"effort": "low"},
    ),
    "thoughts shown in an unknown way": new(
        r"thinking\.adaptive\.display: Input should be 'summarized', 'omitted'",
        thinking={"type": "adaptive", "display": "raw"},
    ),
    "an effort that there is not": new(
        r"output_config\.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'",
        output_config={"effort": "huge"},
    ),
    "a nucleus of a new model": new(r"`top_p` is deprecated for this model", top_p=0.9),
    "the likeliest words of a new model": new(r"`top_k` is deprecated for this model", top_k=5),
    "thinking between tools of another model": new(
        r"thinking\.type\.between_tools", thinking={"type": "between_tools"}
    ),
    "a high temperature": claude(r"temperature: range: 0\.\.1", temperature=1.5),
    "a blank sequence to stop at": claude(
        r"stop_sequences: each stop sequence must contain non-whitespace", stop_sequences=["\n"]
    ),
}
AT_VERTEX = {name: row._replace(provider="vertex") for name, row in VERTEX.items()}
ROWS = {**BLOCKS, **TOOLS, **PARAMETERS, **AT_VERTEX}
ACCEPTED = {
    "white space of the assistant beside a call": claude(
        "", USER, said(text("\n\n"), use()), asked(result())
    ),
    "an id of a call that an earlier message has": claude(
        "", USER, said(use()), asked(result()), said(use()), asked(result())
    ),
    "results in two messages": claude(
        "", USER, said(use(), use("t2")), asked(result()), asked(result("t2"))
    ),
    "tools of a server of the user's": claude(
        "", USER, said(LISTING, ASKED, ANSWERED, text("So.")), USER
    ),
    "where another model takes over": new("", USER, said(text("So."), HOP, text("On.")), USER),
    "an empty reply at the end": claude("", USER, said()),
    "instructions behind a result of the provider's": new(
        "", USER, said({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search",
                        "input": {}}, FOUND), told(), tools=[SEARCH],
    ),
    "tools of a server": claude("", tools=[{"type": "mcp_toolset", "mcp_server_name": "s"}]),
    "thoughts shown in short": new("", thinking={"type": "adaptive", "display": "summarized"}),
    "thoughts bound to what was said": new(
        "",
        thinking={
            "type": "adaptive",
            "block_binding": {"prefix_mismatch_behavior": "drop_block"},
        },
    ),
    "a search of Vertex": claude(
        "", USER, said(search(), FOUND, text("So.")), USER, tools=[SEARCH]
    )._replace(provider="vertex"),
    "the highest effort": new("", output_config={"effort": "max"}),
    "24 parameters of twelve tools that may be missing": strict(
        "", *[closed(a=STRING, b=STRING) | {"required": []}] * 12
    ),
    "a sequence to stop at": claude("", stop_sequences=["\n\nHuman:"]),
}  # fmt: skip
