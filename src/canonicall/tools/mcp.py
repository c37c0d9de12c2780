"""Tools of MCP servers: their definitions as tools, what their calls return as results.

Works on values, as JSON objects or as the objects of the official SDK: whoever holds the connection
lists the tools and gives a function that calls one. Shapes are those of the protocol's schema,
revision 2025-11-25 (modelcontextprotocol.io/specification, "Tools").
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from msgspec.structs import replace

from canonicall.blocks import Media, ResultContent, Text
from canonicall.errors import InvalidValue
from canonicall.findings import Action, Fault, Finding
from canonicall.guard.results import DEFAULT_LIMIT, Returned, result_blocks
from canonicall.request import Tool
from canonicall.tools.bound import BoundTool
from canonicall.tools.definitions import bound_tool
from canonicall.tools.toolset import Toolset

CallTool = Callable[..., Any]
"""Name and arguments in, what the server answered out; `session.call_tool` of the SDK is one. It
gets the context as well if it has a parameter for it."""


def tools_from_mcp(
    definitions: Any, call: CallTool | None = None, *, trusted: bool = False
) -> Toolset:
    """The tools of a server, from its `tools/list` result or the list in it.

    Without `call` they are external. What a server says of its own tools is believed where it asks
    for care (`destructiveHint`); that a tool changes nothing (`readOnlyHint`) is believed of a
    server that is `trusted` only: "clients MUST consider tool annotations to be untrusted unless
    they come from trusted servers".
    """
    listed = _plain(definitions)
    if isinstance(listed, dict):
        listed = listed.get("tools")
    if not isinstance(listed, (list, tuple)):
        raise InvalidValue(
            f"expected a list of tool definitions, got {type(definitions).__name__}.",
            where="tools",
            help="Give what the server answered to tools/list.",
        )
    tools = [_tool(_plain(one), at, call, trusted=trusted) for at, one in enumerate(listed)]
    return Toolset.of(*tools)


def mcp_result(answer: Any, *, limit: int = DEFAULT_LIMIT) -> Returned:
    """What a server answered to `tools/call`, as the content of a result.

    Structured content is for programs, and servers repeat it as text for models; where there is
    no text, it is told as JSON.
    """
    plain = _plain(answer)
    if not isinstance(plain, dict) or not ({"content", "structuredContent"} & set(plain)):
        return result_blocks(answer, limit=limit)
    findings: list[Finding] = []
    listed = plain.get("content")
    parts = listed if isinstance(listed, (list, tuple)) else [] if listed is None else [listed]
    blocks = [_block(one, f"content[{at}]", findings) for at, one in enumerate(parts)]
    structured = plain.get("structuredContent")
    if structured is not None and not any(isinstance(block, Text) for block in blocks):
        blocks += result_blocks(structured).content
    made = result_blocks(blocks or None, limit=limit)
    return replace(
        made,
        value=answer,
        error=plain.get("isError") is True,
        findings=(*findings, *made.findings),
    )


def _tool(definition: Any, at: int, call: CallTool | None, *, trusted: bool) -> BoundTool:
    where = f"tools[{at}]"
    name = definition.get("name") if isinstance(definition, dict) else None
    if not isinstance(name, str) or not name:
        raise InvalidValue("it has no name.", where=where, help="A definition has a name.")
    schema = definition.get("inputSchema")
    if schema is not None and not isinstance(schema, dict):
        raise InvalidValue("its inputSchema is no object.", where=f"{where}.inputSchema")
    hints = definition.get("annotations")
    hints = hints if isinstance(hints, dict) else {}
    title = _text(definition, "title") or _text(hints, "title")
    output = definition.get("outputSchema")
    is_read_only = trusted and hints.get("readOnlyHint") is True
    is_destructive = hints.get("destructiveHint") is True and not is_read_only
    bound = bound_tool(
        Tool(name, _text(definition, "description") or title, schema),
        None if call is None else partial(call, name),
        title=title,
        read_only=is_read_only,
        approval="always" if is_destructive else "never",
        output_schema=output if isinstance(output, dict) else None,
    )
    return replace(bound, reading=mcp_result)


def _block(part: Any, where: str, findings: list[Finding]) -> ResultContent:
    part = part if isinstance(part, dict) else {"text": part}
    kind = part.get("type")
    if kind == "text" and isinstance(part.get("text"), str):
        return Text(text=part["text"])
    if kind in ("image", "audio") and isinstance(part.get("data"), str):
        return Media(media_type=_text(part, "mimeType") or f"{kind}/*", data=part["data"])
    if kind == "resource" and isinstance(part.get("resource"), dict):
        return _resource(part["resource"], where, findings)
    if kind == "resource_link" and isinstance(part.get("uri"), str):
        return Text(text=_link(part))
    return _told(part, where, findings)


def _resource(resource: dict[str, Any], where: str, findings: list[Finding]) -> ResultContent:
    uri = _text(resource, "uri")
    if isinstance(resource.get("text"), str):
        return Text(text=f"{uri}\n{resource['text']}" if uri else resource["text"])
    if isinstance(resource.get("blob"), str):
        media_type = _text(resource, "mimeType") or "application/octet-stream"
        return Media(media_type=media_type, data=resource["blob"], name=uri or None)
    return _told(resource, where, findings)


def _link(link: dict[str, Any]) -> str:
    """A link in words: its address means something to the server, hardly to a provider."""
    named = _text(link, "title") or _text(link, "name")
    kind = _text(link, "mimeType")
    first = " ".join(filter(None, (named, f"<{link['uri']}>", f"({kind})" if kind else "")))
    return "\n".join(filter(None, (first, _text(link, "description"))))


def _told(part: dict[str, Any], where: str, findings: list[Finding]) -> Text:
    why = "The protocol has no such content; it is told as text."
    findings.append(Finding("value_as_text", where, Action.CHANGED, why, Fault.INPUT))
    made = result_blocks(part)
    findings += made.findings
    return Text(text="".join(one.text for one in made.content if isinstance(one, Text)))


def _plain(value: Any) -> Any:
    """An object of the SDK as the JSON it stands for; anything else as it is."""
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(mode="json", by_alias=True)
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return value


def _text(holder: dict[str, Any], name: str) -> str:
    value = holder.get(name)
    return value if isinstance(value, str) else ""
