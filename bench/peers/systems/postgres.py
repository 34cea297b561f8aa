"""PostgreSQL: one row a transaction."""

from __future__ import annotations

import os
import pwd
import shutil
from pathlib import Path
from typing import Any

from .. import procs
from ..figures import spread
from ..peer import CannotRun, Peer
from ..places import debian, reachable_by_others
from ..units import Unit, text
from ..wire import postgres
from ..wire.base import Wire

FOLDERS = "/usr/lib/postgresql/*/bin"
TABLE = (
    "CREATE TABLE IF NOT EXISTS units "
    "(position bigint GENERATED ALWAYS AS IDENTITY, id text NOT NULL, agent text NOT NULL, body text NOT NULL)"
)


def program(name: str) -> Path:
    """A program of the server, which Debian keeps off the path."""
    found = sorted(Path("/").glob(f"{FOLDERS[1:]}/{name}"))
    return found[-1] if found else debian(name, "postgresql", FOLDERS)


class PostgresRows(Peer):
    """Single-row inserts with everything as it comes."""

    name = "postgres"
    title = "PostgreSQL rows"
    version = "15"
    kind = "log"
    setup = "Debian postgresql, its defaults: synchronous_commit on, fsync on; one insert a transaction, simple queries"
    promise = "synced before the answer; transactions that commit at once share a sync"
    vectors = "none"
    unfair = ("It ranks nothing, embeds nothing and checks nothing. Its log is preallocated in files of 16 MiB.",)

    @property
    def wire(self) -> Wire:
        """See the base."""
        return postgres.Postgres("quipu", "postgres")

    def install(self) -> None:
        """See the base."""
        program("postgres")

    def as_owner(self) -> list[str]:
        """The server refuses to run as root, so root runs it as the user that the package made."""
        if os.getuid() != 0:
            return []
        if not reachable_by_others(self.data.parent):
            raise CannotRun("its user cannot reach the data directory; choose another with --home")
        return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--"]

    def lay_out(self) -> None:
        """Makes the database, once."""
        if os.getuid() == 0:
            shutil.chown(self.data, "postgres", pwd.getpwnam("postgres").pw_gid)
        if not (self.data / "db").exists():
            made = [str(program("initdb")), "-A", "trust", "-U", "quipu", "--locale=C", "-D", str(self.data / "db")]
            procs.run([*self.as_owner(), *made], cwd=self.data)

    def command(self) -> list[str]:
        """See the base."""
        place = ["-D", str(self.data / "db"), "-p", str(self.port), "-k", str(self.data)]
        return [*self.as_owner(), str(program("postgres")), *place, "-c", "listen_addresses=127.0.0.1"]

    def ready(self) -> bool:
        """See the base."""
        return self.answers(postgres.request(TABLE))

    def write(self, unit: Unit) -> bytes:
        """See the base."""
        values = ", ".join(postgres.quoted(part) for part in (unit.id, unit.agent, unit.text))
        return postgres.request(f"INSERT INTO units (id, agent, body) VALUES ({values})")

    def acknowledged(self, answer: bytes, unit: Unit) -> str:
        """See the base."""
        del answer
        return unit.id

    def own_load(self, clients: int, seconds: float, about: int) -> dict[str, Any] | None:
        """See the base: pgbench, with prepared statements."""
        del about
        folder = self.home.fresh("pgbench")
        values = ", ".join(postgres.quoted(part) for part in ("u-0", "writer-0", text(0, 0)))
        (folder / "insert.sql").write_text(f"INSERT INTO units (id, agent, body) VALUES ({values});\n")
        server = ["-h", "127.0.0.1", "-p", str(self.port), "-U", "quipu"]
        asked = [
            "-n",
            "-M",
            "prepared",
            "-c",
            str(clients),
            "-j",
            str(min(clients, 2)),
            "-T",
            str(max(1, round(seconds))),
        ]
        procs.run([str(program("pgbench")), *server, *asked, "-l", "-f", "insert.sql", "postgres"], cwd=folder)
        logged = [line.split() for log in folder.glob("pgbench_log.*") for line in log.read_text().splitlines()]
        times = [int(words[2]) / 1000 for words in logged]
        return {"generator": "pgbench", "per_second": len(times) / max(1, round(seconds)), **spread(times)}

    def stored(self) -> set[str]:
        """See the base."""
        return set(self.ask(postgres.request("SELECT id FROM units")).decode().split())
