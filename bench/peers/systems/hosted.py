"""What the libraries have in common: a host process of ours in an environment of theirs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import ClassVar

from ..peer import Peer
from ..places import PACKAGE
from ..units import Unit
from ..wire import lines
from ..wire.base import Wire

HOP = (
    "A library has no server. The harness gives it the thinnest one, a line of JSON over a loopback socket to a Python "
    "process; used inside one process it would save that hop, and could not be shared."
)


EACH = "a process for each client"


def as_json(unit: Unit) -> dict[str, str]:
    """A unit for the host."""
    return {"id": unit.id, "agent": unit.agent, "session": unit.session, "text": unit.text}


class Hosted(Peer):
    """A library behind `peers.hosts`."""

    hosted = True

    host: ClassVar[str]
    """Its file in `peers/hosts`."""
    tool: ClassVar[str]
    """Its environment."""
    store: ClassVar[str] = ""
    """Which of its stores, where it has several."""
    variants: ClassVar[tuple[str, ...]] = ("one process", EACH)

    @property
    def wire(self) -> Wire:
        """See the base."""
        return lines.Lines()

    def command(self) -> list[str]:
        """See the base."""
        program = [str(self.home.python(self.tool)), "-m", "peers.hosts", self.host, "--data", str(self.data)]
        start = [*program, "--port", str(self.port), "--embeddings", self.embeddings, "--store", self.store]
        return [*start, "--process-each"] if self.variant == EACH else start

    @property
    def starts_whole(self) -> bool:
        """See the base."""
        return self.variant != EACH

    def environment(self) -> dict[str, str]:
        """See the base."""
        return {"PYTHONPATH": str(PACKAGE.parent), "PYTHONDONTWRITEBYTECODE": "1"}

    def prepare(self, agents: Sequence[str]) -> None:
        """See the base: the files are made by one process before several open them, as they would be in use."""
        del agents
        self.ask(lines.request("echo", text=""))

    def write(self, unit: Unit) -> bytes:
        """See the base."""
        return lines.request("write", unit=as_json(unit))

    def bulk(self, units: list[Unit]) -> bytes | None:
        """See the base."""
        return lines.request("bulk", units=[as_json(unit) for unit in units])

    def acknowledged(self, answer: bytes, unit: Unit) -> str:
        """See the base."""
        del unit
        return str(json.loads(answer))

    def context(self, agent: str, hint: str, k: int) -> bytes:
        """See the base."""
        if self.kind == "log":
            return super().context(agent, hint, k)
        return lines.request("context", agent=agent, hint=hint, k=k)

    def found(self, answer: bytes) -> list[str]:
        """See the base."""
        return [str(entry) for entry in json.loads(answer)]

    def there(self, acknowledged: Sequence[str]) -> set[str]:
        """See the base."""
        return set(self.found(self.ask(lines.request("there", ids=list(acknowledged)))))

    def stored(self) -> set[str]:
        """See the base."""
        return set(self.found(self.ask(lines.request("stored"))))
