"""Programs that are wrong, spoken to over stdin and stdout; and right ones, of the same kinds.

One takes part by ``--impl "cmd:python -m harness.studies.selftest.program --kind leak"``. Each is
the worked example of the stdio protocol with one mistake.
"""

from __future__ import annotations

import argparse
import base64
import itertools
import json
import os
import signal
import sys
import time
from typing import TYPE_CHECKING, Any

from impls.examples.stdio_encoder import Program

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TRIGGER = "\u00e9".encode()
"""Those that end a process wait for this character, which is frequent enough to be met within
seconds."""


def crash() -> None:
    """Read where there is nothing."""
    signal.signal(signal.SIGSEGV, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGSEGV)
    time.sleep(10)


def hang() -> None:
    """Never end."""
    while True:
        time.sleep(60)


DEATHS: dict[str, Callable[[], object]] = {
    "exit": lambda: (os.write(2, b"cannot go on\n"), os._exit(3)),
    "segfault": crash,
    "abort": os.abort,
    "hang": hang,
    "hog": lambda: bytearray(64 << 30),
    "grow": lambda: [bytearray(1 << 20) for _ in itertools.count()],
}
"""What ends a process, or never ends."""

GATE = ("right", "every-fourth", "whole-batch", "claims-all", "true-times", "false-times")
HEALERS = (
    "healer-correct", "healer-forces-all", "healer-first-sentence", "healer-no-leftover",
    "healer-no-field",
)  # fmt: skip
MINIATURES = ("correct", "leak", "floats", "claims", *DEATHS, "seq", "short", "garbage")

EVERY = 4
"""The batches of which one lacks a result."""

FALSE_NANOSECONDS = 1000

CLAIMED = {
    "correct": ["decode", "offsets"],
    "claims": ["decode", "offsets"],
    "claims-all": ["count", "count_till_limit", "split", "append", "prepend", "interval"],
    **{kind: ["decode", "count", "offsets"] for kind in ("right", "every-fourth", "whole-batch")},
    **{kind: ["heal"] for kind in HEALERS},
}
"""The operations besides ``encode`` that a kind says that it has."""

left: list[int] = []
"""What ``leak`` has forgotten to clear after a long input."""


def wrong(kind: str, data: bytes, right: Callable[[bytes], list[int]]) -> list[Any]:
    """The ids of an input as a kind gives them, of what gives the right ones."""
    if kind in DEATHS and TRIGGER in data:
        DEATHS[kind]()
    ids = right(data)
    if kind == "floats":
        return [float(token_id) for token_id in ids]
    if kind == "leak":
        given = left + ids
        left[:] = ids[-1:] if len(data) > 40 else []
        return given
    return ids


class WrongProgram(Program):
    """The worked example with a mistake."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.batches = 0

    def respond(self, request: dict[str, Any]) -> dict[str, Any]:
        """The response, with the claims of the kind."""
        op = request["op"]
        if op == "heal":
            if request.get("pretokenize"):
                return {"unsupported": "no pre-tokenization"}
            return {"results": [self.healed(item) for item in request["inputs"]]}
        response = super().respond(request)
        if op == "hello":
            prefix = "gate." if self.kind in GATE else "" if self.kind in HEALERS else "mini-"
            response["name"] = prefix + self.kind
            response["operations"] = ["encode", *CLAIMED.get(self.kind, [])]
        elif op == "load" and "ok" in response:
            right = self.encoder.encode
            self.encoder.encode = lambda text: wrong(self.kind, text, right)  # type: ignore[method-assign]
        elif self.kind.startswith("claims") and op != "encode":
            return {"unsupported": f"no op {op!r} yet"}
        elif op == "encode" and "results" in response:
            self.spoil([base64.b64decode(text) for text in request["inputs"]], response["results"])
        return response

    def result(self, op: str, item: Any) -> dict[str, Any]:
        """The result of one input; most kinds give no offsets, which take long to write."""
        start = time.perf_counter_ns()
        result = super().result(op, item)
        if self.kind.endswith("-times"):
            true = time.perf_counter_ns() - start
            result["ns"] = true if self.kind == "true-times" else FALSE_NANOSECONDS
        if self.kind == "claims" or "offsets" not in CLAIMED.get(self.kind, ()):
            result.pop("offsets", None)
        return result

    def spoil(self, inputs: Sequence[bytes], results: list[dict[str, Any]]) -> None:
        """Spoil the results of a batch; for the gate, one input alone is answered rightly."""
        if self.kind == "short" and triggered(inputs):
            results.pop()
        if len(inputs) > 1:
            self.batches += 1
            if self.kind == "every-fourth" and self.batches % EVERY == 0:
                results.pop()
            if self.kind == "whole-batch" and any(map(invalid, inputs)):
                results[:] = [{"rejected": "not UTF-8"} for _ in inputs]

    def healed(self, item: dict[str, Any]) -> dict[str, Any]:
        """The result of one input to heal.

        Right where the grammar's sentences are all told: the tokens with which all of them begin.
        Where one may go on in ways that are not told, nothing is forced, which is always right.
        """
        forced, recent, given = base64.b64decode(item["forced"]), item["recent"], item["allowed"]
        allowed = None if given is None else [base64.b64decode(one) for one in given]
        if self.kind == "healer-first-sentence":
            allowed = (allowed or [b""])[:1]
        if self.kind == "healer-forces-all":
            allowed = [b""]
        ids = self.safe(forced, recent, allowed)
        taken = sum(len(self.encoder.spell[token_id]) for token_id in ids)
        leftover = b"" if self.kind == "healer-no-leftover" else forced[taken:]
        told = {"ids": ids, "leftover": base64.b64encode(leftover).decode()}
        return {"ids": ids} if self.kind == "healer-no-field" else told

    def safe(self, forced: bytes, recent: list[int], allowed: Sequence[bytes] | None) -> list[int]:
        """The tokens with which all sentences go on after the context, within the forced bytes."""
        longest = max(map(len, self.encoder.ids))
        if allowed is None or any(len(way) >= longest for way in allowed):
            return []
        context = b"".join(self.encoder.spell[token_id] for token_id in recent)
        whole = [self.encoder.encode(context + forced + way) for way in allowed]
        if any(ids[: len(recent)] != recent for ids in whole):
            return []
        found: list[int] = []
        for token_id, *others in zip(*(ids[len(recent) :] for ids in whole), strict=False):
            spelled = sum(len(self.encoder.spell[one]) for one in [*found, token_id])
            if {*others} - {token_id} or spelled > len(forced):
                break
            found.append(token_id)
        return found

    def line(self, request: dict[str, Any]) -> str:
        """The response as it goes out."""
        whole = {"seq": request["seq"], **self.respond(request)}
        if request["op"] == "encode" and triggered(map(base64.b64decode, request["inputs"])):
            if self.kind == "garbage":
                return "Traceback (most recent call last):"
            whole["seq"] += self.kind == "seq"
        return json.dumps(whole)


def triggered(inputs: Sequence[bytes] | map[bytes]) -> bool:
    """Whether one of the inputs brings the mistake out."""
    return any(TRIGGER in data for data in inputs)


def invalid(data: bytes) -> bool:
    """Whether an input is not UTF-8."""
    return data.decode(errors="ignore").encode() != data


def main() -> None:
    """Serve until told to stop."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", required=True, choices=[*MINIATURES, *GATE, *HEALERS])
    program = WrongProgram(parser.parse_args().kind)
    for request in map(json.loads, sys.stdin):
        if request["op"] == "stop":
            break
        print(program.line(request), flush=True)


if __name__ == "__main__":
    main()
