"""What a worker process runs first: it confines itself, then becomes the server.

``python -m harness.confinement.start PLAN MODULE ARGUMENT..``, where PLAN is JSON, null for no
confinement, and MODULE has a function ``main`` that takes the arguments and what holds. Nothing
that starts threads is imported before: NumPy's linear algebra does. With PLAN alone, it prints what
holds and ends.
"""

from __future__ import annotations

import gc
import importlib
import json
import sys

import msgspec

from harness.confinement.plan import OFF, Plan
from harness.confinement.steps import apply, lower_limits


def main(arguments: list[str]) -> None:
    """Confine this process and serve."""
    held, (argument, *rest) = OFF, arguments
    plan = msgspec.convert(json.loads(argument), Plan | None)
    if plan is not None:
        lower_limits()
        held = apply(plan)
    if not rest:
        print(msgspec.json.encode(held).decode())
        return
    gc.disable()  # it takes a sixth of the time of an import, and there is nothing to collect
    module = importlib.import_module(rest[0])
    gc.enable()
    module.main(rest[1:], held)


if __name__ == "__main__":
    main(sys.argv[1:])
