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
    summary = "counting gives the number of ids, and null exactly past a limit"
    said = "counted wrongly"
    needs = (Capability.COUNT, Capability.COUNT_TILL_LIMIT)

    def look(self, one: Subject) -> Look:
        """Compare the services with the number of ids, which is known already."""
        size = len(one.ids)
        for service in filter(one.participant.can, self.needs):
            limits: list[tuple[int, ...]] = [()]
            if service is Capability.COUNT_TILL_LIMIT:
                drawn = draw(one.data).randint(0, size + 1)
                limits = [(size,), (max(0, size - 1),), (drawn,)]
            answers = yield [one.serve(service, one.data, one.data, *limit) for limit in limits]
            for limit, outcome in zip(limits, answers, strict=True):
                right, where, fault = size, "the text", None
                for most in limit:
                    where = f"the text, with a limit of {most}"
                    right = size if size <= most else PAST_THE_LIMIT
                if not isinstance(outcome, Encoded):
                    fault = unanswered(one, outcome, service)
                elif outcome.ids != (right,):
                    fault = wrong_count(one, service, one.name, right, outcome.ids[0], where)
                one.judge(outcome, [fault] if fault else [])
