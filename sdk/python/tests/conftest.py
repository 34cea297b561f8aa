"""A real server for the tests: the binary that `QUIPU_BIN` names, or the `quipu` on the path."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

import quipu

from .servers import Server

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all tests that do not stop it."""
    with Server(tmp_path_factory.mktemp("server"), "--dev") as running:
        yield running


@pytest.fixture
def name() -> str:
    """The name of a Field that no other test uses."""
    return f"test-{next(_numbers)}"


@pytest.fixture
def field(server: Server, name: str) -> Iterator[quipu.Field]:
    """A Field of its own for each test."""
    with quipu.Field(server.url, field=name) as made:
        yield made


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[Server]:
    """A server that the test may kill."""
    with Server(tmp_path / "data", "--dev") as running:
        yield running
