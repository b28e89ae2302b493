"""A byte-pair encoder that speaks tokgate's stdio protocol: copy it, put yours in its place.

Standard library alone. Run it with ``tokgate run --impl "cmd:python path/to/this_file.py"``.
"""

import base64
import heapq
import json
import sys
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

OPERATIONS = ["encode", "decode", "count", "offsets"]  # the last: encode gives them, too
HELLO = {"protocol": 1, "name": "stdio-example", "version": "1.0", "language": "python"}


class Encoder:
    """Byte-pair encoding of whole texts, from the bundle of a ``load`` request."""

    def __init__(self, bundle: dict[str, Any]) -> None:
        tokens = {i: base64.b64decode(t) for i, t in enumerate(bundle["tokens"]) if t is not None}
        self.ids = {token: i for i, token in reversed(tokens.items())}  # of equals, the first
        self.whole = self.ids if bundle["ignore_merges"] else {}  # tokens that are never split
        self.spell = tokens | {i: t.encode() for t, i in bundle["special_tokens"].items()}
        self.merges: dict[tuple[int, int], tuple[int, int]] = {}
        for rank, (left, right, merged) in enumerate(bundle["merges"]):
            self.merges.setdefault((left, right), (rank, merged))

    def encode(self, text: bytes) -> list[int]:
        """The token ids. Raises KeyError for a byte that has no token."""
        if text in self.whole:
            return [self.whole[text]]
        ids = [self.ids[text[i : i + 1]] for i in range(len(text))]
        after, before = list(range(1, len(ids) + 1)), list(range(-1, len(ids) - 1))
        heap: list[tuple[int, int, tuple[int, int]]] = []  # the least: lowest rank, leftmost

        def offer(place: int) -> None:
            pair = (ids[place], ids[after[place]])
            if pair in self.merges:
                heapq.heappush(heap, (self.merges[pair][0], place, pair))

        for place in range(len(ids) - 1):
            offer(place)
        while heap:
            _, place, pair = heapq.heappop(heap)
            gone = after[place]
            if gone == len(ids) or (ids[place], ids[gone]) != pair:
                continue  # stale: one of the two has merged with its other neighbour
            ids[place], ids[gone], after[place] = self.merges[pair][1], -1, after[gone]
            if after[place] < len(ids):
                before[after[place]] = place
                offer(place)
            if before[place] >= 0:
                offer(before[place])
        return [token_id for token_id in ids if token_id >= 0]


class Program:
    """Answers requests, and each input of a request by itself."""

    def respond(self, request: dict[str, Any]) -> dict[str, Any]:
        """The response to any request but ``stop``; the caller adds ``seq``."""
        if request["op"] == "hello":
            return {**HELLO, "operations": OPERATIONS, "algorithms": ["bpe"]}
        if request["op"] == "load":
            bundle = json.loads(Path(request["vocabulary"]["bundle"]).read_text("utf-8"))
            if "merges" not in bundle or bundle["byte_fallback"]:
                return {"unsupported": "byte-level byte-pair encoding only"}
            self.encoder = Encoder(bundle)
            return {"ok": True}
        if request["op"] not in OPERATIONS[:3]:
            return {"unsupported": f"no op {request['op']!r}"}
        if request.get("pretokenize") or request.get("special", "none") != "none":
            return {"unsupported": "neither pre-tokenization nor special tokens"}
        return {"results": [self.result(request["op"], item) for item in request["inputs"]]}

    def result(self, op: str, item: Any) -> dict[str, Any]:
        """The result of one input: base64 of a text, or ids to decode."""
        try:
            if op == "decode":
                text = b"".join(self.encoder.spell[i] for i in item)
                return {"bytes": base64.b64encode(text).decode()}
            ids = self.encoder.encode(base64.b64decode(item))
        except LookupError as error:
            return {"rejected": f"not in the vocabulary: {error}"}
        ends = accumulate((len(self.encoder.spell[i]) for i in ids), initial=0)
        return {"ids": ids, "offsets": list(pairwise(ends)), "count": len(ids)}

    def serve(self) -> None:
        """Answer requests, a line each, until told to stop."""
        for request in map(json.loads, sys.stdin):
            if request["op"] == "stop":
                break
            print(json.dumps({"seq": request["seq"], **self.respond(request)}), flush=True)


if __name__ == "__main__":
    Program().serve()
