"""Fetch the chat templates that tests compare with: `make templates` runs this.

They come with llama.cpp, which the source distribution of llama-cpp-python has in it. The version is
pinned, as the tests know every template by name.
"""

import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path, PurePosixPath

PACKAGE = "llama-cpp-python"
VERSION = "0.3.36"


def fetch(folder):
    """Fill a folder with the templates, and say how many there are."""
    with tempfile.TemporaryDirectory() as fetched:
        wanted = ["--no-deps", "--no-binary", PACKAGE, f"{PACKAGE}=={VERSION}"]
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--dest", fetched, *wanted], check=True)
        (archive,) = Path(fetched).glob("*.tar.gz")
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("*.jinja"):
            old.unlink()
        return sum(1 for _ in unpack(archive, folder))


def unpack(archive, folder):
    """The templates of an archive, each written into the folder by its bare name."""
    with tarfile.open(archive) as opened:
        for member in opened:
            path = PurePosixPath(member.name)
            if member.isfile() and path.match("models/templates/*.jinja"):
                (folder / path.name).write_bytes(opened.extractfile(member).read())
                yield path.name


if __name__ == "__main__":
    count = fetch(Path(sys.argv[1]))
    sys.stdout.write(f"{count} chat templates are in {sys.argv[1]}.\n")
