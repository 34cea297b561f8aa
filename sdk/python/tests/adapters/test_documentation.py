"""The examples of the page about adapters, with a scripted model in the place of the vendor's."""

from __future__ import annotations

from pathlib import Path

import pytest

from .. import test_documentation
from ..servers import Server
from .endpoint import Endpoint

PAGE = Path(__file__).resolve().parents[4] / "docs" / "adapters.md"


def test_the_examples_of_the_page_do_what_it_says(
    server: Server, name: str, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    endpoint.script = ["Tea costs seven.", "No, it is not.", "Buy."]
    test_documentation.test_the_examples_do_what_the_page_says(PAGE, server, name, monkeypatch)
    assert endpoint.calls == 3
