"""The stored hashes: one for each kind, provider and target.

In: the lines of a driver, or `hashes.txt` beside this module. Out: `Hashes`, and where two of them
differ. They say that something changed and where; `make golden-diff` shows what. The file has one
line for each hash, so that a review shows which kinds and providers a commit is about.
"""

from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

FILE = Path(__file__).with_name("hashes.txt")
_DIGITS = 12
_SHOWN = 40
_TITLE = "# One hash for each kind, provider and target. `make golden` writes this file.\n"

Key = tuple[str, str, str]


class Hashes(Struct, frozen=True):
    """Hashes by kind, provider and target, and one of the inputs outside the repository."""

    inputs: str
    answers: dict[Key, str]


def hashes_of(lines: Iterable[bytes], inputs: str) -> Hashes:
    """The hashes of what a driver writes."""
    digests = {}
    for line in lines:
        kind, _, rest = line.partition(b"\t")
        if kind == b"end":
            break
        provider, _, rest = rest.partition(b"\t")
        key = (kind, provider, rest.partition(b"\t")[0])
        if key not in digests:
            digests[key] = sha256()
        digests[key].update(line)
    else:
        raise ValueError("the driver ended before its last record")
    answers = {
        (kind.decode(), provider.decode(), target.decode()): digest.hexdigest()[:_DIGITS]
        for (kind, provider, target), digest in sorted(digests.items())
    }
    return Hashes(inputs, answers)


def written(hashes: Hashes) -> str:
    """The text of the file."""
    lines = ["\t".join((*key, digest)) for key, digest in hashes.answers.items()]
    return _TITLE + "\n".join([f"inputs\t{hashes.inputs}", *lines]) + "\n"


def read(text: str) -> Hashes:
    """The hashes in the text of the file."""
    _, inputs, *lines = text.splitlines()
    parted = [line.split("\t") for line in lines]
    answers = {(kind, provider, target): digest for kind, provider, target, digest in parted}
    return Hashes(inputs.partition("\t")[2], answers)


def changed(before: Hashes, after: Hashes) -> list[Key]:
    """Where the answers differ, one side has none among it."""
    keys = sorted(before.answers.keys() | after.answers.keys())
    return [key for key in keys if before.answers.get(key) != after.answers.get(key)]


def described(keys: list[Key]) -> str:
    """What to say about changed hashes: where they are, and how to see what changed."""
    kinds = list(dict.fromkeys(kind for kind, _, _ in keys))
    providers = list(dict.fromkeys(provider for _, provider, _ in keys))
    lines = [f"  {kind}: {provider}, {target}" for kind, provider, target in keys[:_SHOWN]]
    if len(keys) > _SHOWN:
        lines.append(f"  and {len(keys) - _SHOWN} more")
    command = "make golden-diff REV=$(git log -1 --format=%h -- scripts/golden/hashes.txt)"
    command += f" KINDS={','.join(kinds)}"
    if len(providers) <= _SHOWN // 4:
        command += f" PROVIDERS={','.join(providers)}"
    return "\n".join(
        [
            f"{len(keys):,} answers changed:",
            *lines,
            "See what changed:",
            f"  {command}",
            "If it is meant, renew the hashes in the same commit: make golden",
        ]
    )
