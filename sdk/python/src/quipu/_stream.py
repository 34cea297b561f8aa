"""Reading server-sent events and resuming after breaks, without any waiting of its own."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from pydantic import ValidationError

from ._plans import PASSING, Patience
from ._wire import Reply, Request, read, read_error, segment
from .errors import BadAnswer, ConnectionFailed, QuipuError
from .models import Notification

# The server is heard of every 15 seconds.
SILENCE_S = 45.0


@dataclass
class Frame:
    """One event of the stream."""

    event: str = "message"
    data: list[str] = field(default_factory=list)
    id: str | None = None


class FrameReader:
    """Puts bytes together to frames. Lines end with a line feed alone: texts may have any other separator in them."""

    def __init__(self) -> None:
        self._rest = b""
        self._frame = Frame()

    def feed(self, chunk: bytes) -> Iterator[Frame]:
        """Takes what came; the frames that it completes."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            done = self._line(line.removesuffix(b"\r").decode(errors="replace"))
            if done is not None:
                yield done

    def _line(self, line: str) -> Frame | None:
        if line == "":
            done, self._frame = self._frame, Frame()
            return done
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            self._frame.event = value
        elif name == "data":
            self._frame.data.append(value)
        elif name == "id":
            self._frame.id = value
        return None


class Listening:
    """Where a subscription stands: its cursor, and what to do when its stream breaks."""

    def __init__(
        self, subscription_id: str, cursor: str, agent: str, patience: Patience, reconnect_for: float | None
    ) -> None:
        self.id = subscription_id
        self.cursor = cursor
        self.ended = False
        self._agent = agent
        self._patience = patience
        self._reconnect_for = reconnect_for
        self._attempt = 0
        self._quiet_since: float | None = None
        self._reader = FrameReader()

    def request(self) -> Request:
        """The request that goes on behind the cursor."""
        self._reader = FrameReader()
        path = f"/v1/subscriptions/{segment(self.id)}/events?after={segment(self.cursor)}"
        asked = read(path, self._agent)
        return Request(asked.method, asked.path, None, asked.headers, "SUBSCRIBE", "text/event-stream")

    def feed(self, chunk: bytes) -> Iterator[Notification]:
        """Takes what came; the notifications in it. The cursor moves with each one that is taken."""
        for frame in self._reader.feed(chunk):
            self._attempt, self._quiet_since = 0, None
            if frame.event == "end":
                self._end(frame)
                continue
            found = _notification(frame) if frame.data else None
            if frame.id is not None:
                self.cursor = frame.id
            if found is not None:
                yield found

    def _end(self, frame: Frame) -> None:
        try:
            reason = json.loads("\n".join(frame.data)).get("reason")
        except (ValueError, AttributeError):
            reason = None
        # A server that stops will be back, and says at the next attempt what else is wrong.
        self.ended = reason == "unsubscribed"

    def refused(self, reply: Reply) -> float:
        """The pause after an answer that is no stream; raises where waiting does not help."""
        error = read_error(reply, "SUBSCRIBE")
        if reply.status not in PASSING:
            raise error
        return self._pause(error, reply.retry_after)

    def broken(self, failure: Exception | None) -> float:
        """The pause after a break, with nothing lost: the cursor says where to go on."""
        why = str(failure or "the stream ended")
        error = ConnectionFailed(why, code="CONNECTION_FAILED", operation="SUBSCRIBE", recoverable=True)
        return self._pause(error, None)

    def _pause(self, error: QuipuError, asked: float | None) -> float:
        now = time.monotonic()
        self._quiet_since = now if self._quiet_since is None else self._quiet_since
        pause = self._patience.delay(self._attempt, asked)
        self._attempt += 1
        if self._reconnect_for is not None and now + pause - self._quiet_since > self._reconnect_for:
            raise error
        return pause


def _notification(frame: Frame) -> Notification:
    try:
        return Notification.model_validate_json("\n".join(frame.data))
    except ValidationError as error:
        raise BadAnswer(f"a push that is none: {error}", code="BAD_ANSWER", operation="SUBSCRIBE") from error
