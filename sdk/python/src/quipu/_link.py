"""What a client knows of its server: address, key, Field, patience."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from ._plans import Patience, Plan, ask, ask_json, send
from ._wire import Model, Reply, Request

DEFAULT_URL = "http://127.0.0.1:7070"


@dataclass(frozen=True)
class Link:
    """Where requests go. What is not given comes from `QUIPU_URL`, `QUIPU_KEY` and `QUIPU_FIELD`."""

    url: str
    key: str | None = field(default=None, repr=False)
    name: str | None = None
    timeout: float = 30.0
    patience: Patience = field(default_factory=Patience)

    @classmethod
    def given(cls, url: str | None, key: str | None, name: str | None, timeout: float, retry_for: float) -> Link:
        """The link for these arguments and the environment."""
        address = (url or os.environ.get("QUIPU_URL") or DEFAULT_URL).rstrip("/")
        if urlsplit(address).scheme not in {"http", "https"} or not urlsplit(address).hostname:
            raise ValueError(f"url: {address!r} is no http or https address")
        if timeout <= 0 or retry_for < 0:
            raise ValueError("timeout must be above 0, and retry_for not below")
        key = key or os.environ.get("QUIPU_KEY")
        name = name or os.environ.get("QUIPU_FIELD")
        for what, value in (("key", key), ("field", name)):
            if value is not None and not _fits_a_header(value):
                # Not shown: it may be the key.
                raise ValueError(f"{what}: has spaces at its ends, or characters that no header can carry")
        return cls(address, key, name, timeout, Patience(retry_for))

    def headers(self) -> dict[str, str]:
        """What every request carries."""
        named = {"Authorization": f"Bearer {self.key}" if self.key else None, "Quipu-Field": self.name}
        return {name: value for name, value in named.items() if value is not None}

    def ask(self, request: Request, model: type[Model]) -> Plan[Model]:
        """Sends, and reads the answer as a model."""
        return ask(request, model, self.patience)

    def ask_json(self, request: Request) -> Plan[Any]:
        """Sends, and reads the answer as any JSON."""
        return ask_json(request, self.patience)

    def send(self, request: Request) -> Plan[Reply]:
        """Sends, and returns the answer as it is."""
        return send(request, self.patience)


def _fits_a_header(value: str) -> bool:
    return value.isascii() and value.isprintable() and value == value.strip()
