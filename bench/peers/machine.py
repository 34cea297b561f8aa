"""What the figures were taken on: the machine, what a sync costs it, what the stub costs."""

from __future__ import annotations

import os
import platform
import time
from pathlib import Path
from typing import Any

from .figures import spread
from .load import drive
from .wire.base import Address
from .wire.http import Http, request

SYNCS = 400
SYNC_BYTES = 900
STUB_CALLS = 300


def machine() -> dict[str, Any]:
    """Names and sizes."""
    return {
        "cores": os.cpu_count(),
        "processor": _field(Path("/proc/cpuinfo"), "model name"),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "load_average": [round(value, 2) for value in os.getloadavg()],
        "busy_cores": busy_cores(),
    }


def busy_cores(seconds: float = 2.0) -> float:
    """How many cores are busy while nothing is measured. The load average would still hold what was done before."""
    before = busy_ticks(Path("/proc/stat").read_text())
    time.sleep(seconds)
    busy = busy_ticks(Path("/proc/stat").read_text()) - before
    return round(busy / os.sysconf("SC_CLK_TCK") / seconds, 2)


def busy_ticks(stat: str) -> int:
    """All cores together: all but the fourth and the fifth, idle and waiting for a disk; guests are among the users."""
    ticks = [int(value) for value in stat.splitlines()[0].split()[1:9]]
    return sum(ticks) - sum(ticks[3:5])


def _field(path: Path, name: str) -> str:
    for line in path.read_text().splitlines():
        if line.startswith(name):
            return line.partition(":")[2].strip()
    return "unknown"


def probe(folder: Path, syncs: int = SYNCS) -> dict[str, float]:
    """Milliseconds to append 900 bytes to a file and sync them."""
    folder.mkdir(parents=True, exist_ok=True)
    path, times = folder / "probe", []
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        for _ in range(syncs):
            begun = time.perf_counter()
            os.write(file, b"x" * SYNC_BYTES)
            os.fdatasync(file)
            times.append((time.perf_counter() - begun) * 1000)
    finally:
        os.close(file)
        path.unlink()
    return spread(times)


def stub_cost(address: Address) -> dict[str, Any]:
    """What one call of the embeddings stub takes, with a text that it knows and with a new one."""

    def texts(kind: str, count: int) -> Any:
        body = {"model": "stub", "input": ""}
        for number in range(count):
            said = "the same text each time" if kind == "known" else f"text {number} that nobody sent before"
            yield None, request("POST", "/v1/embeddings", {**body, "input": said})

    return {
        f"{kind}_{clients}": drive(Http(), address, texts(kind, STUB_CALLS), clients=clients).summary()
        for kind, clients in (("known", 1), ("new", 1), ("known", 8))
    }
