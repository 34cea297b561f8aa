"""Every tool: how it is listed, and one real call of each."""

from calling import call, contents, finding, scope
from jsonschema import Draft202012Validator

TOOLS = {
    "attune", "compact", "coordinate", "deregister", "detect", "handoff", "merge", "record", "register", "replay",
    "session",
}
READ_ONLY = {"attune", "replay"}


async def tools_are_listed_with_schemas_that_are_schemas(way):
    async with way.connect() as client:
        tools = (await client.list_tools()).tools
        assert {tool.name for tool in tools} == {f"akashik_{name}" for name in TOOLS}, tools
        for tool in tools:
            for schema in (tool.input_schema, tool.output_schema):
                Draft202012Validator.check_schema(schema)
                assert schema["type"] == "object", tool.name
                assert_resolves(schema, schema)
            assert {"agent_id", "session_id"} <= set(tool.input_schema["properties"]), tool.name
            assert tool.title and len(tool.description) > 100, tool.name
            notes = tool.annotations
            assert notes.read_only_hint == (tool.name.removeprefix("akashik_") in READ_ONLY), tool.name
            assert notes.open_world_hint is False and notes.destructive_hint is not None, tool.name


def assert_resolves(schema, root):
    """Every reference of a schema leads to something in the same document."""
    if isinstance(schema, list):
        for part in schema:
            assert_resolves(part, root)
    if not isinstance(schema, dict):
        return
    reference = schema.get("$ref")
    if isinstance(reference, str):
        found = root
        assert reference.startswith("#/"), reference
        for step in reference[2:].split("/"):
            found = found[step]
    for part in schema.values():
        assert_resolves(part, root)


async def every_tool_is_called_with_real_arguments(way):
    async with way.connect() as client:
        await agents_join(client)
        first, second, conflict = await two_findings_that_disagree(client)
        await the_conflict_is_settled(client, first, second, conflict)
        await a_task_is_done_and_handed_over(client)
        await a_session_is_opened_and_ended(client)
        await what_is_old_is_put_away(client, second)
        left = await call(client, "deregister", agent_id="sam")
        assert left["status"] == "ok", left


async def agents_join(client):
    for agent in ("ana", "sam"):
        joined = await call(client, "register", id=agent, role="analyst", interests=["markets"])
        assert joined["status"] == "registered", joined


async def two_findings_that_disagree(client):
    first = await call(client, "record", agent_id="ana", **finding("The market grows by 23% a year."))
    against = [{"type": "contradicts", "target_id": first["memory_unit_id"], "description": "23% against 14%"}]
    weaker = {"confidence": {"score": 0.4, "reasoning": "one report"}, "relations": against}
    second = await call(
        client, "record", agent_id="sam", **(finding("The market grows by 14% a year.") | weaker)
    )
    [conflict] = second["conflicts_detected"]
    attuned = await call(
        client, "attune", agent_id="ana", scope=scope(include_own=True), context_hint="how does the market grow?"
    )
    assert len(attuned["record"]) == 2 and attuned["conflicts"][0]["id"] == conflict, attuned
    return first["memory_unit_id"], second["memory_unit_id"], conflict


async def the_conflict_is_settled(client, first, second, conflict):
    found = await call(client, "detect", agent_id="ana", mode="list", filter={"status": ["detected"]})
    assert [known["id"] for known in found["conflicts"]] == [conflict], found
    merged = await call(
        client, "merge", agent_id="ana", conflict_id=conflict, strategy="confidence_weighted",
        resolution={"rationale": "The better founded one."},
    )
    assert merged["conflict"]["resolution"]["winner_id"] == first, merged
    assert merged["side_effects"]["superseded_units"] == [second], merged
    story = await call(
        client, "replay", agent_id="ana", target_type="conflict", target_id=conflict, depth="full_trace"
    )
    assert story["total_events"] == len(story["timeline"]) > 3, story


async def a_task_is_done_and_handed_over(client):
    task = {"id": "task-sizing", "title": "Size the market", "intent": {"purpose": "to plan the year"}}
    made = await call(client, "coordinate", agent_id="ana", action="create", task=task, assignee="ana")
    assert made["task"]["status"] == "assigned", made
    offer = {"action": "offer", "task_id": "task-sizing", "to_agent": "sam", "reason": "My shift ends"}
    offered = await call(client, "handoff", agent_id="ana", **offer, context={"summary": "Half of it is read."})
    taken = await call(client, "handoff", agent_id="sam", action="accept", handoff_id=offered["handoff"]["id"])
    assert taken["status"] == "accepted", taken
    for action in ("start", "complete"):
        moved = await call(client, "coordinate", agent_id="sam", action=action, task_id="task-sizing")
    assert moved["task"]["status"] == "completed", moved
    listed = await call(client, "coordinate", agent_id="ana", action="list", filter={"assigned_to": "sam"})
    assert [task["id"] for task in listed["tasks"]] == ["task-sizing"], listed


async def a_session_is_opened_and_ended(client):
    made = await call(
        client, "session", agent_id="ana", action="create", session_id="q1", session={"goal": "Size Europe"}
    )
    assert made["session"]["members"] == ["ana"], made
    await call(client, "record", agent_id="ana", session_id="q1", **finding("Only for the room."))
    inside = await call(client, "attune", agent_id="ana", session_id="q1", scope=scope(include_own=True))
    outside = await call(client, "attune", agent_id="sam", scope=scope())
    assert "Only for the room." in contents(inside), inside
    assert "Only for the room." not in contents(outside), outside
    ended = await call(client, "session", agent_id="ana", action="end", session_id="q1")
    assert ended["session"]["status"] == "ended", ended


async def what_is_old_is_put_away(client, superseded):
    put_away = await call(
        client, "compact", agent_id="ana", strategy="archive", filter={"status": ["superseded"]}, reason="settled"
    )
    assert put_away["units_affected"] == 1, put_away
    left = await call(client, "attune", agent_id="ana", scope=scope(include_own=True))
    assert superseded not in [scoped["memory_unit"]["id"] for scoped in left["record"]], left


async def a_host_without_registration_records_and_attunes(way):
    async with way.connect(name="Some Editor") as client:
        await call(client, "record", **finding("The host never registered."))
        attuned = await call(client, "attune", scope=scope(), context_hint="who registered?")
        units = [scoped["memory_unit"] for scoped in attuned["record"]]
        [own] = [unit for unit in units if unit["content"] == "The host never registered."]
        assert own["source"]["agent_id"] == "some-editor", own


async def what_one_process_records_the_next_one_finds(way):
    async with way.connect(name="writer") as client:
        await call(client, "record", **finding("Backups run at two at night."))
    async with way.connect(name="reader") as client:
        attuned = await call(client, "attune", scope=scope(), context_hint="when do backups run?")
        assert contents(attuned)[0] == "Backups run at two at night.", attuned


CHECKS = [
    tools_are_listed_with_schemas_that_are_schemas,
    every_tool_is_called_with_real_arguments,
    a_host_without_registration_records_and_attunes,
    what_one_process_records_the_next_one_finds,
]
