"""A client that goes on while its server is killed and comes back. Says `ready`, and is told `down` and `up`."""

import sys

import anyio
import httpx2
from calling import call, contents, finding, scope
from connection import way_from
from mcp import MCPError

RECORDS = 12


async def main():
    way = way_from(sys.argv[1:])
    # A session dies with its server; only `quipu mcp` begins a new one by itself.
    session_dies = way.generation == "2025-11-25" and not way.is_stdio
    taken = ["Before the crash."]
    try:
        async with way.connect() as client:
            await call(client, "record", **finding(taken[0]))
            print("ready", flush=True)
            await told("down")
            if way.is_stdio:
                await work_meanwhile(client, taken)
            await told("up")
            await goes_on(client, taken)
            assert not session_dies, "a session outlived its server"
    except* (MCPError, httpx2.HTTPError) as errors:
        assert session_dies, errors.exceptions
    await told("up")
    async with way.connect() as client:
        await goes_on(client, taken)
    print("all checks hold")


heard = []


async def told(word):
    """Waits until this was said, now or before."""
    while word not in heard:
        heard.append((await anyio.to_thread.run_sync(sys.stdin.readline)).strip())


async def work_meanwhile(client, taken):
    async with anyio.create_task_group() as group:
        for number in range(RECORDS):
            group.start_soon(record, client, f"During the crash, number {number}.", taken)


async def record(client, text, taken):
    """Whatever is answered as recorded is expected to be there."""
    result = await client.call_tool("akashik_record", finding(text))
    if not result.is_error:
        taken.append(text)


async def goes_on(client, taken):
    """Everything that was answered is there, and nothing twice."""
    text = f"After the crash, with {len(taken)}."
    await call(client, "record", **finding(text))
    taken.append(text)
    found = contents(await call(client, "attune", scope=scope(max_units=100)))
    assert set(taken) <= set(found), (taken, found)
    assert len(found) == len(set(found)), f"recorded twice: {found}"


anyio.run(main)
