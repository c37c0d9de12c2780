"""Closing: every call gets exactly one result to send, real or made up, and it tells the truth.

Only here is a result made up. Its wording is constant, so that the same history gives the same
bytes, and it never says that something did not happen when it may have.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from canonicall.arguments import is_cut
from canonicall.blocks import Block, Entry, Media, Message, ResultContent, Text, ToolResult
from canonicall.facts.target import Target
from canonicall.findings import Action, Fault, Finding
from canonicall.ledger import Interaction
from canonicall.outcome import Outcome, wording
from canonicall.transcript.policy import Policy

_COMPLETED = Outcome.COMPLETED
_SO_FAR = "Output before it ended:"
_ERROR = "Error: "


def is_usual(one: Interaction, result: ToolResult) -> bool:
    """Whether `result` is a plain success in words, which every target gets as it is."""
    if result.error or one.closed or one.outcome is not _COMPLETED:
        return False
    if result.opaque or result.native is not None or result.cache is not None:
        return False
    for part in result.content or ():
        if type(part) is not Text or part.native is not None or part.opaque or part.cache:
            return False
        if not part.text or part.text.isspace():
            return False
    return bool(result.content)


def completion(
    one: Interaction, target: Target, policy: Policy, findings: list[Finding]
) -> ToolResult:
    """The result to send for an interaction."""
    if one.result is not None and one.outcome is not None and not one.closed:
        return _real(one, one.result, target, findings)
    outcome = one.outcome or _outcome_of_open(one, policy)
    where = f"entries[{one.entry}]"
    if one.outcome is None:
        # The id that stood in the transcript is the one its reader can find there.
        named = f"{one.call.raw_id or one.id} ({one.name})"
        why = f"{named} has no result; the model is told: {outcome}."
        findings.append(Finding("result_made_up", where, Action.ADDED, why, Fault.STATE))
    content: list[ResultContent] = [Text(text=wording(outcome, one.why))]
    so_far = _visible(one.result)
    if so_far:
        content += (Text(text=_SO_FAR), *so_far)
    made = ToolResult(
        call_id=one.id, content=tuple(content), name=one.name, outcome=outcome, synthetic=True
    )
    return _shaped(made, error=outcome is not Outcome.COMPLETED, target=target)


def _outcome_of_open(one: Interaction, policy: Policy) -> Outcome:
    """A call that was cut off was not run. Of any other that is not known.

    Arguments that are whole and no object prove nothing: clients mend them, and run the call.
    """
    return Outcome.TRUNCATED if is_cut(one.call) else policy.open_calls


def _real(
    one: Interaction, result: ToolResult, target: Target, findings: list[Finding]
) -> ToolResult:
    came = content = _visible(result)
    if one.outcome not in (Outcome.COMPLETED, Outcome.FAILED) and not content:
        content = (Text(text=wording(one.outcome or Outcome.UNKNOWN, one.why)),)
    if result.error and not content:
        content = (Text(text=wording(Outcome.FAILED)),)
    if not target.empty_results and not content:
        content = (Text(text=wording(Outcome.COMPLETED)),)
    if content is not came:
        why = f"The result of {one.call.raw_id or one.id} is empty; its outcome is said in words."
        where = f"entries[{one.entry}]"
        findings.append(Finding("result_worded", where, Action.ADDED, why, Fault.NONE))
    # What a provider ran on its side answers no call of the client's.
    opaque = tuple(seal for seal in result.opaque if seal.kind != "server_block")
    kept = replace(result, content=content, name=one.name, is_complete=True, opaque=opaque)
    failed = result.error or one.outcome is not Outcome.COMPLETED
    return _shaped(kept, error=failed, target=target)


def _shaped(result: ToolResult, *, error: bool, target: Target) -> ToolResult:
    """`result` with its failure marked as the target wants: by a flag, or in words."""
    if not error or target.result_error_flag:
        return replace(result, error=error)
    content = result.content or ()
    first = content[0] if content else Text(text="")
    if isinstance(first, Text) and first.text.lower().startswith("error"):
        return replace(result, error=True)
    if isinstance(first, Text):
        content = (replace(first, text=_ERROR + first.text), *content[1:])
    else:
        content = (Text(text=_ERROR.strip()), *content)
    return replace(result, error=True, content=content)


def _visible(result: ToolResult | None) -> tuple[ResultContent, ...]:
    """What a result holds besides blank text, which is refused inside results as well."""
    content = result.content or () if result is not None else ()
    return tuple(part for part in content if not isinstance(part, Text) or part.text.strip())


def are_moved(calls: Sequence[Interaction], entries: Sequence[Entry], reply: int) -> bool:
    """Whether results are not where they are sent: right after the reply, in the order of calls."""
    entry, at = reply, 0
    blocks: tuple[Block, ...] = ()
    for one in calls:
        if one.result_entry is None or one.result_entry < reply:
            continue  # It is made up, or came before its call, which has a finding.
        if one.result_entry == entry + 1 and at == len(blocks):
            entry, at = one.result_entry, 0
            home = entries[entry]
            blocks = home.blocks if type(home) is Message else ()
        if one.result_entry != entry or at == len(blocks) or blocks[at] is not one.result:
            return _are_apart(calls, entries, reply)
        at += 1
    return False


def _are_apart(calls: Sequence[Interaction], entries: Sequence[Entry], reply: int) -> bool:
    """Whether something else is between a reply and its results, or they are in another order."""
    places: dict[int, tuple[int, int]] = {}
    wanted = {id(one.result): at for at, one in enumerate(calls) if one.result is not None}
    last = max(one.result_entry or 0 for one in calls)
    is_apart = False
    for index in range(reply + 1, last + 1):
        entry = entries[index]
        for position, block in enumerate(entry.blocks if type(entry) is Message else ()):
            if type(block) is not ToolResult:
                if index < last:
                    return True
                is_apart = True
            elif id(block) in wanted:
                if is_apart:
                    return True
                places[wanted[id(block)]] = (index, position)
    in_order = [places[at] for at in sorted(places)]
    return in_order != sorted(in_order)


def split_media(result: ToolResult, target: Target) -> tuple[ToolResult, tuple[Media, ...]]:
    """`result` without the media the target cannot carry in a result, and that media.

    An error flag and media exclude each other: "all content must be type "text" if "is_error" is
    true" (Anthropic Messages).
    """
    content = result.content or ()
    allowed = () if result.error and target.result_error_flag else target.result_media
    moved = tuple(
        part for part in content if isinstance(part, Media) and not _is_among(part, allowed)
    )
    if not moved:
        return result, ()
    kept = tuple(
        Text(text=f"[{part.media_type}: see the message after the results]")
        if part in moved
        else part
        for part in content
    )
    return replace(result, content=kept), moved


def _is_among(media: Media, allowed: tuple[str, ...]) -> bool:
    """Whether its family or its type is listed; of some media only the family is known."""
    kind = media.media_type
    is_vague = kind.endswith("/*") and any(one.startswith(kind[:-1]) for one in allowed)
    return family(media) in allowed or kind in allowed or is_vague


def family(media: Media) -> str:
    """ "image", "audio", "video" or "document"."""
    kind = media.media_type.partition("/")[0]
    return kind if kind in ("image", "audio", "video") else "document"
