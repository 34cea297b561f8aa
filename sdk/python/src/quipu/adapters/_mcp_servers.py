"""MCP servers of the OpenAI Agents SDK, recorded: in a replay nobody connects to them."""

from __future__ import annotations

import copy
from typing import Any

from agents.mcp import MCPServer
from mcp.types import CallToolResult
from mcp.types import Tool as ServedTool
from pydantic import TypeAdapter

from .._exact import as_question
from ..run import AsyncRun

_TOOLS = TypeAdapter(list[ServedTool])


def recorded_server(server: MCPServer, run: AsyncRun) -> MCPServer:
    """The server with its tools recorded in the run: which there are under `host:mcp.<server>:<n>`, what they return
    under `mcp:<server>:<tool>-<n>`."""
    kind: Any = type(server)
    drive, core = run._driver.drive, run._core  # noqa: SLF001 - of this package

    class Recorded(kind):  # type: ignore[misc]
        async def connect(self) -> None:
            if not core.replays:
                await super().connect()

        async def cleanup(self) -> None:
            if not core.replays:
                await super().cleanup()

        async def list_tools(self, *args: Any, **kwargs: Any) -> list[ServedTool]:
            live = super().list_tools
            plan = core.host(
                f"mcp.{self.name}",
                lambda: live(*args, **kwargs),
                "list_tools",
                encode=_dumped,
                decode=_TOOLS.validate_python,
            )
            found: list[ServedTool] = await drive(plan)
            return found

        async def call_tool(
            self, tool_name: str, arguments: dict[str, Any] | None, *args: Any, **kwargs: Any
        ) -> CallToolResult:
            live = super().call_tool
            question = as_question(arguments or {})
            key, found = await drive(core.key_of(f"mcp:{self.name}:{tool_name}", question, "-"))
            plan = core.answered(
                key,
                found,
                "mcp_tool_return",
                lambda: live(tool_name, arguments, *args, **kwargs),
                question,
                encode=_dumped,
                decode=CallToolResult.model_validate,
            )
            result: CallToolResult = await drive(plan)
            return result

    recorded: Any = copy.copy(server)
    recorded.__class__ = Recorded
    return recorded  # type: ignore[no-any-return]


def _dumped(found: Any) -> Any:
    if isinstance(found, list):
        return [_dumped(item) for item in found]
    return found.model_dump(mode="json", by_alias=True, exclude_none=True)
