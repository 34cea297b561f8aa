"""Checks the hash of receipts with nothing but Python's standard library.

Usage: receipt_check.py FILE... Prints one line for each: the hash that the receipt should have and
whether it is the one that is written in it. Exits 1 if any is not. Shares no code with Quipu.
"""

import hashlib
import json
import sys


def number(value):
    """A number as ECMAScript writes it, which is what RFC 8785 asks for."""
    if isinstance(value, int):
        return str(value)
    if value == 0:
        return "0"
    sign, value = ("-", -value) if value < 0 else ("", value)
    mantissa, _, exponent = repr(value).partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    point = len(whole) + int(exponent or 0)
    digits = (whole + fraction).lstrip("0")
    point -= len(whole + fraction) - len(digits)
    digits = digits.rstrip("0")
    count = len(digits)
    if count <= point <= 21:
        text = digits + "0" * (point - count)
    elif 0 < point <= 21:
        text = digits[:point] + "." + digits[point:]
    elif -6 < point <= 0:
        text = "0." + "0" * -point + digits
    else:
        power = point - 1
        rest = "." + digits[1:] if count > 1 else ""
        text = digits[0] + rest + "e" + ("+" if power > 0 else "-") + str(abs(power))
    return sign + text


def canonical(value):
    """RFC 8785: keys by UTF-16 code units, the shortest numbers, the fewest escapes."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, (int, float)):
        return number(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return "[" + ",".join(canonical(item) for item in value) + "]"
    keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
    return "{" + ",".join(canonical(key) + ":" + canonical(value[key]) for key in keys) + "}"


def check(path):
    with open(path, encoding="utf-8") as file:
        receipt = json.load(file)
    if receipt.get("object") == "receipt":
        receipt = receipt["wire"]["payload"]
    stored = receipt["chain"].pop("receipt_hash")
    receipt.pop("signatures", None)
    computed = "sha256:" + hashlib.sha256(canonical(receipt).encode()).hexdigest()
    print(computed, "holds" if computed == stored else "does not hold")
    return computed == stored


if __name__ == "__main__":
    sys.exit(0 if all([check(path) for path in sys.argv[1:]]) else 1)
