"""Releases of one library: they answer alike in more than ids."""

from typing import ClassVar

from corpora.vocabularies.model import Vocabulary
from harness.checks.base import (
    Ask,
    Check,
    Judgement,
    Observation,
    Probe,
    Script,
    Severity,
    numbers_in,
    packed,
)
from harness.core.comparisons import Contract
from harness.core.messages import Decode, Encode
from harness.core.outcomes import Encoded, Failed, Outcome, Rejected, Status
from harness.core.partition import partition
from impls.interface import Capability

MOST_IDS = 64
"""Ids drawn for one input: more would only cost time."""

RARE = 8
"""One id in so many is a special token's, and as many are just past the last one."""


class ComparesReleases(Check):
    """The releases of each library are asked the same, and answer alike."""

    stage: ClassVar[str]
    """Of a violation in which they answer, each otherwise."""

    def applies(self, contract: Contract) -> bool:
        """With two releases of a library that do it."""
        return bool(libraries(contract, *self.needs))

    def request(self, seen: Observation) -> Encode | Decode:
        """The question."""
        raise NotImplementedError

    def answer(self, outcome: Outcome) -> Outcome:
        """What an outcome is in the comparison."""
        return outcome

    def judge(self, seen: Observation, ask: Ask) -> Judgement:
        """Compare the answers, of those who give the same ids; whoever fails alone is at fault."""
        judgement = Judgement()
        request, standing = self.request(seen), seen.contract.standing
        for names in libraries(seen.contract, *self.needs):
            present = [name for name in names if name in seen.results]
            answers = ask([Probe(name, request) for name in present])
            group = {name: standing[name] for name in present}
            for index, told in enumerate(zip(*answers, strict=True)):
                outcomes = dict(zip(present, map(self.answer, told), strict=True))
                parts = partition(outcomes, group)
                if parts:
                    judgement.violations += self.failed(seen, index, outcomes, parts[0])
                given = (part.outcome for part in parts)
                if parts and len({one.ids for one in given if isinstance(one, Encoded)}) < 2:
                    judgement.exercised.update(present)
                    judgement.violations += self.parted(seen, index, outcomes, group, self.stage)
        return judgement


class ReleaseOffsets(ComparesReleases):
    """For releases A and B of one library with the same ids for x: offsets_A(x) = offsets_B(x).

    A release that fails where another one answers is at fault by itself.
    """

    name = "release-offsets"
    summary = "releases of one library give the same offsets"
    severity = Severity.OFFSETS
    said = "gave different offsets than another release"
    needs = (Capability.OFFSETS,)
    script = Script("differ", "encode_with_offsets")
    stage = "offsets"

    def request(self, seen: Observation) -> Encode:
        """Encode again, with offsets."""
        return Encode(seen.inputs, seen.contract.mode, offsets=True)


class ReleaseDecode(ComparesReleases):
    """For releases A and B of one library and any ids t, also those of no text:
    decode_A(t) = decode_B(t), where an error is an answer, too. A release that dies where another
    one answers is at fault by itself.

    The ids are drawn from the bytes of the input: special and unknown ones among them.
    """

    name = "release-decode"
    summary = "releases of one library decode any ids to the same text"
    severity = Severity.TEXT
    said = "decoded ids differently than another release"
    needs = (Capability.DECODE,)
    script = Script("differ", "decode")
    stage = "decode"

    def request(self, seen: Observation) -> Decode:
        """Decode what is drawn."""
        return Decode(*packed([drawn_ids(data, seen.contract.vocabulary) for data in seen.inputs]))

    def answer(self, outcome: Outcome) -> Outcome:
        """An error of its own is how a library refuses ids."""
        if isinstance(outcome, Failed) and outcome.status is Status.ERRORED:
            return Rejected(outcome.message)
        return outcome


def libraries(contract: Contract, capability: Capability) -> list[list[str]]:
    """The names of the releases of each library that do something, where there are two."""
    found: dict[str, list[str]] = {}
    for participant in contract.participants:
        if participant.about.library and participant.can(capability):
            found.setdefault(participant.about.library, []).append(participant.name)
    return [names for names in found.values() if len(names) > 1]


def drawn_ids(data: bytes, vocabulary: Vocabulary) -> list[int]:
    """Ids drawn from bytes: any id, now and then a special or an unknown one."""
    size, special = len(vocabulary), sorted(vocabulary.special_tokens.values())
    ids: list[int] = []
    for number in numbers_in(data, MOST_IDS):
        which, kind = divmod(number, RARE)
        some = special if kind == 0 and special else [size] if kind == 1 else range(size)
        ids.append(some[which % len(some)])
    return ids
