"""Chunks: a text cut where its pre-tokens part is encoded as its two halves are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from corpora.vocabularies.model import Algorithm
from harness.checks.base import Judgement, Observation, Probe, Violation, encoded_indices
from harness.checks.serving import draw
from harness.core.comparisons import Contract
from harness.core.messages import Encode
from harness.core.outcomes import Encoded, Inputs, Outcome, Results
from harness.core.partition import Part
from harness.core.pretokens import piece_ends

LONGEST = 2048
"""Bytes: the pre-tokens of longer ones take too long to find here."""

TRIED = 4
"""Places at which a lawful cut is looked for."""

SPACES = b" \n"
"""The white space before which a text for WordPiece may always be cut, since words end there."""


@dataclass(frozen=True, slots=True)
class Chunks:
    """For uv with pieces(uv) = pieces(u) pieces(v): encode(uv) = encode(u) encode(v).

    pieces are the pre-tokens by the vocabulary's own patterns, so that whatever looks ahead over
    the cut is seen; for WordPiece, v begins with white space. It is cut between characters of
    ASCII, which are the same in every version of Unicode, at a place drawn from the input's own
    checksum. Not without pre-tokenization, nor where a normalizer sees the whole text.
    """

    name: str = "chunks"
    summary: str = "a text cut where its pre-tokens part is encoded as its two halves are"
    every: int = 6

    def applies(self, contract: Contract) -> bool:
        """With pre-tokenization and nothing before it."""
        vocabulary = contract.vocabulary
        if contract.mode.special != "none" or not contract.mode.pretokenize:
            return False
        if vocabulary.algorithm is Algorithm.WORDPIECE:
            return True
        return bool(vocabulary.splits) and not vocabulary.normalizes and not vocabulary.added_tokens

    def probes(self, seen: Observation) -> list[Probe]:
        """Both halves of each input, to everybody who encodes it."""
        cuts = self._cuts(seen)
        return [
            Probe(name, Encode(Inputs.of(halves(seen, rows, cuts)), seen.contract.mode))
            for name, rows in self._rows(seen, cuts).items()
        ]

    def judge(self, seen: Observation, answers: Sequence[Results]) -> Judgement:
        """Put the halves together."""
        judgement = Judgement()
        cuts = self._cuts(seen)
        for (name, rows), answer in zip(self._rows(seen, cuts).items(), answers, strict=True):
            for row, index in enumerate(rows):
                left, right = answer.outcome(2 * row), answer.outcome(2 * row + 1)
                whole = seen.results[name].outcome(index)
                parted = joined(left, right)
                if parted is None:
                    continue  # refused, or dead: not a matter of cutting
                judgement.exercised[name] += 1
                if parted != whole:
                    parts = (
                        Part((f"{name} (whole)",), whole),
                        Part((f"{name} (cut at byte {cuts[index]})",), parted),
                    )
                    data = seen.inputs[index]
                    judgement.violations.append(
                        Violation(self.name, index, data, parts, (name,), "chunks")
                    )
        return judgement

    def _cuts(self, seen: Observation) -> dict[int, int]:
        """The inputs that can be cut, and where."""
        found = {}
        for index, data in enumerate(seen.inputs):
            place = lawful_cut(seen.contract, data)
            if place is not None:
                found[index] = place
        return found

    def _rows(self, seen: Observation, cuts: dict[int, int]) -> dict[str, list[int]]:
        return {
            name: [index for index in encoded_indices(results) if index in cuts]
            for name, results in seen.results.items()
            if name in seen.contract.exact
        }


def halves(seen: Observation, rows: Sequence[int], cuts: dict[int, int]) -> list[bytes]:
    """The halves of inputs, one after another."""
    return [
        part
        for index in rows
        for part in (seen.inputs[index][: cuts[index]], seen.inputs[index][cuts[index] :])
    ]


def lawful_cut(contract: Contract, data: bytes) -> int | None:
    """Where a text may be cut so that its pre-tokens stay what they are; None if nowhere is found.

    Drawn from the text's checksum, the same for the same text.
    """
    if len(data) > LONGEST:
        return None
    wordy = contract.vocabulary.algorithm is Algorithm.WORDPIECE
    if wordy:
        places = [at for at in range(1, len(data)) if data[at] in SPACES]
    else:
        ends = piece_ends(contract.vocabulary, data) - {len(data)}
        places = sorted(at for at in ends if data[at - 1] < 0x80 and data[at] < 0x80)
    dice = draw(data)
    for at in dice.sample(places, min(TRIED, len(places))):
        if wordy or parts_there(contract, data, at, ends):
            return at
    return None


def parts_there(contract: Contract, data: bytes, at: int, ends: set[int]) -> bool:
    """Whether the halves have the pre-tokens of the whole. ends: those of the whole."""
    left = piece_ends(contract.vocabulary, data[:at])
    right = {at + end for end in piece_ends(contract.vocabulary, data[at:])}
    return left | right == ends | {len(data)}


def joined(left: Outcome, right: Outcome) -> Encoded | None:
    """The ids of both, None if either was not encoded."""
    if isinstance(left, Encoded) and isinstance(right, Encoded):
        return Encoded(left.ids + right.ids)
    return None
