"""A memory unit before it is recorded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from ._wire import present
from .models import Confidence, Relation

Json = Mapping[str, Any]
MemoryType = Literal[
    "finding",
    "decision",
    "observation",
    "intention",
    "assumption",
    "constraint",
    "question",
    "contradiction",
    "synthesis",
    "correction",
    "human_directive",
]


def memory(
    content: str,
    *,
    purpose: str,
    type: MemoryType = "finding",
    confidence: float | Confidence | Json | None = None,
    reasoning: str | None = None,
    evidence: Sequence[str] | None = None,
    assumptions: Sequence[str] | None = None,
    question: str | None = None,
    task_id: str | None = None,
    relations: Iterable[Relation | Json] = (),
    supersedes: str | None = None,
    contradicts: str | None = None,
    draft: bool = False,
) -> dict[str, Any]:
    """A unit for `record_all`, said as `record` takes it."""
    related: list[Any] = list(relations)
    named = {"supersedes": supersedes, "contradicts": contradicts}
    related += [{"type": kind, "target_id": target} for kind, target in named.items() if target]
    return present(
        type=type,
        content=content,
        mode="draft" if draft else "committed",
        intent=present(purpose=purpose, question=question, task_id=task_id),
        confidence=_confidence(confidence, reasoning, evidence, assumptions),
        relations=related,
    )


def _confidence(
    given: float | Confidence | Json | None,
    reasoning: str | None,
    evidence: Sequence[str] | None,
    assumptions: Sequence[str] | None,
) -> Any:
    said = present(reasoning=reasoning, evidence=evidence, assumptions=assumptions)
    if isinstance(given, Confidence):
        return {**given.model_dump(exclude_none=True), **said}
    if isinstance(given, Mapping):
        return {**given, **said}
    if given is not None:
        # What is no number at all goes to the server too: it says best what is wrong.
        said["score"] = given
    return said or None
