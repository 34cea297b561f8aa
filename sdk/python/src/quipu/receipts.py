"""Receipts checked offline: nothing is asked of a server. Hashes need the standard library alone, signatures
the package `cryptography` (`pip install quipu[verify]`)."""

from __future__ import annotations

import base64
import binascii
import copy
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .models import Receipt


@dataclass(frozen=True)
class Checked:
    """What a check found. Without keys it says that the receipt is whole, not who made it."""

    receipt_hash: str
    findings: list[str] = field(default_factory=list)
    signed_by: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings

    def __bool__(self) -> bool:
        return self.holds


def verify(
    receipt: Receipt | Mapping[str, Any],
    *,
    keys: Mapping[str, str] | None = None,
    previous: Receipt | Mapping[str, Any] | None = None,
) -> Checked:
    """Checks the hash, that it follows `previous` if given, and the signatures of `keys` (id to base64) if given.
    What is found is told in the words of `quipu receipt verify`, which also checks every member's form."""
    payload = _payload(receipt)
    chain = payload.get("chain")
    chain = chain if isinstance(chain, dict) else {}
    found: list[str] = []
    computed = hash_of(payload)
    if chain.get("receipt_hash") != computed:
        found.append("receipt_hash")
    if previous is not None and chain.get("previous_receipt_hash") != hash_of(_payload(previous)):
        found.append("previous_receipt_hash")
    signed: list[str] = []
    if keys is not None:
        signed, wrong = _signatures(payload, computed, keys)
        found += wrong
    return Checked(computed, found, signed)


def hash_of(payload: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical JSON without the hash itself and the signatures."""
    bare = copy.deepcopy(dict(payload))
    bare.pop("signatures", None)
    if isinstance(bare.get("chain"), dict):
        bare["chain"].pop("receipt_hash", None)
    # Half a character has no bytes in UTF-8; with some of its own, what holds it has no hash that anybody gave.
    return "sha256:" + hashlib.sha256(canonical(bare).encode(errors="surrogatepass")).hexdigest()


def _payload(receipt: Receipt | Mapping[str, Any]) -> Mapping[str, Any]:
    if isinstance(receipt, Receipt):
        return receipt.payload
    if receipt.get("object") == "receipt":
        return Receipt.model_validate(receipt).payload
    return receipt


def _signatures(payload: Mapping[str, Any], text: str, keys: Mapping[str, str]) -> tuple[list[str], list[str]]:
    signed: list[str] = []
    wrong: list[str] = []
    given = payload.get("signatures")
    for signature in given if isinstance(given, list) else []:
        named = signature.get("key_id") if isinstance(signature, Mapping) else None
        trusted = keys.get(named) if isinstance(named, str) else None
        if trusted is None:
            continue  # a stranger's signature proves nothing and is no finding
        if _is_signed(trusted, str(signature.get("signature", "")), text):
            signed.append(signature["key_id"])
        else:
            wrong.append("signature")
    return signed, wrong if signed else [*wrong, "unsigned"]


def _is_signed(public_key: str, signature: str, text: str) -> bool:
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - only who asks for it needs it
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415

    try:
        key = Ed25519PublicKey.from_public_bytes(base64.b64decode(public_key, validate=True))
        key.verify(base64.b64decode(signature.removeprefix("base64:"), validate=True), text.encode())
    except (InvalidSignature, ValueError, binascii.Error):
        return False
    return True


def canonical(value: Any) -> str:
    """RFC 8785: names by UTF-16 code units, the shortest numbers, the fewest escapes."""
    if value is None or isinstance(value, bool | str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, Mapping):
        names = sorted(value, key=lambda name: name.encode("utf-16-be", errors="surrogatepass"))
        return "{" + ",".join(canonical(name) + ":" + canonical(value[name]) for name in names) + "}"
    return "[" + ",".join(canonical(item) for item in value) + "]"


# Beyond these powers of ten ECMAScript writes an exponent.
_LARGEST, _SMALLEST = 21, -6


def _number(value: float) -> str:
    if value < 0:
        return "-" + _number(-value)
    if value == 0:
        return "0"
    mantissa, _, exponent = repr(value).partition("e")
    whole, _, fraction = mantissa.partition(".")
    point = len(whole) + int(exponent or 0)
    every = whole + fraction
    digits = every.lstrip("0")
    point -= len(every) - len(digits)
    digits = digits.rstrip("0")
    if len(digits) <= point <= _LARGEST:
        return digits.ljust(point, "0")
    if 0 < point <= _LARGEST:
        return f"{digits[:point]}.{digits[point:]}"
    if _SMALLEST < point <= 0:
        return f"0.{'0' * -point}{digits}"
    rest = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{digits[0]}{rest}e{point - 1:+d}"
