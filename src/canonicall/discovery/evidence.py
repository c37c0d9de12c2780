"""Evidence in short: of a request only what it differs in, which is what the probe is about."""

from typing import Any

import msgspec

from canonicall.client.secrets import Secret, hide
from canonicall.discovery.answer import SHOWN, Answer
from canonicall.discovery.statement import Evidence

_SAME = "..."


def evidence_of(
    probe: str,
    url: str,
    body: dict[str, Any],
    base: dict[str, Any] | None,
    answer: Answer,
    secrets: tuple[Secret, ...],
) -> Evidence:
    """One exchange; `base` is the request that this one differs from, None to show it whole."""
    shown = body if base is None else difference(body, base)
    words = hide(msgspec.json.encode(shown).decode(), secrets)
    more = " ..." if len(words) > SHOWN else ""
    return Evidence(probe, f"POST {url} {words[:SHOWN]}{more}", answer.shown(secrets))


def difference(body: dict[str, Any], base: dict[str, Any]) -> dict[str, Any]:
    """The fields of a body that its base does not have like that; None for those it lacks."""
    changed = {name: _changed(value, base.get(name)) for name, value in body.items()}
    kept = {name: value for name, value in changed.items() if value != _SAME}
    return kept | {name: None for name in base if name not in body}


def _changed(value: Any, base: Any) -> Any:
    if value == base:
        return _SAME
    if not isinstance(value, list) or not isinstance(base, list):
        return value
    shown: list[Any] = []
    for one in value:
        if one not in base:
            shown.append(one)
        elif not shown or shown[-1] != _SAME:
            shown.append(_SAME)
    return shown
