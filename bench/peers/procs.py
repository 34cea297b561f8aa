"""Processes of a measurement: what they weigh, what they cost, and that none of them is left behind.

Every process that a run starts inherits a mark in its environment. That finds it again wherever it went: servers leave
their process group, and their helpers outlive them.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path

MARK = "QUIPU_PEERS_RUN"
TICKS = os.sysconf("SC_CLK_TCK")
PROC = Path("/proc")


def _read(path: Path) -> str:
    """A file of a process, or nothing if the process is gone or is not ours."""
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def _pids() -> list[int]:
    return [int(entry.name) for entry in PROC.iterdir() if entry.name.isdigit()]


def _status(pid: int) -> list[str]:
    """The fields of `/proc/PID/stat` behind the name, which may hold spaces."""
    return _read(PROC / str(pid) / "stat").rpartition(")")[2].split()


def is_alive(pid: int) -> bool:
    """Whether it runs: a dead one that nobody waited for does not."""
    status = _status(pid)
    return bool(status) and status[0] not in "ZX"


def is_traced(pid: int) -> bool:
    """Whether somebody watches its system calls."""
    found = re.search(r"TracerPid:\t(\d+)", _read(PROC / str(pid) / "status"))
    return bool(found and found[1] != "0")


def tree(root: int) -> list[int]:
    """A process and all that descend from it."""
    parents = {pid: int(status[1]) for pid in _pids() if (status := _status(pid))}
    found = [root]
    for pid in found:
        found.extend(child for child, parent in parents.items() if parent == pid)
    return [pid for pid in found if is_alive(pid)]


def marked(mark: str) -> list[int]:
    """The processes that carry the mark of a run, without this one."""
    sought = f"{MARK}={mark}"
    own = os.getpid()
    return [pid for pid in _pids() if pid != own and sought in _read(PROC / str(pid) / "environ").split("\0")]


def at_home(folder: Path) -> list[int]:
    """The processes whose home or working directory is this folder or below it: helpers that left their parents."""
    sought = f"HOME={folder}"
    found = []
    for pid in _pids():
        with contextlib.suppress(OSError):
            place = (PROC / str(pid) / "cwd").readlink()
            if place.is_relative_to(folder) or sought in _read(PROC / str(pid) / "environ").split("\0"):
                found.append(pid)
    return [pid for pid in found if pid != os.getpid() and is_alive(pid)]


def end(pids: Iterable[int], patience: float = 10.0) -> None:
    """Kills processes by their numbers and waits until they are gone."""
    waited = list(pids)
    for pid in waited:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + patience
    while any(is_alive(pid) for pid in waited) and time.monotonic() < deadline:
        time.sleep(0.01)


def sweep(mark: str, keep: str = "") -> int:
    """Kills whatever a run left behind, but for what has `keep` in its command line; says how many that were."""
    left = [pid for pid in marked(mark) if not keep or keep not in _read(PROC / str(pid) / "cmdline")]
    end(left)
    return len(left)


def memory(pids: Iterable[int]) -> int:
    """Bytes of memory that they hold, shared pages counted once (the kernel's proportional set size)."""
    total = 0
    for pid in pids:
        for line in _read(PROC / str(pid) / "smaps_rollup").splitlines():
            if line.startswith("Pss:"):
                total += int(line.split()[1]) * 1024
    return total


def processor(pids: Iterable[int]) -> float:
    """Seconds of processor time that they used so far, those of their ended children included."""
    status = (_status(pid) for pid in pids)
    return sum(sum(map(int, fields[11:15])) / TICKS for fields in status if fields)


def disk(folder: Path) -> int:
    """Bytes that the files of a folder take on the disk."""
    total = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):
            if path.is_file() and not path.is_symlink():
                total += path.stat().st_blocks * 512
    return total


def run(command: list[str], *, patience: float = 1800, **settings: object) -> str:
    """Runs a program to its end; fails with what it said."""
    done = subprocess.run(  # type: ignore[call-overload]
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=patience, check=False, text=True, **settings
    )
    if done.returncode != 0:
        msg = f"{' '.join(command)} failed: {done.stdout[-2000:]}"
        raise RuntimeError(msg)
    return str(done.stdout)
