"""Subscriptions: `resources/subscribe` where there are sessions, `subscriptions/listen` where there are none."""

import anyio
import mcp_types as types
from calling import call, finding
from connection import PATIENCE_S
from mcp.client.subscriptions import ResourcesListChanged, ResourceUpdated


async def a_subscriber_is_told_of_what_it_watches(way):
    if way.generation == "2025-11-25":
        await told_in_a_session(way)
    else:
        await told_on_a_stream(way)


async def told_in_a_session(way):
    told, heard = anyio.create_memory_object_stream(64)

    async def hear(message):
        if isinstance(message, types.ResourceUpdatedNotification):
            await told.send(message.params.uri)

    async with way.connect(message_handler=hear) as client:
        watched, other = await two_units(client)
        await client.subscribe_resource(watched)
        await contest(client, other)
        await contest(client, watched)
        with anyio.fail_after(PATIENCE_S):
            assert await heard.receive() == watched, "only what is watched is told"
        await client.unsubscribe_resource(watched)


async def told_on_a_stream(way):
    async with way.connect() as client:
        watched, other = await two_units(client)
        wanted = {"resource_subscriptions": [watched], "resources_list_changed": True}
        async with client.listen(**wanted) as subscription:
            assert subscription.honored.resource_subscriptions == [watched], subscription.honored
            both = {ResourceUpdated(uri=watched), ResourcesListChanged()}
            assert await two_changes(subscription) == both, "it is asked to look once it is followed"
            await contest(client, other)
            await contest(client, watched)
            assert await two_changes(subscription) == both, "only what is watched is told"


async def two_changes(subscription):
    heard = set()
    with anyio.fail_after(PATIENCE_S):
        while len(heard) < 2:
            heard.add(await anext(subscription))
    return heard


async def two_units(client):
    # Nobody is told of what it does itself.
    await call(client, "register", id="rival", role="doubter")
    units = [await call(client, "record", **finding(text)) for text in ("Lifts stop at six.", "Doors open at nine.")]
    return [f"quipu://unit/{unit['memory_unit_id']}" for unit in units]


async def contest(client, uri):
    against = [{"type": "contradicts", "target_id": uri.removeprefix("quipu://unit/")}]
    await call(client, "record", agent_id="rival", **finding(f"It is not as {uri} says.", relations=against))


CHECKS = [a_subscriber_is_told_of_what_it_watches]
