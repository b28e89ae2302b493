"""Releases of one library: they answer alike in more than ids."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from corpora.vocabularies.model import Vocabulary
from harness.checks.base import (
    Check,
    Judgement,
    Observation,
    Probe,
    Script,
    Severity,
    Shows,
    Violation,
)
from harness.core.comparisons import Contract
from harness.core.messages import Decode, Encode
from harness.core.outcomes import Encoded, Failed, Outcome, Rejected, Results, Status
from harness.core.partition import Part, blames, partition
from impls.interface import Capability

MOST_IDS = 64
"""Ids drawn for one input: more would only cost time."""

ID_BYTES = 3
"""Each id that is drawn takes so many bytes of an input, so that what is taken out of the input
takes ids out."""

RARE = 8
"""One id in so many is a special token's, and as many are just past the last one."""


class ReleaseOffsets(Check):
    """For releases A and B of one library with the same ids for x: offsets_A(x) = offsets_B(x).

    A release that fails where another one answers is at fault by itself.
    """

    name = "release-offsets"
    summary = "releases of one library give the same offsets"
    severity = Severity.OFFSETS
    said = "gave other offsets than another release"
    needs = (Capability.OFFSETS,)
    script = Script(Shows.DIFFER, "encode_with_offsets")

    def applies(self, contract: Contract) -> bool:
        """With two releases that give offsets."""
        return bool(libraries(contract, Capability.OFFSETS))

    def probes(self, seen: Observation) -> list[Probe]:
        """Encode again, with offsets."""
        request = Encode(seen.inputs, seen.contract.mode, offsets=True)
        return [Probe(name, request) for name in _asked(seen, Capability.OFFSETS)]

    def judge(self, seen: Observation, answers: Sequence[Results]) -> Judgement:
        """Compare where the ids are the same; others are for the equivalence check."""
        named = dict(zip(_asked(seen, Capability.OFFSETS), answers, strict=True))
        judgement = Judgement()
        standing = seen.contract.standing
        for names in libraries(seen.contract, Capability.OFFSETS):
            for index, data in enumerate(seen.inputs):
                outcomes = {n: named[n].outcome(index) for n in names if n in named}
                parts = partition(outcomes, standing)
                ids = {part.outcome.ids for part in parts if isinstance(part.outcome, Encoded)}
                if len(ids) == 1:
                    judgement.exercised.update(outcomes.keys())
                if len(ids) == 1:
                    judgement.violations += [
                        Violation(
                            self.name,
                            index,
                            data,
                            one.parts,
                            one.culprits,
                            "offsets",
                            one.undecided,
                        )
                        for one in blames(parts, standing)
                    ]
                judgement.violations += _dead(self.name, index, data, parts, outcomes)
        return judgement


class ReleaseDecode(Check):
    """For releases A and B of one library and any ids t, which no text need have:
    decode_A(t) = decode_B(t), to refuse them with an error being an answer, too. A release that
    dies of them where another one answers is at fault by itself.

    The ids are drawn from the bytes of the input: special and unknown ones among them.
    """

    name = "release-decode"
    summary = "releases of one library decode any ids alike"
    severity = Severity.TEXT
    said = "decoded ids otherwise than another release"
    needs = (Capability.DECODE,)
    script = Script(Shows.DIFFER, "decode")

    def applies(self, contract: Contract) -> bool:
        """With two releases that decode."""
        return bool(libraries(contract, Capability.DECODE))

    def probes(self, seen: Observation) -> list[Probe]:
        """Decode what is drawn."""
        drawn = [drawn_ids(data, seen.contract.vocabulary) for data in seen.inputs]
        ends = np.cumsum([len(ids) for ids in drawn], dtype=np.int64)
        flat = np.array([token_id for ids in drawn for token_id in ids], dtype=np.int32)
        return [Probe(name, Decode(flat, ends)) for name in _asked(seen, Capability.DECODE)]

    def judge(self, seen: Observation, answers: Sequence[Results]) -> Judgement:
        """Compare texts."""
        named = dict(zip(_asked(seen, Capability.DECODE), answers, strict=True))
        judgement = Judgement()
        standing = seen.contract.standing
        for names in libraries(seen.contract, Capability.DECODE):
            present = [name for name in names if name in named]
            if _alike([named[name] for name in present]):
                judgement.exercised.update(dict.fromkeys(present, len(seen.inputs)))
                continue
            for index, data in enumerate(seen.inputs):
                ids = tuple(drawn_ids(data, seen.contract.vocabulary))
                outcomes = {name: _answer(ids, named[name].outcome(index)) for name in present}
                judgement.exercised.update(present)
                parts = partition(outcomes, standing)
                judgement.violations += [
                    Violation(
                        self.name, index, data, one.parts, one.culprits, "decode", one.undecided
                    )
                    for one in blames(parts, standing)
                ]
                judgement.violations += _dead(self.name, index, data, parts, outcomes)
        return judgement


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
    ids = []
    for place in range(0, min(len(data), MOST_IDS * ID_BYTES), ID_BYTES):
        number = int.from_bytes(data[place : place + ID_BYTES], "big")
        which, kind = divmod(number, RARE)
        if kind == 0 and special:
            ids.append(special[which % len(special)])
        else:
            ids.append(size if kind == 1 else which % size)
    return ids


def _dead(
    check: str, index: int, data: bytes, parts: tuple[Part, ...], outcomes: dict[str, Outcome]
) -> list[Violation]:
    """A violation for each release that fails where another one answers."""
    return [
        Violation(check, index, data, (parts[0], Part((name,), outcome)), (name,), label)
        for name, outcome in outcomes.items()
        if parts and isinstance(outcome, Failed)
        for label in [Status(outcome.status).label]
    ]


def _asked(seen: Observation, capability: Capability) -> list[str]:
    groups = libraries(seen.contract, capability)
    return [name for names in groups for name in names if name in seen.results]


def _answer(ids: tuple[int, ...], outcome: Outcome) -> Outcome:
    """What a decoder said to ids; an error of its own is how libraries refuse them."""
    if isinstance(outcome, Failed) and outcome.status is Status.ERRORED:
        return Rejected(outcome.message)
    return Encoded(ids, text=outcome.text) if isinstance(outcome, Encoded) else outcome


def _alike(answers: Sequence[Results]) -> bool:
    """The fast path: everybody decoded everything, to the same text."""
    return all(
        not answer.messages
        and answer.text == answers[0].text
        and answer.text_ends is not None
        and answers[0].text_ends is not None
        and np.array_equal(answer.text_ends, answers[0].text_ends)
        for answer in answers
    )
