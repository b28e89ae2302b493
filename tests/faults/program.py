"""The same over stdio: a program that does the faults that its inputs ask for."""

import base64
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import actions

OPERATIONS = ["encode", "decode"]


def answer(request):
    op = request["op"]
    if op == "hello":
        return {"protocol": 1, "name": "faulty", "version": "1", "operations": OPERATIONS}
    if op == "load":
        actions.act(os.environ.get("TOKGATE_FAULT_AT_LOAD", "").encode())
        return {"ok": True}
    if op == "encode":
        results = []
        for item in request["inputs"]:
            data = base64.b64decode(item)
            actions.act(data)
            results.append({"ids": list(data)})
        return {"results": results}
    if op == "decode":
        results = []
        for ids in request["inputs"]:
            actions.act(bytes(ids))
            results.append({"bytes": base64.b64encode(bytes(ids)).decode()})
        return {"results": results}
    return {"unsupported": op}


for line in sys.stdin:
    asked = json.loads(line)
    if asked["op"] == "stop":
        break
    sys.stdout.write(json.dumps({"seq": asked["seq"], **answer(asked)}) + "\n")
    sys.stdout.flush()
