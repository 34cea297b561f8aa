"""Two hosts on one data directory. The first works on; the second is told what is wrong and what to do."""

import subprocess
import sys

import anyio
from calling import call, finding
from connection import way_from


async def main():
    way = way_from(sys.argv[1:])
    async with way.connect(name="first") as first:
        await call(first, "record", **finding("The first was here first."))
        try:
            async with way.connect(name="second"):
                raise AssertionError("the second was let in")
        except* Exception as errors:
            said = words(errors)
            assert "quipu serve" in said and "--url" in said, said
        # Whoever looks at the program itself finds the same on stderr.
        ended = subprocess.run(way.command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        assert ended.returncode != 0 and not ended.stdout, ended
        assert "quipu serve" in ended.stderr and "--url" in ended.stderr, ended.stderr
        await call(first, "record", **finding("The first works on."))
    async with way.connect(name="third") as third:
        await call(third, "record", **finding("The directory is free again."))
    print("all checks hold")


def words(error):
    """Everything that an error says, with what is inside it."""
    inside = getattr(error, "exceptions", ())
    return " ".join([str(error), *(words(one) for one in inside)])


anyio.run(main)
