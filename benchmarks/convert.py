"""`canonicall convert` on many transcripts: two workers against one.

`python benchmarks/convert.py` also prints lines a second, and the memory of all processes together
for 10,000 and 100,000 lines, which must not grow with the file.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, sleep
from typing import NamedTuple

from measuring import Ratio

LINES = 10_000
STEPS = 4


class Run(NamedTuple):
    """What one conversion cost."""

    seconds: float
    peak: int
    """Bytes of memory, of all its processes together."""


def ratios() -> list[Ratio]:
    """Seconds for a line with two workers, in those with one. The start of the workers counts."""
    with tempfile.TemporaryDirectory() as folder:
        file = written(Path(folder), LINES)
        one, two = converted(file, 1), converted(file, 2)
    what = f"{LINES:,} transcripts, two workers / one"
    return [Ratio(what, two.seconds / LINES, one.seconds / LINES, 0.65)]


def written(folder: Path, lines: int) -> Path:
    """A file of transcripts, each with a few calls and results."""
    file = folder / f"{lines}.jsonl"
    with file.open("w", encoding="utf-8") as out:
        for number in range(lines):
            out.write(json.dumps(_transcript(number)) + "\n")
    return file


def converted(file: Path, jobs: int) -> Run:
    """Convert a file in a process of its own."""
    arguments = [str(file), "--to", "anthropic", "-o", os.devnull, "--jobs", str(jobs), "--json"]
    begin = perf_counter()
    process = subprocess.Popen(  # noqa: S603  # our own command
        [sys.executable, "-m", "canonicall.cli.entry", "convert", *arguments],
        stderr=subprocess.DEVNULL,
    )
    peak = 0
    while process.poll() is None:
        peak = max(peak, sum(map(_memory, _family(process.pid))))
        sleep(0.05)
    if process.returncode:
        raise SystemExit(f"convert ended with {process.returncode}")
    return Run(perf_counter() - begin, peak)


def _transcript(number: int) -> dict[str, object]:
    messages: list[dict[str, object]] = [{"role": "user", "content": f"Question {number}."}]
    for step in range(STEPS):
        call = {
            "id": f"call_{number}_{step}",
            "type": "function",
            "function": {"name": "read_file", "arguments": json.dumps({"path": f"{step}.py"})},
        }
        messages += (
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call["id"], "content": "a line of code\n" * 20},
        )
    function = {"name": "read_file", "parameters": {"type": "object", "properties": {}}}
    tools = [{"type": "function", "function": function}]
    return {"model": "gpt-4.1", "messages": messages, "tools": tools, "max_tokens": 1000}


def _family(pid: int) -> list[int]:
    """A process and all that it started. Only Linux tells."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text("utf-8").split()
    except OSError:
        return [pid]
    return [pid, *(one for child in children for one in _family(int(child)))]


def _memory(pid: int) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text("utf-8").splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS"))


def _main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        small, large = written(Path(folder), LINES), written(Path(folder), LINES * 10)
        for jobs in (1, 2):
            run = converted(small, jobs)
            rate = LINES / run.seconds
            print(f"{LINES:,} lines, {jobs} workers: {rate:,.0f} lines/s, {run.peak >> 20} MB")
        run = converted(large, 2)
        print(f"{LINES * 10:,} lines, 2 workers: {run.seconds:.0f} s, {run.peak >> 20} MB")


if __name__ == "__main__":
    _main()
