"""What the SDK adds to the HTTP call: ATTUNE by the SDK, by httpx alone and by http.client, in turn, in one run.

QUIPU_BIN=target/release/quipu python bench/overhead.py [--units 1000] [--rounds 2000] [--json]
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import httpx

import quipu

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.servers import Server

HINT = "how fast does the market for cargo bikes grow"
BAR_MS = 1.0
SYLLABLES = ("ba", "ke", "lo", "mi", "nu", "pa", "re", "si", "to", "vu")


def body() -> bytes:
    """The very message that the SDK sends."""
    payload = {"scope": {"role": "strategist", "max_units": 10}, "context_hint": HINT}
    envelope = {
        "protocol": "akashik",
        "version": "0.1.0",
        "id": "msg-bench",
        "operation": "ATTUNE",
        "agent_id": "sam",
        "session_id": None,
        "epoch": 0,
        "payload": payload,
    }
    return json.dumps(envelope).encode()


def fill(field: quipu.Field, units: int) -> None:
    """Records what is attuned to: invented words, so that no two units disagree."""
    ana = field.agent("ana", role="researcher")
    chance = random.Random(7)
    for _ in range(units):
        words = ["".join(chance.choices(SYLLABLES, k=3)) for _ in range(12)]
        text = f"{' '.join(words)} {chance.choice(('market', 'bikes', 'harbour', 'fees'))}"
        ana.record(text, purpose="Size the market", confidence=0.8, reasoning="Reports")


@dataclass
class Times:
    """Milliseconds of calls: on the clock, and of this process's processor time, which other work does not stretch."""

    wall: list[float]
    processor: list[float]

    def row(self) -> dict[str, float]:
        """In figures."""
        return {
            "p50_ms": statistics.median(self.wall),
            "p99_ms": quantile(self.wall, 0.99),
            "processor_p50_ms": statistics.median(self.processor),
        }


def measure(calls: dict[str, Callable[[], object]], rounds: int) -> dict[str, Times]:
    """Times of each call, which take turns so that all have the same weather."""
    times = {name: Times([], []) for name in calls}
    for number in range(rounds + rounds // 10):
        for name, call in calls.items():
            begun, used = time.perf_counter(), time.thread_time()
            call()
            used, taken = time.thread_time() - used, time.perf_counter() - begun
            if number >= rounds // 10:  # the first ones warm up
                times[name].wall.append(taken * 1000)
                times[name].processor.append(used * 1000)
    return times


def quantile(times: list[float], share: float) -> float:
    """The value that this share is not above."""
    return sorted(times)[min(len(times) - 1, int(len(times) * share))]


def run(url: str, units: int, rounds: int) -> dict[str, dict[str, float]]:
    """Measures and sums up."""
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    message = body()
    plain = http.client.HTTPConnection(url.removeprefix("http://"))
    with quipu.Field(url) as field, httpx.Client(base_url=url) as client:
        fill(field, units)
        sam = field.agent("sam", role="strategist")
        found = sam.attune(HINT)
        assert (len(found.units), found.conflicts) == (min(10, units), [])

        def by_socket() -> object:
            plain.request("POST", "/v1/attune", message, headers)
            return json.loads(plain.getresponse().read())

        def by_httpx() -> object:
            return client.post("/v1/attune", content=message, headers=headers).json()

        calls = {"http.client": by_socket, "httpx": by_httpx, "quipu": lambda: sam.attune(HINT)}
        times = measure(calls, rounds)
    plain.close()
    return {name: taken.row() for name, taken in times.items()}


def main() -> int:
    """Prints the table; fails where the SDK adds too much."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--units", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Server(Path(folder) / "data", "--dev") as server:
        found = run(server.url, options.units, options.rounds)
    wall, processor = (found["quipu"][it] - found["httpx"][it] for it in ("p50_ms", "processor_p50_ms"))
    if options.json:
        print(json.dumps({**found, "added_p50_ms": wall, "added_processor_p50_ms": processor}))
    else:
        print(f"ATTUNE, {options.units} units, {options.rounds} rounds, one connection each")
        print(f"{'':12} {'p50 ms':>8} {'p99 ms':>8} {'own processor time, p50 ms':>28}")
        for name, row in found.items():
            print(f"{name:12} {row['p50_ms']:8.3f} {row['p99_ms']:8.3f} {row['processor_p50_ms']:28.3f}")
        print(
            f"the SDK adds {wall:.3f} ms to the httpx call, {processor:.3f} ms of it processor time (bar: {BAR_MS} ms)"
        )
    return 0 if wall < BAR_MS else 1


if __name__ == "__main__":
    sys.exit(main())
