"""A program whose calls take the square of their inputs, and says that each took a microsecond.

``--impl "cmd:python tests/doubles/lying_program.py"``
"""

import base64
import json
import sys

STRIDE = 64
"""Bytes to a unit of the square, which takes some ten nanoseconds."""


def main():
    for line in sys.stdin:
        request = json.loads(line)
        answer = {}
        if request["op"] == "stop":
            break
        if request["op"] == "hello":
            answer = {"protocol": 1, "name": "lying", "operations": ["encode"]}
        elif request["op"] == "load":
            answer = {"ok": True}
        else:
            results = []
            for text in request["inputs"]:
                data = base64.b64decode(text)
                sum(range(len(data) ** 2 // STRIDE))
                results.append({"ids": list(data), "ns": 1000})
            answer = {"results": results}
        print(json.dumps({"seq": request["seq"], **answer}), flush=True)


if __name__ == "__main__":
    main()
