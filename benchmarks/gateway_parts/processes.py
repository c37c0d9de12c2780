"""Servers that are measured: each a process of its own, on its core, ended when all is done."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

_HERE = Path(__file__).parent.parent
_TICK = os.sysconf("SC_CLK_TCK")
_PATIENCE = 20.0


class Server(NamedTuple):
    """A process that listens."""

    pids: tuple[int, ...]
    port: int

    @property
    def cpu(self) -> float:
        """Seconds of the processor that it has used so far."""
        return sum(_cpu(pid) for pid in self.pids)

    @property
    def megabytes(self) -> float:
        """Memory that it holds."""
        lines = Path(f"/proc/{self.pids[-1]}/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024


@contextmanager
def servers() -> Iterator[dict[str, Server]]:
    """The upstream on one core; minimal proxy, gateway and nginx (where it is) on the other."""
    cores = sorted(os.sched_getaffinity(0))
    with ExitStack() as stack:
        upstream = stack.enter_context(_python("upstream", cores[-1]))
        found = {"upstream": upstream}
        for name in ("minimal_proxy", "gateway_server"):
            found[name] = stack.enter_context(_python(name, cores[0], upstream.port))
        if shutil.which("nginx"):
            found["nginx"] = stack.enter_context(_nginx(cores[0], upstream.port))
        yield found


@contextmanager
def _python(name: str, core: int, *arguments: int) -> Iterator[Server]:
    port = _free_port()
    command = [sys.executable, "-m", f"gateway_parts.{name}", str(port), *map(str, arguments)]
    environ = {**os.environ, "PYTHONPATH": f"{_HERE}{os.pathsep}{_HERE.parent / 'src'}"}
    with _running(command, core, port, environ) as process:
        yield Server((process.pid,), port)


@contextmanager
def _nginx(core: int, upstream: int) -> Iterator[Server]:
    port = _free_port()
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "nginx.conf")
        config.write_text(
            f"daemon off; worker_processes 1; pid {folder}/pid; error_log stderr crit;"
            " events { worker_connections 1024; }"
            f" http {{ access_log off; client_body_temp_path {folder}/body;"
            f" proxy_temp_path {folder}/proxy; client_body_buffer_size 4m;"
            " client_max_body_size 64m; keepalive_requests 1000000;"
            f" upstream up {{ server 127.0.0.1:{upstream}; keepalive 64;"
            " keepalive_requests 1000000; }"
            f" server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://up;"
            ' proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; } } }'
        )
        command = ["nginx", "-p", folder, "-c", str(config)]
        with _running(command, core, port, dict(os.environ)) as process:
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            yield Server((process.pid, *map(int, children)), port)


@contextmanager
def _running(
    command: list[str], core: int, port: int, environ: dict[str, str]
) -> Iterator["subprocess.Popen[bytes]"]:
    process = subprocess.Popen(command, env=environ)  # noqa: S603  our own programs
    try:
        os.sched_setaffinity(process.pid, {core})
        _wait_for(port, process)
        yield process
    finally:
        process.terminate()
        process.wait()


def _wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + _PATIENCE
    while process.poll() is None and time.monotonic() < end:
        with socket.socket() as trying:
            if trying.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError(f"{process.args!r} does not listen on port {port}")


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _cpu(pid: int) -> float:
    """Of all its threads, in nanoseconds where the system counts so: a tick is ten requests."""
    threads = list(Path(f"/proc/{pid}/task").glob("*/schedstat"))
    if threads:
        return sum(int(one.read_text().split()[0]) for one in threads) / 1e9
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICK
