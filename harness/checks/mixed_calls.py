"""Mixed calls: what is asked before, and meanwhile, changes no answer."""

from collections.abc import Mapping, Sequence
from typing import Any

from harness.checks.another_way import EncodesAnotherWay, Subject
from harness.core.messages import Way
from harness.core.outcomes import Failed, Outcome, Status
from impls.interface import Capability


class MixedCalls(EncodesAnotherWay):
    """encode(x) is one value, whatever the same object is asked before, and by other threads
    meanwhile: padded rows, windows, offsets, special tokens off, texts that differ from x in case
    and white space.

    The threads are tried only where an implementation claims to allow them. Who dies of one of the
    other calls is for the survival check, and for those that make such calls.
    """

    name = "mixed-calls"
    summary = "padding, truncation, special tokens or other texts in calls between change no ids"
    said = "answered differently among other calls"
    every = 10
    most = 32
    alone = True
    by_chance = True

    def ways(self, one: Subject) -> Sequence[tuple[str, str, Mapping[str, Any]]]:
        """In turn, and from threads."""
        among, words = {"way": Way.MIXED}, Way.MIXED.words
        threads = [("threads", f"{words} in threads", {**among, "threads": True})]
        return [("turn", words, among), *threads * one.participant.can(Capability.THREADS)]

    def right(self, one: Subject, outcome: Outcome) -> bool:
        """The same ids, or a death."""
        dead = isinstance(outcome, Failed) and outcome.status is not Status.ERRORED
        return dead or super().right(one, outcome)
