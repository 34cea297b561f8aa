"""Whether a write is synced: the kernel is asked, by strace, how often the system asks it to sync while it writes.

A kill of the process loses nothing that the kernel has, so only this tells a write that survives a power cut.
"""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .. import procs
from ..load import drive
from ..peer import Peer
from ..units import Unit

WRITES = 20
CALLS = "fsync,fdatasync,msync,sync_file_range"
O_SYNC_FLAGS = 0o4010000


def syncs(peer: Peer, source: Iterator[Unit]) -> dict[str, Any]:
    """Syncs a write, over some writes of one client."""
    if shutil.which("strace") is None:
        return {"status": "not measured", "why": "there is no strace"}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "calls"
        family = peer.family()
        attached = [part for pid in family for part in ("-p", str(pid))]
        watcher = subprocess.Popen(
            ["strace", "-f", "-qq", "-e", f"trace={CALLS}", "-o", str(out), *attached],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            watched = await_watch(family, watcher)
            load = drive(peer.wire, peer.address, ((unit, peer.write(unit)) for unit in _some(source)), clients=1)
        finally:
            watcher.send_signal(signal.SIGINT)
            watcher.wait(30)
        if not watched:
            return {"status": "not measured", "why": "strace may not watch it"}
        calls = len(re.findall(rf"\b(?:{CALLS.replace(',', '|')})\(", out.read_text()))
    return {
        "status": "ok",
        "writes": len(load.times_ms),
        "per_write": round(calls / max(len(load.times_ms), 1), 2),
        "synced_files": sum(_synced_files(pid) for pid in family),
    }


def _some(source: Iterator[Unit]) -> Iterator[Unit]:
    return (next(source) for _ in range(WRITES))


def await_watch(family: list[int], watcher: subprocess.Popen[bytes], patience: float = 10.0) -> bool:
    """Waits until the kernel says that all of them are traced."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline and watcher.poll() is None:
        if all(procs.is_traced(pid) for pid in family):
            return True
        time.sleep(0.02)
    return False


def _synced_files(pid: int) -> int:
    """Open files whose every write is synced by a flag instead of a call."""
    found = 0
    for info in Path(f"/proc/{pid}/fdinfo").glob("*"):
        try:
            flags = re.search(r"flags:\s*(\d+)", info.read_text())
        except OSError:
            continue
        found += bool(flags and int(flags[1], 8) & O_SYNC_FLAGS)
    return found
