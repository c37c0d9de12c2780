"""Run a gateway under mixed load and faults, and print figures.

python -m scripts.soak MINUTES [--seed N] [--clients N]

The time has four quarters; the first is warm-up. It ends with 1 if anything unexpected happened, or
if the workers use more than 1.1 times the memory or file descriptors in the last quarter than they
did in the second.
"""

import argparse
import asyncio
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path

from scripts.soak.clients import Clients
from scripts.soak.gateway import GatewayProcess, Sample, Upstreams

MOST = 1.1
"""The last quarter against the second."""
_QUARTERS = 4
_SAMPLE_SECONDS = 1.0
_PAUSE = 1.0
_KILL_SECONDS, _RELOAD_SECONDS, _FULL_SECONDS = 20.0, 13.0, 29.0
"""How often each episode begins."""
_FULL_FOR = 3.0
_MEGABYTE = 1024 * 1024
_SHOWN = 20


class Soak:
    """One run."""

    def __init__(self, gateway: GatewayProcess, clients: Clients, seconds: float) -> None:
        self.gateway = gateway
        self.clients = clients
        self._begun = time.monotonic()
        self._seconds = seconds
        self.until = self._begun + seconds
        self.faults = Counter[str]()
        """What was done to the gateway."""
        self.samples: list[list[Sample]] = [[] for _ in range(_QUARTERS)]

    async def run(self, count: int) -> None:
        """All of it."""
        async with self.clients, asyncio.TaskGroup() as group:
            for _ in range(count):
                group.create_task(self.clients.run(self.until, _PAUSE))
            group.create_task(self._sample())
            group.create_task(self._every(_KILL_SECONDS, self._kill))
            group.create_task(self._every(_RELOAD_SECONDS, self._reload))
            group.create_task(self._every(_FULL_SECONDS, self._fill))

    async def _every(self, seconds: float, episode: Callable[[], Awaitable[None]]) -> None:
        while time.monotonic() + 1.5 * seconds < self.until:
            await asyncio.sleep(seconds)
            await episode()

    async def _kill(self) -> None:
        self.clients.weather.killed = time.monotonic()
        self.gateway.kill_worker()
        self.faults["worker kills"] += 1

    async def _reload(self) -> None:
        self.gateway.reload()
        self.faults["reloads"] += 1

    async def _fill(self) -> None:
        weather = self.clients.weather
        weather.is_full = True
        self.gateway.fill_disk()
        await asyncio.sleep(_FULL_FOR)
        self.gateway.free_disk()
        weather.full_until = time.monotonic()
        weather.is_full = False
        self.faults["full disks"] += 1

    async def _sample(self) -> None:
        while (now := time.monotonic()) < self.until:
            quarter = min(_QUARTERS - 1, int(_QUARTERS * (now - self._begun) / self._seconds))
            sample = self.gateway.sample()
            if sample is not None:
                self.samples[quarter].append(sample)
            await asyncio.sleep(_SAMPLE_SECONDS)


def figures(samples: list[list[Sample]]) -> dict[str, list[float]]:
    """What workers use: for each measure the median of each quarter."""
    return {
        what: [statistics.median(getattr(one, name) for one in quarter) for quarter in samples]
        for what, name in (
            ("RSS of both workers", "rss"),
            ("RSS of the oldest", "oldest_rss"),
            ("file descriptors", "files"),
        )
    }


def grown(made: dict[str, list[float]]) -> list[str]:
    """What lies in the last quarter above the second by more than is allowed."""
    return [
        f"{what}: {last / second:.2f} times the second quarter in the last"
        for what, (_, second, _, last) in made.items()
        if last > MOST * second
    ]


def _report(soak: Soak, made: dict[str, list[float]], upstream: dict[str, int]) -> None:
    clients = soak.clients
    for title, counts in (
        ("requests", clients.requests),
        ("clients", clients.events),
        ("done to the gateway", soak.faults),
        ("faults of upstreams", upstream),
    ):
        print(f"\n{title}: {sum(counts.values()):,}")
        for name, count in sorted(counts.items()):
            print(f"  {name:44}{count:>8,}")
    print("\nmedian of each quarter (the first is warm-up)")
    for what, quarters in made.items():
        is_size = what.startswith("RSS")
        shown = [f"{one / _MEGABYTE:.1f} MB" if is_size else f"{one:.0f}" for one in quarters]
        ratio = quarters[-1] / quarters[1]
        print(f"  {what:22}" + "".join(f"{one:>12}" for one in shown) + f"   x {ratio:.3f}")


def main(minutes: float, *, count: int, seed: int) -> int:
    """Run, print the figures, and give the exit code."""
    # A run that gets SIGTERM stops what it has started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    gateway = None
    upstreams = Upstreams()
    with tempfile.TemporaryDirectory(prefix="canonicall-soak-") as folder:
        try:
            gateway = GatewayProcess(Path(folder), upstreams)
            hidden = tuple(f"127.0.0.1:{port}" for port in upstreams.ports.values())
            soak = Soak(gateway, Clients(gateway.url, hidden, seed), minutes * 60)
            asyncio.run(soak.run(count))
            code = gateway.stop()
            faults = upstreams.stop()
        finally:
            if gateway is not None:
                gateway.kill()
            upstreams.kill()
    made = figures(soak.samples)
    _report(soak, made, faults)
    wrong = [*soak.clients.unexpected]
    if code != 0:
        wrong.append(f"the gateway ended with {code}")
    wrong += [f"printed: {line}" for line in gateway.printed if "Traceback" in line]
    print(f"\nunexpected outcomes: {len(wrong)}")
    for one in [*wrong[:_SHOWN], *grown(made)]:
        print(f"  {one}")
    return 1 if wrong or grown(made) else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A gateway under mixed load and faults.")
    parser.add_argument("minutes", type=float)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--clients", type=int, default=12)
    return parser.parse_args()


if __name__ == "__main__":
    given = _arguments()
    sys.exit(main(given.minutes, count=given.clients, seed=given.seed))
