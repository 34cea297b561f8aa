"""How a check reaches the server: by URL or by command, in either generation of the protocol."""

import argparse
from contextlib import asynccontextmanager

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import Implementation

# With sessions, and without.
GENERATIONS = {"2025-11-25": "legacy", "2026-07-28": "auto"}
# A loaded machine is slow; a server that hangs is found all the same.
PATIENCE_S = 60


class Way:
    """The way to one server."""

    def __init__(self, generation, url=None, key=None, command=()):
        self.generation = generation
        self.url = url
        self.key = key
        self.command = list(command)

    @property
    def is_stdio(self):
        return self.url is None

    def _server(self, http):
        if self.is_stdio:
            program, *arguments = self.command
            return StdioServerParameters(command=program, args=arguments)
        return streamable_http_client(self.url, http_client=http)

    @asynccontextmanager
    async def connect(self, name="checker", **options):
        """A client that calls itself `name`, and speaks the generation that was asked for."""
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE_S) as http:
            client = Client(
                self._server(http),
                mode=GENERATIONS[self.generation],
                client_info=Implementation(name=name, version="1.0.0"),
                read_timeout_seconds=PATIENCE_S,
                **options,
            )
            async with client:
                assert client.protocol_version == self.generation, client.protocol_version
                yield client


def way_from(arguments):
    """The way that the command line names: `GENERATION --url URL [--key KEY]` or `GENERATION COMMAND…`."""
    generation, *rest = arguments
    if rest[0] != "--url":
        return Way(generation, command=rest)
    parser = argparse.ArgumentParser()
    parser.add_argument("--url")
    parser.add_argument("--key")
    given = parser.parse_args(rest)
    return Way(generation, given.url, given.key)
