"""Resources and prompts."""

from calling import call, finding
from mcp import MCPError

TEMPLATES = {"quipu://unit/{id}", "quipu://conflict/{id}", "quipu://replay/{kind}/{id}"}
NOT_FOUND = {"2025-11-25": -32002, "2026-07-28": -32602}


async def units_conflicts_and_replays_are_read_as_text(way):
    async with way.connect() as client:
        unit = (await call(client, "record", **finding("Tea is ordered on Mondays.")))["memory_unit_id"]
        against = finding("Tea is ordered on Fridays.", relations=[{"type": "contradicts", "target_id": unit}])
        [conflict] = (await call(client, "record", **against))["conflicts_detected"]
        templates = (await client.list_resource_templates()).resource_templates
        assert {template.uri_template for template in templates} == TEMPLATES, templates
        listed = {resource.uri for resource in (await client.list_resources()).resources}
        assert {f"quipu://unit/{unit}", f"quipu://conflict/{conflict}"} <= listed, listed
        for kind, id, words in [
            ("unit", unit, ["Tea is ordered on Mondays.", "to check the clients"]),
            ("conflict", conflict, ["Tea is ordered on Mondays.", "Tea is ordered on Fridays."]),
            ("replay/memory_unit", unit, ["Tea is ordered on Mondays."]),
            ("replay/conflict", conflict, ["Mondays", "Fridays"]),
        ]:
            [text] = (await client.read_resource(f"quipu://{kind}/{id}")).contents
            assert text.mime_type == "text/plain" and text.uri == f"quipu://{kind}/{id}", text
            assert all(word in text.text for word in words), text.text


async def a_resource_that_is_not_there_is_an_error_that_names_it(way):
    async with way.connect() as client:
        for uri in ("quipu://unit/mem-nowhere", "quipu://nothing/like/that", "file:///etc/passwd"):
            try:
                found = await client.read_resource(uri)
            except MCPError as error:
                assert error.error.code == NOT_FOUND[way.generation], error.error
                assert uri in error.error.message, error.error
            else:
                raise AssertionError(f"{uri} was found: {found}")


async def prompts_are_listed_and_filled_in(way):
    async with way.connect() as client:
        prompts = {prompt.name: prompt for prompt in (await client.list_prompts()).prompts}
        assert set(prompts) == {"attune-before-you-act", "record-what-you-learned"}, prompts
        [message] = (await client.get_prompt("attune-before-you-act", {"task": "move the importer"})).messages
        assert "move the importer" in message.content.text and message.role == "user", message
        [message] = (await client.get_prompt("record-what-you-learned")).messages
        assert "akashik_record" in message.content.text, message
        for name, arguments in [("no-such-prompt", {}), ("attune-before-you-act", {})]:
            try:
                await client.get_prompt(name, arguments)
            except MCPError as error:
                assert error.error.code == -32602, error.error
            else:
                raise AssertionError(f"{name} was given with {arguments}")


CHECKS = [
    units_conflicts_and_replays_are_read_as_text,
    a_resource_that_is_not_there_is_an_error_that_names_it,
    prompts_are_listed_and_filled_in,
]
