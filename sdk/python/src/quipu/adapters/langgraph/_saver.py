"""`QuipuSaver`: LangGraph's checkpoints as Events of Tasks."""

from __future__ import annotations

import base64
import secrets
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_id,
    get_checkpoint_metadata,
    writes_sort_key,
)

from .._either import Either
from ._saver_core import SaverCore
from ._thread import CHECKPOINT, PRUNED, WRITES, Payload, Place, Thread

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.serde.base import SerializerProtocol

    from ..._plans import Plan
    from ...field import AsyncField, Field
    from ...models import HarnTask


class QuipuSaver(BaseCheckpointSaver[str]):
    """Keeps a thread as a Session, and its checkpoints and writes as Events of a Task in it. A graph resumes after a
    restart, in any process.

    Within `field.task(..., session=saver.session_of(thread))` everything goes to that Task, beside the model's recorded
    answers. In a replay of it the graph begins as it began then, and nothing is written."""

    def __init__(
        self,
        field: Field | AsyncField,
        *,
        agent: str = "langgraph",
        role: str = "graph",
        prefix: str = "langgraph:",
        persona: str = "langgraph",
        serde: SerializerProtocol | None = None,
    ) -> None:
        super().__init__(serde=serde)
        self._field = Either(field)
        self._core = SaverCore(self._field.core, self._field.agent(agent, role), prefix, persona)

    def session_of(self, thread_id: str) -> str:
        """The Session that is this thread; it is opened where there is none. Over an AsyncField: `asession_of`."""
        return self._field.blocking(self._session(thread_id))

    async def asession_of(self, thread_id: str) -> str:
        """The same, awaited."""
        return await self._field.awaiting(self._session(thread_id))

    def finish(self, thread_id: str, summary: str, output: Any = None) -> HarnTask:
        """Ends the Task that the thread has for itself, so that it has a receipt. The thread can still go on."""
        return self._field.blocking(self._core.finish(thread_id, summary, output))

    async def afinish(self, thread_id: str, summary: str, output: Any = None) -> HarnTask:
        """The same, awaited."""
        return await self._field.awaiting(self._core.finish(thread_id, summary, output))

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint of a config, or the newest of its thread."""
        return self._field.blocking(self._get(config))

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The same, awaited."""
        return await self._field.awaiting(self._get(config))

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Checkpoints, the newest of each thread first."""
        yield from self._field.blocking(self._list(config, filter, before, limit))

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """The same, awaited."""
        for found in await self._field.awaiting(self._list(config, filter, before, limit)):
            yield found

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Keeps a checkpoint."""
        return self._field.blocking(self._put(config, checkpoint, metadata, new_versions))

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """The same, awaited."""
        return await self._field.awaiting(self._put(config, checkpoint, metadata, new_versions))

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Keeps what a node wrote after a checkpoint."""
        self._field.blocking(self._put_writes(config, writes, task_id, task_path))

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """The same, awaited."""
        await self._field.awaiting(self._put_writes(config, writes, task_id, task_path))

    def delete_thread(self, thread_id: str) -> None:
        """The thread has no checkpoints any more. The log still has them: nothing is ever erased from a Task."""
        self._field.blocking(self._prune([thread_id], "delete"))

    async def adelete_thread(self, thread_id: str) -> None:
        """The same, awaited."""
        await self._field.awaiting(self._prune([thread_id], "delete"))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Takes the checkpoints of these runs away, in whichever thread they are."""
        self._field.blocking(self._delete_runs(run_ids))

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """The same, awaited."""
        await self._field.awaiting(self._delete_runs(run_ids))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Adds all checkpoints and writes of one thread to another."""
        self._field.blocking(self._copy(source_thread_id, target_thread_id))

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """The same, awaited."""
        await self._field.awaiting(self._copy(source_thread_id, target_thread_id))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Takes checkpoints away: all but the newest of each namespace, or all. Not for graphs with a DeltaChannel."""
        self._field.blocking(self._prune(thread_ids, strategy))

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """The same, awaited."""
        await self._field.awaiting(self._prune(thread_ids, strategy))

    def get_next_version(self, current: str | None, channel: None) -> str:  # noqa: ARG002 - the library's signature
        """Versions grow, and those of two branches of a thread are never the same."""
        last = 0 if current is None else int(str(current).partition(".")[0])
        return f"{last + 1:020d}.{secrets.token_hex(8)}"

    def _session(self, thread_id: str) -> Plan[str]:
        session = self._core.session_of(thread_id)
        yield from self._core.enter(session)
        return session

    def _get(self, config: RunnableConfig) -> Plan[CheckpointTuple | None]:
        thread_id, ns = _place(config)
        thread = yield from self._core.read(thread_id)
        wanted = get_checkpoint_id(config)
        place = (ns, wanted) if wanted else next(iter(thread.newest_first(ns)), None)
        return self._tuple(thread_id, thread, place) if place in thread.checkpoints else None

    def _list(
        self,
        config: RunnableConfig | None,
        filter: dict[str, Any] | None,
        before: RunnableConfig | None,
        limit: int | None,
    ) -> Plan[Sequence[CheckpointTuple]]:
        thread_ids = [_place(config)[0]] if config else (yield from self._core.thread_ids())
        ns = config["configurable"].get("checkpoint_ns") if config else None
        only = get_checkpoint_id(config) if config else None
        end = get_checkpoint_id(before) if before else None
        found: list[CheckpointTuple] = []
        for thread_id in thread_ids:
            thread = yield from self._core.read(thread_id)
            for place in thread.newest_first(ns):
                if limit is not None and len(found) >= limit:
                    return found
                if (only and place[1] != only) or (end and place[1] >= end):
                    continue
                it = self._tuple(thread_id, thread, place)
                said: dict[str, Any] = dict(it.metadata)
                if all(said.get(name) == value for name, value in (filter or {}).items()):
                    found.append(it)
        return found

    def _put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> Plan[RunnableConfig]:
        thread_id, ns = _place(config)
        values = checkpoint["channel_values"]
        rest = {name: value for name, value in checkpoint.items() if name != "channel_values"}
        new = {name: [it, self._dump(values[name]) if name in values else None] for name, it in new_versions.items()}
        payload: Payload = {
            "ns": ns,
            "id": checkpoint["id"],
            "parent": get_checkpoint_id(config),
            "source": metadata.get("source"),
            "step": metadata.get("step"),
            "checkpoint": self._dump(rest),
            "metadata": self._dump(get_checkpoint_metadata(config, metadata)),
            "versions": checkpoint["channel_versions"],
            "values": new,
        }
        # A replay may begin at a step of the graph itself, not inside one.
        boundary = checkpoint["id"] if ns == "" else None
        yield from self._core.tell(thread_id, [(CHECKPOINT, payload)], boundary)
        return _config(thread_id, (ns, checkpoint["id"]))

    def _put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str
    ) -> Plan[None]:
        thread_id, ns = _place(config)
        kept = [
            [WRITES_IDX_MAP.get(channel, number), channel, self._dump(value)]
            for number, (channel, value) in enumerate(writes)
        ]
        said = {"ns": ns, "id": get_checkpoint_id(config), "task": task_id, "path": task_path, "writes": kept}
        yield from self._core.tell(thread_id, [(WRITES, said)])

    def _prune(self, thread_ids: Iterable[str], strategy: str) -> Plan[None]:
        if strategy not in {"keep_latest", "delete"}:
            raise ValueError(f"strategy: there is no {strategy}; keep_latest and delete")
        for thread_id in thread_ids:
            thread = yield from self._core.read(thread_id)
            places = set(thread.checkpoints) | set(thread.writes)
            if strategy == "keep_latest":
                places -= {thread.newest_first(ns)[0] for ns, _ in thread.checkpoints}
            yield from self._forget(thread_id, places)

    def _delete_runs(self, run_ids: Sequence[str]) -> Plan[None]:
        for thread_id in (yield from self._core.thread_ids()):
            thread = yield from self._core.read(thread_id)
            of_runs = {
                place
                for place, payload in thread.checkpoints.items()
                if self._load(payload["metadata"]).get("run_id") in run_ids
            }
            yield from self._forget(thread_id, of_runs)

    def _forget(self, thread_id: str, places: set[Place]) -> Plan[None]:
        if places:
            yield from self._core.tell(thread_id, [(PRUNED, {"checkpoints": sorted(places)})])

    def _copy(self, source_thread_id: str, target_thread_id: str) -> Plan[None]:
        source = yield from self._core.read(source_thread_id)
        yield from self._core.tell(target_thread_id, [*source.retold()])

    def _tuple(self, thread_id: str, thread: Thread, place: Place) -> CheckpointTuple:
        payload = thread.checkpoints[place]
        values = {name: self._load(value) for name, value in thread.values_of(payload).items()}
        writes = thread.writes.get(place, {})
        order = sorted(writes, key=lambda key: writes_sort_key(writes[key]["path"], *key))
        pending = [(key[0], writes[key]["channel"], self._load(writes[key]["value"])) for key in order]
        parent = payload["parent"]
        checkpoint: Checkpoint = self._load(payload["checkpoint"])
        checkpoint["channel_values"] = values
        return CheckpointTuple(
            config=_config(thread_id, place),
            checkpoint=checkpoint,
            metadata=self._load(payload["metadata"]),
            parent_config=_config(thread_id, (place[0], parent)) if parent else None,
            pending_writes=pending,
        )

    def _dump(self, value: Any) -> Sequence[str]:
        kind, content = self.serde.dumps_typed(value)
        return [kind, base64.b64encode(content).decode()]

    def _load(self, dumped: Sequence[str]) -> Any:
        kind, content = dumped
        return self.serde.loads_typed((kind, base64.b64decode(content)))


def _place(config: RunnableConfig) -> tuple[str, str]:
    said = config["configurable"]
    return str(said["thread_id"]), said.get("checkpoint_ns", "")


def _config(thread_id: str, place: Place) -> RunnableConfig:
    ns, checkpoint_id = place
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": ns, "checkpoint_id": checkpoint_id}}
