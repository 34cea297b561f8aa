"""Calls a tool and looks at what every answer must have."""

import json

from jsonschema import Draft202012Validator


async def schemas(client):
    """The output schemas by tool."""
    return {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}


async def call(client, tool, **arguments):
    """The structured answer of a call that must succeed. The client holds it against the schema, and so do we."""
    result = await client.call_tool(f"akashik_{tool}", arguments)
    assert not result.is_error, f"{tool}: {told(result)}"
    schema = (await schemas(client))[f"akashik_{tool}"]
    Draft202012Validator(schema).validate(result.structured_content)
    assert told(result).strip(), f"{tool} says nothing to read"
    return result.structured_content


async def refused(client, tool, **arguments):
    """The error object and the words of a call that must be refused, as a tool error."""
    result = await client.call_tool(f"akashik_{tool}", arguments)
    assert result.is_error, f"{tool} was not refused: {told(result)}"
    assert result.structured_content is None, "a refusal is not what the output schema describes"
    words, error = (block.text for block in result.content)
    assert "What to do:" in words, words
    return json.loads(error), words


def told(result):
    return "\n".join(block.text for block in result.content if block.type == "text")


def finding(content, **more):
    """A committed finding."""
    return {
        "type": "finding",
        "content": content,
        "intent": {"purpose": "to check the clients"},
        "confidence": {"score": 0.8, "reasoning": "we wrote it"},
        **more,
    }


def scope(**more):
    """What a host asks for: no more than it can read."""
    return {"role": "checker", "max_units": 10, "max_tokens": 8000, **more}


def contents(attuned):
    """The texts of an answer of ATTUNE."""
    return [scoped["memory_unit"]["content"] for scoped in attuned["record"]]
