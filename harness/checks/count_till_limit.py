"""Counting: without a limit, and up to one."""

from __future__ import annotations

from harness.checks.base import AsksAgain, LongRuns, Look, Severity, Subject, draw
from harness.checks.serving import unanswered, wrong_count
from harness.core.messages import PAST_THE_LIMIT
from harness.core.outcomes import Encoded
from impls.interface import Capability


class CountTillLimit(AsksAgain):
    """count(x) = |encode(x)|; count_till_limit(x, n) = |encode(x)|, or null exactly if it is > n.

    Asked with the count itself for a limit, with one less, and with one drawn from the input's
    own checksum. Whether encode(x) itself is right is for the equivalence check.
    """

    name = "count-till-limit"
    summary = "counting gives the number of ids, and null exactly past a limit"
    severity = Severity.SERVICE
    said = "counted wrongly"
    every = 4
    needs = (Capability.COUNT, Capability.COUNT_TILL_LIMIT)
    long_runs = LongRuns.ALL

    def look(self, one: Subject) -> Look:
        """Compare the services with the number of ids, which is known already."""
        for service in filter(one.participant.can, self.needs):
            asked = [
                (index, limit)
                for index in one.encoded
                for limit in limits(service, one.data(index), len(one.ids(index)))
            ]
            texts = one.texts(index for index, _ in asked)
            (answer,) = yield [one.serve(service, texts, (limit for _, limit in asked))]
            for (index, limit), outcome in zip(asked, answer, strict=True):
                right, where, fault = len(one.ids(index)), "the text", None
                for most in limit:
                    where = f"the text, with a limit of {most}"
                    right = right if right <= most else PAST_THE_LIMIT
                if not isinstance(outcome, Encoded):
                    fault = unanswered(one, service, outcome)
                elif outcome.ids != (right,):
                    fault = wrong_count(one, service, one.name, right, outcome.ids[0], where)
                one.judge(index, outcome, fault)


def limits(service: Capability, data: bytes, size: int) -> list[tuple[int, ...]]:
    """The limits up to which a text is counted, if the service takes any. size: its ids."""
    if service is Capability.COUNT:
        return [()]
    return [(size,), (max(0, size - 1),), (draw(data).randint(0, size + 1),)]
