"""What the checks of the services share: a service's numbers against ``encode`` of the parts.

A service is defined by encoding: each number that it gives is the number of tokens of some part
of the text, encoded by itself. The definition is asked of the implementation's own ``encode``,
and of ``bpe.naive``, the definition put literally, where it takes part in the contract.
"""

from collections.abc import Sequence
from itertools import product
from typing import Any

from harness.checks.another_way import AsksAgain, Fault, Look, Subject
from harness.checks.base import LongRuns, Severity, is_raw
from harness.core.messages import PAST_THE_LIMIT
from harness.core.outcomes import Answered, Encoded, Outcome
from harness.core.partition import Part
from impls.interface import Capability

DEFINITION = "bpe.naive"
"""The built-in implementation that is the definition."""

Ranges = Sequence[tuple[int, int]]
"""Parts of a text, by their first byte and the byte after their last one."""


class Serves(AsksAgain):
    """A check of a service, which is fast, and so is put to long runs, too."""

    severity = Severity.SERVICE
    every = 4
    long_runs = LongRuns.ALL


class CountsParts(Serves):
    """A check of services that count the tokens of parts of a text, which is one piece."""

    where = (is_raw,)

    def parts(self, service: Capability, data: bytes) -> tuple[tuple[Any, ...], Ranges]:
        """What a service is given of an input, and the parts whose tokens are the answer."""
        raise NotImplementedError

    def look(self, one: Subject) -> Look:
        """Ask each service, and hold its numbers against the tokens that each definer gives."""
        for service in filter(one.participant.can, self.needs):
            given, ranges = self.parts(service, one.data)
            asked, faults = by_definers(one, ranges), list[Fault]()
            outcome, *sizes = yield [
                one.serve(service, one.data, *given),
                *(one.encode(one.data[start:end], by=who) for who, (start, end) in asked),
            ]
            if isinstance(outcome, Encoded):
                counts = outcome.ids * (len(asked) // len(ranges))
                for (who, (start, end)), right, count in zip(asked, sizes, counts, strict=True):
                    if isinstance(right, Encoded) and len(right.ids) != count:
                        where = f"bytes {start} to {end}"
                        faults.append(wrong_count(one, service, who, len(right.ids), count, where))
            elif all(isinstance(part, Encoded) for part in sizes):
                faults.append(unanswered(one, outcome, service))
            one.judge(outcome, faults)


def by_definers(one: Subject, ranges: Ranges) -> list[tuple[str, tuple[int, int]]]:
    """The parts of the text for each of those whose encoding defines a service: its own, and the
    definition's.
    """
    names = dict.fromkeys([one.name, *({DEFINITION} & set(one.seen.results))])
    return [*product(names, ranges)]


def unanswered(one: Subject, outcome: Outcome, service: str = "") -> Fault:
    """What is wrong with a service that fails on a text that is encoded."""
    right = one.says(Answered("the text is encoded"), "encode")
    return f"{service or one.check.name}-{outcome.status.label}", right, one.says(outcome)


def wrong_count(
    one: Subject, service: str, definer: str, right: int, wrong: int, where: str
) -> Fault:
    """What is wrong with a number, in words."""
    law, said = f"{counted(right)} in {where}", f"{counted(wrong)} in {where}"
    return against(one, str(service), law, said, f"{definer} (encode)", service)


def against(
    one: Subject, stage: str, law: str, wrong: str, who: str = "the rule", service: str = ""
) -> Fault:
    """What ``who`` says is right, and what the service said, which has the check's name if none."""
    return stage, Part((who,), Answered(law)), one.says(Answered(wrong), service or one.check.name)


def counted(number: int) -> str:
    """``3 tokens``, or that they are past the limit."""
    if number == PAST_THE_LIMIT:
        return "more tokens than the limit"
    return f"{number} token{'' if number == 1 else 's'}"
