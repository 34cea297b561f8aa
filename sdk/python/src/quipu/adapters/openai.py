"""OpenAI's clients, recorded: `client = record(openai.OpenAI(), run)`. Needs `quipu[openai]`."""

from __future__ import annotations

from typing import Any, TypeVar, overload

from openai import AsyncOpenAI, DefaultAsyncHttpxClient, DefaultHttpxClient, OpenAI, OpenAIError

from ..run import AsyncRun, Run
from ._recorder import recorded_client, recorded_http

Client = TypeVar("Client", bound=OpenAI)
AsyncClient = TypeVar("AsyncClient", bound=AsyncOpenAI)


@overload
def record(client: Client, run: Run | None = None, *, name: str = "main") -> Client: ...
@overload
def record(client: AsyncClient, run: AsyncRun | None = None, *, name: str = "main") -> AsyncClient: ...


def record(client: Any, run: Run | AsyncRun | None = None, *, name: str = "main") -> Any:
    """The client with every call recorded in the run, under `llm:<name>:<n>`, streams and errors too. In a replay it
    is given the recorded answers, and nothing is sent. Without `run` it is the one whose block this is."""
    return recorded_client(client, run, name, awaits=isinstance(client, AsyncOpenAI), own_error=OpenAIError)


def http_client(run: Run | None = None, *, name: str = "main") -> Any:
    """The same for whatever takes an HTTP client for OpenAI's: `ChatOpenAI(http_client=http_client(run))`."""
    return recorded_http(DefaultHttpxClient(), run, name, awaits=False, own_error=OpenAIError)


def async_http_client(run: AsyncRun | None = None, *, name: str = "main") -> Any:
    """The same for what awaits: `ChatOpenAI(http_async_client=async_http_client(run))`."""
    return recorded_http(DefaultAsyncHttpxClient(), run, name, awaits=True, own_error=OpenAIError)
