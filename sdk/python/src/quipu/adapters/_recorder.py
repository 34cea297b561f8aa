"""Between a model's client and its endpoint: every call is recorded in a run, or answered from its recording.

It stands where the library sends HTTP, so the library itself makes its typed objects, streams and errors of either."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable, Iterator
from types import ModuleType
from typing import Any

from .._answers import Kind
from .._exact import FAILED, as_question, exact, restored
from .._failures import failure_value, raise_recorded, recorded_error
from .._plans import Live, Plan
from .._run_core import RunCore
from ..errors import QuipuError
from ..run import AsyncRun, Run, current_run
from ._exchange import Question, Wire, answer_value, answer_wire, is_stream

_KIND: Kind = "llm_provider_response"


class Recorder:
    """The exchange of one call, as a plan for both kinds of client."""

    def __init__(self, core: RunCore, name: str, inner: Any, own_error: type[Exception]) -> None:
        self.core = core
        self.name = name
        self.inner = inner
        self.http = _http_of(inner)
        self._own_error = own_error

    def exchange(self, request: Any, read: Callable[[Any], Any], tee: Callable[..., Any]) -> Plan[Any]:
        """The response to a request. `read` reads a whole one, `tee` listens to a stream."""
        try:
            return (yield from self._exchange(request, read, tee))
        except (QuipuError, ValueError) as error:
            raise self._passing(error) from error

    def _passing(self, error: Exception) -> Exception:
        """The error as one that the library does not take for a lost connection, which it would try again."""
        kind = type(error)
        both = type(kind.__name__, (kind, self._own_error), {})
        passing: Exception = both.__new__(both, *error.args)
        passing.__dict__.update(error.__dict__)
        return passing

    def _exchange(self, request: Any, read: Callable[[Any], Any], tee: Callable[..., Any]) -> Plan[Any]:
        question = self._question(request)
        asked = as_question(question.value)
        key, recorded = yield from self.core.key_of(f"llm:{self.name}", asked)
        there, value = yield from self.core.recalled(key, recorded, asked)
        if there:
            raise_recorded(value)
            wire = answer_wire(restored(value), question)
            said = {"stream": _breaking(self.http, wire)} if wire.broken else {"content": wire.content}
            return self._response(wire.status, wire.headers, request, **said)
        # If this process ends before the answer is recorded, the same call is made again, and can be known by this.
        once = self.core.idempotency_key(key)
        request.headers.setdefault("Idempotency-Key", once)
        try:
            live = yield Live(lambda: self.inner.send(request, stream=True), once)
            if is_stream(live.headers):
                return self._response(
                    live.status_code, live.headers, request, stream=tee(Heard(self, live, key, question))
                )
            content = yield Live(lambda: read(live))
        except Exception as error:
            yield from self.core.keep(key, _KIND, failure_value(error, self.core.secrets), question.value)
            raise
        yield from self.keep(key, question, live, content)
        return self._response(live.status_code, live.headers, request, content=content)

    def keep(
        self, key: str, question: Question, live: Any, content: bytes, broke: Exception | None = None
    ) -> Plan[Any]:
        """Records the answer to a question, and what it broke by."""
        value = answer_value(live.status_code, live.headers, content)
        if broke is not None:
            value["broken"] = failure_value(broke, self.core.secrets)[FAILED]
        return (yield from self.core.keep(key, _KIND, exact(value), question.value))

    def _question(self, request: Any) -> Question:
        try:
            content = request.content
        except self.http.RequestNotRead:
            content = b"\0"
        return Question.of(request.method, request.url.path, request.headers.get("content-type", ""), content)

    def _response(self, status: int, headers: Any, request: Any, **said: Any) -> Any:
        # The content has been decoded, and is as long as it is.
        kept = {name: value for name, value in headers.items() if name.lower() not in _OF_THE_WAY}
        return self.http.Response(status, headers=kept, request=request, **said)


class Heard:
    """A stream that is listened to. It is recorded once, as far as it came: when it ends, breaks or is closed, at the
    latest when its run ends."""

    def __init__(self, recorder: Recorder, live: Any, key: str, question: Question) -> None:
        self.live = live
        self.pieces: list[bytes] = []
        self._recorder, self._key, self._question = recorder, key, question
        recorder.core.unended[key] = self.kept

    def kept(self, broke: Exception | None = None) -> Plan[None]:
        """Records it, if that was not done yet."""
        if self._recorder.core.unended.pop(self._key, None) is not None:
            content = b"".join(self.pieces)
            yield from self._recorder.keep(self._key, self._question, self.live, content, broke)


def _breaking(http: Any, wire: Wire) -> Any:
    """A recorded stream that broke: it breaks again, at the same place."""
    error = recorded_error(wire.broken)

    class Breaking(http.SyncByteStream, http.AsyncByteStream):  # type: ignore[misc]
        def __iter__(self) -> Iterator[bytes]:
            yield wire.content
            raise error

        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield wire.content
            raise error

    return Breaking()


_OF_THE_WAY = frozenset({"content-encoding", "content-length", "transfer-encoding", "connection"})


def recorded_client(
    client: Any, run: Run | AsyncRun | None, name: str, *, awaits: bool, own_error: type[Exception]
) -> Any:
    """A copy of a library's client that sends by way of the run. `own_error` is what all its own errors are."""
    # The one place where all its calls come by.
    inner = client._client  # noqa: SLF001
    return client.copy(http_client=recorded_http(inner, run, name, awaits=awaits, own_error=own_error))


def is_recorded(client: Any) -> bool:
    """Whether a library's client sends by way of a run already."""
    return bool(getattr(getattr(client._client, "_transport", None), "quipu_records", False))  # noqa: SLF001


def recorded_http(
    inner: Any, run: Run | AsyncRun | None, name: str, *, awaits: bool, own_error: type[Exception]
) -> Any:
    """An HTTP client that sends as `inner` does, by way of the run."""
    run = run or current_run()
    if run is None:
        raise ValueError("there is no run: give one, or record within `with field.task(...)`")
    if isinstance(run, AsyncRun) != awaits:
        raise TypeError("a client that awaits is recorded in a run of an AsyncField, any other in one of a Field")
    recorder = Recorder(run._core, name, inner, own_error)  # noqa: SLF001 - of this package
    return _awaiting_client(recorder, run) if isinstance(run, AsyncRun) else _blocking_client(recorder, run)


def _blocking_client(recorder: Recorder, run: Run) -> Any:
    """An HTTP client that sends by way of the recorder."""
    http: Any = recorder.http
    drive = run._driver.drive  # noqa: SLF001 - of this package

    class Listening(http.SyncByteStream):  # type: ignore[misc]
        def __init__(self, heard: Heard) -> None:
            self._heard = heard

        def __iter__(self) -> Iterator[bytes]:
            try:
                for piece in self._heard.live.iter_bytes():
                    self._heard.pieces.append(piece)
                    yield piece
            except Exception as error:
                drive(self._heard.kept(error))
                raise
            drive(self._heard.kept())

        def close(self) -> None:
            self._heard.live.close()
            drive(self._heard.kept())

    class Transport(http.BaseTransport):  # type: ignore[misc]
        quipu_records = True

        def handle_request(self, request: Any) -> Any:
            return drive(recorder.exchange(request, lambda live: live.read(), Listening))

        def close(self) -> None:
            recorder.inner.close()

    return http.Client(transport=Transport(), timeout=recorder.inner.timeout, follow_redirects=True)


def _awaiting_client(recorder: Recorder, run: AsyncRun) -> Any:
    """The same for a client that awaits."""
    http: Any = recorder.http
    drive = run._driver.drive  # noqa: SLF001 - of this package

    class Listening(http.AsyncByteStream):  # type: ignore[misc]
        def __init__(self, heard: Heard) -> None:
            self._heard = heard

        async def __aiter__(self) -> AsyncIterator[bytes]:
            try:
                async for piece in self._heard.live.aiter_bytes():
                    self._heard.pieces.append(piece)
                    yield piece
            except Exception as error:
                await drive(self._heard.kept(error))
                raise
            await drive(self._heard.kept())

        async def aclose(self) -> None:
            await self._heard.live.aclose()
            await drive(self._heard.kept())

    class Transport(http.AsyncBaseTransport):  # type: ignore[misc]
        quipu_records = True

        async def handle_async_request(self, request: Any) -> Any:
            return await drive(recorder.exchange(request, lambda live: live.aread(), Listening))

        async def aclose(self) -> None:
            await recorder.inner.aclose()

    return http.AsyncClient(transport=Transport(), timeout=recorder.inner.timeout, follow_redirects=True)


def _http_of(client: Any) -> ModuleType:
    """The library that a client sends with: httpx, or the one that newer clients bring."""
    for kind in type(client).__mro__:
        root = kind.__module__.partition(".")[0]
        if root in {"httpx", "httpx2"}:
            return sys.modules[root]
    raise TypeError(f"{type(client).__name__} is no HTTP client that can be recorded")
