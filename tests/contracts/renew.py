"""``python -m tests.contracts.renew [NAME..]``: keep what the commands come to now."""

import sys
import tempfile
from pathlib import Path

from tests.contracts.interfaces import INTERFACES
from tests.contracts.scenarios import GOLDEN, SCENARIOS, House, text_of


def renew(names):
    """Write the golden files of these names, or all; remove those of nothing."""
    every = [*SCENARIOS, *INTERFACES]
    for path in GOLDEN.glob("*.json"):
        if path.stem not in every:
            path.unlink()
    with tempfile.TemporaryDirectory() as folder:
        house = House(Path(folder))
        for name in names or every:
            seen = INTERFACES[name]() if name in INTERFACES else house.look(name)
            (GOLDEN / f"{name}.json").write_text(text_of(seen), "utf-8")
            print(name)


if __name__ == "__main__":
    renew(sys.argv[1:])
