"""Tools of LangChain, as graphs call them, recorded in a run: in a replay none of them is called."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.tools import BaseTool
from langchain_core.tools import tool as made_tool
from langchain_core.tracers.context import register_configure_hook

from ..._plans import Plan
from ..._run_core import RunCore
from ...run import AsyncRun, Run, current_run
from .._tools import run_of, tool_result
from ._tool_results import Interrupted, for_call, kept, read_again


def record_tools(tools: Iterable[Any], run: Run | AsyncRun | None = None) -> list[Any]:
    """The tools with every call recorded in the run, under `tool:<name>:<n>`: for a `ToolNode` and for `bind_tools`,
    beside a recorded model. A replay is told what they returned, and calls none. Without `run` it is the one whose
    block this is. What is no tool of this machine is as it was."""
    found = run_of(run)
    return [tool if isinstance(tool, dict) else _recorded(_tool_of(tool), found) for tool in tools]


def _tool_of(tool: BaseTool | Callable[..., Any]) -> BaseTool:
    return tool if isinstance(tool, BaseTool) else made_tool(tool)


def _recorded(tool: BaseTool, run: Run | AsyncRun) -> BaseTool:
    kind: Any = type(tool)
    core = run._core  # noqa: SLF001 - of this package

    # Of the tool's own kind, so that everything that looks at it finds what it had.
    class Recorded(kind):  # type: ignore[misc]
        def run(self, tool_input: Any, *args: Any, **kwargs: Any) -> Any:
            if not isinstance(run, Run):
                raise TypeError(f"the tool {self.name} was called blocking in a run that awaits: use `ainvoke`")
            live = super().run

            def call() -> Any:
                with Interrupted() as interrupted:
                    return live(tool_input, *args, **kwargs)
                return interrupted.value

            return run._driver.drive(_asked(core, self, tool_input, kwargs, call))  # noqa: SLF001

        async def ainvoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
            if isinstance(run, AsyncRun):
                # Some kinds call themselves blocking, in a thread: here only their function is called there.
                return await BaseTool.ainvoke(self, input, config, **kwargs)
            return await super().ainvoke(input, config, **kwargs)

        async def arun(self, tool_input: Any, *args: Any, **kwargs: Any) -> Any:
            if not isinstance(run, AsyncRun):
                raise TypeError(f"the tool {self.name} was awaited in a run that blocks: it needs an AsyncField")
            live = super().arun

            async def call() -> Any:
                with Interrupted() as interrupted:
                    return await live(tool_input, *args, **kwargs)
                return interrupted.value

            return await run._driver.drive(_asked(core, self, tool_input, kwargs, call))  # noqa: SLF001

    Recorded.__name__, Recorded.__qualname__ = kind.__name__, kind.__qualname__
    recorded: Any = copy.copy(tool)
    object.__setattr__(recorded, "__class__", Recorded)
    return recorded  # type: ignore[no-any-return]


def _asked(core: RunCore, tool: Any, tool_input: Any, kwargs: dict[str, Any], call: Callable[[], Any]) -> Plan[Any]:
    arguments = tool_input
    if isinstance(tool_input, dict):
        # What the graph itself puts in, such as its state, the model did not ask for.
        arguments = {name: value for name, value in tool_input.items() if name in tool.args}
    call_id = kwargs.get("tool_call_id")

    def read(value: Any) -> Any:
        return read_again(value, call_id) if call_id is None else for_call(value, call_id, tool.name)

    return tool_result(core, tool.name, arguments, call, encode=kept, decode=read)


class _Guard(BaseCallbackHandler):
    """Refuses the call of a tool in a replay: one that is recorded is answered before it comes here."""

    raise_error = True
    run_inline = True

    def on_tool_start(self, serialized: dict[str, Any] | None, *_args: Any, **_kwargs: Any) -> None:
        run = current_run()
        if run is not None and run.replays:
            name = (serialized or {}).get("name", "a tool")
            raise RuntimeError(
                f"{name} is not recorded, and a replay calls nothing: give the graph `record_tools([...])`"
            )


_guard: ContextVar[BaseCallbackHandler | None] = ContextVar("quipu_guard", default=_Guard())  # noqa: B039 - has no state
register_configure_hook(_guard, inheritable=True)
