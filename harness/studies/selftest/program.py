"""Deliberately wrong programs, spoken to over stdin and stdout.

One takes part by ``--impl "cmd:python -m harness.studies.selftest.program --kind flaky"``.

The worked example of the stdio protocol with one mutant: one of ``program_mutants.MUTANTS``, or one
of the protocol's own, which show on the input that the others wait for, too.
"""

from __future__ import annotations

import argparse
import base64
import json
import sys
from typing import Any

from harness.studies.selftest import program_mutants
from impls.examples.stdio_encoder import Program

PROTOCOL_MUTANTS = ("seq", "short", "garbage")


class Miniature(Program):
    """Answers with a mutant."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def respond(self, request: dict[str, Any]) -> dict[str, Any]:
        """The response, with the claims of the mutant."""
        response = super().respond(request)
        if request["op"] == "hello":
            claims = ["decode", "offsets"] if self.kind in ("correct", "claims") else []
            response |= {"name": f"mini-{self.kind}", "operations": ["encode", *claims]}
        elif request["op"] == "load" and "ok" in response:
            self.plug_in(program_mutants.MUTANTS.get(self.kind, program_mutants.Correct))
        elif request["op"] == "decode" and self.kind == "claims":
            return {"unsupported": "no op 'decode'"}
        return response

    def plug_in(self, mutant: type[program_mutants.Correct]) -> None:
        """Put a mutant in the encoder's place."""
        encoder = self.encoder
        known = [encoder.spell.get(i) for i in range(max(encoder.spell) + 1)]
        specials = set(encoder.spell) - set(encoder.ids.values())
        tokens = [None if i in specials else token for i, token in enumerate(known)]
        wrong, right = mutant(tokens, encoder.merges), encoder.encode
        encoder.encode = lambda text: wrong.encode(text, right)  # type: ignore[method-assign]

    def result(self, op: str, item: Any) -> dict[str, Any]:
        """The result of one input; only the correct one gives offsets."""
        result = super().result(op, item)
        if self.kind != "correct":
            result.pop("offsets", None)
        return result

    def line(self, request: dict[str, Any]) -> str:
        """The response as it goes out."""
        whole = {"seq": request["seq"], **self.respond(request)}
        if request["op"] == "encode" and self.triggered(request["inputs"]):
            if self.kind == "seq":
                whole["seq"] += 1
            if self.kind == "short" and "results" in whole:
                whole["results"] = whole["results"][:-1]
            if self.kind == "garbage":
                return "Traceback (most recent call last):"
        return json.dumps(whole)

    def triggered(self, inputs: list[str]) -> bool:
        """Whether one of the inputs brings the mutant out."""
        return any(program_mutants.TRIGGER in base64.b64decode(text) for text in inputs)


def main() -> None:
    """Serve until told to stop."""
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--kind", required=True, choices=[*program_mutants.MUTANTS, *PROTOCOL_MUTANTS]
    )
    program = Miniature(parser.parse_args().kind)
    for line in sys.stdin:
        request = json.loads(line)
        if request["op"] == "stop":
            break
        print(program.line(request), flush=True)


if __name__ == "__main__":
    main()
