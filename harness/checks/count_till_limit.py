"""Counting: without a limit, and up to one."""

from harness.checks.another_way import Look, Subject
from harness.checks.base import draw
from harness.checks.services import Serves, unanswered, wrong_count
from harness.core.messages import PAST_THE_LIMIT
from harness.core.outcomes import Encoded
from impls.interface import Capability


class CountTillLimit(Serves):
    """count(x) = |encode(x)|; count_till_limit(x, n) = |encode(x)|, or null exactly if it is > n.

    Asked with the count itself for a limit, with one less, and with one drawn from the input's
    own checksum. Whether encode(x) itself is right is for the equivalence check.
    """

    name = "count-till-limit"
    summary = "counting gives the number of ids, and null exactly if it exceeds the limit"
    said = "counted wrongly"
    needs = (Capability.COUNT, Capability.COUNT_TILL_LIMIT)

    def look(self, one: Subject) -> Look:
        """Compare the services with the number of ids, which is known already."""
        size = len(one.ids)
        for service in filter(one.participant.can, self.needs):
            expected: dict[tuple[int, ...], tuple[int, str]] = {(): (size, "the text")}
            if service is Capability.COUNT_TILL_LIMIT:
                drawn = draw(one.data).randint(0, size + 1)
                expected = {
                    (most,): (
                        size if size <= most else PAST_THE_LIMIT,
                        f"the text, with a limit of {most}",
                    )
                    for most in (size, max(0, size - 1), drawn)
                }
            answers = yield [one.serve(service, one.data, one.data, *limit) for limit in expected]
            for (right, where), outcome in zip(expected.values(), answers, strict=True):
                faults = []
                if not isinstance(outcome, Encoded):
                    faults = [unanswered(one, outcome, service)]
                elif outcome.ids != (right,):
                    faults = [wrong_count(one, service, one.name, right, outcome.ids[0], where)]
                one.judge(outcome, faults)
