"""A program with services: ``--impl "cmd:python tests/doubles/serving_program.py"``.

With ``--late`` it forgets the last byte that was appended.
"""

import base64
import sys
from itertools import accumulate

from impls.examples.stdio_encoder import Program

SERVICES = ("count_till_limit", "split", "append", "prepend", "interval")


class Serving(Program):
    """The worked example, and the services by their definition."""

    late = "--late" in sys.argv

    def respond(self, request):
        if request["op"] in SERVICES:
            self.limit = request.get("limit")
            return {"results": [self.served(request["op"], item) for item in request["inputs"]]}
        response = super().respond(request)
        if request["op"] == "hello":
            response["operations"] = [*response["operations"], *SERVICES]
        return response

    def size(self, text):
        return len(self.encoder.encode(text))

    def served(self, op, item):
        if op == "interval":
            text = base64.b64decode(item["text"])
            return {"counts": [self.size(text[start:end]) for start, end in item["ranges"]]}
        if op in ("append", "prepend"):
            chunks = [base64.b64decode(chunk) for chunk in item]
            texts = accumulate(chunks, lambda a, b: a + b if op == "append" else b + a)
            cut = -1 if self.late and op == "append" else None
            return {"counts": [self.size(text[:cut]) for text in texts]}
        text = base64.b64decode(item)
        if op == "count_till_limit":
            count = self.size(text)
            return {"count": count if count <= self.limit else None}
        cuts = [cut for cut in range(1, len(text)) if text[cut] & 0xC0 != 0x80]
        return {"ends": [*cuts, len(text)] if text else []}  # every character by itself


def main():
    program = Serving()
    program.serve()


if __name__ == "__main__":
    main()
