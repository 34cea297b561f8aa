"""Anthropic's clients, recorded: `client = record(anthropic.Anthropic(), run)`. Needs `quipu[anthropic]`."""

from __future__ import annotations

from typing import Any, TypeVar, overload

from anthropic import Anthropic, AnthropicError, AsyncAnthropic

from ..run import AsyncRun, Run
from ._recorder import recorded_client

Client = TypeVar("Client", bound=Anthropic)
AsyncClient = TypeVar("AsyncClient", bound=AsyncAnthropic)


@overload
def record(client: Client, run: Run | None = None, *, name: str = "main") -> Client: ...
@overload
def record(client: AsyncClient, run: AsyncRun | None = None, *, name: str = "main") -> AsyncClient: ...


def record(client: Any, run: Run | AsyncRun | None = None, *, name: str = "main") -> Any:
    """The client with every call recorded in the run, under `llm:<name>:<n>`, streams and errors too. In a replay it
    is given the recorded answers, and nothing is sent. Without `run` it is the one whose block this is."""
    return recorded_client(client, run, name, awaits=isinstance(client, AsyncAnthropic), own_error=AnthropicError)
