"""A program for the tests of the shared limiter: it forks workers, and prints what came of it as JSON.

python shared_memory_workers.py count|kill|revoke. A process of its own, since a test's may have threads.
"""

import asyncio
import json
import os
import signal
import sys
from copy import copy

from canonicall.gateway.config import KeySettings
from canonicall.gateway.exchange import Refused
from canonicall.gateway.governance.gate import Gate
from canonicall.gateway.governance.keys import new_key
from canonicall.gateway.governance.shared_memory import SharedLimiter

KEY, HASH = new_key(bytes(32))
OTHER_HASH = new_key(bytes(31) + b"\x01")[1]
LIMIT = 150
"""Less than an exit code can tell."""
NOW = 100.0


def gate(limiter, worker, **limits):
    """The gate of a worker; `limiter` may be another's, too."""
    limiter = copy(limiter)
    limiter.enter(worker)
    made = Gate({"team": KeySettings(hash=HASH, **limits)}, open_to_all=False)
    made.limit_by(limiter)
    return made


def spent(gate, now):
    return asyncio.run(gate.spending(now))[0]


async def is_let_in(gate, now):
    try:
        await gate.admit(KEY, "m", now)
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


def count(limiter):
    """How many two workers let in at the same time, and how many are known of."""

    def work(worker):
        mine = gate(limiter, worker, requests_per_minute=LIMIT)
        return asyncio.run(let_in(mine))

    async def let_in(mine):
        return sum([await is_let_in(mine, NOW) for _ in range(LIMIT)])

    processes = [forked(work, worker) for worker in (0, 1)]
    together = sum(map(ended, processes))
    return [LIMIT, together, spent(gate(limiter, 0), NOW).requests]


def kill(limiter):
    """What a survivor sees of five workers that were killed while they counted."""

    async def work():
        mine = gate(limiter, 1)
        while True:
            await mine.admit(KEY, "m", NOW)

    survivor = gate(limiter, 0, concurrent=1)
    seen = []
    for _ in range(5):
        process = forked(lambda: asyncio.run(work()))
        while spent(survivor, NOW).running == 0:
            if os.waitpid(process, os.WNOHANG)[0]:
                sys.exit("a worker ended too early")
        os.kill(process, signal.SIGKILL)
        ended(process)
        before = asyncio.run(is_let_in(survivor, NOW))
        gate(limiter, 1)
        seen.append([before, spent(survivor, NOW).running])
    later = 10 * NOW
    return [seen, asyncio.run(is_let_in(survivor, later)), spent(survivor, later).requests]


def revoke(limiter):
    """How many one worker learns of, and what another does: at first, and then."""

    def work():
        asyncio.run(limiter.revoke(OTHER_HASH))
        return len(newly_revoked())

    def newly_revoked():
        return sorted(asyncio.run(limiter.newly_revoked()))

    asyncio.run(limiter.revoke(HASH))
    learned = ended(forked(work))
    return [learned, newly_revoked(), newly_revoked()]


if __name__ == "__main__":
    asked = {"count": count, "kill": kill, "revoke": revoke}[sys.argv[1]]
    print(json.dumps(asked(SharedLimiter(2))))  # noqa: T201
