"""Programs that are wrong, spoken to over stdin and stdout; and right ones, of the same kinds.

One takes part by ``--impl "cmd:python -m harness.studies.selftest.program --kind leak"``. Each is
the worked example of the stdio protocol with one mistake.
"""

from __future__ import annotations

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
    from collections.abc import Callable, Iterable, Sequence

PROGRAM = f"cmd:{sys.executable} -m harness.studies.selftest.program --kind"
"""What is written after ``--impl``, before a kind."""

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

HEALERS = (
    "healer-correct", "healer-forces-all", "healer-first-sentence", "healer-no-leftover",
    "healer-no-field",
)  # fmt: skip

EVERY = 4
"""The batches of which one lacks a result."""

FALSE_NANOSECONDS = 1000

KINDS: dict[str, str] = {
    **dict.fromkeys(("leak", "floats", *DEATHS, "seq", "short", "garbage"), "mini-"),
    **dict.fromkeys(("correct", "claims"), "mini- decode offsets"),
    **dict.fromkeys(("right", "every-fourth", "whole-batch"), "gate. decode count offsets"),
    "claims-all": "gate. count count_till_limit split append prepend interval",
    **dict.fromkeys(("true-times", "false-times"), "gate."),
    **dict.fromkeys(HEALERS, " heal"),
}
"""Of each kind with what its name begins, and the operations that it claims besides ``encode``."""

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
        self.prefix, *self.claimed = KINDS[kind].split(" ")
        self.batches = 0

    def respond(self, request: dict[str, Any]) -> dict[str, Any]:
        """The response, with the claims of the kind."""
        op = request["op"]
        if op == "heal" and not request.get("pretokenize"):
            return {"results": [self.healed(**item) for item in request["inputs"]]}
        if self.kind.startswith("claims") and op not in ("hello", "load", "encode"):
            return {"unsupported": f"no op {op!r} yet"}
        response = super().respond(request)
        if op == "hello":
            response["name"] = self.prefix + self.kind
            response["operations"] = ["encode", *self.claimed]
        elif op == "load" and "ok" in response:
            right = self.encoder.encode
            self.encoder.encode = lambda text: wrong(self.kind, text, right)  # type: ignore[method-assign]
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
        if self.kind == "claims" or "offsets" not in self.claimed:
            result.pop("offsets", None)
        return result

    def spoil(self, inputs: Sequence[bytes], results: list[dict[str, Any]]) -> None:
        """Spoil the results of a batch; for the gate, one input alone is answered rightly."""
        whole = len(inputs) > 1
        self.batches += whole
        fourth = self.kind == "every-fourth" and whole and self.batches % EVERY == 0
        if fourth or (self.kind == "short" and triggered(inputs)):
            results.pop()
        if self.kind == "whole-batch" and whole and any(map(invalid, inputs)):
            results[:] = [{"rejected": "not UTF-8"} for _ in inputs]

    def healed(self, forced: str, recent: list[int], allowed: list[str] | None) -> dict[str, Any]:
        """The result of one input to heal: nothing is forced, which is always right.

        Those that are wrong by what they force take the tokens of one sentence for those of all.
        """
        rest, spell = base64.b64decode(forced), self.encoder.spell
        sentences = {"healer-forces-all": [""], "healer-first-sentence": (allowed or [""])[:1]}
        ids: list[int] = []
        for way in sentences.get(self.kind, ()):
            context = b"".join(spell[token_id] for token_id in recent)
            whole = self.encoder.encode(context + rest + base64.b64decode(way))
            for token_id in whole[len(recent) :]:
                if not rest.startswith(spell[token_id]):
                    break
                ids.append(token_id)
                rest = rest[len(spell[token_id]) :]
        if self.kind == "healer-no-field":
            return {"ids": ids}
        left = b"" if self.kind == "healer-no-leftover" else rest
        return {"ids": ids, "leftover": base64.b64encode(left).decode()}

    def line(self, request: dict[str, Any]) -> str:
        """The response as it goes out."""
        whole = {"seq": request["seq"], **self.respond(request)}
        if request["op"] == "encode" and triggered(map(base64.b64decode, request["inputs"])):
            if self.kind == "garbage":
                return "Traceback (most recent call last):"
            whole["seq"] += self.kind == "seq"
        return json.dumps(whole)


def triggered(inputs: Iterable[bytes]) -> bool:
    """Whether one of the inputs brings the mistake out."""
    return any(TRIGGER in data for data in inputs)


def invalid(data: bytes) -> bool:
    """Whether an input is not UTF-8."""
    return data.decode(errors="ignore").encode() != data


def main() -> None:
    """Serve until told to stop."""
    program = WrongProgram(sys.argv[-1])
    for request in map(json.loads, sys.stdin):
        if request["op"] == "stop":
            break
        print(program.line(request), flush=True)


if __name__ == "__main__":
    main()
