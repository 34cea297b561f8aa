"""Drives a running `quipu` with the official Python client. Exits with 1 at the first check that does not hold.

    check.py GENERATION --url URL [--key KEY]
    check.py GENERATION COMMAND ARGUMENT…
"""

import sys

import anyio
import pushes
import reading
import refusals
import tools
from connection import way_from


async def main():
    way = way_from(sys.argv[1:])
    for module in (tools, reading, pushes, refusals):
        for check in module.CHECKS:
            print(check.__name__, flush=True)
            await check(way)
    print("all checks hold")


anyio.run(main)
