"""What the checks of the services share: a service's numbers against ``encode`` of the parts.

A service is defined by encoding: each number that it gives is the number of tokens of some part
of the text, encoded by itself. The definition is asked of the implementation's own ``encode``,
and of ``bpe.naive``, the definition put literally, where it takes part in the contract.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from harness.checks.base import AsksAgain, Look, Subject, is_raw
from harness.core.messages import PAST_THE_LIMIT
from harness.core.outcomes import Answered, Encoded, Outcome, Results
from harness.core.partition import Part

if TYPE_CHECKING:
    from harness.checks.base import Fault, Probe
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
        rows = one.encoded
        texts = one.texts(rows)
        for service in filter(one.participant.can, self.needs):
            asked = [self.parts(service, data) for data in texts]
            ranges = [some for _, some in asked]
            served, *encodings = yield [
                one.serve(service, texts, [numbers for numbers, _ in asked]),
                *by_definers(one, texts, ranges),
            ]
            defined = [by_text(ranges, encoding) for encoding in encodings]
            for index, some, outcome, *sizes in zip(rows, ranges, served, *defined, strict=True):
                by_definer = zip(definers(one), sizes, strict=True)
                faults = (miscounted(one, service, who, some, n, outcome) for who, n in by_definer)
                one.judge(index, outcome, next(filter(None, faults), None))


def definers(one: Subject) -> tuple[str, ...]:
    """Whose encoding defines a service: its own, and the definition's."""
    return tuple(dict.fromkeys([one.name, *({DEFINITION} & set(one.seen.results))]))


def by_definers(one: Subject, texts: Sequence[bytes], ranges: Sequence[Ranges]) -> list[Probe]:
    """Each definer is asked to encode the parts of each text."""
    parts = [
        data[start:end] for data, some in zip(texts, ranges, strict=True) for start, end in some
    ]
    return [one.encode(parts, by=definer) for definer in definers(one)]


def by_text(groups: Sequence[Sequence[object]], encoding: Results) -> Iterator[list[Outcome]]:
    """The outcomes of as many parts as each text has."""
    rest = iter(encoding)
    return ([*islice(rest, len(group))] for group in groups)


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
