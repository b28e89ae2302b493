"""What the checks of the services share: a service's numbers against ``encode`` of the parts.

A service is defined by encoding: each number that it gives is the number of tokens of some part
of the text, encoded by itself. The definition is asked of the implementation's own ``encode``,
and of ``bpe.naive``, the definition put literally, where it takes part in the contract.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.checks.again import Asked, AsksAgain
from harness.checks.base import Fault, Observation, Probe, encoded_indices
from harness.core.messages import PAST_THE_LIMIT, Encode, Serve
from harness.core.outcomes import Answered, Encoded, Inputs, Outcome, Results, Unsupported
from harness.core.partition import Part

if TYPE_CHECKING:
    from harness.core.comparisons import Contract
    from impls.interface import Capability

DEFINITION = "bpe.naive"
"""The built-in implementation that is the definition."""


@dataclass(frozen=True, slots=True)
class Question:
    """One input of a service. numbers: as :class:`harness.core.messages.Serve` takes them.

    parts: ranges of the text whose numbers of tokens are the answer.
    """

    service: Capability
    index: int
    numbers: tuple[int, ...]
    parts: tuple[tuple[int, int], ...]


def draw(data: bytes) -> random.Random:
    """Dice that fall alike for the same input, so that a violation comes back."""
    return random.Random(zlib.crc32(data))


def is_raw(contract: Contract) -> bool:
    """Whether texts are one piece, as the services of parts are asked."""
    return not contract.mode.pretokenize and contract.mode.special == "none"


def serving(seen: Observation, service: Capability) -> list[str]:
    """The implementations that claim a service and answered the batch."""
    return [c.name for c in seen.contract.participants if c.can(service) and c.name in seen.results]


def definers(seen: Observation, name: str) -> tuple[str, ...]:
    """Whose encoding defines the services of ``name``: its own, and the definition's."""
    return tuple(dict.fromkeys([name, *({DEFINITION} & set(seen.results))]))


class CountsParts(AsksAgain[Question]):
    """A check of services that count the tokens of parts of a text, which is one piece."""

    def question(self, service: Capability, index: int, data: bytes) -> Question:
        """What a service is asked about an input."""
        raise NotImplementedError

    def applies(self, contract: Contract) -> bool:
        """Without pre-tokenization, with somebody who has the services."""
        return is_raw(contract) and super().applies(contract)

    def asked(self, seen: Observation) -> Iterator[Asked[Question]]:
        """The service, and then the parts by each definer."""
        mode = seen.contract.mode
        for service in self.needs:
            for name in serving(seen, service):
                encoded = encoded_indices(seen.results[name])
                rows = [self.question(service, i, seen.inputs[i]) for i in encoded]
                texts = Inputs.of([seen.inputs[i] for i in encoded])
                numbers = tuple(row.numbers for row in rows)
                parts = [seen.inputs[row.index][a:b] for row in rows for a, b in row.parts]
                define = Encode(Inputs.of(parts), mode)
                probes = [Probe(name, Serve(service, texts, numbers, mode))]
                probes += [Probe(definer, define) for definer in definers(seen, name)]
                yield Asked(name, rows, probes)

    def compared(
        self, seen: Observation, one: Asked[Question], answers: Sequence[Results]
    ) -> Iterator[tuple[int, Fault | None]]:
        """Hold each number against the tokens of its part."""
        served, *encodings = answers
        defined = [*zip(definers(seen, one.name), encodings, strict=True)]
        place = 0
        for row, question in enumerate(one.rows):
            rows = range(place, place + len(question.parts))
            place = rows.stop
            outcome = served.outcome(row)
            if isinstance(outcome, Unsupported):
                continue
            faults = (
                fault(one.name, question, definer, [each.outcome(at) for at in rows], outcome)
                for definer, each in defined
            )
            yield question.index, next(filter(None, faults), None)


def fault(
    name: str,
    question: Question,
    definer: str,
    wanted: Sequence[Outcome],
    outcome: Outcome,
) -> Fault | None:
    """The stage and the parts of a violation, if the answer is not what a definer encodes."""
    service = str(question.service)
    if not isinstance(outcome, Encoded):
        if all(isinstance(one, Encoded) for one in wanted):
            return unanswered(name, service, outcome)
        return None
    for range_, right, number in zip(question.parts, wanted, outcome.ids, strict=True):
        if isinstance(right, Encoded) and len(right.ids) != number:
            where = "bytes {} to {}".format(*range_)
            return service, parts_of(definer, name, service, len(right.ids), number, where)
    return None


def unanswered(name: str, service: str, outcome: Outcome) -> Fault:
    """The stage and parts for a service that fails on a text that is encoded."""
    right = Answered("the text is encoded")
    stage = f"{service}-{outcome.status.label}"
    return stage, (Part((f"{name} (encode)",), right), Part((name,), outcome))


def parts_of(
    definer: str, name: str, service: str, right: int, wrong: int, where: str
) -> tuple[Part, ...]:
    """The parts of a wrong count."""
    return (
        Part((f"{definer} (encode)",), Answered(f"{counted(right)} in {where}")),
        Part((f"{name} ({service})",), Answered(f"{counted(wrong)} in {where}")),
    )


def counted(number: int) -> str:
    """``3 tokens``, or that they are past the limit."""
    if number == PAST_THE_LIMIT:
        return "more tokens than the limit"
    return f"{number} token{'' if number == 1 else 's'}"
