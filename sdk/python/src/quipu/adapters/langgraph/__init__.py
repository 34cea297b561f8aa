"""LangGraph on Quipu: its store as shared memory, its checkpoints as Events of Tasks, its tools as recorded answers.
Needs `quipu[langgraph]`."""

from ._saver import QuipuSaver
from ._store import QuipuStore
from ._tools import record_tools

__all__ = ["QuipuSaver", "QuipuStore", "record_tools"]
