"""Known vulnerabilities of what is pinned: `python -m scripts.audit --advisories FOLDER`.

In: `constraints.txt` and `requirements.lock`, and advisories in the OSV format
(https://ossf.github.io/osv-schema/), one JSON file each, in a folder or a zip archive. That is the
form of the PyPA advisory database and of the export of osv.dev for the ecosystem PyPI. Out: one
line for each pin that an advisory names. The exit code is 1 if there is one, 2 if nothing could be
checked.

Nothing is fetched: the folder says what was known on the day it was copied.
"""

import argparse
import json
import re
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from scripts.revisions import ROOT

_PIN = re.compile(r"\s*([A-Za-z0-9._-]+)\s*==\s*([^\s;#\\]+)")
_ECOSYSTEM = "PyPI"
PINS = [ROOT / "constraints.txt", ROOT / "requirements.lock"]
"""What is installed for development, and what is installed by those who use it, on any platform."""


class Found(NamedTuple):
    """A pin that an advisory names."""

    package: str
    version: str
    id: str
    fixed: tuple[str, ...]
    summary: str

    def __str__(self) -> str:
        fixed = f"fixed in {', '.join(self.fixed)}" if self.fixed else "not fixed yet"
        return f"{self.package} {self.version}: {self.id}, {fixed}. {self.summary}".rstrip()


def pins(text: str) -> dict[str, str]:
    """The versions in a file of constraints, by the canonical name of the package."""
    found = filter(None, map(_PIN.match, text.splitlines()))
    return {canonicalize_name(one[1]): one[2] for one in found}


def advisories(place: Path) -> Iterator[dict[str, Any]]:
    """The advisories in a folder or an archive; files that hold none are passed over."""
    for data in _files(place):
        try:
            read = json.loads(data)
        except ValueError:
            continue
        if isinstance(read, dict) and isinstance(read.get("affected"), list):
            yield read


def _files(place: Path) -> Iterator[bytes]:
    if place.is_dir():
        for file in sorted(place.rglob("*.json")):
            yield file.read_bytes()
    else:
        with zipfile.ZipFile(place) as archive:
            for name in sorted(archive.namelist()):
                if name.endswith(".json"):
                    yield archive.read(name)


def affected(advisory: dict[str, Any], pinned: dict[str, str]) -> Iterator[Found]:
    """The pins that an advisory names. One that was withdrawn names none."""
    if advisory.get("withdrawn"):
        return
    for one in advisory["affected"]:
        package = one.get("package", {})
        name = canonicalize_name(str(package.get("name", "")))
        if package.get("ecosystem") != _ECOSYSTEM or name not in pinned:
            continue
        version = pinned[name]
        ranges = [each for each in one.get("ranges", ()) if each.get("type") == "ECOSYSTEM"]
        is_named = version in one.get("versions", ())
        if is_named or any(_is_in(version, each.get("events", ())) for each in ranges):
            events = [event for each in ranges for event in each.get("events", ())]
            fixed = tuple(event["fixed"] for event in events if "fixed" in event)
            id, summary = str(advisory.get("id", "?")), str(advisory.get("summary", ""))
            yield Found(name, version, id, fixed, summary)


def _is_in(version: str, events: list[dict[str, str]]) -> bool:
    """Whether a version is in a range, as the OSV schema evaluates its events."""
    try:
        at = Version(version)
        marks = sorted(((_order(event), event) for event in events), key=lambda one: one[0])
    except InvalidVersion:
        return False
    is_affected = False
    for _, event in marks:
        if "introduced" in event:
            is_affected |= event["introduced"] == "0" or at >= Version(event["introduced"])
        elif "fixed" in event:
            is_affected &= at < Version(event["fixed"])
        elif "last_affected" in event:
            is_affected &= at <= Version(event["last_affected"])
    return is_affected


def _order(event: dict[str, str]) -> Version:
    (value,) = event.values()
    return Version(value)


def main(arguments: list[str] | None = None) -> int:
    """Check, print, and give the exit code."""
    parser = argparse.ArgumentParser(prog="python -m scripts.audit", description=__doc__)
    parser.add_argument("--advisories", type=Path, required=True, metavar="FOLDER or ZIP")
    parser.add_argument("--pins", type=Path, nargs="+", default=PINS, metavar="FILE")
    given = parser.parse_args(arguments)
    try:
        pinned = pins("\n".join(one.read_text(encoding="utf-8") for one in given.pins))
        read = list(advisories(given.advisories))
    except (OSError, zipfile.BadZipFile) as error:
        sys.stderr.write(f"audit: {error}\n")
        return 2
    if not pinned or not read:
        files = ", ".join(map(str, given.pins))
        what = f"{given.advisories} holds no advisory" if pinned else f"{files} pins nothing"
        sys.stderr.write(f"audit: {what}: nothing was checked.\n")
        return 2
    found = sorted({one for advisory in read for one in affected(advisory, pinned)})
    sys.stdout.writelines(f"{one}\n" for one in found)
    sys.stdout.write(f"{len(pinned)} pins, {len(read)} advisories, {len(found)} found\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
