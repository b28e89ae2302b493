"""Run the vectors of a vocabulary: python reader.py VECTORS.json. Put your tokenizer in here."""

import json
import pathlib
import sys


def encode(data, mode):
    """The ids of bytes; raises where it refuses them. (Here: a token is a byte.)"""
    return list(data)


def decode(ids):
    """The bytes of ids; raises where there is no such id."""
    return bytes(ids)


def attempt(function, *arguments):
    """What a function gives, None where it raises."""
    try:
        return function(*arguments)
    except Exception:
        return None


vectors = json.loads(pathlib.Path(sys.argv[1]).read_text())["vectors"]
failed = 0
for number, one in enumerate(vectors):
    data, ids, flags, good = bytes.fromhex(one["input"]), one["ids"], set(one["flags"]), True
    if not flags & {"decode-only", "bad-ids"}:
        good = attempt(encode, data, one["mode"]) == (None if "rejected" in flags else ids)
    if not flags & {"rejected", "encode-only"}:
        good &= attempt(decode, ids) == (None if "bad-ids" in flags else data)
    if not good:
        failed += 1
        print(f"FAIL {number} {one['mode']}: {one['why']}")
print(f"{len(vectors) - failed} of {len(vectors)} passed")
sys.exit(failed > 0)
