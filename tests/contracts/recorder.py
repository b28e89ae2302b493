"""Speaks the stdio protocol as the shipped example does, and keeps each request in a file."""

import json
import sys
from pathlib import Path

from impls.examples.stdio_encoder import Program


class Recorder(Program):
    """Writes each request as a line, a vocabulary with its bundle."""

    def respond(self, request):
        kept = {"event": request["op"], **{k: v for k, v in request.items() if k != "op"}}
        if request["op"] == "load":
            kept["bundle"] = json.loads(Path(request["vocabulary"]["bundle"]).read_text("utf-8"))
        with Path(sys.argv[1]).open("a", encoding="utf-8") as file:
            file.write(json.dumps(kept) + "\n")
        return super().respond(request)


Recorder().serve()
