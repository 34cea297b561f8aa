"""Receipts, checked without their server."""

from __future__ import annotations

import copy
import json
import struct
import subprocess
import urllib.request
from pathlib import Path
from typing import Any

import pytest

import quipu
from quipu import receipts

from .pricing import CRM, World, price
from .servers import Server, binary


def trusted(server: Server) -> dict[str, str]:
    """The keys of the server, from its card."""
    with urllib.request.urlopen(f"{server.url}/v1/agent-card") as answer:
        card = json.load(answer)
    return {key["key_id"]: key["public_key"] for key in card["metadata"]["receipt_keys"]}


def test_receipts_of_a_run_and_its_replay_hold(field: quipu.Field, server: Server) -> None:
    with field.task("price the deal") as run:
        run.result = price(run, World())
    replay = field.replay(run.id, overrides={CRM: {"tier": "tin"}})
    again = field.run_replay(replay.id, lambda run: price(run, World()))
    keys = trusted(server)
    checked = receipts.verify(again.receipt(), keys=keys, previous=run.receipt())
    assert checked.holds
    assert checked.signed_by == list(keys)
    assert receipts.verify(run.receipt())
    assert field.verify(run.receipt().id).valid


def test_what_is_wrong_is_named_as_the_program_names_it(field: quipu.Field, server: Server, tmp_path: Path) -> None:
    with field.task("small") as run:
        run.llm("main", lambda _: {"text": "ünïcode 🦉", "n": 1.5e-7}, {"q": 1})
    whole = run.receipt().payload
    keys = trusted(server)
    (key,) = keys.items()
    altered, forged, broken = copy.deepcopy(whole), copy.deepcopy(whole), copy.deepcopy(whole)
    altered["lifecycle"]["final_state"] = "FAILED"
    forged["signatures"][0]["signature"] = "base64:" + "A" * 86 + "=="
    del broken["chain"]
    for number, receipt in enumerate([altered, forged, broken, whole]):
        checked = receipts.verify(receipt, keys=keys)
        assert checked.holds == (receipt is whole)
        file = tmp_path / f"{number}.json"
        file.write_text(json.dumps(receipt))
        said = subprocess.run(
            [binary(), "receipt", "verify", str(file), "--json", "--key", "=".join(key)],
            capture_output=True,
            text=True,
            check=False,
        )
        verdict = json.loads(said.stdout)
        names = [finding["name"] for finding in verdict["findings"]]
        assert checked.findings == [name for name in names if name != "schema"]
        assert checked.receipt_hash == verdict["receipt_hash"]
    assert receipts.verify(whole, keys={"another": key[1]}).findings == ["unsigned"]
    assert receipts.verify(whole, previous=altered).findings == ["previous_receipt_hash"]


@pytest.mark.parametrize(
    ("bits", "text"),
    [  # the examples of RFC 8785, appendix B
        (0x0000000000000000, "0"),
        (0x8000000000000000, "0"),
        (0x0000000000000001, "5e-324"),
        (0x7FEFFFFFFFFFFFFF, "1.7976931348623157e+308"),
        (0x4340000000000000, "9007199254740992"),
        (0x4430000000000000, "295147905179352830000"),
        (0x44B52D02C7E14AF5, "9.999999999999997e+22"),
        (0x44B52D02C7E14AF6, "1e+23"),
        (0x444B1AE4D6E2EF4E, "999999999999999700000"),
        (0x444B1AE4D6E2EF50, "1e+21"),
        (0x3EB0C6F7A0B5ED8C, "9.999999999999997e-7"),
        (0x3EB0C6F7A0B5ED8D, "0.000001"),
        (0x41B3DE4355555553, "333333333.3333332"),
        (0xBECBF647612F3696, "-0.0000033333333333333333"),
    ],
)
def test_numbers_are_written_as_rfc_8785_says(bits: int, text: str) -> None:
    (number,) = struct.unpack(">d", bits.to_bytes(8, "big"))
    assert receipts.canonical(number) == text


def test_names_are_sorted_by_utf_16() -> None:
    # The order of the RFC: an emoji, two code units, goes before U+FB33.
    assert receipts.canonical({"\ufb33": 1, "😀": True, "ö": None, "1": []}) == '{"1":[],"ö":null,"😀":true,"\ufb33":1}'


@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"chain": [], "signatures": "x"},
        {"signatures": [1, {"key_id": [1]}, {"key_id": "k", "signature": 3}]},
        {"half \ud800": "\udfff"},
    ],
)
def test_what_is_no_receipt_does_not_hold(odd: dict[str, Any]) -> None:
    assert {"receipt_hash", "unsigned"} <= set(receipts.verify(odd, keys={"k": "no key"}).findings)
