"""A hunt as a unit of work: a group of mistakes, with its share of the time.

What a hunt is given is fixed before it begins, so that one that is lost is begun anew, alike.
"""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec

from corpora.vocabularies import sources
from harness.cluster.executor import UnitError
from harness.studies.forced.policies import EXACT
from harness.studies.selftest.campaign import campaign
from harness.studies.selftest.catalog import mistakes
from harness.studies.selftest.gate import gated
from harness.studies.selftest.groups import REFERENCES, Hunted, Kind, groups, references

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from harness.engine.sessions import Sessions
    from harness.engine.suites import Suite
    from harness.studies.selftest.catalog import Mutant
    from harness.studies.selftest.groups import Group

CUT = "the hunt was cut off before its end"
"""Why a mistake was not hunted to the end that was not caught by then."""


class Hunt:
    """A hunt under way, which can be ended from any thread."""

    def __init__(self) -> None:
        self.over = threading.Event()
        self._sessions: Sessions | None = None

    def opened(self, sessions: Sessions) -> None:
        """Take what is to be stopped; at once, where it is over."""
        self._sessions = sessions
        if self.over.is_set():
            sessions.stop()

    def kill(self) -> None:
        """End it."""
        self.over.set()
        if self._sessions is not None:
            self._sessions.stop()

    close = kill


def nothing() -> None:
    """What is done when a hunt begins elsewhere."""


def perform(
    keep: dict[str, Any],
    names: Sequence[str],
    suite: Suite,
    seed: int,
    seconds: float,
    began: Callable[[], None] = nothing,
) -> bytes:
    """Hunt mistakes of one group; what :func:`read` reads. keep: the hunt, so that it can be ended.

    The mistakes are those of this machine by their names, as programs among them are run by its
    Python, which may lie elsewhere. began: called when the first case is about to be asked.
    """
    start = time.monotonic()
    [group] = groups(mistakes()[name] for name in names)
    hunt = keep["hunt"] = Hunt()
    cases: dict[str, int] = {}
    trusted = sorted(references(sources.resolve(group.vocabulary)))
    if group.kind is Kind.FORCED:
        from harness.studies.selftest.forced import walked  # noqa: PLC0415 (imports llguidance)

        trusted = [EXACT]
        shown = walked(group, seed, seconds, began, hunt.over.is_set)
    elif group.kind is Kind.GATE:
        began()
        end = time.monotonic() + seconds
        shown = gated(group, seed, lambda: hunt.over.is_set() or time.monotonic() > end)
    else:
        shown, cases = campaign(group, suite, seed, seconds, began, hunt.opened)
    if hunt.over.is_set():
        shown |= {
            name: replace(one, trouble=one.trouble or CUT)
            for name, one in shown.items()
            if not one.named
        }
    return msgspec.msgpack.encode(Hunted(shown, cases, trusted, time.monotonic() - start))


def read(unit: str, result: bytes, group: Group) -> Hunted:
    """What the hunt of a group came to. Raises UnitError for what is none, or that of another."""
    try:
        hunted = msgspec.msgpack.decode(result, type=Hunted)
    except msgspec.MsgspecError as error:
        raise UnitError(f"{unit}: its result cannot be read: {error}") from error
    if not hunted.shown.keys() >= {*group.names}:
        raise UnitError(f"{unit}: its result cannot be read: it is of other mistakes")
    return hunted


def workers(planted: Sequence[Mutant]) -> int:
    """How many workers the greatest hunt has at a time: references, controls and mistakes."""
    trusted = max(map(len, REFERENCES.values()))
    return trusted + max(len(one.controls) + len(one.mistakes) for one in groups(planted))
