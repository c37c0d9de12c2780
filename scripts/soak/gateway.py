"""The gateway under test: `canonicall serve` with two workers, before two upstream processes.

All processes are children of this one, and are ended by it. A full disk is a limit on the size of
files that is set for the workers from outside: every write to the store and to the log then fails.
Clients have a key that is not an operator's, so that no address of an upstream may reach them.
"""

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from canonicall.facts.registry import get_profile
from canonicall.gateway.governance.keys import hash_of
from scripts.soak.upstream import KEY

BACKS = {
    "openai-chat": ("openai", "gpt-5"),
    "openai-responses": ("openai", "gpt-5"),
    "anthropic": ("anthropic", "claude-sonnet-4-5"),
    "gemini": ("gemini", "gemini-2.5-pro"),
}
"""The provider and the model of each format."""
CLIENT_KEY = "ck-soak-client-0123456789abcdef"
WORKERS = 2
HEAD_SECONDS, BODY_SECONDS = 4, 6
_PATIENCE = 30
_ENDLESS = resource.RLIM_INFINITY


class Sample(NamedTuple):
    """What the workers use at one time."""

    rss: int
    """Bytes, of all workers."""
    oldest_rss: int
    """Of the worker that has run longest."""
    files: int
    """Open file descriptors, of all workers."""


class Upstreams:
    """One upstream process that answers well, and one that does not."""

    def __init__(self) -> None:
        self._processes = {kind: _started(kind) for kind in ("steady", "faulty")}
        self.ports = {kind: int(_line(one)) for kind, one in self._processes.items()}

    def stop(self) -> dict[str, int]:
        """End them; how often each fault was made."""
        counts = {}
        for kind, process in self._processes.items():
            output, _ = process.communicate(timeout=_PATIENCE)
            counts[kind] = json.loads(output)
        return {name: count for name, count in counts["faulty"].items() if name != "none"}

    def kill(self) -> None:
        """End them in any case."""
        for process in self._processes.values():
            if process.poll() is None:
                process.kill()


class GatewayProcess:
    """The gateway, and all that can be done to it."""

    def __init__(self, folder: Path, upstreams: Upstreams) -> None:
        self._upstreams = upstreams
        self._settings = folder / "gateway.yaml"
        self._folder = folder
        self._reloads = 0
        self._write_settings()
        program = Path(sys.executable).with_name("canonicall")
        self._process = subprocess.Popen(  # noqa: S603  ourselves
            [program, "serve", "-c", self._settings, "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=folder,
        )
        self.printed: list[str] = []
        """The lines that it printed."""
        self._is_ready = threading.Event()
        threading.Thread(target=self._listen, daemon=True).start()
        if not self._is_ready.wait(_PATIENCE):
            raise RuntimeError("the gateway did not start: " + "\n".join(self.printed))

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.printed.append(line.rstrip())
            if '"started"' in line or '"url"' in line:
                self._is_ready.set()

    @property
    def url(self) -> str:
        """Where it is served."""
        started = next(one for one in self.printed if '"url"' in one)
        url: str = json.loads(started)["url"]
        return url

    def workers(self) -> list[int]:
        """The processes of its workers, the oldest first."""
        pid = self._process.pid
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
        return [int(one) for one in text.split()]

    def kill_worker(self) -> None:
        """Kill the youngest: the oldest shows what grows over the whole time."""
        os.kill(self.workers()[-1], signal.SIGKILL)

    def reload(self) -> None:
        """Change the settings and have them read again."""
        self._reloads += 1
        self._write_settings()
        self._process.send_signal(signal.SIGHUP)

    def fill_disk(self) -> None:
        """Let every write to a file fail, in workers that start now as well."""
        self._limit_files(0)

    def free_disk(self) -> None:
        """Let files be written again."""
        self._limit_files(_ENDLESS)

    def _limit_files(self, size: int) -> None:
        for process in (self._process.pid, *self.workers()):
            # A worker that has just been killed is gone.
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(process, resource.RLIMIT_FSIZE, (size, _ENDLESS))

    def sample(self) -> Sample | None:
        """What the workers use now; None while one of them is replaced."""
        workers = self.workers()
        try:
            sizes = [_rss(one) for one in workers]
            files = sum(len(list(Path(f"/proc/{one}/fd").iterdir())) for one in workers)
        except OSError:
            return None
        return Sample(sum(sizes), sizes[0], files) if len(sizes) == WORKERS else None

    def stop(self) -> int | None:
        """End it as an operator does; its exit code, None if it had to be killed."""
        self._process.send_signal(signal.SIGTERM)
        try:
            return self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()
            return None

    def kill(self) -> None:
        """End it in any case; its workers end with it."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def _write_settings(self) -> None:
        kinds = {"steady": "{}", "faulty": "{connect: 5, first_byte: 10, between_bytes: 3}"}
        providers = [
            f"  {kind}-{format}: {{profile: {name}, format: {format}, key: {KEY},"
            f" base_url: '{self._address(kind, name, format)}'"
            + (f", timeouts: {timeouts}" if kind == "faulty" else "")
            + "}"
            for kind, timeouts in kinds.items()
            for format, (name, _) in BACKS.items()
        ]
        models = [
            f"  {kind}-{format}: {kind}-{format}:{model}"
            for kind in kinds
            for format, (_, model) in BACKS.items()
        ]
        steady = f"steady-anthropic:{BACKS['anthropic'][1]}"
        models += [
            f"  mixed-{format}: [faulty-{format}:{model}, {steady}]"
            for format, (_, model) in BACKS.items()
        ]
        models.append(f"  reloaded-{self._reloads % 2}: {steady}")
        server = {
            "port": 0,
            "workers": WORKERS,
            "head_seconds": HEAD_SECONDS,
            "body_seconds": BODY_SECONDS,
            "read_seconds": 10,
            "keep_alive_seconds": 2,
            "drain_seconds": 10,
        }
        lines = [
            f"server: {json.dumps(server)}",
            f"keys: {{desk: {{hash: '{hash_of(CLIENT_KEY)}', requests_per_minute: 1000000}}}}",
            "providers:",
            *providers,
            "models:",
            *models,
            'replies: {"total_bytes": 8388608, "event_bytes": 4194304}',
            f"log: {{file: '{self._folder / 'requests.jsonl'}'}}",
            f"store: {{path: '{self._folder / 'gateway.db'}'}}",
        ]
        # A reload must not see half of it.
        part = self._settings.with_suffix(".new")
        part.write_text("\n".join(lines) + "\n")
        part.replace(self._settings)

    def _address(self, kind: str, provider: str, format: str) -> str:
        profile = get_profile(provider)
        path = urlsplit(profile.base_urls.get(format, profile.base_url)).path
        return f"http://127.0.0.1:{self._upstreams.ports[kind]}/{provider}{path}"


def _started(kind: str) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603  ourselves
        [sys.executable, "-m", "scripts.soak.upstream", kind],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def _rss(process: int) -> int:
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * resource.getpagesize()
