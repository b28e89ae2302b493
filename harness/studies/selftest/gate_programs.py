"""Programs over the stdio protocol that the gate must not pass, and one that is right.

``python -m harness.studies.selftest.gate_programs --kind KIND``: :mod:`.mutants.gate` has a table.
"""

from __future__ import annotations

import argparse
import base64
import time
from typing import Any

from impls.examples.stdio_encoder import Program

KINDS = ("right", "every-fourth", "whole-batch", "claims-all", "true-times", "false-times")

EVERY = 4
"""The batches of which one lacks a result."""

FALSE_NANOSECONDS = 1000

CLAIMED = ("encode", "count", "count_till_limit", "split", "append", "prepend", "interval")


class GateProgram(Program):
    """The worked example of the protocol, with a fault."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.batches = 0

    def respond(self, request: dict[str, Any]) -> dict[str, Any]:
        """The response, as the kind gives it."""
        response = super().respond(request)
        if request["op"] == "hello":
            response["name"] = f"gate.{self.kind}"
            if self.kind.endswith("-times"):
                response["operations"] = ["encode"]
            if self.kind == "claims-all":
                response["operations"] = CLAIMED
        elif self.kind == "claims-all" and request["op"] not in ("load", "encode"):
            return {"unsupported": f"no {request['op']} yet"}
        elif request["op"] == "encode" and "results" in response:
            self.encoded(request["inputs"], response)
        return response

    def result(self, op: str, item: Any) -> dict[str, Any]:
        """The result of one input, with the time that it took, or what is said of it."""
        start = time.perf_counter_ns()
        result = super().result(op, item)
        if self.kind == "true-times":
            result["ns"] = time.perf_counter_ns() - start
        elif self.kind == "false-times":
            result["ns"] = FALSE_NANOSECONDS
        if self.kind.endswith("-times"):
            result.pop("offsets", None)  # which take longer to write than the ids to find
        return result

    def encoded(self, inputs: list[str], response: dict[str, Any]) -> None:
        """Spoil the response to a batch; one input alone is answered rightly."""
        if len(inputs) == 1:
            return
        self.batches += 1
        if self.kind == "every-fourth" and self.batches % EVERY == 0:
            response["results"].pop()
        if self.kind == "whole-batch" and any(map(invalid, inputs)):
            response["results"] = [{"rejected": "not UTF-8"} for _ in inputs]


def invalid(text: str) -> bool:
    """Whether an input is not UTF-8."""
    try:
        base64.b64decode(text).decode()
    except UnicodeDecodeError:
        return True
    return False


def main() -> None:
    """Serve until told to stop."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", required=True, choices=KINDS)
    program = GateProgram(parser.parse_args().kind)
    program.serve()


if __name__ == "__main__":
    main()
