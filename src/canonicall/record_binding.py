"""Binding of records: what was asked or decided about a call gets the canonical id of that call.

Nothing else comes of it. The ledger is read and never written, so that a conversation is sent in
the same words with its records and without them.
"""

from msgspec.structs import replace

from canonicall.decisions import Record, UserWentOn
from canonicall.findings import Action, Fault, Finding
from canonicall.ledger import Ledger


def bind_record(record: Record, ledger: Ledger, entry: int, findings: list[Finding]) -> Record:
    """`record` as it is to be written at position `entry` of the log."""
    if record.bound:
        # A call that was found once may be compacted away; what was said to it still stands.
        return record
    if isinstance(record, UserWentOn):
        ids = tuple(_named(ledger, id) or id for id in record.call_ids)
        return replace(record, call_ids=ids, bound=True)
    if not record.call_id:
        return record
    id = _named(ledger, record.call_id)
    if id:
        return replace(record, call_id=id, bound=True)
    why = f"No call has the id {record.call_id!r}: what was said to it is on record, no more."
    findings.append(
        Finding("orphan_decision", f"entries[{entry}]", Action.SET_ASIDE, why, Fault.INPUT)
    )
    return record


def _named(ledger: Ledger, id: str) -> str:
    one = ledger.named(id) if id else None
    return "" if one is None else one.id
