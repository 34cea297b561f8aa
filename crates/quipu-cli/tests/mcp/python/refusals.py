"""What a model or a client does wrong."""

import anyio
from calling import call, contents, finding, refused, scope
from mcp import MCPError

MEBIBYTE = 1024 * 1024


async def an_unknown_tool_is_an_error_of_the_protocol(way):
    async with way.connect() as client:
        for name in ("akashik_subscribe", "record", ""):
            try:
                result = await client.call_tool(name, {})
            except MCPError as error:
                assert error.error.code == -32602 and "akashik_record" in error.error.message, error.error
            else:
                raise AssertionError(f"{name!r} was called: {result}")


async def wrong_types_are_tool_errors_that_name_the_field(way):
    async with way.connect() as client:
        for tool, arguments, code, field in [
            ("record", finding(5), "INVALID_PAYLOAD", "content"),
            ("record", finding("x") | {"type": "rumour"}, "INVALID_TYPE", "type"),
            ("record", finding("x") | {"confidence": {"score": "high", "reasoning": "x"}}, None, "confidence"),
            ("record", finding("x") | {"intent": {}}, "MISSING_INTENT", "intent.purpose"),
            ("record", finding("x") | {"relations": "none"}, "INVALID_PAYLOAD", "relations"),
            ("attune", {"scope": {"role": "x", "max_units": "ten"}}, "INVALID_PAYLOAD", "max_units"),
            ("attune", {}, None, "scope"),
            ("merge", {"conflict_id": 7}, "INVALID_PAYLOAD", "conflict_id"),
            ("replay", {"target_type": "dream", "target_id": "x"}, "INVALID_PAYLOAD", "target_type"),
            ("attune", {"scope": scope(), "agent_id": 5}, "INVALID_PAYLOAD", "agent_id"),
            ("attune", {"scope": scope(), "agent_id": " "}, "INVALID_PAYLOAD", "agent_id"),
        ]:
            error, words = await refused(client, tool, **arguments)
            assert code is None or error["code"] == code, (code, error)
            assert field in words, (field, words)
            assert "payload" not in words.splitlines()[0], "the model sent no payload"


async def invented_fields_are_accepted_and_told(way):
    async with way.connect() as client:
        recorded = await call(client, "record", **finding("Fields were invented."), importance="high", tags=["x"])
        warned = " ".join(recorded["warnings"])
        assert "importance" in warned and "tags" in warned, recorded


async def an_agent_that_is_named_must_have_registered(way):
    async with way.connect() as client:
        error, words = await refused(client, "attune", agent_id="nobody-knows-me", scope=scope())
        assert error["code"] == "AGENT_NOT_REGISTERED" and "akashik_register" in words, words


async def a_mebibyte_of_arguments_is_taken_or_refused_in_words(way):
    async with way.connect() as client:
        await call(client, "record", **finding("x" * MEBIBYTE))
        # The client takes no more than a mebibyte in one event of a stream, so a smaller one is read back.
        half = "long " * (MEBIBYTE // 10)
        recorded = await call(client, "record", **finding(half))
        [text] = (await client.read_resource(f"quipu://unit/{recorded['memory_unit_id']}")).contents
        assert half in text.text
        error, words = await refused(client, "record", **finding("x" * (MEBIBYTE + 1)))
        assert "content" in words and error["code"], words
        # The connection is as good as before.
        await call(client, "record", **finding("Short again."))


async def more_than_a_message_may_have_is_refused_and_nothing_is_lost(way):
    async with way.connect() as client:
        await call(client, "record", **finding("Before the flood."))
        try:
            with anyio.fail_after(60):
                result = await client.call_tool("akashik_record", finding("x" * 5 * MEBIBYTE))
            assert result.is_error, "five mebibytes were taken"
        except MCPError:
            pass
    async with way.connect() as client:
        attuned = await call(client, "attune", scope=scope(), context_hint="Before the flood.")
        assert "Before the flood." in contents(attuned), attuned


async def a_client_that_goes_away_in_a_call_leaves_nothing_half_done(way):
    try:
        async with way.connect(name="hasty") as client:
            await call(client, "record", **finding("Before it left."))
            async with anyio.create_task_group() as group:
                for number in range(8):
                    group.start_soon(client.call_tool, "akashik_record", finding(f"Left in call {number}."))
                await anyio.sleep(0)
                group.cancel_scope.cancel()
    except (MCPError, anyio.ClosedResourceError, anyio.BrokenResourceError):
        pass
    async with way.connect(name="patient") as client:
        attuned = await call(client, "attune", scope=scope(max_units=100))
        found = contents(attuned)
        assert "Before it left." in found, found
        left = [text for text in found if text.startswith("Left in call")]
        assert len(left) == len(set(left)), f"recorded twice: {left}"
        await call(client, "record", **finding("Life goes on."))


CHECKS = [
    an_unknown_tool_is_an_error_of_the_protocol,
    wrong_types_are_tool_errors_that_name_the_field,
    invented_fields_are_accepted_and_told,
    an_agent_that_is_named_must_have_registered,
    a_mebibyte_of_arguments_is_taken_or_refused_in_words,
    more_than_a_message_may_have_is_refused_and_nothing_is_lost,
    a_client_that_goes_away_in_a_call_leaves_nothing_half_done,
]
