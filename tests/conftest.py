"""What all tests rest on."""

import os
import signal

import pytest
from hypothesis import settings

from corpora.families.user import VARIABLE

# A shell has its background jobs ignore Ctrl-C, and children inherit that: without this line the
# tests that interrupt a command would wait for ever where CI runs in the background.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Families that whoever runs the tests has kept of a search are no part of them.
os.environ.setdefault(VARIABLE, "")

# Where one of these is set, pytest lays out the whole difference of two lists that are not equal,
# in time that grows with the square of their lengths at least: it has no end for 100,000 ids.
for name in ("CI", "BUILD_NUMBER"):
    os.environ.pop(name, None)

# How long an example takes is the machine's affair, and the first one compiles. Of hundreds more,
# none has found what the first sixty had not; interpreted, a few take as long.
EXAMPLES = 12 if os.environ.get("NUMBA_DISABLE_JIT") == "1" else 60
settings.register_profile("tokgate", deadline=None, max_examples=EXAMPLES)
settings.load_profile("tokgate")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that are marked as ``first`` begin first.

    Workers take over from one another what has not begun: one that takes a minute and begins last
    would have all others wait for it.
    """
    items.sort(key=lambda item: item.get_closest_marker("first") is None)
