"""A Quipu server for the story: the one that runs already, or one of our own."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def program() -> list[str]:
    """`QUIPU_BIN`, the `quipu` on the path, or the one of this checkout."""
    named = os.environ.get("QUIPU_BIN") or shutil.which("quipu")
    if named:
        return [named]
    if shutil.which("cargo") is None:
        raise SystemExit("There is no quipu: set QUIPU_BIN, put it on the path, or install cargo.")
    return ["cargo", "run", "--quiet", "--release", "--manifest-path", str(ROOT / "Cargo.toml"), "--bin", "quipu", "--"]


@contextmanager
def server(keep: Path | None) -> Iterator[str]:
    """The address of a server on `keep`, or on a directory that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="quipu-three-agents-") as passing:
        data = keep or Path(passing) / "data"
        command = [*program(), "serve", "--dev", "--data", str(data), "--listen", "127.0.0.1:0"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            yield _address(process)
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)


def _address(process: subprocess.Popen[str]) -> str:
    said = ""
    for line in process.stdout or ():
        said += line
        found = re.search(r"listens on (http://\S+)", line)
        if found:
            return found.group(1)
    raise SystemExit(f"The server did not start:\n{said}")
