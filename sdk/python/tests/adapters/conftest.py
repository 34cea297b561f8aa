"""What the tests of the adapters share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .endpoint import Endpoint, scripted_endpoint


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """A model that is a script."""
    with scripted_endpoint() as running:
        yield running
