"""What a worker process runs first: it confines itself, then becomes the server.

``python -m harness.confinement.start PLAN REQUESTS RESPONSES PROGRESS MEMORY``, where PLAN is JSON,
or ``off``. Nothing that starts threads is imported before: NumPy's linear algebra does.
With PLAN alone, it prints what holds and ends.
"""

from __future__ import annotations

import sys

from harness.confinement.applying import apply
from harness.confinement.plan import OFF, Plan

NOT_CONFINED = "off"
"""The PLAN of a worker that is not to be confined."""


def main(arguments: list[str]) -> None:
    """Confine this process and serve."""
    plan, *rest = arguments
    held = OFF if plan == NOT_CONFINED else apply(Plan.from_json(plan))
    if not rest:
        print(held.to_json())
        return
    from harness.workers import server  # noqa: PLC0415 (starts threads)

    server.main([int(argument) for argument in rest], held)


if __name__ == "__main__":
    main(sys.argv[1:])
