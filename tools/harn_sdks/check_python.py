"""Calls every method of Harn's Python SDK, synchronous and asynchronous, against a server, by the table `methods.json`.

    python check_python.py CHECKOUT URL KEY

CHECKOUT is a checkout of burin-labs/harn-sdk-python; its dependencies (httpx, pydantic) must be installed. Prints a row for
each method, and exits with 1 if one fails or is not in the table.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
import uuid
import warnings
from contextlib import aclosing
from pathlib import Path

TABLE = json.loads(Path(__file__).with_name("methods.json").read_text())


def filled(value, known):
    if isinstance(value, str):
        for name in sorted(known, key=len, reverse=True):
            value = value.replace(f"${name}", known[name])
        return value
    if isinstance(value, dict):
        return {key: filled(each, known) for key, each in value.items()}
    if isinstance(value, list):
        return [filled(each, known) for each in value]
    return value


def at(answer, pointer):
    for word in pointer.strip("/").split("/"):
        answer = answer[int(word)] if isinstance(answer, list) else answer[word]
    return answer


def check(step, answer, known):
    if "answers" in step:
        assert answer == step["answers"].encode(), answer
        return
    for name, value in filled(step.get("has", {}), known).items():
        assert answer[name] == value, f"{name}: {answer[name]!r} and not {value!r}"
    for name, pointer in step.get("save", {}).items():
        known[name] = at(answer, pointer)


def raw(client, step, known):
    """A step that no method of the SDK has, by the method that is for such."""
    path = filled(step["path"], known)
    if "text" in step:
        headers = client._auth_headers(path=path)
        response = client._client.request(
            step["method"], path, content=step["text"].encode(), headers=headers
        )
        assert response.status_code < 300, response.text
        return
    check(step, client.request(step["method"], path, body=step.get("body") and filled(step["body"], known)), known)


def wait(client, step, known):
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        found = client.request("GET", filled(step["wait"], known))
        if all(found.get(name) == value for name, value in step["until"].items()):
            return
        time.sleep(0.02)
    raise AssertionError(f"{step['wait']} is never {step['until']}")


def arguments(step, known):
    named = {}
    if "query" in step:
        named["params"] = filled(step["query"], known)
    if "body" in step:
        named["body"] = filled(step["body"], known)
    if step["method"] == "POST":
        named["idempotency_key"] = str(uuid.uuid4())
    return [filled(each, known) for each in step.get("args", [])], named


def shown(event):
    return event.data


class Sync:
    name = "HarnClient"

    def __init__(self, harn, url, key):
        self.client = harn.HarnClient(base_url=url, token=key)

    def call(self, step, known):
        positional, named = arguments(step, known)
        answer = getattr(self.client, step["python"])(*positional, **named)
        return shown(next(iter(answer))) if step.get("stream") else answer

    def chunks(self, artifact):
        return b"".join(self.client.stream_artifact_content(artifact))


class Async:
    name = "AsyncHarnClient"

    def __init__(self, harn, url, key):
        self.harn, self.url, self.key = harn, url, key

    def opened(self):
        return self.harn.AsyncHarnClient(base_url=self.url, token=self.key)

    def call(self, step, known):
        positional, named = arguments(step, known)

        async def once():
            # A stream that is left early is closed by the SDK's own generators, which complain of each other.
            asyncio.get_running_loop().set_exception_handler(lambda *_: None)
            async with self.opened() as client:
                called = getattr(client, step["python"])(*positional, **named)
                if not step.get("stream"):
                    return await called
                async with aclosing(called):
                    return shown(await anext(called))

        return asyncio.run(once())

    def chunks(self, artifact):
        async def once():
            async with self.opened() as client:
                return b"".join([chunk async for chunk in client.stream_artifact_content(artifact)])

        return asyncio.run(once())


def run(way, setup, methods):
    """All steps; gives the results by method."""
    known, results = {"run": uuid.uuid4().hex[:8]}, {}
    for step in TABLE:
        name = step.get("python")
        try:
            if "wait" in step:
                wait(setup, step, known)
            elif name is None:
                raw(setup, step, known)
            else:
                check(step, way.call(step, known), known)
                results.setdefault(name, "works")
        except Exception as error:  # noqa: BLE001 - whatever it is, the row says it
            results[name or f"{step['method']} {step['path']}" if "path" in step else str(step)] = f"FAILS: {error}"
        if name == "download_artifact_content":
            content = way.chunks(known["artifact"])
            results["stream_artifact_content"] = "works" if content == b"kept here" else "FAILS"
    for name in methods - set(results):
        results[name] = "FAILS: not in the table"
    return results


def main():
    checkout, url, key = sys.argv[1:4]
    sys.path.insert(0, str(Path(checkout) / "src"))
    warnings.simplefilter("ignore")
    import harn
    from harn.client import _OPENAPI_ENDPOINTS

    routes = {endpoint.name: f"{endpoint.method} {endpoint.path}" for endpoint in _OPENAPI_ENDPOINTS}
    routes["stream_artifact_content"] = "GET /v1/artifacts/{artifact_id}/content"
    setup = harn.HarnClient(base_url=url, token=key)
    columns = [run(way(harn, url, key), setup, set(routes)) for way in (Sync, Async)]
    print("| method | route | `HarnClient` | `AsyncHarnClient` |\n|---|---|---|---|")
    for name, route in routes.items():
        print(f"| `{name}` | `{route}` | {columns[0][name]} | {columns[1][name]} |")
    failed = [f"{name}: {said}" for column in columns for name, said in column.items() if said != "works"]
    print("\n".join(failed), file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
