"""What the checks of the services share: a service's numbers against ``encode`` of the parts.

A service is defined by encoding: each number that it gives is the number of tokens of some part
of the text, encoded by itself. The definition is asked of the implementation's own ``encode``,
and of ``bpe.naive``, the definition put literally, where it takes part in the contract.
"""

from collections.abc import Sequence
from itertools import product
from typing import Any

from harness.checks.another_way import AsksAgain, Fault, Look, Subject
from harness.checks.base import is_raw
from harness.core.messages import PAST_THE_LIMIT
from harness.core.outcomes import Answered, Encoded, Outcome
from harness.core.partition import Part
from impls.interface import Capability

DEFINITION = "bpe.naive"
"""The built-in implementation that is the definition."""

Ranges = Sequence[tuple[int, int]]
"""Parts of a text, by their first byte and the byte after their last one."""


class CountsParts(AsksAgain):
    """A check of services that count the tokens of parts of a text, which is one piece."""

    where = (is_raw,)

    def parts(self, service: Capability, data: bytes) -> tuple[tuple[Any, ...], Ranges]:
        """What a service is given of an input, and the parts whose tokens are the answer."""
        raise NotImplementedError

    def look(self, one: Subject) -> Look:
        """Ask each service, and hold its numbers against the tokens that each definer gives."""
        for service in filter(one.participant.can, self.needs):
            given, ranges = self.parts(service, one.data)
            asked, fault = by_definers(one, ranges), None
            outcome, *sizes = yield [
                one.serve(service, one.data, *given),
                *(one.encode(one.data[start:end], by=who) for who, (start, end) in asked),
            ]
            if isinstance(outcome, Encoded):
                counts = outcome.ids * (len(asked) // len(ranges))
                for (who, (start, end)), right, count in zip(asked, sizes, counts, strict=True):
                    if isinstance(right, Encoded) and len(right.ids) != count and fault is None:
                        where = f"bytes {start} to {end}"
                        fault = wrong_count(one, service, who, len(right.ids), count, where)
            elif all(isinstance(part, Encoded) for part in sizes):
                fault = unanswered(one, service, outcome)
            one.judge(outcome, fault)


def by_definers(one: Subject, ranges: Ranges) -> list[tuple[str, tuple[int, int]]]:
    """The parts of the text for each of those whose encoding defines a service: its own, and the
    definition's.
    """
    names = dict.fromkeys([one.name, *({DEFINITION} & set(one.seen.results))])
    return [*product(names, ranges)]


def unanswered(one: Subject, service: str, outcome: Outcome) -> Fault:
    """What is wrong with a service that fails on a text that is encoded."""
    right = one.says(Answered("the text is encoded"), "encode")
    return f"{service}-{outcome.status.label}", right, one.says(outcome)


def wrong_count(
    one: Subject, service: str, definer: str, right: int, wrong: int, where: str
) -> Fault:
    """What is wrong with a number, in words."""
    law, said = f"{counted(right)} in {where}", f"{counted(wrong)} in {where}"
    return against(one, str(service), service, f"{definer} (encode)", law, said)


def against(one: Subject, stage: str, service: str, who: str, law: str, wrong: str) -> Fault:
    """What ``who`` says is right, and what the service said."""
    return stage, Part((who,), Answered(law)), one.says(Answered(wrong), service)


def counted(number: int) -> str:
    """``3 tokens``, or that they are past the limit."""
    if number == PAST_THE_LIMIT:
        return "more tokens than the limit"
    return f"{number} token{'' if number == 1 else 's'}"
