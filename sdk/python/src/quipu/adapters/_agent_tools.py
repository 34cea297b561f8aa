"""An agent of the OpenAI Agents SDK whose model and tools are recorded: in a replay none of them is called."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import Any, TypeVar

from agents import Agent, CustomTool, FunctionTool, Handoff, OpenAIChatCompletionsModel, OpenAIResponsesModel
from agents.models.interface import Model
from agents.models.multi_provider import MultiProvider
from agents.tool import ApplyPatchTool, ComputerTool, LocalShellTool, ShellTool, Tool
from pydantic import BaseModel

from .._shells import Awaiting
from ..run import AsyncRun
from ._mcp_servers import recorded_server
from ._recorder import is_recorded
from ._tools import arguments_of, run_of, tool_result
from .openai import record as record_client

Context = TypeVar("Context")

# They work on this machine, by what is not a function of a request.
_LOCAL = (ApplyPatchTool, ComputerTool, LocalShellTool, ShellTool)
_SYNC = "__agents_sync_function_tool__"
_PLAIN = (str, int, float, bool, type(None))


def record(agent: Agent[Context], run: AsyncRun | None = None, *, name: str = "main") -> Agent[Context]:
    """The agent with its model, its tools and its MCP servers recorded in the run, those of the agents that it hands
    over to as well. In a replay they are given what was recorded, and nothing is called. Without `run` it is the one
    whose block this is.

    Models are asked under `llm:<name>:<n>`, tools under `tool:<tool>:<n>`, those of servers under
    `mcp:<server>:<tool>-<n>`. A tool that is an agent is made of the recorded one: `record(inner).as_tool(...)`."""
    found = run_of(run)
    if not isinstance(found, AsyncRun):
        raise TypeError("agents await: they are recorded in a run of an AsyncField")
    return _Recording(found, name).agent(agent)


class _Recording:
    def __init__(self, run: AsyncRun, name: str) -> None:
        self._run, self._name = run, name
        self._done: dict[int, Agent[Any]] = {}
        self._driver: Awaiting = run._driver  # noqa: SLF001 - of this package

    def agent(self, agent: Agent[Any]) -> Agent[Any]:
        if id(agent) in self._done or getattr(agent, "_quipu_records", None) is self._run:
            return self._done.get(id(agent), agent)
        recorded: Any = agent.clone(model=self._model(agent.model), tools=[self._tool(tool) for tool in agent.tools])
        recorded._quipu_records = self._run  # noqa: SLF001 - ours
        # Agents may hand over in a circle.
        self._done[id(agent)] = recorded
        recorded.handoffs = [self._handoff(handoff) for handoff in agent.handoffs]
        recorded.mcp_servers = [recorded_server(server, self._run) for server in agent.mcp_servers]
        return self._done[id(agent)]

    def _model(self, model: str | Model | None) -> Model:
        found: Any = MultiProvider().get_model(model) if model is None or isinstance(model, str) else model
        if not isinstance(found, OpenAIChatCompletionsModel | OpenAIResponsesModel):
            kind = type(found).__name__
            raise TypeError(f"{kind} cannot be recorded: use a model over OpenAI's client")
        client = found._client  # noqa: SLF001 - there is no other way to it
        if is_recorded(client):
            return found
        recorded = copy.copy(found)
        recorded._client = record_client(client, self._run, name=self._name)  # noqa: SLF001
        return recorded

    def _tool(self, tool: Tool) -> Tool:
        if isinstance(tool, FunctionTool):
            if getattr(tool, "_is_agent_tool", False):
                self._see_that_recorded(tool)
                return tool
            recorded = copy.copy(tool)
            recorded.on_invoke_tool = self._invoking(tool.on_invoke_tool, tool.qualified_name)
            return recorded
        if isinstance(tool, CustomTool):
            custom = copy.copy(tool)
            custom.on_invoke_tool = self._invoking(tool.on_invoke_tool, tool.name)
            return custom
        if isinstance(tool, _LOCAL):
            raise TypeError(f"{type(tool).__name__} cannot be recorded; make it a function tool")
        # All others work where the model is, and are in its answer.
        return tool

    def _see_that_recorded(self, tool: FunctionTool) -> None:
        inner = getattr(tool, "_agent_instance", None)
        if getattr(inner, "_quipu_records", None) is not self._run:
            raise ValueError(f"the tool {tool.name} is an agent that is not recorded: make it of `record(agent)`")

    def _invoking(self, invoke: Callable[..., Any], name: str) -> Callable[..., Any]:
        core = self._run._core  # noqa: SLF001 - of this package

        # The library looks at the signature, to choose what it gives.
        @functools.wraps(invoke, updated=())
        async def invoked(context: Any, arguments: str) -> Any:
            asked = arguments_of(arguments)
            plan = tool_result(core, name, asked, lambda: invoke(context, arguments), encode=_kept, decode=_same)
            return await self._driver.drive(plan)

        if getattr(invoke, _SYNC, False):
            setattr(invoked, _SYNC, True)
        return invoked

    def _handoff(self, handoff: Agent[Any] | Handoff[Any, Any]) -> Agent[Any] | Handoff[Any, Any]:
        if isinstance(handoff, Agent):
            return self.agent(handoff)
        recorded = copy.copy(handoff)
        into = handoff.on_invoke_handoff

        async def handed_over(context: Any, arguments: str) -> Any:
            return self.agent(await into(context, arguments))

        recorded.on_invoke_handoff = handed_over
        return recorded


def _kept(output: Any) -> Any:
    """What a tool returned, as JSON; of anything else, what the library would tell the model."""
    if isinstance(output, BaseModel) or _is_plain(output):
        return output
    return str(output)


def _is_plain(output: Any) -> bool:
    if isinstance(output, list):
        return all(_is_plain(item) or isinstance(item, BaseModel) for item in output)
    if isinstance(output, dict):
        return all(isinstance(name, str) and _is_plain(item) for name, item in output.items())
    return isinstance(output, _PLAIN)


def _same(output: Any) -> Any:
    return output
