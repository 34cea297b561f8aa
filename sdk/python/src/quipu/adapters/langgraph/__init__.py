"""LangGraph on Quipu: its store as shared memory, its checkpoints as Events of Tasks. Needs `quipu[langgraph]`."""

from ._saver import QuipuSaver
from ._store import QuipuStore

__all__ = ["QuipuSaver", "QuipuStore"]
