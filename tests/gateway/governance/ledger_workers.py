"""A program for the tests of the ledger: it forks workers, and prints what came of it as JSON.

python ledger_workers.py count|kill|revoke. A process of its own, since a test's may have threads.
"""

import json
import os
import signal
import sys

from canonicall.gateway.config import KeySettings
from canonicall.gateway.exchange import Refused
from canonicall.gateway.governance.gate import Gate
from canonicall.gateway.governance.keys import new_key
from canonicall.gateway.governance.ledger import Ledger

KEY, HASH = new_key(bytes(32))
OTHER_HASH = new_key(bytes(31) + b"\x01")[1]
LIMIT = 150
"""Less than an exit code can tell."""
NOW = 100.0


def gate(ledger, worker, **limits):
    ledger.enter(worker)
    made = Gate({"team": KeySettings(hash=HASH, **limits)}, open_to_all=False)
    made.count_in(ledger)
    return made


def is_let_in(gate, now):
    try:
        gate.admit(KEY, "m", now)
    except Refused:
        return False
    return True


def forked(work, *given):
    """Do it in a process of its own; its number."""
    process = os.fork()
    if process:
        return process
    code = 255
    try:
        code = work(*given)
    finally:
        os._exit(code)


def ended(process):
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def count(ledger):
    """How many two workers let in at the same time, and how many are known of."""

    def work(worker):
        mine = gate(ledger, worker, requests_per_minute=LIMIT)
        return sum(is_let_in(mine, NOW) for _ in range(LIMIT))

    processes = [forked(work, worker) for worker in (0, 1)]
    let_in = sum(map(ended, processes))
    return [LIMIT, let_in, gate(ledger, 0).spending(NOW)[0].requests]


def kill(ledger):
    """What a survivor sees of five workers that were killed while they counted."""

    def work():
        mine = gate(ledger, 1)
        while True:
            mine.admit(KEY, "m", NOW)

    survivor = gate(ledger, 0, concurrent=1)
    seen = []
    for _ in range(5):
        process = forked(work)
        while survivor.spending(NOW)[0].running == 0:
            if os.waitpid(process, os.WNOHANG)[0]:
                sys.exit("a worker ended too early")
        os.kill(process, signal.SIGKILL)
        ended(process)
        before = is_let_in(survivor, NOW)
        gate(ledger, 1)
        seen.append([before, survivor.spending(NOW)[0].running])
    later = 10 * NOW
    return [seen, is_let_in(survivor, later), survivor.spending(later)[0].requests]


def revoke(ledger):
    """How many one worker learns of, and what another does: at first, and then."""

    def work():
        ledger.revoke(OTHER_HASH)
        return len(ledger.newly_revoked())

    ledger.revoke(HASH)
    learned = ended(forked(work))
    return [learned, sorted(ledger.newly_revoked()), sorted(ledger.newly_revoked())]


if __name__ == "__main__":
    asked = {"count": count, "kill": kill, "revoke": revoke}[sys.argv[1]]
    print(json.dumps(asked(Ledger(2))))  # noqa: T201
