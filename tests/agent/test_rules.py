"""What a wildcard of a rule reaches: where it allows, not another command and no folder above."""

import shutil
import subprocess
from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.driving import machine_for, outcomes, said
from batches import each
from canonicall.agent.inputs import Decided, ModelReplied
from canonicall.agent.rules import means, rule_like
from canonicall.blocks import ToolCall
from canonicall.decisions import Rule
from canonicall.testing.script import call, says
from canonicall.tools.functions import tool

BEGINS_ANOTHER = ";&|<>`$()\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"


def made(text):
    return ToolCall(name="shell", args={"command": text})


def allows(pattern, text):
    return means(Rule("shell", {"command": pattern}), made(text), "allow")


def denies(pattern, text):
    return means(Rule("shell", {"command": pattern}), made(text), "deny")


@each(
    "command",
    [
        "git log; rm -r .",
        "git log;rm -r .",
        "git log && rm -r .",
        "git log || rm -r .",
        "git log | sh",
        "git log |& sh",
        "git log & rm -r .",
        "git log $(rm -r .)",
        'git log "$(rm -r .)"',
        "git log `rm -r .`",
        "git log ${x='\\044\\050id\\051'} ${x@P}",
        "git log $HOME",
        "git log (rm -r .)",
        "git log > ~/.bashrc",
        "git log 2>&1",
        "git log <(rm -r .)",
        "git log << END",
        "git log\nrm -r .",
        "git log\r\nrm -r .",
        "git log \\\n; rm -r .",
        "git log\u2028rm -r .",
        "git -C .. log",
        "git -C ../.. log",
        "git --git-dir=../x log",
        'git -C "../x" log',
    ],
)
@each("pattern", ["git *", "git*", "*", "g*t*", "git[ -~]*", "git?*", "git[!x]*"])
def test_a_wildcard_that_allows_stays_within_a_command(pattern, command):
    assert not allows(pattern, command)


BASH = shutil.which("bash")


@pytest.mark.skipif(BASH is None, reason="the judge is a shell")
@pytest.mark.parametrize(
    "command",
    [
        "true; touch ran",
        "true && touch ran",
        "false || touch ran",
        "true | touch ran",
        "true & touch ran",
        "true $(touch ran)",
        'true "$(touch ran)"',
        'true "$\\\n(touch ran)"',
        "true `touch ran`",
        "true <(touch ran); wait",
        "true > ran",
        "true 2>ran",
        "true\ntouch ran",
        "true $((a[$(touch ran)]))",
        "true ${x:-$(touch ran)}",
    ],
)
def test_what_a_shell_makes_another_command_of_is_not_allowed(command, tmp_path):
    """A real shell says that these are tricks."""
    subprocess.run([str(BASH), "-c", f"{command}\nwait"], cwd=tmp_path, check=False)
    assert (tmp_path / "ran").exists()
    for pattern in ("*", "true*", "false*", "true *", "?????*", "[!x]*"):
        assert not allows(pattern, command)


@pytest.mark.parametrize(
    "command",
    [
        "git log",
        "git log -3 --format='%h %s'",
        "git log main..topic",
        "git diff main...topic",
        "git log ..topic",
        "git log main..",
        "git add ./src/a.py ..x x../y .../z",
        'git commit -m "it\'s {this}, [that] and ~the~ #1 of 100%!"',
        "git log \\* ^x",
    ],
)
def test_what_begins_no_other_command_is_matched(command):
    assert allows("git *", command)
    assert allows("git*", command)


@each(
    "path",
    [
        "src/../../.ssh/id_rsa",
        "src/..",
        "src/a/../b",
        "src/..\\..\\x",
        "src\\..\\x",
        "src/.. /x",
        "src/..;/x",
        "src/%2e%2e/x",
        "src/.%2E/x",
        "src/..%2fx",
        "src%5C..%5Cx",
        "src/../?x",
        "src/..?x",
        "src/..#x",
    ],
)
@each("pattern", ["src/*", "src*", "*", "src[/\\%]*", "src/[.]*"])
def test_a_wildcard_that_allows_stays_below_its_folder(pattern, path):
    assert not allows(pattern, path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [("src/*./x", "src/../x"), ("src/.*/x", "src/../x"), ("src/??/x", "src/../x")],
)
def test_the_folder_above_is_not_put_together_by_a_wildcard(pattern, path):
    assert fnmatchcase(path, pattern)
    assert not allows(pattern, path)


@pytest.mark.parametrize(
    ("pattern", "text", "is_allowed"),
    [
        ("git log; rm -r .", "git log; rm -r .", True),
        ("git log | head *", "git log | head -3", True),
        ("git log | head *", "git log | head -3; rm -r .", False),
        ("git * | head *", "git log | head", False),
        ("git * | head*", "git log | head", True),
        ("git * | head*", "git log | sh | head", False),
        ("git * | head*", "git log | head | sh", False),
        ("echo $HOME/*", "echo $HOME/x", True),
        ("echo $HOME/*", "echo $HOME/$x", False),
        ("a[;]*", "a;b", True),
        ("a[;|]*", "a;b", False),
        ("a[!;]*", "ab;c", False),
        ("../docs/*", "../docs/a.md", True),
        ("../docs/*", "../docs/../a.md", False),
        ("../*", "../..", False),
        ("*/../x", "a/../x", True),
        ("*/../x", "a/../b/../x", False),
    ],
)
def test_what_is_written_out_is_allowed_as_written(pattern, text, is_allowed):
    assert allows(pattern, text) is is_allowed


def test_a_rule_that_denies_reaches_everything():
    for text in ("rm x; ls", "rm x\nls", "rm ../x", "rm $(ls)"):
        assert denies("rm *", text)
        assert not allows("rm *", text)


@tool(approval="always")
def shell(command: str) -> str:
    """Run a command."""
    return f"ran {command}"


def test_a_denial_is_not_passed_by_in_favour_of_what_was_allowed_before():
    machine = machine_for(shell)
    machine.step(Decided("", "allow", scope="rule", rule=Rule("shell")))
    machine.step(Decided("", "deny", "no", scope="rule", rule=Rule("shell", {"command": "rm *"})))
    machine.step(said("Go."))
    machine.step(ModelReplied(says(call("shell", command="rm -r . && ls"))))
    assert outcomes(machine) == [("shell", "denied")]


def test_what_a_rule_does_not_mean_is_asked_about():
    machine = machine_for(shell)
    machine.step(Decided("", "allow", scope="rule", rule=Rule("shell", {"command": "git *"})))
    machine.step(said("Go."))
    machine.step(ModelReplied(says(call("shell", command="git log; rm -r ."))))
    assert [one.args for one in machine.undecided] == [{"command": "git log; rm -r ."}]


PIECES = st.sampled_from([*"*?[]!-./\\ a~", "git ", "log", "..", "%2e", "%2f", *BEGINS_ANOTHER])
TEXTS = st.lists(PIECES | st.characters(), max_size=8).map("".join)


@given(TEXTS, TEXTS)
def test_no_wildcard_allows_the_beginning_of_another_command(pattern, text):
    """Only as many of each character as the pattern itself has, whatever its wildcards are."""
    if allows(pattern, text) or allows(f"{pattern}*", text):
        for character in BEGINS_ANOTHER:
            assert text.count(character) <= pattern.count(character)


@given(TEXTS, TEXTS, st.sampled_from(BEGINS_ANOTHER))
def test_a_pattern_without_such_a_character_allows_no_text_with_one(before, after, character):
    plain = "".join(one for one in before if one not in BEGINS_ANOTHER)
    text = plain + character + after
    for pattern in ("*", f"{plain}*", f"{plain}?*", f"{plain}[!a]*", f"{plain}[\t-\uffff]*"):
        assert not allows(pattern, text)


@given(TEXTS)
def test_the_rule_of_a_call_allows_that_call(text):
    """Exact rules stay exact, whatever the text is."""
    assert means(rule_like(made(text)), made(text), "allow")


@given(TEXTS, TEXTS)
def test_what_is_allowed_is_matched_and_what_is_matched_is_denied(pattern, text):
    assert denies(pattern, text) is fnmatchcase(text, pattern)
    assert not allows(pattern, text) or denies(pattern, text)


def test_a_rule_like_a_call_with_free_text_means_that_text_alone():
    """Such a call has no parsed arguments; a rule without any would mean every call of the tool."""
    rule = rule_like(ToolCall(name="shell", raw="ls", kind="custom"))
    assert means(rule, ToolCall(name="shell", raw="ls", kind="custom"), "allow")
    assert not means(rule, ToolCall(name="shell", raw="rm -r .", kind="custom"), "allow")


@each(
    "command",
    [
        "git -c core.pager='rm x' log",
        "git log --output=/etc/x",
        "git log --output /etc/x",
        "git log --outp=/etc/x",
        "git log --out''put=/etc/x",
        'git "-c" core.pager=x log',
        "git \\-c core.pager=x log",
        "git {-c,core.pager=x} log",
        "/usr/bin/git -ccore.pager=x log",
        "git -C /elsewhere log",
        "git grep -Oless x",
        "git fetch --upload-pack=x origin",
        "git rebase -x 'rm x' main",
    ],
)
def test_a_wildcard_stands_for_no_option_that_runs_or_writes(command):
    assert not allows("git *", command)
    assert not allows("*", command)
    assert denies("*", command)


@each(
    ("program", "rest"),
    [
        ("find", ". -name x -delete"),
        ("find", ". -exec rm x +"),
        ("tar", "--to-command=sh -tf x"),
        ("sort", "-uo x y"),
        ("sed", "-i s/a/b/ x"),
        ("python3", "-c pass"),
        ("rg", "--pre sh x"),
        ("curl", "-o x http://localhost"),
        ("rsync", "-ae sh a b"),
    ],
)
def test_options_are_known_by_program(program, rest):
    assert not allows(f"{program} *", f"{program} {rest}")
    assert allows(f"{program} {rest}", f"{program} {rest}")
    assert allows("echo *", f"echo {rest}")


@each(
    "command",
    [
        "git log --oneline -3",
        "git status",
        "git diff --stat main",
        "git show HEAD --name-only",
        "git commit -am text",
        "git push -u origin main",
    ],
)
def test_usual_commands_are_allowed_as_before(command):
    assert allows("git *", command)


def test_an_option_that_the_rule_writes_out_is_allowed():
    assert allows("git -C src *", "git -C src log")
    assert not allows("git -C src *", "git -C src -c core.pager=x log")
