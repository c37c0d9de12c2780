"""The command line of the net: `make golden-diff` and `make golden`.

In: arguments, or environment variables of the same names (REV, KINDS, PROVIDERS, EXAMPLES, LIMIT).
Out: a report on standard output, or the file of hashes. The exit code of a diff is 0 whether or not
something differs; it is 1 if a driver failed, 2 if the question cannot be asked.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence

from scripts.golden import report
from scripts.golden.comparison import DriverFailed, Progress, names, run_both, running
from scripts.golden.hashes import FILE, Hashes, hashes_of, written
from scripts.golden.inputs import InputsMissing, fingerprint
from scripts.golden.plan import KINDS, make_plan
from scripts.revisions import RevisionError, checkout


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what is asked."""
    asked = _parser().parse_args(arguments)
    try:
        fingerprint()
        if asked.verb == "hashes":
            FILE.write_text(written(current_hashes()), "utf-8")
            return 0
        before, after = checkout(asked.rev), checkout(asked.after)
        plan = make_plan(
            [names(before), names(after)],
            kinds=_listed(asked.kinds),
            providers=_listed(asked.providers),
            limit=asked.limit,
        )
        found = run_both(before, after, plan, examples=asked.examples, quiet=asked.quiet)
    except DriverFailed as error:
        print(error, file=sys.stderr)
        return 1
    except (InputsMissing, RevisionError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    if asked.json:
        print(json.dumps(report.as_value(found, before.label, after.label), indent=2))
    else:
        print(report.as_text(found, before.label, after.label), end="")
    return 0


def current_hashes() -> Hashes:
    """The hashes of the working tree."""
    tree = checkout("")
    with running(tree, make_plan([names(tree)])) as lines:
        return hashes_of(_counted(lines), fingerprint())


def _counted(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The same lines; a person who waits sees how many there were."""
    progress = Progress()
    for count, line in enumerate(lines, 1):
        yield line
        if not count % 4096:
            progress.show(f"{count:,} records")
    progress.end()


def _listed(text: str) -> list[str]:
    return [one for one in text.replace(",", " ").split() if one]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m scripts.golden", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("hashes", help="store the hashes of the working tree")
    diff = verbs.add_parser("diff", help="show what differs between a revision and another one")
    given = os.environ.get
    diff.add_argument("rev", nargs="?", default=given("REV") or "HEAD", help="the older revision")
    diff.add_argument("--after", default="", help="the newer one; the working tree if not given")
    diff.add_argument("--kinds", default=given("KINDS", ""), help=", ".join(KINDS))
    diff.add_argument("--providers", default=given("PROVIDERS", ""), help="all if not given")
    diff.add_argument("--examples", type=int, default=int(given("EXAMPLES") or 3))
    diff.add_argument("--limit", type=int, default=int(given("LIMIT") or 0), help="inputs")
    diff.add_argument("--json", action="store_true", help="print JSON")
    diff.add_argument("--quiet", action="store_true", help="do not show progress")
    return parser


if __name__ == "__main__":
    sys.exit(main())
