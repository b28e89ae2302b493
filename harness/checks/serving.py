"""What the checks of the services share: a service's numbers against ``encode`` of the parts.

A service is defined by encoding: each number that it gives is the number of tokens of some part
of the text, encoded by itself. The definition is asked of the implementation's own ``encode``,
and of ``bpe.naive``, the definition put literally, where it takes part in the contract.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING

from harness.checks.asking import AsksAgain, Look, Subject
from harness.checks.base import is_raw
from harness.core.messages import PAST_THE_LIMIT
from harness.core.outcomes import Answered, Encoded, Outcome
from harness.core.partition import Part

if TYPE_CHECKING:
    from harness.checks.asking import Fault, Question
    from harness.core.comparisons import Contract
    from impls.interface import Capability

DEFINITION = "bpe.naive"
"""The built-in implementation that is the definition."""

Ranges = Sequence[tuple[int, int]]
"""Parts of a text, by their first byte and the byte after their last one."""


class CountsParts(AsksAgain):
    """A check of services that count the tokens of parts of a text, which is one piece."""

    def parts(self, service: Capability, data: bytes) -> tuple[tuple[int, ...], Ranges]:
        """What a service is asked about an input, and the parts whose tokens are the answer.

        The first is as :class:`harness.core.messages.Serve` takes it.
        """
        raise NotImplementedError

    def applies(self, contract: Contract) -> bool:
        """Without pre-tokenization, with somebody who has the services."""
        return is_raw(contract) and super().applies(contract)

    def look(self, one: Subject) -> Look:
        """Ask each service, and hold its numbers against the tokens that each definer gives."""
        for service in filter(one.participant.can, self.needs):
            numbers, ranges = self.parts(service, one.data)
            outcome, *sizes = yield [
                one.serve(service, one.data, *numbers),
                *by_definers(one, ranges),
            ]
            rest = iter(sizes)
            faults = [
                miscounted(one, service, who, ranges, [*islice(rest, len(ranges))], outcome)
                for who in definers(one)
            ]
            one.judge(outcome, next(filter(None, faults), None))


def definers(one: Subject) -> tuple[str, ...]:
    """Whose encoding defines a service: its own, and the definition's."""
    return tuple(dict.fromkeys([one.name, *({DEFINITION} & set(one.seen.results))]))


def by_definers(one: Subject, ranges: Ranges) -> list[Question]:
    """Each definer is asked to encode the parts of the text."""
    return [one.encode(one.data[a:b], by=definer) for definer in definers(one) for a, b in ranges]


def miscounted(
    one: Subject,
    service: Capability,
    definer: str,
    ranges: Ranges,
    wanted: Sequence[Outcome],
    outcome: Outcome,
) -> Fault | None:
    """What is wrong, if the numbers are not of the tokens that a definer gives."""
    if not isinstance(outcome, Encoded):
        whole = all(isinstance(part, Encoded) for part in wanted)
        return unanswered(one, service, outcome) if whole else None
    for (start, end), right, number in zip(ranges, wanted, outcome.ids, strict=True):
        if isinstance(right, Encoded) and len(right.ids) != number:
            where = f"bytes {start} to {end}"
            return wrong_count(one, service, definer, len(right.ids), number, where)
    return None


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
