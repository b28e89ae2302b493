"""Each fault of an implementation is called what it is, and costs nobody else anything."""

import pytest

from tests.breadth import thorough_from
from tests.faults.actions import ACTIONS
from tests.faults.table import TRANSPORTS, named, tried

QUICK = [
    "a huge header",
    "forks and goes on",
    "a child in a session of its own",
    "a grandchild in a session of its own",
    "stopped when idle",
]
"""Faults that once stopped the harness, or survived it."""

ALL = [*QUICK, *(fault for fault in ACTIONS if fault not in QUICK)]

TRIED = [
    *((fault, "encode", transport) for fault in ALL for transport in TRANSPORTS),
    *((fault, step, "plug-in") for fault in QUICK for step in ("load", "decode")),
    *((fault, "load", "stdio") for fault in QUICK),
]
"""Each fault where most calls are, and those that once did harm elsewhere, too."""


@pytest.mark.parametrize(("fault", "step", "transport"), thorough_from(4, TRIED))
def test_a_fault_is_named_and_nothing_is_left(fault, step, transport):
    labels, intact, left = tried(fault, step, transport)
    assert named(fault, step, labels), labels
    assert intact
    assert not left


def test_the_table_would_show_a_wrong_verdict():
    for fault, *wrong in (
        ("aborts", "encoded"),
        ("another clock", "crashed"),
        ("a child in a session of its own", "encoded"),
        ("a daemon that ends soon", "encoded", "left-processes"),
    ):
        assert not named(fault, "encode", wrong)
    assert named("aborts", "encode", ["crashed"])
