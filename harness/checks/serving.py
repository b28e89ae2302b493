"""What the checks of the services share: a service's numbers against ``encode`` of the parts.

A service is defined by encoding: each number that it gives is the number of tokens of some part
of the text, encoded by itself. The definition is asked of the implementation's own ``encode``,
and of ``bpe.naive``, the definition put literally, where it takes part in the contract.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.checks.base import Judgement, Observation, Probe, Violation, encoded_indices
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

    index: int
    numbers: tuple[int, ...]
    parts: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Inquiry:
    """One service of one implementation, asked about the inputs that it encodes.

    definers: whose ``encode`` the answers are held against.
    """

    name: str
    service: Capability
    definers: tuple[str, ...]
    questions: tuple[Question, ...]


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


def inquiries(
    seen: Observation, service: Capability, ask: Callable[[int, bytes], Question]
) -> list[Inquiry]:
    """Ask everybody who claims the service about each input that they encode."""
    return [
        Inquiry(
            name,
            service,
            definers(seen, name),
            tuple(ask(i, seen.inputs[i]) for i in encoded_indices(seen.results[name])),
        )
        for name in serving(seen, service)
    ]


def probes_of(seen: Observation, asked: Sequence[Inquiry]) -> list[Probe]:
    """The service, and then the parts by each definer, for each inquiry."""
    mode = seen.contract.mode
    probes = []
    for inquiry in asked:
        texts = Inputs.of([seen.inputs[question.index] for question in inquiry.questions])
        numbers = tuple(question.numbers for question in inquiry.questions)
        probes.append(Probe(inquiry.name, Serve(inquiry.service, texts, numbers, mode)))
        parts = Inputs.of(
            [
                seen.inputs[question.index][start:end]
                for question in inquiry.questions
                for start, end in question.parts
            ]
        )
        probes += [Probe(definer, Encode(parts, mode)) for definer in inquiry.definers]
    return probes


def judged(
    check: str, seen: Observation, asked: Sequence[Inquiry], answers: Sequence[Results]
) -> Judgement:
    """Hold each number against the tokens of its part. answers: to :func:`probes_of`."""
    judgement = Judgement()
    rest = iter(answers)
    for inquiry in asked:
        served = next(rest)
        defined = [(definer, next(rest)) for definer in inquiry.definers]
        place = 0
        for row, question in enumerate(inquiry.questions):
            rows = range(place, place + len(question.parts))
            place = rows.stop
            outcome = served.outcome(row)
            if isinstance(outcome, Unsupported):
                continue
            judgement.exercised[inquiry.name] += 1
            for definer, encodings in defined:
                wanted = [encodings.outcome(at) for at in rows]
                found = fault(inquiry, question, definer, wanted, outcome)
                if found is not None:
                    stage, parts = found
                    data = seen.inputs[question.index]
                    judgement.violations.append(
                        Violation(check, question.index, data, parts, (inquiry.name,), stage)
                    )
                    break
    return judgement


def fault(
    inquiry: Inquiry,
    question: Question,
    definer: str,
    wanted: Sequence[Outcome],
    outcome: Outcome,
) -> tuple[str, tuple[Part, ...]] | None:
    """The stage and the parts of a violation, if the answer is not what a definer encodes."""
    service = str(inquiry.service)
    if not isinstance(outcome, Encoded):
        if all(isinstance(one, Encoded) for one in wanted):
            return unanswered(inquiry.name, service, outcome)
        return None
    for range_, right, number in zip(question.parts, wanted, outcome.ids, strict=True):
        if isinstance(right, Encoded) and len(right.ids) != number:
            where = "bytes {} to {}".format(*range_)
            return service, parts_of(definer, inquiry.name, service, len(right.ids), number, where)
    return None


def unanswered(name: str, service: str, outcome: Outcome) -> tuple[str, tuple[Part, ...]]:
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
