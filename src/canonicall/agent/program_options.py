"""Options of usual programs that run another program or write a file that they name.

A rule that allows `git *` is meant to allow reading a repository. `git -c core.pager='rm x' log`
and `git log --output=/etc/x` fit its text as well. So a wildcard that allows does not match the
options listed here: the person is asked.

The lists are short and cannot be complete. Programs take other options in other versions, and some
do harm without any option. What is listed was read in the manual of each program.
"""

import re
from typing import NamedTuple


class Options(NamedTuple):
    """What to look for in the command line of one program."""

    letters: str = ""
    """Options of one letter, alone, in a cluster (`-uo`) or with a value (`-ofile`)."""
    names: tuple[str, ...] = ()
    """Options of one or two dashes. Those of two may be abbreviated, as most programs allow."""


_EVALUATES = Options("cemprECM", ("--eval", "--print", "--require", "--import"))
_OPTIONS = {
    "curl": Options("oOKDcT", ("--output", "--output-dir", "--remote-name", "--config",
                               "--dump-header", "--cookie-jar", "--upload-file", "--trace",
                               "--trace-ascii", "--stderr", "--libcurl", "--etag-save")),
    "fd": Options("xX", ("--exec", "--exec-batch")),
    "find": Options("", ("-delete", "-exec", "-execdir", "-fls", "-fprint", "-fprint0",
                         "-fprintf", "-ok", "-okdir")),
    "git": Options("cCOx", ("--config-env", "--exec", "--exec-path", "--ext-diff", "--git-dir",
                            "--open-files-in-pager", "--output", "--output-directory",
                            "--receive-pack", "--textconv", "--upload-pack", "--work-tree")),
    "less": Options("oO", ("--log-file",)),
    "make": Options("CfIE", ("--directory", "--eval", "--file", "--include-dir", "--makefile")),
    "man": Options("CHP", ("--config-file", "--html", "--pager", "--preprocessor")),
    "node": _EVALUATES,
    "perl": Options("eEiMmI", ()),
    "pip": Options("ti", ("--editable", "--index-url", "--extra-index-url", "--log", "--prefix",
                          "--root", "--target")),
    "pytest": Options("cop", ("--basetemp", "--confcutdir", "--junit-xml", "--log-file",
                              "--override-ini", "--rootdir")),
    "python": Options("cmX", ()),
    "rg": Options("", ("--hostname-bin", "--pre")),
    "rsync": Options("eT", ("--log-file", "--rsh", "--rsync-path", "--write-batch")),
    "ruby": Options("eIir", ()),
    "sed": Options("efi", ("--expression", "--file", "--in-place")),
    "sort": Options("oT", ("--compress-program", "--output")),
    "ssh": Options("DEFLoORSw", ()),
    "tar": Options("FIxcruCT", ("--checkpoint-action", "--create", "--directory", "--extract",
                                "--get", "--info-script", "--new-volume-script", "--rmt-command",
                                "--rsh-command", "--to-command", "--use-compress-program")),
    "tree": Options("oR", ()),
    "wget": Options("aoOP", ("--config", "--execute", "--output-document", "--output-file",
                             "--post-file", "--use-askpass", "--directory-prefix")),
    "zip": Options("T", ("--unzip-command",)),
}  # fmt: skip
_ALIKE = {"python3": "python", "pip3": "pip", "gtar": "tar", "bsdtar": "tar", "gmake": "make",
          "gsed": "sed", "gfind": "find", "fdfind": "fd", "nodejs": "node"}  # fmt: skip
_LEFT_OUT_BY_SHELLS = re.compile(r"[\"'\\]")
_BETWEEN_WORDS = re.compile(r"[\s{},]+")
"""Braces and commas too: shells make several words of `{-c,x}`."""
_CLUSTER = re.compile(r"-[A-Za-z]")


def risky_options(command: str) -> list[str]:
    """The words of a command line that are such options of its program."""
    program, *words = _BETWEEN_WORDS.split(_LEFT_OUT_BY_SHELLS.sub("", command.strip()))
    name = program.replace("\\", "/").rpartition("/")[2].removesuffix(".exe")
    options = _OPTIONS.get(_ALIKE.get(name, name))
    if options is None:
        return []
    return [word for word in words if word.startswith("-") and _is_risky(word, options)]


def _is_risky(word: str, options: Options) -> bool:
    name = word.partition("=")[0]
    if word.startswith("--"):
        return len(name) > len("--") and any(one.startswith(name) for one in options.names)
    if name in options.names:
        return True
    return bool(_CLUSTER.match(word)) and any(one in options.letters for one in name[1:])
