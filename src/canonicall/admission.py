"""Admission: every value that enters a conversation is checked here, and only here.

In: an entry as a caller or a decoder built it. Out: the same entry with plain JSON inside, text
that UTF-8 can carry and arguments in both forms, and findings for what had to change. A value of
the wrong type is refused with its path before anything is written.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from canonicall.blocks import (
    Block,
    CallClosed,
    CallKind,
    Code,
    Media,
    Message,
    Native,
    Opaque,
    Origin,
    ResultContent,
    Role,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)
from canonicall.errors import InvalidValue
from canonicall.findings import Action, Fault, Finding
from canonicall.outcome import Outcome
from canonicall.plain import clean_text, plain_json

_ROLES = frozenset(get_args(Role))
_KINDS = frozenset(get_args(CallKind))
_RESULT_CONTENT = get_args(ResultContent)
_AnyBlock = TypeVar("_AnyBlock", bound=Struct)


def admit_message(message: Message, where: str, findings: list[Finding]) -> Message:
    """`message`, fit to be stored."""
    if message.role not in _ROLES:
        raise InvalidValue(
            f"{message.role!r} is not a role.",
            where=f"{where}.role",
            help=f"Roles are {', '.join(get_args(Role))}.",
        )
    if message.origin is not None and not isinstance(message.origin, Origin):
        raise _wrong_type("an Origin", message.origin, f"{where}.origin")
    if not isinstance(message.turn_key, str):
        raise _wrong_type("text", message.turn_key, f"{where}.turn_key")
    blocks = _sequence(message.blocks, f"{where}.blocks")
    admitted = tuple(
        admit_block(block, f"{where}.blocks[{index}]", findings)
        for index, block in enumerate(blocks)
    )
    native = message.native and _native(message.native, where, findings)
    return replace(message, blocks=admitted, native=native)


def admit_closing(closing: CallClosed, where: str, findings: list[Finding]) -> CallClosed:
    """`closing`, fit to be stored."""
    outcome = _outcome(closing.outcome, where)
    if outcome is None:
        raise InvalidValue("a closing needs an outcome.", where=f"{where}.outcome")
    return CallClosed(
        _text(closing.call_id, f"{where}.call_id", findings),
        outcome,
        _text(closing.why, f"{where}.why", findings),
        _content(closing.content, f"{where}.content", findings),
        closing.bound is True,
    )


def admit_block(block: Block, where: str, findings: list[Finding]) -> Block:
    """`block`, fit to be stored."""
    check = _CHECKS.get(type(block))
    if check is None:
        raise _wrong_type("a block", block, where)
    if block.opaque or block.native is not None or block.cache is not None:
        block = _common(block, where, findings)
    admitted: Block = check(block, where, findings)
    return admitted


def _words(block: Text | Thinking | Summary, where: str, findings: list[Finding]) -> Block:
    return _with(block, text=_text(block.text, f"{where}.text", findings))


def _code(block: Code, where: str, findings: list[Finding]) -> Block:
    return _with(
        block,
        code=_text(block.code, f"{where}.code", findings),
        language=_text(block.language, f"{where}.language", findings),
    )


def _media(block: Media, where: str, findings: list[Finding]) -> Block:
    _text(block.media_type, f"{where}.media_type", findings)
    if isinstance(block.data, bytes):
        raise InvalidValue(
            "inline media is base64 text, not bytes.",
            where=f"{where}.data",
            help="Use base64.b64encode(data).decode().",
        )
    if block.data is None and block.url is None and not block.opaque and block.native is None:
        raise InvalidValue(
            "media needs a source.", where=where, help="Give data, url or an opaque file id."
        )
    for field in ("data", "url", "name"):
        value = getattr(block, field)
        if value is not None:
            _text(value, f"{where}.{field}", findings)
    return block


def _unknown(block: Unknown, where: str, findings: list[Finding]) -> Block:
    del where, findings
    return block


def _call(call: ToolCall, where: str, findings: list[Finding]) -> Block:
    if call.kind not in _KINDS:
        raise InvalidValue(
            f"{call.kind!r} is not a kind of call.",
            where=f"{where}.kind",
            help=f"Kinds are {', '.join(get_args(CallKind))}.",
        )
    raw = call.raw if call.raw is None else _text(call.raw, f"{where}.raw", findings)
    return replace(
        call,
        id=_text(call.id or "", f"{where}.id", findings),
        name=_text(call.name or "", f"{where}.name", findings),
        raw_id=_text(call.raw_id or "", f"{where}.raw_id", findings),
        args=_arguments(call, where, findings),
        raw=raw,
    )


def _arguments(call: ToolCall, where: str, findings: list[Finding]) -> dict[str, Any] | None:
    """The parsed form: a snapshot of what was given, or what the raw text says."""
    if call.args is not None:
        if not isinstance(call.args, dict):
            raise _wrong_type("an object of arguments", call.args, f"{where}.args")
        args, changes = plain_json(call.args, f"{where}.args")
        findings += changes
        return dict(args)
    if call.kind == "custom":
        return None
    args = parse_arguments(call.raw)
    if args is None:
        findings.append(
            Finding(
                "arguments_unreadable",
                f"{where}.raw",
                Action.KEPT,
                f"The arguments of {call.name or 'the call'} are not a JSON object;"
                " only their text is kept.",
                Fault.INPUT,
            )
        )
    return args


def parse_arguments(raw: str | None) -> dict[str, Any] | None:
    """The JSON object in `raw`, None if there is none. Nothing, blank and null mean `{}`."""
    if raw is None or not raw.strip() or raw.strip() == "null":
        return {}
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeEncodeError):
        # The strict parser refuses escaped lone surrogates, which models do write.
        value = _lenient(raw) if "\\u" in raw or not raw.isascii() else None
    except RecursionError:
        value = None
    if not isinstance(value, dict):
        return None
    try:
        return dict(plain_json(value, "$")[0])
    except InvalidValue:
        return None


def _lenient(raw: str) -> Any:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None


def _result(result: ToolResult, where: str, findings: list[Finding]) -> Block:
    for field in ("error", "synthetic", "bound"):
        if not isinstance(getattr(result, field), bool):
            raise _wrong_type("True or False", getattr(result, field), f"{where}.{field}")
    content = result.content
    return replace(
        result,
        call_id=_text(result.call_id or "", f"{where}.call_id", findings),
        name=_text(result.name or "", f"{where}.name", findings),
        raw_id=_text(result.raw_id or "", f"{where}.raw_id", findings),
        content=None if content is None else _content(content, f"{where}.content", findings),
        outcome=_outcome(result.outcome, where),
    )


def _content(
    content: Sequence[ResultContent], where: str, findings: list[Finding]
) -> tuple[ResultContent, ...]:
    admitted = []
    for index, block in enumerate(_sequence(content, where)):
        if not isinstance(block, _RESULT_CONTENT):
            raise _wrong_type("text, media or an unknown block", block, f"{where}[{index}]")
        admitted.append(admit_block(block, f"{where}[{index}]", findings))
    return tuple(admitted)  # type: ignore[arg-type]  # the check above says which blocks


def _outcome(outcome: Outcome | None, where: str) -> Outcome | None:
    if outcome is None:
        return None
    try:
        return Outcome(outcome)
    except ValueError:
        raise InvalidValue(
            f"{outcome!r} is not an outcome.",
            where=f"{where}.outcome",
            help=f"Outcomes are {', '.join(Outcome)}.",
        ) from None


def _common(block: _AnyBlock, where: str, findings: list[Finding]) -> _AnyBlock:
    """The fields all blocks share."""
    opaque, cache, native = block.opaque, block.cache, block.native  # type: ignore[attr-defined]
    sealed = []
    for index, part in enumerate(_sequence(opaque, f"{where}.opaque")):
        at = f"{where}.opaque[{index}]"
        if not isinstance(part, Opaque):
            raise _wrong_type("an Opaque", part, at)
        value, changes = plain_json(part.value, f"{at}.value")
        findings += changes
        sealed.append(Opaque(part.domain, part.kind, value))
    if cache is not None:
        cache = _text(cache, f"{where}.cache", findings)
    if native is not None:
        native = _native(native, where, findings)
    return replace(block, opaque=tuple(sealed), cache=cache, native=native)


def _native(native: Native, where: str, findings: list[Finding]) -> Native:
    if not isinstance(native, Native):
        raise _wrong_type("a Native", native, f"{where}.native")
    fields, changes = plain_json(native.fields, f"{where}.native.fields")
    findings += changes
    return Native(native.format, fields)


def _with(block: _AnyBlock, **fields: str) -> _AnyBlock:
    """`block` with these fields, itself when they are what it has."""
    if all(getattr(block, name) is value for name, value in fields.items()):
        return block
    return replace(block, **fields)


def _text(value: Any, where: str, findings: list[Finding]) -> str:
    if not isinstance(value, str):
        raise _wrong_type("text", value, where)
    if value.isascii():
        return value
    text, changes = clean_text(value, where)
    findings += changes
    return text


def _sequence(value: Any, where: str) -> Sequence[Any]:
    if isinstance(value, (tuple, list)):
        return value
    raise _wrong_type("a tuple of blocks", value, where)


def _wrong_type(wanted: str, value: Any, where: str) -> InvalidValue:
    help = "For plain text write (Text('...'),)." if isinstance(value, str) else ""
    return InvalidValue(f"expected {wanted}, got {type(value).__name__}.", where=where, help=help)


_CHECKS: dict[type, Callable[[Any, str, list[Finding]], Block]] = {
    Text: _words,
    Thinking: _words,
    Summary: _words,
    Code: _code,
    Media: _media,
    ToolCall: _call,
    ToolResult: _result,
    Unknown: _unknown,
}
