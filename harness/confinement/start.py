"""What a worker process runs first: it confines itself, then becomes the server.

``python -m harness.confinement.start PLAN MODULE ARGUMENT..``, where PLAN is JSON, or ``off``, and
MODULE has a function ``main`` that takes the arguments and what holds. Nothing that starts threads
is imported before: NumPy's linear algebra does. With PLAN alone, it prints what holds and ends.
"""

from __future__ import annotations

import gc
import importlib
import json
import sys

import msgspec

from harness.confinement.plan import OFF, Plan
from harness.confinement.steps import apply, lower_limits

NOT_CONFINED = "off"
"""The PLAN of a worker that is not to be confined."""


def main(arguments: list[str]) -> None:
    """Confine this process and serve."""
    plan, *rest = arguments
    held = OFF
    if plan != NOT_CONFINED:
        lower_limits()
        held = apply(msgspec.convert(json.loads(plan), Plan))
    if not rest:
        print(msgspec.json.encode(held).decode())
        return
    gc.disable()  # it takes a sixth of the time of an import, and there is nothing to collect
    module = importlib.import_module(rest[0])
    gc.enable()
    module.main(rest[1:], held)


if __name__ == "__main__":
    main(sys.argv[1:])
