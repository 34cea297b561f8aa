"""A run with three paid calls, in a process that ends itself by SIGKILL where `KILL_AT` says: after so many lines. Run
again it goes on. `MODEL_URL` is asked over HTTP."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import Any

import httpx

import quipu

LINES = 9


def ask(prompt: str) -> str:
    """A paid call."""
    headers = {"Idempotency-Key": quipu.idempotency_key() or ""}
    answer = httpx.post(os.environ["MODEL_URL"], json={"prompt": prompt}, headers=headers, timeout=60)
    return str(answer.raise_for_status().json()["text"])


def work(run: quipu.Run) -> dict[str, Any]:
    """The agent."""
    plan = run.llm("main", ask, "What is to be done?")
    steps = [plan, str(run.now("planned"))]
    first = run.llm("main", ask, f"Do the first of {steps[0]}")
    steps.append(first)
    run.event("vendor.test.step", {"done": 1})
    second = run.llm("main", ask, f"Do the second of {steps[0]} after {first}")
    steps.append(second)
    run.summary = f"{len(steps)} steps"
    return {"steps": steps, "resumed": run.resumes}


async def work_async(run: quipu.AsyncRun) -> dict[str, Any]:
    """The same agent, awaiting."""
    plan = await run.llm("main", ask, "What is to be done?")
    steps = [plan, str(await run.now("planned"))]
    first = await run.llm("main", ask, f"Do the first of {steps[0]}")
    steps.append(first)
    await run.event("vendor.test.step", {"done": 1})
    second = await run.llm("main", ask, f"Do the second of {steps[0]} after {first}")
    steps.append(second)
    run.summary = f"{len(steps)} steps"
    return {"steps": steps, "resumed": run.resumes}


def killed_at(line: int) -> None:
    """Ends the process after so many lines of the agent."""
    beginnings = {work.__code__: work.__code__.co_firstlineno, work_async.__code__: work_async.__code__.co_firstlineno}

    def trace(frame: FrameType, event: str, _argument: Any) -> Any:
        if frame.f_code not in beginnings:
            return None
        # The first line of the body is two below that of the function.
        if event == "line" and frame.f_lineno - beginnings[frame.f_code] - 2 == line:
            os.kill(os.getpid(), signal.SIGKILL)
        if event == "return" and line == LINES and frame.f_lineno - beginnings[frame.f_code] - 2 == LINES - 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return trace

    sys.settrace(trace)


if __name__ == "__main__":
    if "KILL_AT" in os.environ:
        killed_at(int(os.environ["KILL_AT"]))
    done = quipu.run_from_environment(work_async if "AWAIT" in os.environ else work)
    print(done.result)
