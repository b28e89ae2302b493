"""Programs that heal over the stdio protocol: ``python -m .. --kind correct``, or a wrong one.

Right where the grammar's sentences are all told: the tokens with which all of them begin. Where a
sentence may go on in ways that are not told, nothing is forced, which is always right.
"""

from __future__ import annotations

import argparse
import base64
from collections.abc import Sequence
from typing import Any

from impls.examples.stdio_encoder import Program

MISTAKES = {
    "forces-all": "The program forces all that the forced bytes encode to.",
    "first-sentence": "The program looks at the first sentence that the grammar allows alone.",
    "no-leftover": "The program says that nothing is left over where something is.",
    "no-field": "The program has no field 'leftover' in its answer.",
}
"""The kinds that are wrong, each with a line on how."""

STAGES = {
    "forces-all": "canonical",
    "first-sentence": "canonical",
    "no-leftover": "spelling",
    "no-field": "heal-errored",
}
"""The name of the stage in the finding of each kind."""


class HealingProgram(Program):
    """The worked example of the stdio protocol, with a healer."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def respond(self, request: dict[str, Any]) -> dict[str, Any]:
        """The response, ``heal`` included."""
        if request["op"] == "heal":
            if request.get("pretokenize"):
                return {"unsupported": "no pre-tokenization"}
            return {"results": [self.healed(item) for item in request["inputs"]]}
        response = super().respond(request)
        if request["op"] == "hello":
            response |= {"name": f"healer-{self.kind}", "operations": ["encode", "heal"]}
        elif request["op"] == "load" and "ok" in response:
            self.longest = max(map(len, self.encoder.ids))
        return response

    def healed(self, item: dict[str, Any]) -> dict[str, Any]:
        """The result of one input."""
        forced, recent = base64.b64decode(item["forced"]), item["recent"]
        given = item["allowed"]
        allowed = None if given is None else [base64.b64decode(one) for one in given]
        if self.kind == "first-sentence":
            allowed = (allowed or [b""])[:1]
        if self.kind == "forces-all":
            allowed = [b""]
        ids = self.safe(forced, recent, allowed)
        taken = sum(len(self.encoder.spell[token_id]) for token_id in ids)
        leftover = b"" if self.kind == "no-leftover" else forced[taken:]
        result: dict[str, Any] = {"ids": ids}
        if self.kind != "no-field":
            result["leftover"] = base64.b64encode(leftover).decode()
        return result

    def safe(self, forced: bytes, recent: list[int], allowed: Sequence[bytes] | None) -> list[int]:
        """The tokens with which all sentences go on after the context, within the forced bytes."""
        if allowed is None or any(len(way) >= self.longest for way in allowed):
            return []
        context = b"".join(self.encoder.spell[token_id] for token_id in recent)
        whole = [self.encoder.encode(context + forced + way) for way in allowed]
        size = len(recent)
        if any(ids[:size] != recent for ids in whole):
            return []
        found: list[int] = []
        left = len(forced)
        for column in zip(*(ids[size:] for ids in whole), strict=False):
            left -= len(self.encoder.spell[column[0]])
            if len(set(column)) > 1 or left < 0:
                break
            found.append(column[0])
        return found


def main() -> None:
    """Serve until told to stop."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", required=True, choices=["correct", *MISTAKES])
    program = HealingProgram(parser.parse_args().kind)
    program.serve()


if __name__ == "__main__":
    main()
